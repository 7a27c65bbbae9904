"""Lengths and media in a plan: on the floor of the spec's site, in the line items, the findings and the refusals."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pytest

from ibplan.plan.results import Plan
from tests.plan.planning import COMPUTE_ONLY, only, plan, with_prices

POD = f"servers: 64\nserver: nvidia-dgx-h100\nfabrics: infiniband\nnetwork: {{switch: nvidia-qm9700}}\n{COMPUTE_ONLY}"
INLINE = "{gpus: 8, nics: 8, ports_per_nic: 1, port_gbps: 400, cage_class: nic-osfp-400}"
NICS = POD.replace("nvidia-dgx-h100", INLINE.replace("}", ", rack_units: 8, power: 10 kW}"))


def findings(result: Plan) -> dict[str, str]:
    return {f.code: f.message for f in result.findings}


def cables(result: Plan) -> list[tuple[str, float | None, int]]:
    items = [i for i in only(result).line_items if i.category in ("cable", "splitter")]
    return [(i.part, i.length_m, i.quantity) for i in items]


def test_every_cable_of_a_placed_design_has_a_length() -> None:
    result = plan(POD)
    found = cables(result)
    assert sum(quantity for _, _, quantity in found) == only(result).totals.cables
    for row in only(result).networks.compute.links:
        assert row.longest_m is not None
        assert row.reach_m is not None
        assert row.longest_m <= row.reach_m
    lengths = [length for _, length, _ in found]
    assert None not in lengths
    assert max(length for length in lengths if length) <= 20
    assert "lengths-unknown" not in findings(result)
    assert "fs-mtp12-om4-trunk" in findings(result)["length-price-unknown"]


def test_without_the_height_of_a_server_lengths_stay_open() -> None:
    result = plan(POD.replace("nvidia-dgx-h100", INLINE))
    assert {length for _, length, _ in cables(result)} == {None}
    assert [row.longest_m for row in only(result).networks.compute.links] == [None, None]
    assert "both ends of server-leaf, leaf-spine links" in findings(result)["lengths-unknown"]
    assert "length-price-unknown" not in findings(result)


def test_lengths_that_nobody_lists_stay_open_and_are_told() -> None:
    result = plan(POD + "optics: vendor\n", "network.medium=single_mode")
    assert {(part, length) for part, length, _ in cables(result)} == {("nvidia-mfp7e30", None)}
    assert findings(result)["lengths-not-listed"].startswith("No source states in which lengths nvidia-mfp7e30 is sold")


def test_lengths_sold_have_their_part_numbers() -> None:
    result = plan(POD + "optics: vendor\n", "network.medium=multimode")
    numbers = {i.length_m: i.part_number for i in only(result).line_items if i.part == "nvidia-mfp7e10"}
    assert set(numbers) <= {3, 5, 7, 10, 15, 20, 30, 50}
    assert numbers[10] is not None
    assert len(set(numbers.values())) == len(numbers)


def test_runs_beyond_the_reach_change_the_medium_or_refuse_the_design() -> None:
    far = "site.hall={racks_per_row: 4, aisle_pitch: 40 m}"
    near, away = (
        {row.medium for row in only(plan(POD, *more)).networks.compute.links if row.kind == "server-leaf"}
        for more in ((), (far,))
    )
    assert (near, away) == ({"multimode"}, {"multimode", "single_mode"})
    refused = plan(POD, "network.medium=multimode", far)
    assert not refused.designs
    assert {reason.code for row in refused.rejected for reason in row.reasons} == {"run-too-long"}
    assert "multimode parts cover 50 m at most" in refused.rejected[0].reasons[0].text


@pytest.mark.parametrize(
    ("prices", "media"),
    [
        ({}, {"multimode", "single_mode"}),
        ({"nvidia-mca4j80": 500}, {"multimode", "active_copper"}),
        ({"nvidia-mca4j80": 50_000}, {"multimode", "single_mode"}),
    ],
)
def test_auto_takes_copper_where_it_has_a_price_and_reaches(
    prices: Mapping[str, Decimal | int], media: set[str]
) -> None:
    close = ("network.medium=auto", "site.slack=0.1 m", "site.tray_above_rack=0.1 m", "site.placement=central_rows")
    result = plan(NICS, *close, using=with_prices(prices))
    assert {row.medium for row in only(result).networks.compute.links} == media


def test_a_kind_of_link_has_a_row_for_each_choice() -> None:
    # Units in near rows have multimode, those in far rows single-mode.
    rows = only(plan(POD, "site.hall={racks_per_row: 4, aisle_pitch: 40 m}")).networks.compute.links
    servers = [(row.medium, row.count) for row in rows if row.kind == "server-leaf"]
    assert servers == [("multimode", 256), ("single_mode", 256)]
