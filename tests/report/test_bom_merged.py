"""Bills of several specs: one row a part, the quantity of each spec, nothing lost."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from decimal import Decimal
from itertools import groupby

import pytest

from ibplan.plan.joint_bill import JointBill, make_joint_bill
from ibplan.report.bom import SPEC_QUANTITY, By, bom_csv, bom_data, bom_markdown, bom_rows, columns_of
from ibplan.report.bom_merged import merged_columns, merged_data, merged_markdown, merged_rows
from tests.report import samples
from tests.report.joint_bills import PURCHASES, bought, joint_bill

GROUPINGS: tuple[By, ...] = ("part", "tier")


@pytest.mark.parametrize("by", GROUPINGS)
def test_one_spec_is_billed_as_ever(by: By) -> None:
    made = joint_bill(samples.POD)
    _, plan, design = bought(samples.POD)
    rows = merged_rows(made, by)
    assert rows == bom_rows(plan, design, by)
    assert merged_columns(made, by) == columns_of(by)
    assert merged_data(made, rows) == bom_data(plan, design, rows)
    assert merged_markdown(made, rows, by) == bom_markdown(plan, design, rows, by)


@pytest.mark.parametrize("by", GROUPINGS)
def test_quantities_of_the_specs_add_up_to_the_order(by: By) -> None:
    made = joint_bill(samples.BOTH, samples.POD, samples.UNPRICED)
    rows = merged_rows(made, by)
    assert [row["line"] for row in rows] == list(range(1, len(rows) + 1))
    for row in rows:
        shares = [row[SPEC_QUANTITY + share.name] for share in made.shares]
        assert sum(shares) == row["order_quantity"] > 0
        assert list(row) == list(merged_columns(made, by))
    for share in made.shares:
        own = sum(row[SPEC_QUANTITY + share.name] for row in rows)
        assert own == sum(item.quantity for item in share.design.line_items)


def test_one_row_a_part_and_the_sum_of_the_totals() -> None:
    made = joint_bill(samples.BOTH, samples.POD)
    rows = merged_rows(made)
    assert len({(row["network"], row["vendor_sku"], row["length_m"]) for row in rows}) == len(rows)
    assert sum(row["extended_price"] for row in rows) == made.totals.capex_usd
    shared = [r for r in rows if all(r[SPEC_QUANTITY + share.name] for share in made.shares)]
    assert shared
    assert all(f"{share.name}: " in row["where_used"] for row in shared for share in made.shares)


def test_rows_of_a_network_stand_together() -> None:
    source, plan, design = bought(samples.BOTH)
    first, *rest = design.line_items
    mixed = replace(design, line_items=(first, *(replace(item, network="storage") for item in rest)))
    rows = merged_rows(make_joint_bill([(source, plan, mixed), bought(samples.POD)]))
    assert [network for network, _ in groupby(row["network"] for row in rows)] == [
        "compute",
        "storage",
        "inband",
        "oob",
    ]


def _dearer(made: JointBill, by_usd: int) -> JointBill:
    """The joint bill with the first spec's first part at another price."""
    first, second = made.shares
    item, *rest = first.design.line_items
    assert item.unit_price_usd is not None
    dear = replace(item, unit_price_usd=item.unit_price_usd + by_usd)
    return replace(made, shares=(replace(first, design=replace(first.design, line_items=(dear, *rest))), second))


def test_a_part_with_two_prices_has_two_rows_that_say_so() -> None:
    _, plan, design = bought(samples.BOTH)
    made = make_joint_bill([("a", plan, design), ("b", plan, design)])
    assert not any("another price" in row["notes"] for row in merged_rows(made))
    rows = merged_rows(_dearer(made, 1))
    told = [row for row in rows if "another spec has another price" in row["notes"]]
    assert {row["vendor_sku"] for row in told} == {design.line_items[0].part}
    assert len({row["unit_price"] for row in told}) == 2


def test_the_csv_has_a_column_for_each_spec() -> None:
    made = joint_bill(samples.BOTH, samples.POD)
    read = list(csv.DictReader(io.StringIO(bom_csv(merged_rows(made)))))
    compute = [row for row in read if row["network"] == "compute"]
    assert sum(int(row["order_quantity: three-lines"]) for row in compute) == 4120
    assert sum(Decimal(row["extended_price"]) for row in read) == made.totals.capex_usd


def test_data_name_every_spec_with_its_design_and_total() -> None:
    made = PURCHASES["several"]()
    data = merged_data(made, merged_rows(made))
    assert [row["design"] for row in data["specs"]] == [share.design.id for share in made.shares]
    assert sum(row["totals"]["capex_usd"] for row in data["specs"]) == pytest.approx(data["totals"]["capex_usd"])
    assert data["totals"]["complete"] is False


def test_markdown_names_every_spec() -> None:
    made = PURCHASES["several"]()
    text = merged_markdown(made, merged_rows(made), "part")
    assert text.startswith("# Bill of materials of three-lines (")
    assert "| order_quantity: gb300-nvl72 |" in text.splitlines()[2]
    (total,) = [line for line in text.splitlines() if line.startswith("Total: ")]
    assert "a lower bound" in total
    assert [line.partition(":")[0] for line in text.splitlines() if line.startswith("Left out of ")] == [
        f"Left out of {share.name}" for share in made.shares
    ]
