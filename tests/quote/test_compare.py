"""A quote against a bill: each kind of difference by hand, and the bill against itself."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.economics.items import LineItem
from ibplan.quote.compare import Offered, QuoteCheck, compare_quote
from ibplan.quote.rows import Quote, QuoteRow, read_quote
from ibplan.report.bom import bom_csv, bom_rows
from tests.examples import share
from tests.report import samples

SWITCH, FINNED, FLAT, CABLE = "nvidia-qm9700", "fs-mma4z00-ns", "fs-mma4z00-ns-flt", "fs-mtp12-om4-trunk"


@cache
def items() -> tuple[LineItem, ...]:
    plan = samples.plan(samples.POD, "storage=none", "management={inband: false, oob: false}")
    return plan.design(plan.recommended or "").line_items


def row(number: int, *numbers: str, text: str = "", quantity: int = 1, price: str | None = None) -> QuoteRow:
    return QuoteRow(number, numbers, text, quantity, None if price is None else Decimal(price), None, False)


def check(*rows: QuoteRow) -> QuoteCheck:
    return compare_quote(Quote("q.csv", {}, rows, ()), items(), samples.catalog())


def offer(one: QuoteRow) -> Offered:
    return check(one).offers[0]


@pytest.mark.parametrize("name", samples.ALL)
@pytest.mark.parametrize("by", ["part", "tier"])
def test_a_bill_is_a_quote_without_differences(name: str, by: str, tmp_path: Path) -> None:
    plan = samples.plan(name)
    design = plan.design(plan.recommended or plan.designs[0].id)
    grouping = "tier" if by == "tier" else "part"
    (tmp_path / "q.csv").write_text(bom_csv(bom_rows(plan, design, grouping), grouping))
    found = compare_quote(read_quote(tmp_path / "q.csv", {}), design.bill_items, samples.catalog())
    assert found.differences(Decimal(0)) == 0
    assert found.quoted_usd == found.bill_usd
    assert {o.status for o in found.offers} == {"match"}


@pytest.mark.parametrize(
    ("one", "status", "part", "via"),
    [
        (row(2, "MQM9700-NS2F"), "match", SWITCH, "part number"),
        (row(2, "mqm9700 ns2f"), "match", SWITCH, "part number"),
        (row(2, "QM9700"), "match", SWITCH, "part number"),
        (row(2, SWITCH), "match", SWITCH, "catalogue id"),
        (row(2, "12345", text="NVIDIA Quantum-2 MQM9700-NS2F, 64 ports"), "match", SWITCH, "description"),
        (row(2, text="FS 800G OSFP 2xSR4 transceiver, flat"), "match", FLAT, "description"),
        (row(2, text="MTP-12 OM4 custom trunk 10 m"), "match", CABLE, "description"),
        (row(2, "MMA4Z00-NS"), "stand-in", "nvidia-mma4z00-ns", "part number"),
        (row(2, "980-9I51A-00NS00"), "stand-in", "nvidia-mma4z00-ns-flt", "part number"),
        (row(2, "MSN5600"), "not recognized", None, None),
        (row(2, text="switch"), "not recognized", None, None),
        (row(2, text="800G OSFP transceiver"), "not recognized", None, None),
        (row(2, "UFM-1"), "not recognized", None, None),
        (row(2, "nvidia-sn5600"), "not in the bill", "nvidia-sn5600", "catalogue id"),
    ],
)
def test_how_rows_are_recognized(one: QuoteRow, status: str, part: str | None, via: str | None) -> None:
    found = offer(one)
    assert (found.status, found.part, found.via) == (status, part, via)


def test_a_row_that_names_two_parts_is_not_guessed() -> None:
    assert offer(row(2, text="MMA4Z00-NS or MMA4Z00-NS-FLT")).status == "not recognized"


@pytest.mark.parametrize(
    ("one", "note"),
    [
        (row(2, "MQM9700-NS2R"), "wrong airflow c2p: the bill needs MQM9700-NS2F"),
        (row(2, "MMA4Z00-NS-T"), "wrong link layer: ethernet, the bill needs infiniband"),
        (row(2, "nvidia-mms4x00-ns-flt"), "wrong heat sink: flat, the bill needs finned"),
        (row(2, "nvidia-mfp7e20"), "wrong "),
    ],
)
def test_wrong_parts_say_what_is_wrong(one: QuoteRow, note: str) -> None:
    found = offer(one)
    assert found.status == "wrong"
    assert found.note.startswith(note)


def test_a_wrong_heat_sink_by_hand() -> None:
    only = tuple(item for item in items() if item.part == FINNED)
    found = compare_quote(Quote("q", {}, (row(2, "MMA4Z00-NS-FLT", quantity=9),), ()), only, samples.catalog())
    assert found.offers[0].note == f"wrong heat sink: flat, the bill needs finned ({FINNED})"
    assert (found.needs[0].status, found.needs[0].quoted) == ("missing", 0)


def test_a_wrong_length_of_a_cable_sold_by_length() -> None:
    cable = replace(items()[0], category="cable", part="nvidia-mcp7y00", part_number="980-9I924-00N002", quantity=4)
    quote = Quote("q", {}, (row(2, "980-9I432-00N001", quantity=4), row(3, "980-9I924-00N002", quantity=4)), ())
    short, right = compare_quote(quote, [cable], samples.catalog()).offers
    assert (short.status, short.note) == ("wrong", "wrong length 1 m: the bill needs 980-9I924-00N002")
    assert right.status == "match"
    open_length = replace(cable, part_number=None)
    assert compare_quote(quote, [open_length], samples.catalog()).needs[0].quoted == 8


def test_two_lengths_of_one_cable_are_not_mixed_up() -> None:
    one = replace(items()[0], category="cable", part="nvidia-mcp7y00", part_number="980-9I924-00N002", quantity=4)
    two = replace(one, part_number="980-9I92N-00N003", quantity=6)
    quote = Quote("q", {}, (row(2, "980-9I92N-00N003", quantity=6), row(3, "nvidia-mcp7y00", quantity=4)), ())
    found = compare_quote(quote, [one, two], samples.catalog())
    assert [need.quoted for need in found.needs] == [0, 6]
    assert found.offers[1].status == "not recognized"
    assert "980-9I924-00N002 or 980-9I92N-00N003" in found.offers[1].note


def test_lengths_of_a_cable_without_numbers_are_one_need_at_the_mean_price() -> None:
    cable = replace(items()[0], category="cable", part=CABLE, part_number=None, quantity=30, length_m=4.0)
    short, long = replace(cable, unit_price_usd=Decimal(10)), replace(cable, quantity=10, unit_price_usd=Decimal(50))
    quote = Quote("q", {}, (row(2, CABLE, quantity=40, price="22"),), ())
    found = compare_quote(quote, [short, replace(long, length_m=20.0)], samples.catalog())
    (need,) = found.needs
    assert (need.status, need.book_usd) == ("as needed", 20)  # (30 x 10 + 10 x 50) / 40
    assert need.price_change == Decimal("0.1")
    open_price = compare_quote(quote, [short, replace(long, unit_price_usd=None)], samples.catalog())
    assert open_price.needs[0].price_change is None


def test_a_number_stands_for_its_own_length_before_a_length_without_number() -> None:
    one = replace(items()[0], category="cable", part="nvidia-mcp7y00", part_number="980-9I924-00N002", quantity=4)
    other = replace(one, part_number=None, quantity=6, length_m=9.0)
    quote = Quote("q", {}, (row(2, "980-9I924-00N002", quantity=4),), ())
    found = compare_quote(quote, [one, other], samples.catalog())
    assert [need.quoted for need in found.needs] == [4, 0]


def test_quantities_and_prices_by_hand() -> None:
    found = check(
        row(2, SWITCH, quantity=40, price="30000"),
        row(3, SWITCH, quantity=8, price="36000"),
        row(4, FINNED, quantity=500, price="879"),
        row(5, FLAT, quantity=600),
    )
    needs = {need.part: need for need in found.needs}
    assert [(needs[part].status, needs[part].rows) for part in (SWITCH, FINNED, FLAT, CABLE)] == [
        ("as needed", (2, 3)),
        ("too few", (4,)),
        ("too many", (5,)),
        ("missing", ()),
    ]
    assert needs[SWITCH].quoted_usd == 31_000  # the mean of 40 at 30,000 and 8 at 36,000
    assert needs[SWITCH].price_change == Decimal(31_000) / Decimal(32_870) - 1
    assert needs[FLAT].price_change is None
    assert (found.quoted_usd, found.quoted_complete) == (40 * 30_000 + 8 * 36_000 + 500 * 879, False)
    missing = len(found.needs) - 1
    assert found.differences(None) == missing
    assert found.differences(Decimal(0)) == missing + 1  # a price that is not stated cannot be known to be low enough


def test_prices_count_only_above_the_tolerance() -> None:
    only = tuple(item for item in items() if item.part == SWITCH)
    need = sum(item.quantity for item in only)

    def count(price: str, tolerance: str | None) -> int:
        quote = Quote("q", {}, (row(2, SWITCH, quantity=need, price=price),), ())
        found = compare_quote(quote, only, samples.catalog())
        return found.differences(None if tolerance is None else Decimal(tolerance))

    assert (count("40000", None), count("40000", "0.1"), count("33000", "0.1"), count("20000", "0")) == (0, 1, 0, 0)


@settings(max_examples=share(20))
@given(st.data())
def test_whatever_is_missing_or_surplus_is_found(data: st.DataObject) -> None:
    full = check()
    numbers = [data.draw(st.integers(0, 2 * need.needed)) for need in full.needs]
    found = check(
        *(row(i, need.part, quantity=n) for i, (need, n) in enumerate(zip(full.needs, numbers, strict=True), 2))
    )
    assert [need.quoted for need in found.needs] == numbers
    expected = sum(n != need.needed for n, need in zip(numbers, found.needs, strict=True))
    assert found.differences(None) == expected
