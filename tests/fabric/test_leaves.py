"""The first tier: downlinks, units, rails on leaves, reserved ports and attached hosts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.fabric.geometry import Demand, Geometry
from ibplan.fabric.leaves import build_units, downlinks, most_uplinks, unit_rule
from ibplan.fabric.request import Attached, FabricRequest, TierRequest
from tests.fabric.shapes import (
    DS5000,
    QM8700,
    QM9700,
    SN2010,
    SN5600,
    leaves,
    links,
    network,
    plain,
    property_settings,
    request,
    requests,
    tiers,
)

# --- Downlinks (rule 1) ----------------------------------------------------------------------------------------------


def tier(geometry: Geometry, down: int, up: int, ratio: Fraction | int = 1, **others: object) -> TierRequest:
    return TierRequest(geometry, down, up, Fraction(ratio), **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "down", "up"),
    [
        # Published: half of 64, of 40, of 144 and of 128 ports.
        (tier(QM9700, 400, 400), 32, 32),
        (tier(QM8700, 200, 200), 20, 20),
        (tier(plain(144, 800), 800, 800), 72, 72),
        (tier(SN5600, 400, 800), 64, 32),
        # 2:1 with spare ports: 32 down and 16 up of 64 (published as one of two readings).
        (tier(QM9700, 400, 400, 2), 32, 16),
        # 2:1 filled: 42 down need 21 up: 21 + 11 cages. 43 would need 22: 22 + 11.
        (tier(QM9700, 400, 400, 2, ports="all"), 42, 21),
        # 22/18 of 40 ports; the halves of 22 split in 44 of 100G (Frontera).
        (tier(plain(40, 200), 200, 200, Fraction(22, 18), ports="all"), 22, 18),
        (tier(QM8700, 100, 200, Fraction(22, 18), ports="all"), 44, 18),
        # 15:1 of 128 ports (an HPN aggregation switch); 7:1 of 64.
        (tier(plain(128), 400, 400, 15, ports="all"), 120, 8),
        (tier(plain(64), 400, 400, 7, ports="all"), 56, 8),
        # 1:1 fills a switch either way.
        (tier(QM9700, 400, 400, 1, ports="all"), 32, 32),
        # Below one, uplinks outnumber downlinks: 1:2 of 64 ports is 21 + 42 (11 + 21 twin cages), not 32.
        (tier(QM9700, 400, 400, Fraction(1, 2)), 21, 42),
        (tier(plain(64), 400, 400, Fraction(1, 2)), 21, 42),
        # 16:15 rounds uplinks up: 32 / (16/15) = 30; and 33 would be too many for half.
        (tier(plain(64), 400, 400, Fraction(16, 15)), 32, 30),
        # By bandwidth, never by count: 24 x 25G over 2 x 100G is 3:1, and 18 + 6 ports leave two QSFP28 cages to go up.
        (tier(SN2010, 25, 100, 3, ports="all"), 24, 2),
        # One port kept on each leaf: 31 + 1 down light 16 cages and 31 up the other 16.
        (tier(QM9700, 400, 400, reserved=1), 31, 31),
        # 136 x 200G, of which 8 stay free, and 60 x 400G (an HPN top-of-rack switch).
        (tier(SN5600, 200, 400, Fraction(16, 15), ports="all", reserved=8), 128, 60),
        # An odd number of cages: 33 down would light 17 of 33, and 33 up 17 more.
        (tier(plain(3), 400, 400), 1, 1),
        # Two ports are one down and one up; one port is no leaf.
        (tier(plain(2), 400, 400), 1, 1),
    ],
)
def test_downlinks(asked: TierRequest, down: int, up: int) -> None:
    assert (downlinks(asked), asked.uplinks_for(down)) == (down, up)


def test_a_switch_without_room_for_both_directions_has_no_downlinks() -> None:
    assert downlinks(tier(plain(1), 400, 400)) == 0
    assert downlinks(tier(QM9700, 400, 400, reserved=64)) == 0


def test_a_cap_on_split_ports_holds_for_both_directions() -> None:
    # 128 ports of 200G in all: 64 down and 64 up at 1:1.
    assert downlinks(tier(DS5000, 200, 200, ports="all")) == 64
    assert most_uplinks(tier(DS5000, 200, 200), 64) == 64


@given(
    cages=st.integers(1, 40),
    ratio=st.fractions(Fraction(1, 4), 20, max_denominator=20),
    reserved=st.integers(0, 4),
    fill=st.booleans(),
)
@property_settings
def test_no_more_downlinks_would_do(cages: int, ratio: Fraction, reserved: int, fill: bool) -> None:
    """Search all downlink counts with the cage arithmetic written out for twin cages."""
    asked = tier(twin(cages), 400, 400, ratio, ports="all" if fill else "half", reserved=reserved)
    possible = [
        d
        for d in range(1, 2 * cages + 1)
        if -(-(d + reserved) // 2) - (-asked.uplinks_for(d) // 2) <= cages and (fill or d <= cages)
    ]
    assert downlinks(asked) == max(possible, default=0)


def twin(cages: int) -> Geometry:
    (kind,) = QM9700.sets
    return Geometry("twin", (type(kind)(cages, kind.modes, kind.cage_class),))


# --- Units and rails (rule 2) ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("servers", "geometry", "down", "up", "leaf_count", "rails_per_leaf"),
    [
        (31, QM9700, 400, 400, 8, 1),  # the published pod of 31 servers: one rail on a leaf
        (32, QM9700, 400, 400, 8, 1),
        (8, SN5600, 400, 800, 1, 8),  # the OCP designs: 1, 2, 4 and 8 leaves for 8, 16, 32 and 64 servers
        (16, SN5600, 400, 800, 2, 4),
        (32, SN5600, 400, 800, 4, 2),
        (64, SN5600, 400, 800, 8, 1),
        (65, SN5600, 400, 800, 16, 1),  # one more is another unit
        (1, QM9700, 400, 400, 1, 8),
    ],
)
def test_rails_share_leaves_while_there_is_room(
    servers: int, geometry: Geometry, down: int, up: int, leaf_count: int, rails_per_leaf: int
) -> None:
    net = network(request(servers, 8, geometry, down=down, up=up, tiers=2))
    assert net.fabric.leaf_count == leaf_count
    assert net.fabric.unit.rails_per_leaf == rails_per_leaf


def test_rails_that_do_not_divide_take_a_leaf_each() -> None:
    # 12 servers x 3 rails = 36 > 32, and 2 does not divide 3.
    assert unit_rule(request(12, 3)).rails_per_leaf == 1
    assert unit_rule(request(10, 3)).rails_per_leaf == 3
    # 6 rails: 10 servers x 3 = 30 fit, x 6 do not; 11 servers x 2 = 22.
    assert unit_rule(request(10, 6)).rails_per_leaf == 3
    assert unit_rule(request(11, 6)).rails_per_leaf == 2


def test_servers_are_not_spread_by_port_where_rails_are_optimized() -> None:
    # 20 servers x 8 = 160 ports would fit 5 leaves of 32; one rail a leaf needs 8 (rule 3 of the published designs).
    assert tiers(network(request(20, 8, tiers=2)))[0] == 8


def test_a_leaf_takes_whole_servers_where_rails_are_not_optimized() -> None:
    # 32 downlinks hold 4 servers of 8 ports, and 10 servers of 3 (2 downlinks stay free).
    assert unit_rule(request(64, 8, rail_optimized=False)).servers == 4
    assert unit_rule(request(64, 3, rail_optimized=False)).servers == 10
    assert tiers(network(request(64, 8, rail_optimized=False)))[0] == 16
    assert tiers(network(request(65, 8, rail_optimized=False)))[0] == 17


def test_a_server_that_does_not_fit_one_leaf_is_refused_where_rails_are_not_optimized() -> None:
    with pytest.raises(Unbuildable, match="8 downlinks needed, 4 available"):
        network(request(4, 8, plain(8), rail_optimized=False, tiers=2))


def test_a_pinned_unit_is_kept_or_refused() -> None:
    net = network(request(64, 8, unit_servers=20, tiers=2))
    assert (net.fabric.unit.servers, net.fabric.unit.count, net.fabric.leaf_count) == (20, 4, 32)
    with pytest.raises(Unbuildable, match="33 downlinks needed, 32 available"):
        network(request(64, 8, unit_servers=33, tiers=2))


def test_units_hold_whole_nvlink_domains() -> None:
    # 18 trays a rack, 4 NICs a tray, 64 downlinks: 54 trays are three racks; 64 trays are not.
    net = network(request(72, 4, SN5600, down=400, up=800, domain_servers=18))
    assert (net.fabric.unit.servers, net.fabric.unit.count, net.fabric.leaf_count) == (54, 2, 8)
    assert not net.fabric.split_domain


def test_a_domain_larger_than_a_unit_is_split_and_said_so() -> None:
    net = network(request(36, 4, plain(16), domain_servers=18))
    assert net.fabric.split_domain
    assert net.fabric.unit.servers == 8


# --- Whole and packed (rule 3) ---------------------------------------------------------------------------------------


def test_whole_units_are_built_for_the_servers_they_could_hold() -> None:
    # Published: 31 servers have the 8 leaves, 4 spines and 256 leaf-spine links of 32.
    net = network(request(31, 8, tiers=2))
    assert tiers(net) == (8, 4, 0)
    assert links(net) == {"server-leaf": 248, "leaf-spine": 256}


def test_packed_units_have_the_uplinks_of_the_servers_there_are() -> None:
    # 24 servers: 24 ports in use on each of 8 leaves, so 24 uplinks; 192 / 64 = 3 spines, which divide 24.
    net = network(request(24, 8, tiers=2, partial_units="packed"))
    assert tiers(net) == (8, 3, 0)
    assert links(net) == {"server-leaf": 192, "leaf-spine": 192}


def test_a_packed_last_unit_has_its_own_leaves() -> None:
    # 36 = 32 + 4: four servers of 8 ports fill one leaf of 32 downlinks, where a whole unit has 8.
    assert tiers(network(request(36, 8, tiers=2, partial_units="packed")))[0] == 9
    assert tiers(network(request(36, 8, tiers=2)))[0] == 16


@given(servers=st.integers(1, 300), rails=st.sampled_from([1, 2, 4, 8]), domain=st.sampled_from([1, 2, 4]))
@property_settings
def test_another_server_never_takes_a_leaf_away(servers: int, rails: int, domain: int) -> None:
    before, after = (
        network(request(n, rails, plain(32), tiers=3, domain_servers=domain)) for n in (servers, servers + 1)
    )
    assert after.fabric.leaf_count >= before.fabric.leaf_count
    assert links(after)["server-leaf"] == links(before)["server-leaf"] + rails


@given(servers=st.integers(1, 200), rails=st.sampled_from([1, 2, 4, 8]), optimized=st.booleans())
@property_settings
def test_packed_never_needs_more_leaves_or_links_between_switches_than_whole(
    servers: int, rails: int, optimized: bool
) -> None:
    whole, packed = (
        network(
            request(servers, rails, plain(32), tiers=2, rail_optimized=optimized, spine=plain(256), partial_units=p)
        )
        for p in ("whole", "packed")
    )
    assert packed.fabric.leaf_count <= whole.fabric.leaf_count
    assert links(packed)["server-leaf"] == links(whole)["server-leaf"]
    assert tiers(packed)[1] <= tiers(whole)[1]


# --- Reserved ports (rule 4) -----------------------------------------------------------------------------------------


def reserved_on(asked: FabricRequest) -> list[int]:
    return [load.reserved for load in leaves(network(asked).fabric.pods) if load.reserved]


def test_reserved_ports_take_one_free_downlink_a_leaf() -> None:
    net = network(request(31, 8, tiers=2, reserved_total=4))
    assert reserved_on(net.request) == [1, 1, 1, 1]
    assert tiers(net) == (8, 4, 0)
    assert links(net) == {"server-leaf": 248, "reserved": 4, "leaf-spine": 256}
    assert net.fabric.added_leaves == 0


def test_reserved_ports_without_a_free_downlink_add_a_unit() -> None:
    net = network(request(32, 8, tiers=2, reserved_total=4))
    assert (net.fabric.leaf_count, net.fabric.added_leaves) == (16, 8)
    assert reserved_on(net.request) == [1, 1, 1, 1]
    assert links(net)["leaf-spine"] == 512  # the added unit is whole: 8 leaves x 32


def test_reserved_ports_without_a_free_downlink_add_a_leaf_to_a_packed_design() -> None:
    net = network(request(32, 8, tiers=2, reserved_total=4, partial_units="packed"))
    assert (net.fabric.leaf_count, net.fabric.added_leaves) == (9, 1)
    assert reserved_on(net.request) == [4]


def test_more_reserved_ports_than_leaves_with_room_spill_over() -> None:
    # 8 leaves with room for one each; the ninth needs another unit.
    net = network(request(31, 8, tiers=2, reserved_total=9))
    assert reserved_on(net.request) == [1] * 9
    assert net.fabric.added_leaves == 8


def test_reserved_ports_take_downlinks_that_a_pinned_unit_leaves_free() -> None:
    # A unit pinned to 31 servers on 32 downlinks leaves one free on each leaf: nothing has to be added.
    net = network(request(31, 8, tiers=2, unit_servers=31, reserved_total=4))
    assert (net.fabric.leaf_count, net.fabric.added_leaves) == (8, 0)


def test_reserved_ports_take_downlinks_that_whole_domains_leave_free() -> None:
    # Three racks of 18 trays use 54 of 64 downlinks: 10 are free on each of 4 leaves.
    net = network(request(54, 4, SN5600, down=400, up=800, tiers=2, domain_servers=18, reserved_total=4))
    assert (net.fabric.leaf_count, net.fabric.added_leaves) == (4, 0)


def test_reserved_ports_fit_beside_servers_on_one_switch_or_not() -> None:
    assert tiers(network(request(7, 8, reserved_total=8))) == (1, 0, 0)
    assert tiers(network(request(8, 8, reserved_total=1)))[1] > 0
    with pytest.raises(Unbuildable, match="65 ports needed, 64 available"):
        network(request(8, 8, reserved_total=1, tiers=1))


def test_ports_reserved_on_every_leaf_cost_downlinks() -> None:
    # 31 downlinks a leaf instead of 32: 32 servers need two units.
    assert tiers(network(request(31, 8, per_leaf=1, tiers=2)))[0] == 8
    assert tiers(network(request(32, 8, per_leaf=1, tiers=2)))[0] == 16


# --- Attached hosts --------------------------------------------------------------------------------------------------


def storage(hosts: int, ports: int, gbps: int = 400) -> tuple[Attached, ...]:
    return (Attached("storage", hosts, ports, gbps),)


def test_attached_hosts_of_the_same_speed_fill_free_downlinks() -> None:
    # 30 servers leave 2 x 8 downlinks free: 8 hosts with 2 ports take them all.
    net = network(request(30, 8, tiers=2, unit_servers=32, attached=storage(8, 2)))
    assert tiers(net) == (8, 4, 0)
    assert links(net) == {"server-leaf": 240, "attached": 16, "leaf-spine": 256}
    assert [load.attached for load in leaves(net.fabric.pods)] == [(2,)] * 8


def test_one_attached_port_too_many_takes_a_leaf_of_its_own() -> None:
    net = network(request(30, 8, tiers=2, unit_servers=32, attached=storage(17, 1)))
    assert tiers(net)[0] == 9
    assert links(net)["attached"] == 17


def test_attached_hosts_of_another_speed_have_leaves_of_their_own() -> None:
    # 16 hosts x 2 x 200G: 32 of 64 downlinks of 200G on one leaf, although 400G downlinks are free.
    net = network(request(24, 8, tiers=2, attached=storage(16, 2, 200)))
    own = [load for load in leaves(net.fabric.pods) if load.attached and load.attached[0]]
    assert [(load.servers, load.attached, load.down_gbps) for load in own] == [(0, (32,), 200)]
    assert tiers(net)[0] == 9


def test_attached_hosts_of_another_speed_share_one_switch_by_cages() -> None:
    # 4 servers x 8 x 400G light 16 cages; 64 x 200G the other 16. One more of either does not fit.
    assert tiers(network(request(4, 8, attached=storage(32, 2, 200)))) == (1, 0, 0)
    with pytest.raises(Unbuildable):
        network(request(4, 8, attached=storage(65, 1, 200), tiers=1))


def test_attached_hosts_fill_by_port_where_servers_go_by_whole() -> None:
    # Servers of 3 ports: 10 on a leaf, 2 downlinks stay free; 4 hosts fill those of two leaves.
    net = network(request(20, 3, tiers=2, rail_optimized=False, attached=storage(4, 1)))
    assert tiers(net)[0] == 2
    assert [sum(load.attached) for load in leaves(net.fabric.pods)] == [2, 2]


def test_attached_hosts_do_not_go_with_rail_pods() -> None:
    with pytest.raises(Unbuildable, match="second_tier: rail"):
        network(request(300, 8, tiers=3, second_tier="rail", attached=storage(1, 1)))


def test_units_are_those_that_hold_servers() -> None:
    # A leaf for hosts of another speed is not a unit: two leaves of 4 servers are two units.
    net = network(request(8, 8, tiers=2, rail_optimized=False, attached=storage(4, 1, 200)))
    assert tiers(net)[0] == 3
    assert net.fabric.unit.count == 2


@given(
    servers=st.integers(1, 80),
    rails=st.sampled_from([1, 3, 4, 8]),
    hosts=st.integers(0, 40),
    reserved=st.integers(0, 12),
    partial=st.sampled_from(["whole", "packed"]),
    optimized=st.booleans(),
)
@property_settings
def test_every_port_is_placed_once_and_no_leaf_is_overfull(
    servers: int, rails: int, hosts: int, reserved: int, partial: str, optimized: bool
) -> None:
    asked = request(
        servers,
        rails,
        plain(24),
        tiers=2,
        attached=storage(hosts, 1) if hosts else (),
        reserved_total=reserved,
        partial_units=partial,
        rail_optimized=optimized,
    )
    rule = unit_rule(asked)
    units, _ = build_units(asked, rule)
    loads = [load for unit in units for _ in range(unit.count) for load in unit.leaves for _ in range(load.count)]
    assert sum(load.servers for load in loads) == servers * rails
    assert sum(sum(load.attached) for load in loads) == hosts
    assert sum(load.reserved for load in loads) == reserved
    assert all(load.ports_in_use <= 12 for load in loads)  # half of 24
    for load in loads:
        assert asked.leaf.geometry.fits(Demand(400, load.downlinks), Demand(400, load.needed))


def dealt_one_by_one(asked: FabricRequest, capacity: int) -> list[list[int]]:
    """Ports in use on every leaf of the units for servers and reserved ports, last unit first; and those left over.

    Each group of hosts, in turn, puts one port after the other on the next leaf of the unit that has room.
    """
    units, _ = build_units(replace(asked, attached=()), unit_rule(asked))
    left = [group.total_ports for group in asked.attached]
    built = []
    for unit in [u for u in reversed(units) for _ in range(u.count)]:
        used = [x.ports_in_use for x in unit.leaves for _ in range(x.count)]
        for index in range(len(left)):
            while left[index] and min(used) < capacity:
                for leaf in range(len(used)):
                    if left[index] and used[leaf] < capacity:
                        used[leaf], left[index] = used[leaf] + 1, left[index] - 1
        built.append(used)
    return [*built, left]


@given(
    requests(),
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 3)), min_size=1, max_size=3),
    st.sampled_from([0, 1, 9, 60]),
)
@property_settings
def test_attached_ports_stand_where_dealing_one_by_one_puts_them(
    asked: FabricRequest, groups: list[tuple[int, int]], reserved: int
) -> None:
    hosts = tuple(Attached(f"h{i}", n, ports, asked.leaf.down_gbps) for i, (n, ports) in enumerate(groups))
    asked = replace(asked, attached=hosts, reserved_total=reserved, second_tier="pod")
    try:
        rule = unit_rule(asked)
        units, _ = build_units(asked, rule)
    except Unbuildable:
        return
    *expected, left = dealt_one_by_one(asked, rule.downlinks)
    built = [[x.ports_in_use for x in u.leaves for _ in range(x.count)] for u in units for _ in range(u.count)]
    own = [load for u in units for load in u.leaves for _ in range(u.count) if not load.servers and any(load.attached)]
    assert built[: len(expected)] == expected[::-1]
    for index, ports in enumerate(left):
        placed = sum(x.attached[index] * u.count * x.count for u in units for x in u.leaves)
        assert placed == hosts[index].total_ports
        assert sum(x.attached[index] for x in own) >= ports
