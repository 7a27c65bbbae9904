"""How many links share the traffic from a switch to one destination: the widths of equal-cost multipath."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ibplan.export.switch_ports import SwitchPort
from ibplan.fabric.wiring_model import CORE, Wiring


def path_width(wiring: Wiring, device: int, ports: Sequence[SwitchPort]) -> int:
    """The most links by which a switch reaches a leaf over equally short ways; 1 at least.

    Up: all its uplinks, for every leaf that is not below it. Down: a spine has its links to that leaf; a core those to
    all spines of the leaf's pod, since every spine of a pod is joined to every leaf of it. To a joined leaf: all links.
    """
    d = wiring.devices
    core = int(d.kind[device]) == CORE
    widths = Counter("up" for port in ports if port.role == "up")
    below = Counter((int(d.pod[port.far]) if core else port.far) for port in ports if port.role in ("down", "peer"))
    return max(1, widths["up"], *below.values())
