"""Every link of a network: as many as were sized, where an architect looks for them, and where they were before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibplan.errors import InputError
from ibplan.fabric.checks import check_wiring
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import Attached, FabricRequest
from ibplan.fabric.wiring import Side, Wiring, WiringError, wire
from ibplan.parts.links import LinkEnd
from tests.fabric.shapes import (
    DS5000,
    QM8700,
    QM9700,
    SN2010,
    SN5600,
    built,
    network,
    plain,
    property_settings,
    request,
    requests,
)

Port = tuple[str, int, int]


def cabled(w: Wiring, kind: str | None = None) -> list[tuple[Port, Port]]:
    """Every link as ((device, cage, leg), (device, cage, leg)), counted from 1, in the order of the wiring."""
    names = w.device_names()
    ends = []
    for side in ("a", "b"):
        cages, legs = w.cages(side)  # type: ignore[arg-type]
        devices = w.links.end(side)[0].tolist()  # type: ignore[arg-type]
        ends.append([(names[d], c + 1, g + 1) for d, c, g in zip(devices, cages.tolist(), legs.tolist(), strict=True)])
    kinds = [w.classes[k].kind for k in w.links.link_class.tolist()]
    return [(a, b) for a, b, k in zip(*ends, kinds, strict=True) if kind in (None, k)]


def at(w: Wiring, device: str) -> dict[tuple[int, int], str]:
    """What is at each (cage, leg) of a device: the far device and its cage."""
    found = {}
    for a, b in cabled(w):
        for near, far in ((a, b), (b, a)):
            if near[0] == device:
                found[near[1:]] = f"{far[0]} {far[1]}"
    return dict(sorted(found.items()))


def table(w: Wiring) -> bytes:
    links = w.links
    columns = [links.link_class, links.a_device, links.a_port, links.b_device, links.b_port, links.fabric]
    return b"".join(c.tobytes() for c in columns) + "\n".join(w.device_names()).encode()


# --- What holds of every wiring --------------------------------------------------------------------------------------


@st.composite
def plans(draw: st.DrawFn) -> tuple[FabricRequest, int, int, int]:
    """A request, and its fabrics, planes and ports of a NIC: one fabric, planes, separate rails, or both."""
    asked = draw(requests())
    form = draw(st.sampled_from(["one", "planes", "planes", "rails", "both"]))
    if form == "one":
        return asked, 1, 1, draw(st.sampled_from([n for n in (1, 2, 4) if asked.rails % n == 0]))
    planes = 1 if form == "rails" else draw(st.sampled_from([2, 3]))
    if form == "planes":
        return asked, planes, planes, planes * draw(st.sampled_from([n for n in (1, 2) if asked.rails % n == 0]))
    asked = replace(asked, rails=1, attached=())
    rails = draw(st.sampled_from([2, 4, 6]))
    return asked, planes * rails, planes, planes * draw(st.sampled_from([1, 2]))


def wired(plan: tuple[FabricRequest, int, int, int]) -> Wiring | None:
    asked, fabrics, planes, per_nic = plan
    net = built(asked, fabrics)
    if net is None or capped_by_the_cage(net):
        return None
    return wire(net, planes=planes, ports_per_nic=per_nic)


def capped_by_the_cage(net: NetworkSize) -> bool:
    """Whether a mode with a cap is in use: sizing counts its ports, but the cap is one of cages (tested last)."""
    tiers = [net.request.leaf.geometry, net.request.spine.geometry, net.request.core]
    used = {c.gbps for c in net.links}
    return any(m.max_ports is not None and m.gbps in used for g in tiers for s in g.sets for m in s.modes)


def loads_of(w: Wiring, link_class: int, side: Side) -> Counter[int]:
    """Ports of a class at one end, device by device, as {ports: devices}."""
    devices = w.links.end(side)[0][w.links.link_class == link_class]
    return Counter(np.unique(devices, return_counts=True)[1].tolist())


def sized_loads(end: LinkEnd) -> Counter[int]:
    found: Counter[int] = Counter()
    for load in end.loads:
        found[load.ports] += load.devices
    return +found


def links_and_loads_are_those_of_sizing(w: Wiring) -> None:
    for k, link in enumerate(w.classes):
        assert int((w.links.link_class == k).sum()) == link.count
        assert loads_of(w, k, "a") == sized_loads(link.a)
        if link.kind != "attached":  # sizing does not know which ports of attached hosts share a cage
            assert loads_of(w, k, "b") == sized_loads(link.b) or link.b.loads == (replace(link.b.loads[0], ports=1),)


def cages_are_those_of_sizing(w: Wiring) -> None:
    for tier in ("leaf", "spine", "core"):
        lit = set()
        for side in ("a", "b"):
            devices, cages = w.links.end(side)[0], w.cages(side)[0]  # type: ignore[arg-type]
            mine = np.isin(devices, w.of_kind(tier))  # type: ignore[arg-type]
            lit |= set(zip(devices[mine].tolist(), cages[mine].tolist(), strict=True))
        sized = sum(end.groups_of(end.ports_per_cage or 1) for c in w.classes for end in (c.a, c.b) if end.tier == tier)
        assert len(lit) >= sized if tier == "leaf" and keeps_room_for_servers(w.network) else len(lit) == sized


def keeps_room_for_servers(net: NetworkSize) -> bool:
    """Whether attached hosts or managers may stand behind ports of servers that are not there yet."""
    extras = net.request.reserved_total or net.request.attached
    return bool(extras) and net.request.partial_units == "whole" and net.fabric.tiers > 1


def all_checks_pass(w: Wiring) -> None:
    assert check_wiring(w) == []


def the_same_request_gives_the_same_bytes(w: Wiring) -> None:
    again = wire(w.network, planes=w.hosts.planes, ports_per_nic=w.hosts.ports_per_nic)
    assert table(again) == table(w)


HOLDS: list[Callable[[Wiring], None]] = [
    links_and_loads_are_those_of_sizing,
    cages_are_those_of_sizing,
    all_checks_pass,
    the_same_request_gives_the_same_bytes,
]


@given(plan=plans())
@property_settings
def test_of_any_wiring(plan: tuple[FabricRequest, int, int, int]) -> None:
    w = wired(plan)
    if w is not None:
        for holds in HOLDS:
            holds(w)


def grows_in_place(small: Wiring, large: Wiring) -> bool:
    """Whether unit size and spine count stay, and no leaf of attached hosts alone stands behind the units."""
    one, two = small.network.fabric, large.network.fabric
    if (one.tiers, one.core) != (two.tiers, two.core) or replace(one.unit, count=0) != replace(two.unit, count=0):
        return False
    spines = {pod.spines for fabric in (one, two) for pod in fabric.pods}
    uplinks = {load.uplinks for fabric in (one, two) for pod in fabric.pods for load in pod.leaves}
    moved = small.network.request.attached and one.leaf_count != two.leaf_count
    return one.tiers > 1 and len(spines) == len(uplinks) == 1 and not moved


def extras(w: Wiring, kind: str) -> Counter[str]:
    """Links of a kind on every leaf."""
    return Counter(a[0] for a, _ in cabled(w, kind))


@given(asked=requests().map(lambda asked: replace(asked, tiers=3 if asked.tiers == 3 else 2)))
@example(asked=request(100, reserved_total=4))
@example(asked=request(126, reserved_total=4))
@example(asked=request(96, reserved_total=4, unit_servers=28))
@example(asked=request(5 * 32 + 3, tiers=3, second_tier="rail"))
@example(asked=request(60, attached=(Attached("storage", 8, 2, 400),)))
@property_settings
def test_adding_a_server_moves_and_renames_nothing(asked: FabricRequest) -> None:
    asked = replace(asked, partial_units="whole")
    more = replace(asked, servers=asked.servers + 1)
    small, large = wired((asked, 1, 1, 1)), wired((more, 1, 1, 1))
    if small is None or large is None or not grows_in_place(small, large):
        return
    for kind in ("server-leaf", "leaf-spine", "spine-core"):
        assert set(cabled(small, kind)) <= set(cabled(large, kind)), kind
    lone = extras(small, "attached").keys() - extras(small, "server-leaf").keys() - extras(small, "reserved").keys()
    if all(extras(small, k) == extras(large, k) for k in ("reserved", "attached")) and not lone:
        # Sizing gave no leaf another number of them, and none had nothing else on it.
        assert cabled(small, "reserved") == cabled(large, "reserved")
        assert cabled(small, "attached") == cabled(large, "attached")


def test_pods_keep_their_numbers_when_one_fills_up() -> None:
    # Two rails on two pods each: sizing lists the fullest pods first, and the order changes when the last ones fill up.
    switch = plain(8)
    shape: dict[str, Any] = {"tiers": 3, "second_tier": "rail", "spine": switch, "core": plain(64)}
    small, large = (wire(network(request(n, 2, switch, **shape))) for n in (28, 32))
    assert set(cabled(small, "leaf-spine")) <= set(cabled(large, "leaf-spine"))


# --- Where things are ------------------------------------------------------------------------------------------------


def test_the_published_pod() -> None:
    # RA-11333: 127 servers, four ports for the fabric managers, 32 leaves, 16 spines.
    w = wire(network(request(127, reserved_total=4), server_ports_per_cage=2))
    pairs = Counter((a[0], b[0]) for a, b in cabled(w, "leaf-spine"))
    assert len(pairs) == 32 * 16
    assert set(pairs.values()) == {2}
    assert [len(at(w, f"leaf-{n:03d}")) for n in range(1, 33)] == [64] * 28 + [63] * 4
    assert all(len(at(w, f"spine-{n:03d}")) == 64 for n in range(1, 17))
    # Rail i of each server of a unit is on leaf i of the unit, and server 1 is in the first port of each.
    assert cabled(w, "server-leaf")[:2] == [
        (("leaf-001", 1, 1), ("server-001", 1, 1)),
        (("leaf-002", 1, 1), ("server-001", 1, 2)),
    ]
    assert at(w, "leaf-003")[16, 2] == "server-032 2"  # its third rail, so its second cage
    # The manager stands in the port of the server that was given up; the uplinks start in cage 17, two to each spine.
    assert at(w, "leaf-025")[16, 2] == "manager-001 1"
    assert at(w, "leaf-028")[16, 2] == "manager-004 1"
    assert (16, 2) not in at(w, "leaf-029")
    assert [at(w, "leaf-025")[17, leg] for leg in (1, 2)] == ["spine-001 25", "spine-001 25"]
    assert at(w, "leaf-025")[32, 2] == "spine-016 25"


def test_managers_keep_the_top_downlink_while_servers_are_added() -> None:
    # 100 servers: four in the last unit.
    w = wire(network(request(100, reserved_total=4)))
    assert at(w, "leaf-025")[16, 2] == "manager-001 1"
    assert (3, 1) not in at(w, "leaf-025")


def test_names_have_three_digits_at_least_and_are_not_padded_by_the_size() -> None:
    w = wire(network(request(1100, 1, SN5600, down=400, attached=(Attached("nfs", 2, 1, 400),))))
    names = w.device_names()
    assert {"server-001", "server-999", "server-1000", "server-1100", "leaf-001", "spine-001", "nfs-002"} <= set(names)


def test_rails_share_leaves_in_small_units() -> None:
    # 16 servers on 128 ports: four rails on a leaf, two leaves.
    w = wire(network(request(16, 8, SN5600, down=400, up=800, tiers=2)))
    assert list(Counter(a[0] for a, _ in cabled(w, "server-leaf")).items()) == [
        ("leaf-001", 64),
        ("leaf-002", 64),
    ]
    assert at(w, "leaf-002")[1, 1] == "server-001 5"
    assert at(w, "leaf-002")[3, 1] == "server-002 5"  # server 2 follows with all its rails
    # Downlinks are two a cage in cages 1 to 32, uplinks one a cage in 33 to 64.
    assert set(at(w, "leaf-001")) == {(c, g) for c in range(1, 33) for g in (1, 2)} | {(c, 1) for c in range(33, 65)}


def test_servers_stay_whole_where_rails_are_not_optimized() -> None:
    w = wire(network(request(9, 8, rail_optimized=False)))
    leaf_of = {b[0]: a[0] for a, b in cabled(w, "server-leaf")}
    assert [leaf_of[f"server-{n:03d}"] for n in range(1, 10)] == ["leaf-001"] * 4 + ["leaf-002"] * 4 + ["leaf-003"]


def test_two_leaves_share_the_rails_or_the_servers() -> None:
    w = wire(network(request(4, 3, tiers=1, single_tier="two_leaves")))
    by_server = [[a[0] for a, b in cabled(w, "server-leaf") if b[0] == f"server-00{n}"] for n in (1, 2)]
    assert by_server == [["leaf-001", "leaf-001", "leaf-002"]] * 2
    assert {(a[0], b[0]) for a, b in cabled(w, "leaf-leaf")} == {("leaf-001", "leaf-002")}
    w = wire(network(request(5, 1, tiers=1, single_tier="two_leaves")))
    assert [a[0][-1] for a, _ in cabled(w, "server-leaf")] == ["1", "2", "1", "2", "1"]


def test_ports_of_a_nic_are_dealt_over_the_planes() -> None:
    w = wire(network(request(4, 4, plain(16)), fabrics=2), planes=2, ports_per_nic=2)
    first = sorted((b[1], a[0]) for a, b in cabled(w, "server-leaf") if b[0] == "server-001")
    assert [leaf.split("-")[1] for _, leaf in first] == ["p1", "p2"] * 4
    w = wire(network(request(4, 4, plain(16)), fabrics=2), planes=2, ports_per_nic=4)
    assert len({a[0] for a, b in cabled(w, "server-leaf") if b[0] == "server-001" and "p2" in a[0]}) >= 1
    ports = {b[1] for a, b in cabled(w, "server-leaf") if b[0] == "server-001" and "-p2-" in a[0]}
    assert ports == {2, 4, 6, 8}


def test_separate_rails_are_named_and_apart() -> None:
    w = wire(network(request(64, 1, tiers=1), fabrics=8), planes=1)
    assert [w.device_name(i) for i in w.of_kind("leaf")] == [f"leaf-r{n}-001" for n in range(1, 9)]
    assert at(w, "leaf-r3-001")[1, 1] == "server-001 3"
    w = wire(network(request(64, 1, tiers=1), fabrics=8), planes=2, ports_per_nic=2)
    assert [w.device_name(i) for i in w.of_kind("leaf")][3:6] == ["leaf-p1r4-001", "leaf-p2r1-001", "leaf-p2r2-001"]
    assert at(w, "leaf-p2r3-001")[1, 1] == "server-001 6"  # the second port of NIC 3


def test_ports_of_attached_hosts_are_on_different_leaves_behind_the_servers() -> None:
    w = wire(network(request(30, 8, attached=(Attached("storage", 4, 4, 400),))))
    leaves = [[a[0] for a, b in cabled(w, "attached") if b[0] == f"storage-{n:03d}"] for n in range(1, 5)]
    assert all(len(set(found)) == 4 for found in leaves)
    assert [k for k, far in at(w, "leaf-001").items() if far.startswith("storage")] == [(16, 1), (16, 2)]


def test_attached_hosts_of_another_speed_have_leaves_of_their_own() -> None:
    w = wire(network(request(32, 8, attached=(Attached("storage", 3, 2, 200),))))
    assert {a[0] for a, _ in cabled(w, "attached")} == {"leaf-009"}
    assert [key for key, far in at(w, "leaf-009").items() if far.startswith("storage")][:5] == [
        *((1, leg) for leg in (1, 2, 3, 4)),
        (2, 1),
    ]


def test_cores_take_the_spines_of_one_group() -> None:
    w = wire(network(request(32 * 8, 8, tiers=3, pod_units=2)))
    core = w.network.fabric.core
    assert core is not None
    groups = {(int(a[0][-3:]) - 1) % 16 % core.groups: set() for a, _ in cabled(w, "spine-core")}  # type: ignore[var-annotated]
    for a, b in cabled(w, "spine-core"):
        groups[(int(a[0][-3:]) - 1) % 16 % core.groups].add(b[0])
    assert [len(found) for found in groups.values()] == [core.per_group] * core.groups
    assert len(set.union(*groups.values())) == core.count


def test_cages_that_darken_their_neighbors() -> None:
    # 8 x 100G in the first cage of each pair; the uplinks run whole in cages that are neither lit so nor dark.
    w = wire(network(request(40, 8, SN5600, down=100, up=800, spine=SN5600, unit_servers=16)))
    cages = {cage for (cage, _), far in at(w, "leaf-001").items() if far.startswith("server")}
    ups = {cage for (cage, _), far in at(w, "leaf-001").items() if far.startswith("spine")}
    assert all(cage % 2 == 1 for cage in cages)
    assert not ups & {c + 1 for c in cages}
    assert max(ups) == 64


def test_a_split_that_only_every_other_cage_has() -> None:
    # A published design with this switch splits odd cages only.
    w = wire(network(request(64, 1, DS5000, down=200, up=800, tiers=2)))
    assert {c % 2 for (c, _), far in at(w, "leaf-001").items() if far.startswith("server")} == {1}


def test_two_kinds_of_cages() -> None:
    # 18 x 25G, and 4 x 100G of which some split: downlinks fill the simple cages first.
    w = wire(network(request(20, 1, SN2010, down=25, up=100, tiers=1)))
    assert [a[1:] for a, _ in cabled(w, "server-leaf")] == [(n, 1) for n in range(1, 19)] + [(19, 1), (19, 2)]
    assert len(w.classes) == 2


def test_ports_kept_free_on_every_leaf_are_the_last_downlinks() -> None:
    w = wire(network(request(30, 8, per_leaf=2)))
    downs = [key for key, far in at(w, "leaf-001").items() if far.startswith("server")]
    assert max(downs) == (15, 2)
    assert min(key for key, far in at(w, "leaf-001").items() if far.startswith("spine")) >= (17, 1)


def test_a_million_links_stay_small() -> None:
    w = wire(network(request(4096, 8)))
    assert len(w.links) == 3 * 4096 * 8
    assert all(w.device(w.device_name(i)) == i for i in (0, 4096, len(w.devices) - 1))
    assert w.device("leaf-0001") is None
    assert sum(getattr(w.links, n).nbytes for n in w.links.__dataclass_fields__) == 20 * len(w.links)


# --- What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("leaf",), ("server",), ("leaf-p1",), ("nfs", "nfs")])
def test_names_of_attached_hosts_that_others_have_are_refused(names: tuple[str, ...]) -> None:
    attached = tuple(Attached(name, 1, 1, 400) for name in names)
    with pytest.raises(InputError, match="would name other devices too"):
        wire(network(request(8, 8, attached=attached), fabrics=2))


@pytest.mark.parametrize("given", [{"planes": 3}, {"ports_per_nic": 3}, {"planes": 1}])
def test_ports_that_cannot_be_dealt_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(WiringError, match="are not dealt over"):
        wire(network(request(8, 8), fabrics=2), **given)


def test_a_network_whose_counts_do_not_agree_is_not_wired() -> None:
    net = network(request(64, 8))
    (pod,) = net.fabric.pods
    halved = replace(net.fabric, pods=(replace(pod, leaves=tuple(replace(x, uplinks=16) for x in pod.leaves)),))
    with pytest.raises(WiringError, match="were sized"):
        wire(replace(net, fabric=halved))


# --- Where sizing and wiring did not agree once ----------------------------------------------------------------------


def test_a_manager_at_the_top_of_the_downlinks_may_need_a_cage_more() -> None:
    # One server of 32: ports 1 and 32 of leaf 9 are in two cages.
    net = network(request(33, 8, reserved_total=1))
    w = wire(net)
    devices, cages = w.links.a_device, w.cages("a")[0]
    down = np.isin(w.links.link_class, [k for k, c in enumerate(w.classes) if c.b.tier in ("server", "reserved")])
    lit = len(set(zip(devices[down].tolist(), cages[down].tolist(), strict=True)))
    assert lit == sum(c.a.groups_of(2) for c in w.classes if c.b.tier in ("server", "reserved"))


def test_a_capped_split_is_capped_in_cages() -> None:
    # 32 of 64 cages split in four. 127 ports and one uplink would take 32 cages and one: sizing must leave one.
    wire(network(request(127, 1, DS5000, down=200, up=200, spine=DS5000, ratio=127, ports="all", tiers=2)))


def test_the_switches_of_shapes_are_those_that_are_wired_here() -> None:
    for geometry, gbps in ((QM9700, 400), (QM8700, 200)):
        assert check_wiring(wire(network(request(70, 4, geometry, down=gbps)))) == []
