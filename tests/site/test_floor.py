"""Racks, rows and places: by hand, against published counts, and what must hold of every floor."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.site.elevation import rack_contents
from ibplan.site.floor import Floor, Servers
from ibplan.site.ground import Ground
from ibplan.site.packing import Box
from ibplan.site.placing import plan_floor
from ibplan.site.rules import SiteRules
from tests.examples import share
from tests.fabric.shapes import QM9700, built, network, plain, property_settings, request
from tests.site.sites import SERVER_8U, SWITCH_1U, floor, rules, sited
from tests.site.test_lengths import cases


def names(placed: Floor, group: str) -> list[str]:
    """The racks of a group's devices."""
    return [placed.ground.name(spot.place) for spot in placed.spots[group]]


# --- By hand ---------------------------------------------------------------------------------------------------------


def test_2048_gpus_in_4_units_each_fill_26_racks_of_40_units() -> None:
    site = rules(rack_units=40, usable_units=40)
    placed = floor(network(request(256)), site, Box("server", 4))
    assert len(placed.server_places) == 26


def test_2048_gpus_of_6500_watts_in_racks_of_30_kilowatts_fill_64_racks() -> None:
    site = rules(rack_units=40, usable_units=40, power_w=30_000.0)
    placed = floor(network(request(256)), site, Box("server", 4, 6_500))
    assert (placed.rows.servers_per_rack, len(placed.server_places)) == (4, 64)


def test_the_127_servers_of_a_published_pod_stand_in_32_racks() -> None:
    """DGX SuperPOD, DGX H100 (RA-11333-001 V11): 4 systems a rack, 38 racks with 6 of management and switches.

    Its out-of-band network counts 108 PDUs.
    """
    placed = floor(network(request(127)))
    assert (placed.rows.servers_per_rack, len(placed.server_places)) == (4, 32)
    assert 32 * placed.rules.server_rack_pdus + 6 * placed.rules.network_rack_pdus == 108


def test_leaves_stand_in_the_middle_of_the_row_of_their_unit_and_spines_by_themselves() -> None:
    placed = floor(network(request(128)))
    # 19 server racks a row, 8 racks a unit: three units begin in row 1, the fourth in row 2.
    assert names(placed, "compute/leaf") == ["R01-10"] * 24 + ["R02-10"] * 8
    assert set(names(placed, "compute/spine")) == {"N01-10"}
    assert [placed.ground.name(placed.server(n).place) for n in (0, 4, 8, 75, 76)] == [
        "R01-11",
        "R01-09",
        "R01-12",
        "R01-20",
        "R02-11",
    ]
    assert [placed.server(n).unit for n in range(5)] == [1, 9, 17, 25, 1]
    # 44 usable units, filled from the top.
    assert [spot.unit for spot in list(placed.spots["compute/leaf"])[:3]] == [44, 43, 42]


def test_at_the_end_of_the_row_network_racks_come_first() -> None:
    placed = floor(network(request(128)), rules(placement="end_of_row"))
    assert names(placed, "compute/leaf") == ["R01-01"] * 24 + ["R02-01"] * 8
    assert placed.ground.name(placed.server(0).place) == "R01-02"


def test_central_rows_hold_all_switches() -> None:
    placed = floor(network(request(128)), rules(placement="central_rows"))
    assert {name[0] for name in names(placed, "compute/leaf") + names(placed, "compute/spine")} == {"N"}
    assert placed.rows.server_racks == 20


def test_on_top_of_racks_the_leaves_of_a_unit_are_spread_over_its_racks() -> None:
    placed = floor(network(request(64)), rules(placement="top_of_rack"))
    # 8 leaves for 32 servers in 8 racks: one a rack, above its servers.
    assert [spot.place for spot in placed.spots["compute/leaf"]] == list(placed.server_places)
    assert {spot.unit for spot in placed.spots["compute/leaf"]} == {44}


def test_on_top_of_racks_servers_make_room_for_leaves() -> None:
    site = rules(placement="top_of_rack", rack_units=40, usable_units=32)
    assert floor(network(request(64)), site).rows.servers_per_rack == 3


