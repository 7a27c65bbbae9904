"""Floors for the tests: a sized network with boxes that fit, and lengths link by link from the real wiring."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from ibplan.fabric.network import NetworkSize
from ibplan.fabric.wiring_model import ATTACHED, KINDS, SERVER, Wiring
from ibplan.site.floor import Floor, Servers, SitedNetwork
from ibplan.site.ground import Ground
from ibplan.site.model import Layout
from ibplan.site.packing import Box
from ibplan.site.placing import plan_floor
from ibplan.site.rules import SiteRules, site_rules
from ibplan.spec.models import Site

SERVER_8U = Box("server", 8, 10_200, 130)
SWITCH_1U = Box("switch", 1, 1_700, 15)


def rules(**changes: Any) -> SiteRules:
    """The default site, with changes to its measures."""
    return replace(site_rules(Site()), **changes)


def sited(network: NetworkSize, name: str = "compute", **boxes: Box) -> SitedNetwork:
    """A network whose switches, managers and attached hosts are small boxes unless stated."""
    known = dict.fromkeys(("leaf", "spine", "core", "manager"), SWITCH_1U)
    known |= {f"attached:{group.name}": Box("host", 2, 800, 30) for group in network.request.attached}
    return SitedNetwork(name, network, known | boxes)


def floor(network: NetworkSize, site: SiteRules | None = None, server: Box = SERVER_8U, **others: Any) -> Floor:
    return plan_floor(Ground(site or rules()), Servers(network.request.servers, server, **others), [sited(network)])


def wired_lengths(
    wiring: Wiring, layout: Layout, name: str = "compute"
) -> dict[tuple[str, str | None], Counter[tuple[int, float]]]:
    """By kind and host: how many links of each length there are in each group of links, asked link by link.

    Groups are named by what the wiring says: the unit of the server, the pod of the spine in its fabric, the fabric.
    """
    found: dict[tuple[str, str | None], Counter[tuple[int, float]]] = {}
    d, links = wiring.devices, wiring.links
    for index, cls in enumerate(wiring.classes):
        at = np.flatnonzero(links.link_class == index)
        ends = [_in_group(wiring, device[at], name) for device in (links.a_device, links.b_device)]
        runs = layout.run_m(*ends[0], *ends[1])
        tenths = -(-np.rint(runs * 1e6).astype(int) // 100_000)
        far, fabric = links.b_device[at], links.fabric[at].astype(int)
        group = {
            "server-leaf": d.unit[far],
            "leaf-spine": fabric * 100_000 + d.pod[far],
            "spine-core": fabric,
            "leaf-leaf": fabric,
        }.get(cls.kind, fabric * 0)
        pairs = Counter(zip(group.tolist(), (tenths / 10).tolist(), strict=True))
        found.setdefault((cls.kind, cls.host), Counter()).update(pairs)
    return found


def _in_group(wiring: Wiring, devices: Any, name: str) -> tuple[str, Any]:
    """The layout's group of devices alike, and their numbers in it: in the order of the wiring."""
    d = wiring.devices
    kind, group = d.kind[devices[0]], d.group[devices[0]]
    first = int(np.flatnonzero((d.kind == kind) & (d.group == group))[0])
    if kind == SERVER:
        return "server", devices - first
    tier = f"attached:{wiring.network.request.attached[group].name}" if kind == ATTACHED else KINDS[kind]
    return f"{name}/{tier}", devices - first
