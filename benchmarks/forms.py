"""Plain fabrics of hosts with one port: one link between any two switches, if there is any."""

from __future__ import annotations

from fractions import Fraction

from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import build_network
from ibplan.fabric.request import FabricRequest, TierRequest
from ibplan.fabric.sizing import size_fabric
from ibplan.fabric.wiring import wire
from ibplan.fabric.wiring_model import Wiring

PORT_GBPS = 100


def switch(*ports: tuple[int, int]) -> Geometry:
    """A switch with so many ports of each speed, each speed in cages of its own."""
    return Geometry("curve", tuple(CageSet(count, (Mode(gbps, 1),), f"{gbps}") for count, gbps in ports if count))


def two_tiers(leaves: int, downlinks: int, uplinks: int, speedup: int = 1) -> Wiring:
    """Hosts with one port on leaves, every leaf with one link to each of `uplinks` spines."""
    up = PORT_GBPS * speedup
    leaf = switch((downlinks, PORT_GBPS), (uplinks, up)) if speedup > 1 else switch((downlinks + uplinks, PORT_GBPS))
    ratio = Fraction(downlinks, uplinks * speedup)
    spine = switch((leaves, up))
    request = FabricRequest(
        leaves * downlinks,
        1,
        TierRequest(leaf, PORT_GBPS, up, ratio, "all"),
        TierRequest(spine, up, up),
        spine,
        tiers=2,
    )
    wiring = _wired(request)
    found = wiring.network.fabric
    assert (found.leaf_count, found.spine_count) == (leaves, uplinks)
    return wiring


def three_tiers(pods: int, downlinks: int, uplinks: int, spine_uplinks: int, speedup: int = 1) -> Wiring:
    """Pods of as many leaves, and as many spines, as a leaf has uplinks."""
    up = PORT_GBPS * speedup
    leaf = switch((downlinks, PORT_GBPS), (uplinks, up)) if speedup > 1 else switch((downlinks + uplinks, PORT_GBPS))
    spine = switch((uplinks + spine_uplinks, up))
    request = FabricRequest(
        pods * uplinks * downlinks,
        1,
        TierRequest(leaf, PORT_GBPS, up, Fraction(downlinks, uplinks * speedup), "all"),
        TierRequest(spine, up, up, Fraction(uplinks, spine_uplinks), "all"),
        switch((max(pods, 2 * uplinks), up)),
        tiers=3,
        pod_units=uplinks,
    )
    wiring = _wired(request)
    found = wiring.network.fabric
    assert sum(pod.count for pod in found.pods) == pods
    assert {(p.leaf_count, p.spines, p.uplinks) for p in found.pods} == {(uplinks, uplinks, spine_uplinks)}
    return wiring


def _wired(request: FabricRequest) -> Wiring:
    end = HostEnd("host", 1)
    return wire(build_network(request, size_fabric(request), 1, server=end, server_ports=1))
