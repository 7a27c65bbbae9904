"""The bill of materials: procurement's columns, totals that agree with the design, nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ibplan.plan.results import Design, Plan
from ibplan.report.bom import COLUMNS, By, bom_csv, bom_data, bom_markdown, bom_rows
from ibplan.report.data import to_json
from tests.report import samples

GROUPINGS: tuple[By, ...] = ("part", "tier")


def _designs() -> list[tuple[Plan, Design]]:
    return [(samples.plan(name), design) for name in samples.ALL for design in samples.plan(name).designs]


def _read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize("by", GROUPINGS)
def test_totals_can_be_recomputed_and_agree_with_the_design(by: By) -> None:
    for plan, design in _designs():
        rows = _read(bom_csv(bom_rows(plan, design, by), by))
        assert [row["line"] for row in rows] == [str(n) for n in range(1, len(rows) + 1)]
        total = Decimal(0)
        for row in rows:
            assert int(row["order_quantity"]) == int(row["quantity"]) + int(row["spares"])
            if row["unit_price"]:
                assert Decimal(row["extended_price"]) == int(row["order_quantity"]) * Decimal(row["unit_price"])
                assert re.fullmatch(r"\d+\.\d\d", row["unit_price"])
                total += Decimal(row["extended_price"])
            else:
                assert row["extended_price"] == row["currency"] == ""
                assert "no price" in row["notes"]
        # Racks are summed apart.
        racks = [row for row in rows if row["category"] in ("rack", "PDU")]
        apart = sum((Decimal(row["extended_price"]) for row in racks), Decimal(0))
        assert total - apart == design.totals.capex_usd
        assert apart == (design.totals.site_usd or 0)
        assert all(row["unit_price"] for row in rows) == design.totals.complete


@pytest.mark.parametrize("by", GROUPINGS)
def test_quantity_times_power_adds_up_to_the_maximum(by: By) -> None:
    known = 0
    for plan, design in _designs():
        rows = bom_rows(plan, design, by)
        in_host = {item.part for item in design.line_items if item.power_in_host}
        noted = {row["vendor_sku"] for row in rows if "power is in the switch's maximum" in row["notes"]}
        assert noted == in_host
        assert all(row["power_each_w"] is None for row in rows if "switch's maximum" in row["notes"])
        if design.totals.power_w is not None:
            watts = sum(row["quantity"] * row["power_each_w"] for row in rows if row["power_each_w"] is not None)
            assert watts == pytest.approx(design.totals.power_w)
            known += bool(in_host)
    assert known


def test_pieces_of_a_part_with_power_of_their_own_stand_apart() -> None:
    plan = samples.plan(samples.BOTH)
    design = plan.designs[0]
    (first, *rest) = [i for i in design.line_items if i.category == "transceiver"]
    mixed = replace(first, power_in_host=not first.power_in_host, tier="server", where="elsewhere")
    rows = bom_rows(plan, replace(design, line_items=(first, mixed, *rest)))
    own = [row for row in rows if (row["network"], row["vendor_sku"]) == (first.network, first.part)]
    assert [row["power_each_w"] for row in own].count(None) == 1


@pytest.mark.parametrize("by", GROUPINGS)
def test_quantities_are_those_of_the_line_items(by: By) -> None:
    for plan, design in _designs():
        for category in ("switch", "transceiver", "cable", "splitter", "NIC"):
            rows = [r for r in bom_rows(plan, design, by) if r["category"] == category]
            items = [item for item in design.line_items if item.category == category]
            assert sum(r["order_quantity"] for r in rows) == sum(item.quantity for item in items)
            spares = sum(item.quantity for item in items if item.tier == "spares")
            assert sum(r["spares"] for r in rows) == spares
            assert sum(r["quantity"] for r in rows) == sum(item.quantity for item in items) - spares


def test_spares_stand_with_their_part_and_by_tier_apart() -> None:
    plan = samples.plan(samples.COSTS)
    switch = bom_rows(plan, plan.designs[0])[0]
    assert (switch["quantity"], switch["spares"], switch["order_quantity"]) == (24, 1, 25)
    assert switch["where_used"] == "leaf tier (16); spine tier (8)"
    assert switch["extended_price"] == 25 * switch["unit_price"]
    apart = [r for r in bom_rows(plan, plan.designs[0], "tier") if r["tier"] == "spares"]
    assert (apart[0]["quantity"], apart[0]["spares"], apart[0]["power_each_w"]) == (0, 1, 0)


def test_a_discount_stands_beside_the_price_after_it() -> None:
    plan = samples.plan(samples.COSTS)
    switch, module = bom_rows(plan, plan.designs[0])[:2]
    assert (switch["unit_price"], switch["discount_percent"]) == (Decimal("27939.50"), 15)
    assert "$32,870 before the discount" in switch["notes"]
    assert module["discount_percent"] == 0
    assert "discount" not in module["notes"]


def test_one_row_a_part_and_length_with_its_places() -> None:
    for plan, design in _designs():
        rows = bom_rows(plan, design)
        assert len({(row["network"], row["vendor_sku"], row["length_m"]) for row in rows}) == len(rows)
    plan = samples.plan(samples.POD)
    switch = bom_rows(plan, plan.designs[0])[0]
    assert (switch["quantity"], switch["where_used"]) == (48, "leaf tier (32); spine tier (16)")


def test_rows_by_tier_are_split() -> None:
    plan = samples.plan(samples.POD)
    rows = bom_rows(plan, plan.designs[0], "tier")
    assert [(r["quantity"], r["where_used"]) for r in rows[:2]] == [(32, "leaf tier"), (16, "spine tier")]
    assert [r["tier"] for r in rows[:2]] == ["leaf", "spine"]
    assert _read(bom_csv(rows, "tier"))[1]["tier"] == "spine"
    assert "| line | network | tier |" in bom_markdown(plan, plan.designs[0], rows, "tier")


def test_parts_of_reserved_links_are_marked() -> None:
    plan = samples.plan(samples.POD)
    design = plan.designs[0]
    reserved = [item for item in design.line_items if item.tier == "reserved"]
    assert reserved
    by_part = {(row["vendor_sku"], row["length_m"]): row["notes"] for row in bom_rows(plan, design)}
    assert all("for reserved ports" in by_part[item.part, item.length_m] for item in reserved)
    by_tier = [row for row in bom_rows(plan, design, "tier") if "for reserved ports" in row["notes"]]
    assert sum(row["quantity"] for row in by_tier) == sum(item.quantity for item in reserved)


def test_estimates_and_inferred_pairs_are_noted() -> None:
    plan = samples.plan(samples.BOTH)
    for design in plan.designs:
        for row in bom_rows(plan, design):
            assert (row["price_kind"] == "estimate") == ("price is an estimate" in row["notes"])
    told = {f.design for f in plan.findings if f.code == "inferred-recipe"}
    assert told
    for design in plan.designs:
        noted = {row["vendor_sku"] for row in bom_rows(plan, design, "tier") if "inferred" in row["notes"]}
        assert noted == {item.part for item in design.line_items if item.basis == "inferred"}
        assert bool(noted) == (design.id in told)


def test_a_part_of_which_some_are_in_an_inferred_pair_says_how_many() -> None:
    plan = samples.plan(samples.BOTH)
    design = next(d for d in plan.designs if d.fabric == "roce")
    rows = [row for row in bom_rows(plan, design) if row["category"] == "transceiver"]
    inferred = sum(i.quantity for i in design.line_items if i.part == rows[0]["vendor_sku"] and i.basis == "inferred")
    assert f"pairing of {inferred} inferred, not stated by a maker" in rows[0]["notes"]


def test_a_cable_says_how_long_it_is_or_that_nobody_knows() -> None:
    for plan, design in _designs():
        for row in bom_rows(plan, design):
            cable = row["category"] in ("cable", "splitter")
            assert cable or row["length_m"] is None
            assert (cable and row["length_m"] is None) == ("length not known" in row["notes"])


def test_the_columns_that_procurement_expects() -> None:
    plan = samples.plan(samples.BOTH)
    head = bom_csv(bom_rows(plan, plan.designs[0])).splitlines()[0]
    assert head == ",".join(f'"{name}"' for name in COLUMNS)
    assert COLUMNS[:11] == (
        "line",
        "network",
        "category",
        "manufacturer",
        "manufacturer_part_number",
        "vendor_sku",
        "description",
        "length_m",
        "quantity",
        "spares",
        "order_quantity",
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_run_by_a_spreadsheet(start: str) -> None:
    plan = samples.hostile(f"{start}cmd|' /C calc'!A0")
    for row in _read(bom_csv(bom_rows(plan, plan.designs[0]))):
        assert row["description"] == f"'{start}cmd|' /C calc'!A0"
        assert not any(value[:1] in ("=", "+", "-", "@", "\t", "\r") for value in row.values())


def test_part_numbers_stay_text() -> None:
    plan = samples.hostile("00123E4")
    text = bom_csv(bom_rows(plan, plan.designs[0]))
    assert ',"00123E4",' in text
    assert _read(text)[0]["manufacturer_part_number"] == "00123E4"


def test_quotes_commas_and_line_breaks_survive() -> None:
    plan = samples.hostile('a "b", c\nd')
    assert _read(bom_csv(bom_rows(plan, plan.designs[0])))[0]["description"] == 'a "b", c\nd'


def test_lines_end_as_asked() -> None:
    plan = samples.plan(samples.BOTH)
    rows = bom_rows(plan, plan.designs[0])
    unix, dos = bom_csv(rows), bom_csv(rows, crlf=True)
    assert "\r" not in unix
    assert dos == unix.replace("\n", "\r\n")


def test_json_has_the_total_and_what_it_rests_on() -> None:
    plan = samples.plan(samples.UNPRICED)
    design = next(d for d in plan.designs if not d.totals.complete)
    data: dict[str, Any] = json.loads(to_json(bom_data(plan, design, bom_rows(plan, design))))
    assert list(data) == ["schema_version", "name", "design", "inputs", "rows", "totals", "left_out"]
    assert list(data["rows"][0]) == list(COLUMNS)
    assert data["totals"]["capex_usd"] == float(design.totals.capex_usd)
    assert data["totals"]["complete"] is False
    assert data["inputs"]["catalog_digest"] == plan.inputs.catalog_digest


def test_markdown_has_one_line_a_row_and_the_total() -> None:
    plan = samples.plan(samples.UNPRICED)
    design = next(d for d in plan.designs if not d.totals.complete)
    rows = bom_rows(plan, design)
    text = bom_markdown(plan, design, rows)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == len(rows) + 2
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert text.splitlines()[-3].startswith("Total: $")
    assert text.splitlines()[-1].startswith("Left out of this plan: storage network (the ports of ")
    assert "a lower bound" in text
    assert table[0] == f"| {' | '.join(COLUMNS)} |"
    one = replace(design, totals=replace(design.totals, unpriced=design.totals.unpriced[:1]))
    assert "(a lower bound: 1 kind of part has no price" in bom_markdown(plan, one, rows)


def test_markdown_cannot_be_broken_out_of() -> None:
    plan = samples.hostile("a|b\n<script>")
    text = bom_markdown(plan, plan.designs[0], bom_rows(plan, plan.designs[0]))
    assert "<script>" not in text
    assert "a\\|b" in text


def test_the_same_plan_gives_the_same_bytes() -> None:
    plan = samples.plan(samples.BOTH)
    again = replace(plan)
    assert bom_csv(bom_rows(plan, plan.designs[0])) == bom_csv(bom_rows(again, again.designs[0]))
