"""Switches, requests and random requests for the tests of sizing, and what must hold of every sized network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import NetworkSize, build_network
from ibplan.fabric.request import Attached, FabricRequest, LeafLoad, Pod, TierRequest
from ibplan.fabric.sizing import size_fabric
from ibplan.parts.links import LinkClass
from tests.examples import share


def switch(name: str, *sets: CageSet) -> Geometry:
    return Geometry(name, sets)


def plain(ports: int, gbps: int = 400) -> Geometry:
    """A switch with ports of one speed, one in a cage."""
    return switch(f"{ports} x {gbps}G", CageSet(ports, (Mode(gbps, 1),), "plain"))


# 32 twin cages: 64 x 400G or 128 x 200G (QM9700).
QM9700 = switch("QM9700", CageSet(32, (Mode(400, 2), Mode(200, 4)), "ndr-osfp"))
# 40 cages of 200G that split in two (QM8700).
QM8700 = switch("QM8700", CageSet(40, (Mode(200, 1), Mode(100, 2)), "hdr-qsfp56"))
# 64 cages: 800G, 2 x 400G, 4 x 200G; 8 x 100G costs the neighbor (SN5600).
SN5600 = switch("SN5600", CageSet(64, (Mode(800, 1), Mode(400, 2), Mode(200, 4), Mode(100, 8, 1)), "spectrum4-osfp"))
# 64 cages, but only every other one splits in four: 128 x 200G in all (DS5000).
DS5000 = switch("DS5000", CageSet(64, (Mode(800, 1), Mode(400, 2), Mode(200, 4, 0, 128)), "th5-osfp"))
# 18 x SFP28 and 4 x QSFP28 that split in four (SN2010).
SN2010 = switch("SN2010", CageSet(18, (Mode(25, 1),), "sfp28"), CageSet(4, (Mode(100, 1), Mode(25, 4)), "qsfp28"))
# 32 cages of 100G; 4 x 25G costs the neighbor (SN2700).
SN2700 = switch("SN2700", CageSet(32, (Mode(100, 1), Mode(25, 4, 1)), "qsfp28"))


def request(
    servers: int,
    rails: int = 8,
    leaf: Geometry = QM9700,
    *,
    down: int = 400,
    up: int | None = None,
    ratio: Fraction | int = 1,
    ports: Any = "half",
    per_leaf: int = 0,
    spine: Geometry | None = None,
    spine_up: int | None = None,
    spine_ratio: Fraction | int = 1,
    spine_ports: Any = "half",
    per_spine: int = 0,
    core: Geometry | None = None,
    **others: Any,
) -> FabricRequest:
    """A request in the words of the spec; the upper tiers default to the leaf's switch and speed."""
    up = up or down
    spine = spine or leaf
    return FabricRequest(
        servers,
        rails,
        TierRequest(leaf, down, up, Fraction(ratio), ports, per_leaf),
        TierRequest(spine, up, spine_up or up, Fraction(spine_ratio), spine_ports, per_spine),
        core or spine,
        **others,
    )


def network(asked: FabricRequest, fabrics: int = 1, server_ports_per_cage: int = 1) -> NetworkSize:
    """Size and count a request."""
    return build_network(
        asked,
        size_fabric(asked),
        fabrics,
        server=HostEnd("nic", server_ports_per_cage),
        server_ports=asked.rails * fabrics,
        attached=tuple(HostEnd("nic", 1) for _ in asked.attached),
        manager=HostEnd("nic", 1),
    )


def links(net: NetworkSize) -> dict[str, int]:
    """Links by kind."""
    found: dict[str, int] = {}
    for link in net.links:
        found[link.kind] = found.get(link.kind, 0) + link.count
    return found


def tiers(net: NetworkSize) -> tuple[int, int, int]:
    """Leaves, spines and cores."""
    count = {row.tier: row.count for row in net.tiers}
    return count.get("leaf", 0), count.get("spine", 0), count.get("core", 0)


def of_kind(net: NetworkSize, kind: str) -> LinkClass:
    (found,) = [link for link in net.links if link.kind == kind]
    return found


def leaves(pods: tuple[Pod, ...]) -> Iterator[LeafLoad]:
    """Every leaf of one fabric by itself."""
    for pod in pods:
        for _ in range(pod.count):
            for load in pod.leaves:
                for _ in range(load.count):
                    yield replace(load, count=1)


def each_pod(net: NetworkSize) -> Iterator[Pod]:
    """Every pod of one fabric by itself."""
    for pod in net.fabric.pods:
        for _ in range(pod.count):
            yield replace(pod, count=1)


