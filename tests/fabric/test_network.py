"""Links and ports of a whole network: what must hold of any of them, and counts that can be checked by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.fabric.geometry import CageSet, Demand, Geometry, Mode
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import NetworkSize, build_network
from ibplan.fabric.request import Attached, FabricRequest, LeafLoad, Pod
from ibplan.fabric.sizing import size_fabric
from ibplan.parts.links import DeviceLoad, LinkEnd
from ibplan.performance.bandwidth import bisection_gbps, injection_gbps
from tests.fabric.shapes import (
    SN2010,
    SN2700,
    SN5600,
    built,
    each_pod,
    leaves,
    links,
    network,
    of_kind,
    plain,
    property_settings,
    request,
    requests,
    switch,
    tiers,
)

# --- What holds of every network ------------------------------------------------------------------------------------


def ports_by_speed(net: NetworkSize, load: LeafLoad, *, kept_free: bool) -> Counter[int]:
    """Ports towards hosts on one leaf, by speed; `kept_free` adds those that are reserved on every leaf."""
    ports = Counter({load.down_gbps: load.servers + load.reserved})
    if kept_free:
        ports[load.down_gbps] += net.request.leaf.reserved
    for used, group in zip(load.attached, net.request.attached, strict=False):
        ports[group.gbps] += used
    return +ports


def uplinks(net: NetworkSize, load: LeafLoad) -> int:
    return net.fabric.isl if net.fabric.tiers == 1 else load.uplinks


def fits(geometry: Geometry, demands: list[tuple[int, int]]) -> bool:
    """Whether (speed, ports) demands fit cages of one kind, each demand in cages of its own."""
    (cages,) = geometry.sets
    needed, at_speed = 0, Counter[int]()
    for gbps, ports in demands:
        mode = cages.mode(gbps)
        if not ports:
            continue
        assert mode is not None
        needed += -(-ports // mode.ports) * (1 + mode.cages_lost)
        at_speed[gbps] += ports
        if mode.max_ports is not None and at_speed[gbps] > mode.max_ports:
            return False
    return needed <= cages.count


def every_switch_fits_its_cages(net: NetworkSize) -> None:
    asked = net.request
    for load in leaves(net.fabric.pods):
        down = list(ports_by_speed(net, load, kept_free=True).items())
        assert fits(asked.leaf.geometry, [*down, (asked.leaf.up_gbps, uplinks(net, load))]), load
    for pod in each_pod(net):
        if pod.spines:
            down = [(asked.leaf.up_gbps, pod.downlinks + asked.spine.reserved)]
            assert fits(asked.spine.geometry, [*down, (asked.spine.up_gbps, pod.uplinks)]), pod
    if net.fabric.core is not None:
        assert net.fabric.core.ports_used <= asked.core.ports(asked.spine.up_gbps)


def no_leaf_is_more_oversubscribed_than_asked(net: NetworkSize) -> None:
    asked, fabric = net.request.leaf, net.fabric
    if fabric.tiers == 1 and not fabric.isl:
        return
    worst = Fraction(0)
    for load in leaves(fabric.pods):
        in_use = sum(gbps * ports for gbps, ports in ports_by_speed(net, load, kept_free=False).items())
        hosts = in_use - load.reserved * load.down_gbps
        configured = load.downlinks * load.down_gbps if fabric.tiers > 1 else hosts
        up = uplinks(net, load) * asked.up_gbps
        assert max(hosts, configured) <= asked.ratio * up, load
        worst = max(worst, Fraction(configured, up))
    assert fabric.leaf_built == worst


def no_spine_is_more_oversubscribed_than_asked(net: NetworkSize) -> None:
    asked = net.request.spine
    if net.fabric.tiers < 3:
        return
    built_ratios = [Fraction(pod.downlinks * asked.down_gbps, pod.uplinks * asked.up_gbps) for pod in net.fabric.pods]
    assert max(built_ratios) <= asked.ratio
    assert net.fabric.spine_built == max(built_ratios)


def every_leaf_reaches_every_spine_of_its_pod_alike(net: NetworkSize) -> None:
    if net.fabric.tiers > 1:
        for pod in net.fabric.pods:
            assert all(load.uplinks >= pod.spines and load.uplinks % pod.spines == 0 for load in pod.leaves)


def every_link_has_two_ends(net: NetworkSize) -> None:
    for link in net.links:
        assert link.a.ports == link.b.ports == link.count, link.kind


def tiers_meet(net: NetworkSize) -> None:
    fabric = net.fabric
    for pod in fabric.pods:
        assert sum(x.count * x.uplinks for x in pod.leaves) == pod.spines * pod.downlinks
    if fabric.core is not None:
        assert sum(p.count * p.spines * p.uplinks for p in fabric.pods) == fabric.core.count * fabric.core.ports_used


def cores_spread_evenly(net: NetworkSize) -> None:
    core = net.fabric.core
    if core is not None:
        assert all(pod.spines % core.groups == 0 for pod in net.fabric.pods)
        assert all(pod.uplinks % core.per_group == 0 for pod in net.fabric.pods)


def every_host_port_has_a_link(net: NetworkSize) -> None:
    asked, found = net.request, links(net)
    assert found.get("server-leaf", 0) == asked.servers * asked.rails * net.fabrics
    assert found.get("reserved", 0) == asked.reserved_total * net.fabrics
    for group in asked.attached:
        ports = sum(link.count for link in net.links if link.kind == "attached" and link.host == group.name)
        assert ports == group.hosts * group.ports * net.fabrics
    assert net.endpoints == found.get("server-leaf", 0) + found.get("attached", 0)


def links_between_tiers_are_uplinks(net: NetworkSize) -> None:
    found, fabric = links(net), net.fabric
    up = sum(load.uplinks for load in leaves(fabric.pods)) if fabric.tiers > 1 else 0
    assert found.get("leaf-spine", 0) == up * net.fabrics
    assert found.get("leaf-leaf", 0) == fabric.isl * net.fabrics
    assert found.get("spine-core", 0) == sum(p.spines * p.uplinks for p in each_pod(net)) * net.fabrics


def ports_in_use_are_link_ends(net: NetworkSize) -> None:
    found = Counter(links(net))
    hosts = found["server-leaf"] + found["attached"] + found["reserved"]
    ends = {
        "leaf": hosts + found["leaf-spine"] + 2 * found["leaf-leaf"],
        "spine": found["leaf-spine"] + found["spine-core"],
        "core": found["spine-core"],
    }
    assert {row.tier: row.ports_used for row in net.tiers} == {row.tier: ends[row.tier] for row in net.tiers}
    assert all(row.ports_free >= 0 for row in net.tiers)


def cages_are_counted_as_one_would_by_hand(net: NetworkSize) -> None:
    """Fill the cages of every switch one port after the other, and count those that hold a port.

    Not where ports are kept for servers to come: the test of wiring counts those cages port by port.
    """
    if net.request.partial_units == "whole" and (net.request.reserved_total or net.request.attached):
        return
    lit: Counter[str] = Counter()
    asked = net.request
    for load in leaves(net.fabric.pods):
        banks = [*ports_by_speed(net, load, kept_free=False).items(), (asked.leaf.up_gbps, uplinks(net, load))]
        lit["leaf"] += sum(cages_with_ports(asked.leaf.geometry, gbps, ports) for gbps, ports in banks)
    for pod in each_pod(net):
        banks = [(asked.leaf.up_gbps, pod.downlinks), (asked.spine.up_gbps, pod.uplinks)]
        lit["spine"] += pod.spines * sum(cages_with_ports(asked.spine.geometry, *bank) for bank in banks)
    if net.fabric.core is not None:
        core = net.fabric.core
        lit["core"] += core.count * cages_with_ports(asked.core, asked.spine.up_gbps, core.ports_used)
    counted: Counter[str] = Counter()
    for link in net.links:
        for end in (link.a, link.b):
            if end.tier in ("leaf", "spine", "core"):
                assert end.ports_per_cage is not None
                counted[end.tier] += end.groups_of(end.ports_per_cage)
    assert +counted == +Counter({tier: number * net.fabrics for tier, number in lit.items()})


def cages_with_ports(geometry: Geometry, gbps: int, ports: int) -> int:
    (cages,) = geometry.sets
    mode = cages.mode(gbps)
    return len({port // mode.ports for port in range(ports)}) if mode else 0


def units_hold_the_servers(net: NetworkSize) -> None:
    asked, fabric = net.request, net.fabric
    assert sum(load.servers for load in leaves(fabric.pods)) == asked.servers * asked.rails
    assert fabric.unit.servers * fabric.unit.count >= asked.servers
    if asked.unit_servers is not None and fabric.tiers > 1:
        assert fabric.unit.servers == asked.unit_servers
    if asked.partial_units == "whole" and not asked.attached:
        assert fabric.leaf_count == fabric.unit.leaves * fabric.unit.count


def pins_are_kept(net: NetworkSize) -> None:
    asked, fabric = net.request, net.fabric
    assert asked.tiers in ("auto", fabric.tiers)
    if fabric.tiers > 1:
        assert all(pod.spines >= asked.min_spines for pod in fabric.pods)
    if fabric.tiers == 3 and asked.pod_units is not None:
        assert all(pod.units <= asked.pod_units for pod in fabric.pods)


def nothing_is_below_the_port_minimum(net: NetworkSize) -> None:
    fabric = net.fabric
    assert fabric.spine_minimum <= fabric.spine_count
    assert fabric.core_minimum <= (fabric.core.count if fabric.core else 0)


HOLDS: list[Callable[[NetworkSize], None]] = [
    every_switch_fits_its_cages,
    no_leaf_is_more_oversubscribed_than_asked,
    no_spine_is_more_oversubscribed_than_asked,
    every_leaf_reaches_every_spine_of_its_pod_alike,
    every_link_has_two_ends,
    tiers_meet,
    cores_spread_evenly,
    every_host_port_has_a_link,
    links_between_tiers_are_uplinks,
    ports_in_use_are_link_ends,
    cages_are_counted_as_one_would_by_hand,
    units_hold_the_servers,
    pins_are_kept,
    nothing_is_below_the_port_minimum,
]


@given(asked=requests(), fabrics=st.sampled_from([1, 2]))
@property_settings
def test_of_any_network(asked: FabricRequest, fabrics: int) -> None:
    net = built(asked, fabrics)
    if net is not None:
        for holds in HOLDS:
            holds(net)


_MIXED_HOLDS = [
    no_leaf_is_more_oversubscribed_than_asked,
    every_link_has_two_ends,
    tiers_meet,
    every_host_port_has_a_link,
    links_between_tiers_are_uplinks,
    ports_in_use_are_link_ends,
    units_hold_the_servers,
]


@st.composite
def mixed_requests(draw: st.DrawFn) -> FabricRequest:
    """Leaves with two kinds of cages, of which one splits in four; hosts of 25G and perhaps of 100G."""
    split = (Mode(100, 1), Mode(25, 4, draw(st.sampled_from([0, 1]))))
    leaf = switch(
        "mixed",
        CageSet(draw(st.integers(1, 20)), (Mode(25, 1),), "sfp28"),
        CageSet(draw(st.integers(1, 8)), split, "qsfp28"),
    )
    hosts = st.builds(Attached, st.just("others"), st.integers(1, 6), st.integers(1, 2), st.sampled_from([25, 100]))
    return request(
        draw(st.integers(1, 60)),
        draw(st.sampled_from([1, 2])),
        leaf,
        down=25,
        up=draw(st.sampled_from([25, 100])),
        ratio=draw(st.sampled_from([1, 2, 3])),
        ports=draw(st.sampled_from(["half", "all"])),
        spine=draw(st.sampled_from([SN2700, leaf])),
        tiers=draw(st.sampled_from(["auto", 1, 2])),
        single_tier=draw(st.sampled_from(["one_switch", "two_leaves"])),
        rail_optimized=draw(st.booleans()),
        partial_units=draw(st.sampled_from(["whole", "packed"])),
        reserved_total=draw(st.sampled_from([0, 0, 3])),
        attached=tuple(draw(st.lists(hosts, max_size=1))),
    )


@given(asked=mixed_requests())
@property_settings
def test_of_any_network_with_mixed_cages(asked: FabricRequest) -> None:
    try:
        net = network(asked)
    except Unbuildable:
        return
    for holds in _MIXED_HOLDS:
        holds(net)
    for load in leaves(net.fabric.pods):
        demands = [Demand(g, p) for g, p in ports_by_speed(net, load, kept_free=True).items()]
        assert asked.leaf.geometry.fits(*demands, Demand(asked.leaf.up_gbps, uplinks(net, load)))


# --- An oracle: the wiring written out as a graph --------------------------------------------------------------------


def wired(net: NetworkSize) -> nx.Graph[str]:
    """One fabric, every switch a node; `links` and `gbps` on every edge. Hosts of a leaf are one node beside it."""
    asked, fabric = net.request, net.fabric
    graph: nx.Graph[str] = nx.Graph()
    spine_number = leaf_number = 0
    for pod in each_pod(net):
        spines = [f"spine{spine_number + k}" for k in range(pod.spines)]
        spine_number += pod.spines
        for load in leaves((pod,)):
            name = f"leaf{leaf_number}"
            leaf_number += 1
            graph.add_edge(f"hosts of {name}", name, links=load.ports_in_use, gbps=endpoint_gbps(net, load))
            for spine in spines:
                share = load.uplinks // len(spines)
                graph.add_edge(name, spine, links=share, gbps=share * asked.leaf.up_gbps)
        if fabric.core is not None:
            wire_cores(graph, spines, pod, net)
    if fabric.isl:
        graph.add_edge("leaf0", "leaf1", links=fabric.isl, gbps=fabric.isl * asked.leaf.up_gbps)
    return graph


def wire_cores(graph: nx.Graph[str], spines: list[str], pod: Pod, net: NetworkSize) -> None:
    """Spine k of a pod goes to core group k modulo the groups, evenly to every core of it."""
    core = net.fabric.core
    assert core is not None
    for number, spine in enumerate(spines):
        for k in range(core.per_group):
            share = pod.uplinks // core.per_group
            name = f"core{number % core.groups}.{k}"
            graph.add_edge(spine, name, links=share, gbps=share * net.request.spine.up_gbps)


def endpoint_gbps(net: NetworkSize, load: LeafLoad) -> int:
    attached = sum(used * group.gbps for used, group in zip(load.attached, net.request.attached, strict=False))
    return load.servers * load.down_gbps + attached


def degree(graph: nx.Graph[str], name: str) -> int:
    return sum(data["links"] for _, _, data in graph.edges(name, data=True))


def kept(asked: FabricRequest) -> FabricRequest:
    """A request without what the graph does not show."""
    return replace(asked, servers=min(asked.servers, 40), reserved_total=0)


@given(asked=requests().map(kept))
@property_settings
def test_the_wiring_written_out_has_the_counts_and_is_one_piece(asked: FabricRequest) -> None:
    net = built(asked)
    if net is None:
        return
    graph, found = wired(net), links(net)
    names = {kind: [n for n in graph if n.startswith(kind)] for kind in ("leaf", "spine", "core")}
    assert tuple(len(names[kind]) for kind in ("leaf", "spine", "core")) == tiers(net)
    assert nx.is_connected(graph)
    up = asked.leaf.up_gbps
    spine_room = asked.spine.geometry.ports(up) - asked.spine.reserved
    if net.fabric.tiers == 2:
        assert all(degree(graph, spine) <= spine_room for spine in names["spine"])
    assert all(degree(graph, core) <= asked.core.ports(asked.spine.up_gbps) for core in names["core"])
    total = sum(data["links"] for _, _, data in graph.edges(data=True))
    assert total == sum(found.values())
    used: dict[str, int] = {row.tier: row.ports_used for row in net.tiers}
    for kind, switches in names.items():
        assert sum(degree(graph, name) for name in switches) == used.get(kind, 0)


def aligned(net: NetworkSize) -> bool:
    """Whether leaves (pods, in three tiers) fall in two halves that are alike."""
    if net.fabric.tiers == 3:
        pods = [[(x.servers, x.attached, x.uplinks) for x in leaves((pod,))] for pod in each_pod(net)]
        return len(pods) % 2 == 0 and all(pod == pods[0] for pod in pods) and len({x for p in pods for x in p}) == 1
    every = [(x.servers, x.attached, x.uplinks) for x in leaves(net.fabric.pods)]
    return len(every) % 2 == 0 and len(set(every)) == 1


def flow_between_halves(net: NetworkSize) -> float:
    """Greatest flow from the hosts of the first half of the leaves to those of the other half, Gb/s."""
    graph = wired(net).to_directed()
    number = net.fabric.leaf_count
    for k in range(number):
        hosts = f"hosts of leaf{k}"
        if k < number // 2:
            graph.add_edge("from", hosts)
        else:
            graph.add_edge(hosts, "to")
    return float(nx.maximum_flow_value(graph, "from", "to", capacity="gbps"))


@st.composite
def even_requests(draw: st.DrawFn) -> FabricRequest:
    """Requests whose units are all full, so that halves often align."""
    ratio = st.sampled_from([Fraction(1), Fraction(2), Fraction(3), Fraction(1, 2)])
    geometry = plain(draw(st.sampled_from([4, 6, 8, 12, 16])))
    rails = draw(st.sampled_from([1, 2, 4]))
    return request(
        draw(st.integers(1, 12)) * 2,
        rails,
        geometry,
        ratio=draw(ratio),
        spine_ratio=draw(ratio),
        tiers=draw(st.sampled_from([2, 3])),
        rail_optimized=draw(st.booleans()),
        unit_servers=2,
        pod_units=draw(st.sampled_from([None, 1, 2])),
        partial_units=draw(st.sampled_from(["whole", "packed"])),
        spine=draw(st.one_of(st.just(geometry), st.just(plain(24)))),
    )


@given(asked=even_requests())
@property_settings
def test_the_bisection_is_the_greatest_flow_where_halves_align(asked: FabricRequest) -> None:
    net = built(asked)
    if net is not None and aligned(net):
        assert bisection_gbps(net) == flow_between_halves(net)


def test_enough_of_those_examples_align() -> None:
    """The property above is not empty: these by hand are aligned, over- and undersubscribed, in two and three tiers."""
    for servers, ratio, count in ((64, 1, 2), (64, 4, 2), (8, Fraction(1, 2), 2), (64, 2, 3)):
        net = network(request(servers, 2, plain(32), ratio=ratio, tiers=count, pod_units=1))
        assert aligned(net)
        assert bisection_gbps(net) == flow_between_halves(net)


@pytest.mark.parametrize(
    ("asked", "gbps"),
    [
        (request(64), 102_400),  # 512 x 400G, non-blocking: half of 204.8 Tb/s
        (request(64, ratio=2, tiers=2), 51_200),
        (request(64, ratio=Fraction(1, 2), tiers=2), 102_400),  # more uplinks than servers can fill
        (request(512, spine_ratio=4, tiers=3), 204_800),  # 4,096 x 400G: half of 1,638.4 Tb/s, a quarter of that
        (request(8), 12_800),  # one switch
        (request(8, single_tier="two_leaves", tiers=1), 12_800),  # 32 x 400G between the two
    ],
)
def test_bisections_by_hand(asked: FabricRequest, gbps: int) -> None:
    net = network(asked)
    assert bisection_gbps(net) == gbps
    assert injection_gbps(net) == asked.servers * asked.rails * 400


# --- Counts by hand --------------------------------------------------------------------------------------------------


def cages(end: LinkEnd) -> int:
    assert end.ports_per_cage is not None
    return end.groups_of(end.ports_per_cage)


def test_modules_round_up_in_every_cage() -> None:
    # Published: 127 servers, 4 manager ports, 48 switches of 32 twin cages: 1,536 switch and 508 server modules.
    net = network(request(127, 8, reserved_total=4), server_ports_per_cage=2)
    switch = sum(cages(end) for link in net.links for end in (link.a, link.b) if end.tier in ("leaf", "spine"))
    assert switch == 48 * 32 == 1536
    assert cages(of_kind(net, "server-leaf").b) == 127 * 4 == 508
    # The manager's ports take the second half of cages that a server lights: no module more.
    assert cages(of_kind(net, "reserved").a) == 0


def test_a_half_used_cage_is_a_whole_module() -> None:
    # 31 ports on each of 8 leaves light 16 cages, not 15.5.
    net = network(request(31, 8, tiers=2, partial_units="packed"))
    assert cages(of_kind(net, "server-leaf").a) == 8 * 16


def test_whole_cage_uplinks_take_a_module_at_each_end() -> None:
    # The open OCP designs: a switch module for two server links and one at each end of an uplink.
    net = network(request(128, 8, SN5600, down=400, up=800))
    assert cages(of_kind(net, "server-leaf").a) == 1024 // 2
    assert cages(of_kind(net, "leaf-spine").a) == cages(of_kind(net, "leaf-spine").b) == 512


def test_ports_kept_free_on_spines_carry_no_links_and_no_modules() -> None:
    # HPN: 240 top-of-rack switches x 60 uplinks end on 120 aggregation switches that keep 8 of 128 ports free.
    net = network(
        request(1920, 8, SN5600, down=200, up=400, ratio=Fraction(16, 15), ports="all", per_leaf=8, spine=plain(128),
                per_spine=8, tiers=2),
        fabrics=2,
    )  # fmt: skip
    up = of_kind(net, "leaf-spine")
    assert (up.a.ports, up.b.ports, cages(up.b)) == (14_400, 14_400, 14_400)
    spine = net.tiers[1]
    assert (spine.count, spine.ports_used, spine.ports_free) == (120, 14_400, 0)


def test_links_between_the_same_two_switches_are_known() -> None:
    # 32 uplinks to 16 spines are pairs, to 8 spines fours; twin cables carry two of a pair.
    assert of_kind(network(request(128)), "leaf-spine").pair_links == 2
    assert of_kind(network(request(64)), "leaf-spine").pair_links == 4
    assert of_kind(network(request(8, single_tier="two_leaves", tiers=1)), "leaf-leaf").pair_links == 32
    # 64 cores of 128 spines: one link from every spine to every core of its group.
    assert of_kind(network(request(512)), "spine-core").pair_links == 512 * 8 // (128 * 32)


def test_twin_cables_between_two_leaves() -> None:
    # Published: 8 twin cables for the 16 links between two switches of 4 servers.
    net = network(request(4, single_tier="two_leaves", tiers=1))
    assert of_kind(net, "leaf-leaf").a.groups_of(2) == 8


def test_server_modules_follow_the_cages_of_the_server() -> None:
    # Two planes, one cage for both ports of a NIC: 8 modules for 16 links; with a cage for each port, 16.
    for ports_per_cage, modules in ((2, 8), (1, 16)):
        net = network(request(64, 8, SN5600, down=400, up=800), 2, ports_per_cage)
        assert links(net)["server-leaf"] == 1024
        assert cages(of_kind(net, "server-leaf").b) == 64 * modules


def test_ports_used_and_free_by_hand() -> None:
    # 31 of 32 downlinks and 32 uplinks on 8 leaves; 4 spines are full.
    leaf, spine = network(request(31, tiers=2)).tiers
    assert (leaf.count, leaf.ports_used, leaf.ports_free) == (8, 8 * 63, 8)
    assert (spine.count, spine.ports_used, spine.ports_free) == (4, 4 * 64, 0)
    # One port kept on every leaf is not free.
    # (31 uplinks would do, 32 spread over 4 spines: 31 + 1 ports light 16 cages, so the other 16 have them.)
    leaf, _ = network(request(31, tiers=2, per_leaf=1)).tiers
    assert (leaf.ports_used, leaf.ports_free) == (8 * (31 + 32), 0)
    # Mixed speeds: 64 x 400G in 32 cages, 32 x 800G in the others.
    leaf, spine = network(request(32, 8, SN5600, down=400, up=800)).tiers
    assert (leaf.ports_used, leaf.ports_free) == (4 * 96, 0)
    assert (spine.ports_used, spine.ports_free) == (2 * 64, 0)


def test_mixed_cages_are_two_classes_of_links() -> None:
    # 20 servers of 25G on one 18 + 4 switch: 18 in SFP28 cages, 2 in one QSFP28 cage split in four.
    net = network(request(20, 1, SN2010, down=25, up=100))
    found = [(link.a.cage_class, link.count, link.a.ports_per_cage, cages(link.a)) for link in net.links]
    assert sorted(found) == [("qsfp28", 2, 4, 1), ("sfp28", 18, 1, 18)]
    assert sum(link.b.ports for link in net.links) == 20


def test_server_cages_that_would_meet_two_kinds_of_switch_cages_are_refused() -> None:
    with pytest.raises(Unbuildable, match="two kinds of cages"):
        network(request(20, 1, SN2010, down=25, up=100), server_ports_per_cage=2)


def test_attached_hosts_keep_their_name_and_speed() -> None:
    groups = (Attached("storage", 8, 2, 400), Attached("login", 4, 1, 200))
    net = network(request(30, 8, tiers=2, unit_servers=32, attached=groups))
    found = {link.host: (link.count, link.gbps) for link in net.links if link.kind == "attached"}
    assert found == {"storage": (16, 400), "login": (4, 200)}
    assert net.endpoints == 240 + 16 + 4


def test_unknown_cages_stay_unknown() -> None:
    asked = request(8)
    net = build_network(asked, size_fabric(asked), 1, server=HostEnd(None, None), server_ports=8)
    link = of_kind(net, "server-leaf")
    assert (link.b.cage_class, link.b.ports_per_cage, link.count) == (None, None, 64)


# --- Groups of ports -------------------------------------------------------------------------------------------------


@given(
    banks=st.lists(
        st.tuples(st.integers(1, 4), st.lists(st.integers(0, 9), min_size=1, max_size=3)), min_size=1, max_size=4
    ),
    size=st.integers(1, 8),
)
@property_settings
def test_groups_are_those_of_ports_counted_one_by_one(banks: list[tuple[int, list[int]]], size: int) -> None:
    """Devices hold classes of ports one after the other; a class pays for the cages that it is the first to light."""
    classes = max(len(ports) for _, ports in banks)
    ends = [LinkEnd("leaf", "a", size, tuple(_loads(banks, index))) for index in range(classes)]
    lit = [0] * classes
    for devices, ports in banks:
        for _ in range(devices):
            seen: set[int] = set()
            position = 0
            for index, number in enumerate(ports):
                mine = {(position + k) // size for k in range(number)}
                lit[index] += len(mine - seen)
                seen |= mine
                position += number
    assert [end.groups_of(size) for end in ends] == lit
    assert [end.ports for end in ends] == [
        sum(d * (p[k] if k < len(p) else 0) for d, p in banks) for k in range(classes)
    ]


def _loads(banks: list[tuple[int, list[int]]], index: int) -> list[DeviceLoad]:
    return [DeviceLoad(d, ports[index], sum(ports[:index])) for d, ports in banks if index < len(ports)]


def test_a_spine_with_fewer_ports_that_find_no_cages_is_refused() -> None:
    # Spines of full pods keep 400G down and 200G up apart in two kinds of cages; those of the last pod would not.
    capped = CageSet(6, (Mode(400, 1), Mode(200, 4, 0, 40)), "a")
    spine = switch("two kinds", capped, CageSet(10, (Mode(800, 1), Mode(400, 2), Mode(200, 8, 1)), "a"))
    leaf = switch("capped", CageSet(9, (Mode(400, 1), Mode(200, 4, 0, 40)), "a"))
    asked = request(
        1970, 1, leaf, down=200, up=400, ratio=2, spine=spine, spine_up=200, spine_ratio=Fraction(1, 2), tiers=3,
        spine_ports="all", rail_optimized=False, partial_units="packed", domain_servers=2, reserved_total=9,
    )  # fmt: skip
    with pytest.raises(Unbuildable, match="spine tier: the ports in use on some switches find no place"):
        network(asked)