def test_a_small_cluster_stands_in_one_rack() -> None:
    placed = floor(network(request(4, leaf=plain(64), tiers=1)))
    assert len(placed.places) == 1
    assert placed.network_rack_count == 0


def test_spines_share_the_racks_of_the_leaves_where_all_of_them_fit() -> None:
    placed = floor(network(request(16)))
    assert set(names(placed, "compute/spine")) == set(names(placed, "compute/leaf")) == {"R01-10"}


def test_racks_that_come_assembled_stay_whole() -> None:
    """An NVL72 rack holds 18 trays: no limit of ours splits it, and no unit in it is known."""
    asked = request(72, 4, domain_servers=18)
    rack = Box("rack", 1, 132_000)
    placed = floor(network(asked), server=Box("tray", 1), whole_rack=18, rack_box=rack)
    assert len(placed.server_places) == 4
    assert [placed.server_places.index(placed.server(n).place) for n in (0, 17, 18, 71)] == [0, 0, 1, 3]
    assert placed.server(5).unit is None


def test_a_stated_limit_refuses_a_rack_that_comes_assembled() -> None:
    site = rules(power_w=100_000.0, power_stated=True)
    with pytest.raises(Unbuildable, match=r"132,000 W, but site\.rack\.power allows 100,000 W") as found:
        floor(network(request(18, 4)), site, Box("tray", 1), whole_rack=18, rack_box=Box("rack", 1, 132_000))
    assert found.value.reasons[0].code == "rack-power"


def test_further_halls_stand_in_a_square_and_have_names_of_their_own() -> None:
    ground = floor(network(request(8)), rules(racks_per_row=4, rows_per_hall=2)).ground
    assert [ground.name(row * 4) for row in (0, 1, 2, 4, 6, 8, -1, -2)] == [
        "R01-01",
        "R02-01",
        "H2-R01-01",
        "H3-R01-01",
        "H4-R01-01",
        "H5-R01-01",
        "N01-01",
        "N02-01",
    ]
    corners = [ground.point(row * 4)[1:3] for row in range(0, 18, 2)]
    wide, deep = 4 * 600_000 + 6_000_000, 2 * 2_135_000 + 6_000_000
    square = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2)]
    assert corners == [(300_000 + x * wide, y * deep) for x, y in square]


# --- Limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("box", "changes", "code", "words"),
    [
        (Box("big", 45), {}, "rack-units", "big takes 45 rack units, but 44 of 48 are usable"),
        (Box("hot", 8, 50_000), {"power_stated": True}, "rack-power", "hot draws 50,000 W, but site.rack.power allows"),
        (Box("heavy", 8, 1, 901), {"weight_kg": 900.0}, "rack-weight", "heavy weighs 901 kg"),
    ],
)
def test_what_fits_no_rack_is_refused_with_both_numbers(
    box: Box, changes: dict[str, object], code: str, words: str
) -> None:
    with pytest.raises(Unbuildable, match=words) as found:
        floor(network(request(8)), rules(**changes), box)
    reason = found.value.reasons[0]
    assert reason.code == code
    assert reason.need is not None
    assert reason.have is not None
    assert reason.need > reason.have


def test_a_limit_that_is_only_assumed_refuses_nothing() -> None:
    placed = floor(network(request(8)), rules(), Box("hot", 8, 50_000))
    assert placed.rows.servers_per_rack == 1