# Cages as switches have them: one speed; twin cages; whole or split; a split that costs the neighbor; a capped split.
_FAMILIES: tuple[tuple[Mode, ...], ...] = (
    (Mode(400, 1),),
    (Mode(400, 2), Mode(200, 4)),
    (Mode(800, 1), Mode(400, 2), Mode(200, 4)),
    (Mode(800, 1), Mode(400, 2), Mode(200, 8, 1)),
)


_MODES = st.sampled_from(_FAMILIES)


@st.composite
def geometries(draw: st.DrawFn, most_cages: int = 24) -> Geometry:
    modes = draw(_MODES)
    cages = draw(st.integers(2, most_cages))
    if draw(st.booleans()) and len(modes) == 3:
        modes = (*modes[:2], Mode(200, 4, 0, draw(st.integers(1, cages)) * 4))
    return switch("random", CageSet(cages, modes, "a"))


# Made once: a strategy that is made anew for every example is looked at anew, which takes longer than to draw from it.
_GEOMETRIES = geometries()
_OTHER = st.one_of(st.none(), _GEOMETRIES)
_RATIOS = st.sampled_from([Fraction(1), Fraction(2), Fraction(3), Fraction(11, 9), Fraction(16, 15), Fraction(1, 2)])
_PORTS = st.sampled_from(["half", "all"])
_RESERVED = st.sampled_from([0, 0, 1, 2])
_RESERVED_TOTAL = st.sampled_from([0, 0, 1, 4, 9])
_SPEEDS = {speeds: st.sampled_from(speeds) for n in range(1, 4) for speeds in combinations((200, 400, 800), n)}
_GROUPS = {
    speeds: st.lists(st.tuples(st.integers(1, 12), st.integers(1, 2), _SPEEDS[speeds]), max_size=2)
    for speeds in _SPEEDS
}
_SERVERS = st.integers(1, 120)
_RAILS = st.sampled_from([1, 2, 3, 4, 6, 8])
_SETTINGS = st.fixed_dictionaries(
    {
        "tiers": st.sampled_from(["auto", "auto", 1, 2, 3]),
        "single_tier": st.sampled_from(["one_switch", "two_leaves"]),
        "rail_optimized": st.booleans(),
        "second_tier": st.sampled_from(["pod", "pod", "rail"]),
        "partial_units": st.sampled_from(["whole", "packed"]),
        "domain_servers": st.sampled_from([1, 1, 1, 2, 3]),
        "unit_servers": st.one_of(st.none(), st.integers(1, 8)),
        "pod_units": st.one_of(st.none(), st.integers(1, 4)),
        "min_spines": st.sampled_from([1, 1, 2, 3]),
    }
)


def _speeds(*switches: Geometry) -> tuple[int, ...]:
    """The speeds that all of some switches have."""
    return tuple(sorted(set.intersection(*({m.gbps for m in each.sets[0].modes} for each in switches))))


@st.composite
def requests(draw: st.DrawFn, *, extras: bool = True) -> FabricRequest:
    """Any request of a size that a test can check by hand. `extras`: attached hosts and reserved ports, too."""
    leaf = draw(_GEOMETRIES)
    spine = draw(_OTHER) or leaf
    core = draw(_OTHER) or spine
    asked = request(
        draw(_SERVERS),
        draw(_RAILS),
        leaf,
        down=draw(_SPEEDS[_speeds(leaf)]),
        up=draw(_SPEEDS[_speeds(leaf, spine)]),
        ratio=draw(_RATIOS),
        ports=draw(_PORTS),
        spine=spine,
        spine_up=draw(_SPEEDS[_speeds(spine, core)]),
        spine_ratio=draw(_RATIOS),
        spine_ports=draw(_PORTS),
        core=core,
        **draw(_SETTINGS),
    )
    if not extras:
        return asked
    groups = draw(_GROUPS[_speeds(leaf)])
    return replace(
        asked,
        reserved_total=draw(_RESERVED_TOTAL),
        leaf=replace(asked.leaf, reserved=draw(_RESERVED)),
        spine=replace(asked.spine, reserved=draw(_RESERVED)),
        attached=tuple(Attached(f"h{i}", hosts, ports, gbps) for i, (hosts, ports, gbps) in enumerate(groups)),
    )


# Properties run on the same examples every time, so that a failure is the change's and nobody else's.
property_settings = settings(
    max_examples=share(200),
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)


def built(asked: FabricRequest, fabrics: int = 1) -> NetworkSize | None:
    """The network of a request, None if it cannot be built. (That sizing never breaks down has a test of its own.)"""
    try:
        return network(asked, fabrics)
    except (Unbuildable, AssertionError):
        return None
