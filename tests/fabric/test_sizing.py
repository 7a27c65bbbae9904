"""Whole fabrics: limits of every tier, the mistakes that people report of planners, pins and properties."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import Attached, FabricRequest
from ibplan.fabric.sizing import size_fabric
from ibplan.performance.bandwidth import bisection_gbps, injection_gbps
from tests.fabric.shapes import (
    QM8700,
    QM9700,
    SN5600,
    each_pod,
    links,
    network,
    plain,
    property_settings,
    request,
    requests,
    switch,
    tiers,
)


def pod_shapes(net: NetworkSize) -> list[tuple[int, int, int, int]]:
    """(units, spines, downlinks and uplinks of a spine) of every pod."""
    return [(pod.units, pod.spines, pod.downlinks, pod.uplinks) for pod in each_pod(net)]


# --- Limits: one server, exactly full, one more than full ------------------------------------------------------------


@pytest.mark.parametrize(
    ("servers", "counts"),
    [
        (1, (1, 0, 0)),
        (8, (1, 0, 0)),  # 64 ports of 64
        (9, (4, 2, 0)),  # 72 ports: two tiers; two rails of 9 servers share a leaf of 32 downlinks
        (32, (8, 4, 0)),  # one unit
        (33, (16, 8, 0)),  # two units
        (256, (64, 32, 0)),  # 64^2 / 2 = 2,048 ports
        (257, (72, 96, 64)),  # three pods of 4, 4 and 1 unit; 3,072 links need 48 cores, an even spread 64
        (8192, (2048, 2048, 1024)),  # 64^3 / 4 = 65,536 ports
    ],
)
def test_limits_of_64_port_switches(servers: int, counts: tuple[int, int, int]) -> None:
    assert tiers(network(request(servers))) == counts


@pytest.mark.parametrize(("pinned", "servers"), [(1, 9), (2, 257), (3, 8193), ("auto", 8193)])
def test_one_server_more_than_full_is_refused(pinned: object, servers: int) -> None:
    network(request(servers - 1, tiers=pinned))
    with pytest.raises(Unbuildable) as refused:
        network(request(servers, tiers=pinned))
    (reason,) = refused.value.reasons
    assert reason.need is not None
    assert reason.have is not None
    assert reason.need > reason.have


def test_a_unit_more_than_its_leaves_hold_is_refused_where_it_is_pinned() -> None:
    network(request(64, unit_servers=32, tiers=2))
    with pytest.raises(Unbuildable):
        network(request(64, unit_servers=33, tiers=2))


def test_one_server_in_every_number_of_tiers() -> None:
    # 8 ports on one leaf; whole: 32 uplinks to one spine of 64 ports; one pod, 32 links to one core.
    assert tiers(network(request(1, tiers=1))) == (1, 0, 0)
    assert tiers(network(request(1, tiers=2))) == (1, 1, 0)
    assert tiers(network(request(1, tiers=3))) == (1, 1, 1)
    packed = network(request(1, tiers=3, partial_units="packed"))
    assert links(packed) == {"server-leaf": 8, "leaf-spine": 8, "spine-core": 8}


@pytest.mark.parametrize(
    ("servers", "counts"),
    [
        # Published tables of full units on 64 ports: 16, 32, 128 and 512 leaves.
        (64, (16, 8, 0)),
        (128, (32, 16, 0)),
        (512, (128, 128, 64)),
        (2048, (512, 512, 256)),
        # 24 units: 6 pods; 6,144 links fill 96 cores, but 128 spread evenly (rule 6 of the published designs).
        (768, (192, 192, 128)),
    ],
)
def test_full_units(servers: int, counts: tuple[int, int, int]) -> None:
    net = network(request(servers))
    assert tiers(net) == counts
    per_tier = servers * 8
    assert links(net)["leaf-spine"] == per_tier
    assert links(net).get("spine-core", per_tier) == per_tier


def test_the_port_minimum_is_shown_beside_what_is_built() -> None:
    # 24 leaves x 32 uplinks fill 12 spines; 16 are built (published). 24 units fill 96 cores; 128 are built.
    assert network(request(96)).fabric.spine_minimum == 12
    assert network(request(768)).fabric.core_minimum == 96


# --- What people report of planners (numbers are those of the list of reports) ----------------------------------------


def test_report_1_spines_follow_from_ports() -> None:
    net = network(request(64))
    assert tiers(net) == (16, 8, 0)
    assert links(net)["leaf-spine"] == 512


@pytest.mark.parametrize("geometry", [QM9700, SN5600, plain(48), plain(256)])
def test_report_6_host_links_are_nic_ports_whatever_the_leaves(geometry: Geometry) -> None:
    assert links(network(request(32, 8, geometry)))["server-leaf"] == 256


def test_report_10_bandwidth_carries_its_unit() -> None:
    # 128 x 400G are 51.2 Tb/s in all, 25.6 Tb/s (3.2 TB/s) across the middle; 1,024 x 400G are 25.6 TB/s across it.
    small, large = network(request(16)), network(request(128))
    assert injection_gbps(small) == 51_200
    assert bisection_gbps(small) == 25_600
    assert bisection_gbps(large) == 25_600 * 8


def test_report_12_a_shared_nic_is_one_link() -> None:
    # 128 servers, two to a NIC: 64 links, 200 Gb/s for each server.
    net = network(request(64, 1))
    assert links(net)["server-leaf"] == 64
    assert injection_gbps(net) / 128 == 200


def test_report_13_port_use_is_said_and_fewer_switches_do() -> None:
    # 256 ports of 800G on 144-port switches: 4 + 2 instead of the 8 + 4 of the report.
    net = network(request(32, 8, plain(144, 800), down=800, partial_units="packed"))
    assert tiers(net) == (4, 2, 0)
    leaf, spine = net.tiers
    assert (leaf.ports_used, leaf.ports_free) == (4 * 128, 4 * 16)
    assert (spine.ports_used, spine.ports_free) == (2 * 128, 2 * 16)


def test_report_14_sizes_are_computed_from_rails_and_breakouts() -> None:
    net = network(request(32, 8, SN5600, down=400, up=800))
    assert tiers(net) == (4, 2, 0)
    assert links(net) == {"server-leaf": 256, "leaf-spine": 128}


# --- Oversubscription ------------------------------------------------------------------------------------------------


def test_two_readings_of_2_to_1() -> None:
    # 128 servers, 64 ports. Half: 32 down and 16 up of 64: 32 leaves x 16 = 512 links, 8 spines (published).
    half = network(request(128, ratio=2, tiers=2))
    assert tiers(half) == (32, 8, 0)
    assert links(half)["leaf-spine"] == 512
    # All: 42 down and 21 up; 4 units of 42 servers, 32 leaves x 21 = 672 links; 11 spines have the ports, 21 divides.
    filled = network(request(128, ratio=2, ports="all", tiers=2))
    assert (filled.fabric.unit.servers, filled.fabric.unit.count) == (42, 4)
    assert tiers(filled) == (32, 11, 0)
    assert links(filled)["leaf-spine"] == 32 * 22  # 22 of at most 22 uplinks: two on each of 11 spines


def test_the_built_ratio_is_at_most_the_asked_one_and_is_said() -> None:
    # 16:15 of 32 downlinks is 30 uplinks: 5 spines of 48 ports. On 64 ports 4 spines have 32: better than asked.
    assert network(request(32, ratio=Fraction(16, 15), tiers=2, spine=plain(48))).fabric.leaf_built == Fraction(16, 15)
    assert network(request(32, ratio=Fraction(16, 15), tiers=2)).fabric.leaf_built == 1
    # 3:1 of 32 downlinks is 11 uplinks, which is 32:11.
    assert network(request(32, ratio=3, tiers=2, spine=plain(88))).fabric.leaf_built == Fraction(32, 11)


def test_more_uplinks_than_downlinks() -> None:
    # 1:2 of 64 ports: 21 down, 42 up. 21 servers x 8 rails: 8 leaves x 42 = 336 links, 6 spines, which divide 42.
    net = network(request(21, ratio=Fraction(1, 2), tiers=2))
    assert tiers(net) == (8, 6, 0)
    assert links(net)["leaf-spine"] == 336
    assert net.fabric.leaf_built == Fraction(1, 2)


def test_a_ratio_counts_bandwidth() -> None:
    # 100G down and 400G up at 1:1: 64 ports of 100G need 16 uplinks, not 64.
    net = network(request(64, 1, SN5600, down=100, up=400, tiers=2, unit_servers=64))
    assert links(net)["leaf-spine"] == 16
    assert net.fabric.leaf_built == 1


def test_an_oversubscribed_spine() -> None:
    # 7:1 above 1:1, 64-port leaves of 2 servers and 192 of them a pod (Llama 3): 16 spines of 192 down and 28 up.
    net = network(
        request(
            3072,
            8,
            plain(64),
            spine=plain(576),
            spine_ratio=7,
            rail_optimized=False,
            unit_servers=2,
            pod_units=192,
            tiers=3,
        )
    )
    assert pod_shapes(net) == [(192, 16, 192, 28)] * 8
    assert net.fabric.spine_built == Fraction(192, 28)


def test_a_spine_that_fills_its_ports() -> None:
    # 15:1 of 128 ports: 120 down and 8 up (HPN): 15 units of 8 leaves a pod.
    net = network(
        request(
            1920 * 2,
            8,
            SN5600,
            down=200,
            up=400,
            ratio=Fraction(16, 15),
            ports="all",
            per_leaf=8,
            spine=plain(128),
            spine_ratio=15,
            spine_ports="all",
            tiers=3,
        )
    )
    assert pod_shapes(net) == [(15, 60, 120, 8)] * 2


# --- One tier --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("servers", "isl"), [(1, 4), (4, 16), (8, 32)])
def test_two_leaves_are_joined_by_half_the_server_links(servers: int, isl: int) -> None:
    net = network(request(servers, tiers=1, single_tier="two_leaves"))
    assert tiers(net) == (2, 0, 0)
    assert links(net) == {"server-leaf": servers * 8, "leaf-leaf": isl}


def test_two_leaves_give_way_to_a_spine_when_they_are_full() -> None:
    assert tiers(network(request(8, single_tier="two_leaves"))) == (2, 0, 0)
    assert tiers(network(request(9, single_tier="two_leaves")))[1] > 0
    with pytest.raises(Unbuildable, match="two leaves"):
        network(request(9, single_tier="two_leaves", tiers=1))


def test_two_leaves_join_at_whole_cage_speed() -> None:
    # 16 servers x 8 x 400G: 64 ports in 32 cages and 32 x 800G on each leaf: all 64 cages (an enterprise design).
    net = network(request(16, 8, SN5600, down=400, up=800, tiers=1, single_tier="two_leaves"))
    assert links(net) == {"server-leaf": 128, "leaf-leaf": 32}
    with pytest.raises(Unbuildable):
        network(request(17, 8, SN5600, down=400, up=800, tiers=1, single_tier="two_leaves"))


def test_two_leaves_count_attached_hosts_of_the_same_speed() -> None:
    # 8 ports of servers and 10 of storage on each leaf: 18 links between them.
    storage = (Attached("storage", 20, 1, 400),)
    net = network(request(8, 2, tiers=1, single_tier="two_leaves", attached=storage))
    assert links(net) == {"server-leaf": 16, "attached": 20, "leaf-leaf": 18}


def test_two_leaves_that_attached_hosts_overfill_are_refused() -> None:
    # 16 + 20 ports and 36 between the leaves make 72 on each: more than 64.
    storage = (Attached("storage", 20, 2, 400),)
    with pytest.raises(Unbuildable, match="two leaves"):
        network(request(16, 2, tiers=1, single_tier="two_leaves", attached=storage))


def test_servers_stay_whole_on_two_leaves_where_rails_are_not_optimized() -> None:
    # Four servers of three ports, two on each leaf: six links between them. (By rails it would be 8 and 4, and eight.)
    net = network(request(4, 3, tiers=1, single_tier="two_leaves", rail_optimized=False))
    assert links(net)["leaf-leaf"] == 6


def test_rail_only_is_one_small_fabric_many_times() -> None:
    # A published row: 64 servers, one 64-port switch for each of 8 rails and no spine.
    net = network(request(64, 1, tiers=1), fabrics=8)
    assert tiers(net) == (8, 0, 0)
    assert links(net) == {"server-leaf": 512}


# --- Three tiers -----------------------------------------------------------------------------------------------------


def test_spine_groups_can_follow_the_rails() -> None:
    # Published: 140 servers of 8 rails on 40 ports have 56 leaves, 8 groups of 10 spines and 28 cores.
    net = network(request(140, 8, QM8700, down=200, tiers=3, second_tier="rail"))
    assert tiers(net) == (56, 80, 28)
    assert net.fabric.core is not None
    assert (net.fabric.core.groups, net.fabric.core.per_group) == (2, 14)
    assert pod_shapes(net) == [(7, 10, 14, 14)] * 8


def test_rail_groups_keep_to_their_pods_when_a_rail_outgrows_one() -> None:
    # 32 leaves of a rail fill a pod: 40 units are two pods a rail.
    net = network(request(32 * 40, 8, tiers=3, second_tier="rail"))
    assert net.fabric.leaf_count == 320
    assert sum(pod.count for pod in net.fabric.pods) == 16
    assert max(pod.leaf_count for pod in net.fabric.pods) == 32


def test_reserved_ports_go_with_rail_groups() -> None:
    # 70 full units: the manager's ports need a leaf more, whichever way it is built.
    for partial in ("whole", "packed"):
        net = network(request(32 * 70, 8, tiers=3, second_tier="rail", partial_units=partial, reserved_total=4))
        assert net.fabric.leaf_count > 560
        assert links(net)["reserved"] == 4


def test_a_whole_last_pod_has_the_spines_of_the_others() -> None:
    net = network(request(32 * 5, 8, tiers=3))
    # 8 leaves x 32 uplinks leave 8 of 32 downlinks of each spine in use; its uplinks are those of a full pod.
    assert pod_shapes(net) == [(4, 32, 32, 32), (1, 32, 8, 32)]


def test_a_packed_last_pod_is_smaller() -> None:
    # 5 units on 64 ports: the last pod has 8 leaves x 32 uplinks, for which 8 spines have the ports.
    whole = network(request(32 * 5, 8, tiers=3))
    packed = network(request(32 * 5, 8, tiers=3, partial_units="packed"))
    assert packed.fabric.leaf_count == whole.fabric.leaf_count == 40
    assert packed.switch_count < whole.switch_count
    assert min(p.spines for p in packed.fabric.pods) >= 8


@pytest.mark.parametrize("servers", [101, 104, 345])
def test_a_packed_last_pod_keeps_the_ratio_of_its_spines(servers: int) -> None:
    # 104 servers on 40 ports at 1:1: no spine may carry more downlinks than it has uplinks.
    net = network(request(servers, 8, QM8700, down=200, partial_units="packed"))
    assert net.fabric.tiers == 3
    assert all(pod.downlinks <= pod.uplinks for pod in net.fabric.pods)


def attached_in_the_last_of_two_pods(spine_ratio: int) -> FabricRequest:
    """Two pods of two leaves with two servers each, 16 ports everywhere; one more host on the last leaf.

    One spine a pod has 4 downlinks in the first pod and 2 + 3 in the other.
    """
    other = (Attached("other", 1, 1, 400),)
    return request(8, 1, plain(16), unit_servers=2, pod_units=2, tiers=3, spine_ratio=spine_ratio, attached=other)


def test_spines_have_the_uplinks_that_the_busiest_pod_needs() -> None:
    # 1:1 above 5 downlinks is 5 uplinks on the one spine; 16 ports have room for them.
    assert max(pod.downlinks for pod in each_pod(network(attached_in_the_last_of_two_pods(3)))) == 5
    net = network(attached_in_the_last_of_two_pods(1))
    assert all(pod.downlinks <= pod.uplinks for pod in each_pod(net))


def test_the_built_ratio_of_spines_is_that_of_the_busiest_pod() -> None:
    net = network(attached_in_the_last_of_two_pods(3))
    assert net.fabric.spine_built == max(Fraction(pod.downlinks, pod.uplinks) for pod in each_pod(net))


def test_pods_have_numbers_of_spines_that_cores_can_share() -> None:
    """A last pod that needs another number of spines must not make the cores impossible.

    80 servers in units of 16 on 40 ports, 4 ports for the manager: leaves have 16 uplinks, four of the last unit 17 or
    more. 20 spines with one link to every leaf would do in all three pods: at most 16 down and 16 up, and 2 x 16 cores
    of 30 ports. With 16 spines in two pods and 17 in the last, no two core groups are possible.
    """
    net = network(request(80, 8, QM8700, down=200, tiers=3, unit_servers=16, reserved_total=4))
    assert links(net)["reserved"] == 4


def test_pinned_pods() -> None:
    # 2 units are 16 leaves x 32 uplinks: 16 spines of 32 downlinks.
    assert pod_shapes(network(request(32 * 6, 8, tiers=3, pod_units=2))) == [(2, 16, 32, 32)] * 3


def test_pinned_spines() -> None:
    # 8 leaves x 32 uplinks need 4 spines; 5 is not even, 8 is.
    assert tiers(network(request(32, min_spines=5, tiers=2))) == (8, 8, 0)
    with pytest.raises(Unbuildable, match="33 uplinks needed, 32 available"):
        network(request(32, min_spines=33, tiers=2))


def test_ports_reserved_on_every_spine_are_kept() -> None:
    # 32 leaves x 32 uplinks fill 16 spines of 64 ports; with two ports kept on each, 32 spines spread evenly.
    assert tiers(network(request(128, per_spine=2, tiers=2))) == (32, 32, 0)
    with pytest.raises(Unbuildable):
        network(request(256, per_spine=2, tiers=2))


# --- What switches do not have ---------------------------------------------------------------------------------------


def test_a_speed_that_a_switch_lacks_is_named() -> None:
    with pytest.raises(Unbuildable, match="leaf tier: QM9700 has no 800 Gb/s ports"):
        network(request(8, down=800))
    with pytest.raises(Unbuildable, match="spine tier: QM9700 has no 800 Gb/s ports"):
        network(request(64, 8, SN5600, down=400, up=800, spine=QM9700, tiers=2))
    with pytest.raises(Unbuildable, match="core tier"):
        network(request(64, 8, SN5600, down=400, up=800, core=QM9700, tiers=3))


def test_a_refusal_of_two_speeds_names_more_than_there_is() -> None:
    # 18 ports of 200G light 5 cages and 6 of 800G another 6, but there are 9. "24 ports needed, 36 there" is no reason.
    nine = switch("nine cages", CageSet(9, (Mode(800, 1), Mode(400, 2), Mode(200, 4))))
    with pytest.raises(Unbuildable) as refused:
        network(request(3, 6, nine, down=200, tiers=1, attached=(Attached("other", 3, 2, 800),)))
    (reason,) = refused.value.reasons
    assert reason.need is not None
    assert reason.have is not None
    assert reason.need > reason.have


# --- Properties ------------------------------------------------------------------------------------------------------


@given(asked=requests())
@property_settings
def test_any_request_is_sized_or_refused_with_what_is_short(asked: FabricRequest) -> None:
    reasons: tuple[Reason, ...] = ()
    try:
        network(asked)
    except Unbuildable as refused:
        reasons = refused.reasons
    for reason in reasons:
        assert reason.text
        # The downlinks of a spine are set so that its uplinks fit beside them: they cannot be what is short.
        assert reason.code != "spine-uplinks"
        if reason.need is not None and reason.have is not None:
            assert reason.need > reason.have


@given(asked=requests())
@property_settings
def test_auto_takes_the_fewest_tiers_that_fit(asked: FabricRequest) -> None:
    try:
        found = size_fabric(replace(asked, tiers="auto"))
    except (Unbuildable, AssertionError):
        return
    for fewer in range(1, found.tiers):
        with pytest.raises(Unbuildable):
            size_fabric(replace(asked, tiers=fewer))  # type: ignore[arg-type]
    assert size_fabric(replace(asked, tiers=found.tiers)) == found  # type: ignore[arg-type]


@given(asked=requests(extras=False))
@property_settings
def test_totals_of_planes_are_those_of_one_times_their_number(asked: FabricRequest) -> None:
    try:
        one, three = network(asked, 1), network(asked, 3)
    except Unbuildable:
        return
    assert tiers(three) == tuple(3 * number for number in tiers(one))
    assert links(three) == {kind: 3 * number for kind, number in links(one).items()}
    assert bisection_gbps(three) == 3 * bisection_gbps(one)