def test_more_rows_than_the_hall_has_are_refused() -> None:
    with pytest.raises(Unbuildable, match=r"3 rows of 20 racks needed, site\.hall\.rows allows 2"):
        floor(network(request(128)), rules(rows=2))
    assert len({p // 20 for p in floor(network(request(128)), rules(rows=3)).places}) == 3


def test_leaves_that_no_row_can_hold_stand_in_the_network_area() -> None:
    placed = floor(network(request(64)), rules(racks_per_row=2, usable_units=4), Box("server", 4))
    assert {name[0] for name in names(placed, "compute/leaf")} == {"N"}


# --- What holds of every floor ---------------------------------------------------------------------------------------


@settings(property_settings, max_examples=share(80))
@given(cases())
def test_no_two_devices_share_a_rack_unit_and_no_limit_is_exceeded(
    case: tuple[object, int, SiteRules, Servers],
) -> None:
    asked, fabrics, site, servers = case
    sized = built(asked, fabrics)  # type: ignore[arg-type]
    if sized is None:
        return
    try:
        placed = plan_floor(Ground(site), servers, [sited(sized)])
    except Unbuildable:
        return
    contents = rack_contents(placed, lambda group, number: f"{group}-{number}")
    assert sum(len(c.devices) for c in contents) == servers.count + sum(map(len, placed.spots.values()))
    for content in contents:
        taken = [unit for d in content.devices if d.unit is not None for unit in range(d.unit, d.unit + d.box.units)]
        assert len(taken) == len(set(taken)), content
        assert all(1 <= unit <= site.usable_units for unit in taken), content
        if len(content.devices) > 1 and not content.assembled:
            assert content.power_known_w <= site.power_w
    switches = sum(row.count for row in sized.tiers)
    assert sum(len(s) for g, s in placed.spots.items() if g.split("/")[1] in ("leaf", "spine", "core")) == switches


@settings(property_settings, max_examples=share(60))
@given(st.integers(1, 400), st.integers(1, 400), st.sampled_from(["middle_of_row", "end_of_row", "central_rows"]))
def test_a_server_stays_in_its_rack_when_servers_are_added(few: int, more: int, placement: str) -> None:
    asked = request(few, leaf=QM9700, unit_servers=32, tiers=2, spine=plain(512), min_spines=4)
    small, large = built(asked), built(replace(asked, servers=few + more))
    if small is None or large is None or small.fabric.unit.servers != large.fabric.unit.servers:
        return
    site = rules(placement=placement)
    before, after = floor(small, site), floor(large, site)
    stays = [before.server(n) == after.server(n) for n in range(few)]
    assert all(stays)
    if placement != "central_rows" and len(before.places) > 1:
        full = few // 32 * 8
        assert list(before.spots["compute/leaf"])[:full] == list(after.spots["compute/leaf"])[:full]


def test_several_networks_share_rows_and_racks() -> None:
    """Leaves of two networks: each has its part of the network racks of a row."""
    compute, storage = network(request(128)), network(request(128, 2))
    nets = [sited(compute), sited(storage, "storage", leaf=Box("storage switch", 2, 1_000))]
    placed = plan_floor(Ground(rules()), Servers(128, SERVER_8U), nets)
    contents = rack_contents(placed, lambda group, number: f"{group}-{number}")
    for content in contents:
        units = [u for d in content.devices for u in range(d.unit or 0, (d.unit or 0) + d.box.units)]
        assert len(units) == len(set(units))
    assert {n[0] for n in names(placed, "storage/leaf")} == {"R"}
    assert len(placed.spots["storage/leaf"]) == sum(t.count for t in storage.tiers if t.tier == "leaf")


def test_attached_hosts_get_racks_of_their_own_if_their_height_is_known() -> None:
    from ibplan.fabric.request import Attached

    sized = network(request(60, attached=(Attached("storage", 6, 2, 400),)))
    placed = floor(sized)
    mine = set(names(placed, "compute/attached:storage"))
    assert mine.isdisjoint(names(placed, "compute/spine"))
    unplaced = sited(sized)
    unplaced = replace(unplaced, boxes={k: v for k, v in unplaced.boxes.items() if not k.startswith("attached")})
    assert "compute/attached:storage" not in plan_floor(Ground(rules()), Servers(60, SERVER_8U), [unplaced]).spots


def test_weight_limits_how_many_fit() -> None:
    assert floor(network(request(64)), rules(weight_kg=400.0)).rows.servers_per_rack == 3
    heavy = floor(network(request(64)), rules(weight_kg=400.0))
    assert SWITCH_1U.weight_kg == 15
    assert max(map(len, _by_rack(heavy).values())) <= 26


def _by_rack(placed: Floor) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group in ("compute/leaf", "compute/spine"):
        for name in names(placed, group):
            found.setdefault(name, []).append(group)
    return found
