"""Small wirings with failures, and independent answers about them in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from benchmarks.forms import three_tiers, two_tiers
from ibplan.fabric.wiring import Wiring
from ibplan.fabric.wiring_model import CORE, LEAF, SPINE
from ibplan.performance.fairness import Bools
from ibplan.performance.flow_network import flow_network
from ibplan.performance.flows import cluster_of, port_flows
from ibplan.performance.rates import Fabric
from ibplan.performance.routing import PortFlows
from tests.examples import share
from tests.fabric.shapes import QM8700, plain, property_settings, request, requests
from tests.fabric.test_wiring import wired

# Every example makes a wiring and walks over it: a few of them, over small shapes.
few = settings(property_settings, max_examples=share(12))

__all__ = ["fabric_of", "host_flows", "shapes", "three_tiers", "two_tiers", "walked"]


@cache
def shapes() -> tuple[Wiring, ...]:
    """Every form that traffic can meet: one switch, two leaves, two and three tiers, planes, rails, packed units."""
    asked = [
        (request(6, 2, plain(16), tiers=1), 1, 1, 1),
        (request(8, 2, plain(16), tiers=1, single_tier="two_leaves"), 1, 1, 1),
        (request(24, 2, plain(8)), 1, 1, 1),
        (request(33, 1, plain(8), ratio=2), 2, 2, 2),
        (request(24, 4, plain(16), partial_units="packed"), 1, 1, 1),
        (request(40, 1, plain(16)), 4, 1, 1),
        (request(30, 2, plain(8), tiers=3, pod_units=2, partial_units="packed"), 1, 1, 1),
        (request(48, 2, QM8700, down=200, tiers=3, second_tier="rail"), 1, 1, 1),
        (request(64, 1, plain(8), tiers=3, spine_ratio=3), 1, 1, 1),
    ]
    found = [wired(one) for one in asked]
    assert None not in found
    return tuple(w for w in found if w is not None)


def fabric_of(wiring: Wiring, works: Bools | None = None) -> Fabric:
    return Fabric(flow_network(wiring, works))


def host_flows(wiring: Wiring, seed: int, works: Bools | None = None) -> PortFlows:
    """Random flows between server ports of the same fabric, one from each port."""
    rails = wiring.network.request.rails * wiring.network.fabrics
    cluster = cluster_of(wiring, rails, rails, works)
    generator = np.random.default_rng(seed)
    servers = wiring.network.request.servers
    source = np.arange(servers * rails, dtype=np.int32)
    target = (generator.integers(0, servers, len(source)) * rails + source % rails).astype(np.int32)
    return port_flows(cluster, source, target, "network").flows


def some_failed(wiring: Wiring, draw: st.DrawFn) -> Bools:
    """Which links work: up to a third of those between switches do not."""
    between = np.flatnonzero(wiring.devices.kind[wiring.links.b_device] >= LEAF)
    works = np.ones(len(wiring.links), bool)
    if len(between):
        dead = draw(st.lists(st.sampled_from(between.tolist()), max_size=max(1, len(between) // 3)))
        works[dead] = False
    return works


@st.composite
def failing(draw: st.DrawFn) -> tuple[Wiring, Bools]:
    wiring = draw(st.sampled_from(shapes()))
    return wiring, some_failed(wiring, draw)


class _Walk:
    """The ways that are open at every switch toward a leaf."""

    def __init__(self, wiring: Wiring, works: Bools, target: int) -> None:
        links, self.kind, self.target = wiring.links, wiring.devices.kind, target
        self.ways: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for k in np.flatnonzero(works & (self.kind[links.b_device] >= LEAF)).tolist():
            a, b = int(links.a_device[k]), int(links.b_device[k])
            self.ways[a].append((b, k))
            self.ways[b].append((a, k + len(links)))

    def below(self, switch: int) -> bool:
        return any(far == self.target for far, _ in self.ways[switch])

    def toward(self, switch: int, kind: int, found: Callable[[int], bool]) -> list[tuple[int, int]]:
        return [(far, r) for far, r in self.ways[switch] if self.kind[far] == kind and found(far)]

    def open_ways(self, switch: int, down: bool) -> list[tuple[int, int]]:
        here = [(far, r) for far, r in self.ways[switch] if far == self.target]
        if self.kind[switch] == LEAF:
            over_cores = self.toward(switch, SPINE, lambda far: bool(self.open_ways(far, False)))
            return here or self.toward(switch, SPINE, self.below) or over_cores
        if self.kind[switch] == CORE:
            return self.toward(switch, SPINE, self.below)
        return here if down or here else self.toward(switch, CORE, lambda far: bool(self.open_ways(far, True)))


def walked(wiring: Wiring, works: Bools, source: int, target: int) -> dict[int, float]:
    """Share of a flow on every resource from leaf to leaf, switch by switch, each splitting evenly over its links.

    Empty where there is no path. Over a spine where one joins both leaves, else over cores.
    """
    share: dict[int, float] = defaultdict(float)
    way = _Walk(wiring, works, target)

    def walk(switch: int, part: float, down: bool) -> None:
        found = way.open_ways(switch, down) if switch != target else []
        for far, resource in found:
            share[resource] += part / len(found)
            walk(far, part / len(found), down or way.kind[switch] == CORE)

    walk(source, 1.0, False)
    return dict(share)


@st.composite
def any_network(draw: st.DrawFn) -> tuple[Wiring, Bools] | None:
    wiring = wired((draw(requests(extras=False)), 1, 1, 1))
    if wiring is None or len(wiring.of_kind("leaf")) > 24:
        return None
    return wiring, some_failed(wiring, draw)
