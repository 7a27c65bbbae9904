"""The workbook of a bill: typed cells, sums with kept values, nothing that runs, the same bytes."""

from __future__ import annotations

import io
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import openpyxl
import pytest

from ibplan.report.bom import By
from ibplan.report.bom_merged import merged_rows
from ibplan.report.bom_xlsx import NOTES, SUMMARY, bom_xlsx
from ibplan.report.workbook import cell_text
from tests.report import samples
from tests.report.joint_bills import PURCHASES, hostile, joint_bill, two_networks, with_items

Grid = list[list[Any]]
NAMES = sorted(PURCHASES)


@cache
def _file(name: str) -> bytes:
    return bom_xlsx(PURCHASES[name]())


def _book(content: bytes, *, formulas: bool = False) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(content), data_only=not formulas)


def _table(book: openpyxl.Workbook, sheet: str, head_row: int = 1) -> list[dict[str, Any]]:
    head, *rows = book[sheet].iter_rows(min_row=head_row, values_only=True)
    return [dict(zip(map(str, head), row, strict=True)) for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_for_each_network_between_summary_and_notes(name: str) -> None:
    made = PURCHASES[name]()
    networks = dict.fromkeys(item.network for share in made.shares for item in share.design.line_items)
    assert _book(_file(name)).sheetnames == [SUMMARY, *networks, NOTES]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("by", ["part", "tier"])
def test_cells_are_the_rows_of_the_bill(name: str, by: By) -> None:
    made = PURCHASES[name]()
    book = _book(bom_xlsx(made, by))
    for network in book.sheetnames[1:-1]:
        *lines, total = _table(book, network)
        rows = [row for row in merged_rows(made, by) if row["network"] == network]
        assert len(lines) == len(rows)
        for line, row in zip(lines, rows, strict=True):
            values = [value for title, value in line.items() if title != "Price state"]
            wanted = [
                float(v) if isinstance(v, Decimal) else v or None if isinstance(v, str) else v for v in row.values()
            ]
            assert [v or None if isinstance(v, str) else v for v in values] == wanted
            assert line["Price state"] == ("no price" if row["unit_price"] is None else "priced")
        known = [row["extended_price"] for row in rows if row["extended_price"] is not None]
        assert total["Extended price"] == pytest.approx(float(sum(known)), abs=0.005)
        assert total["Order quantity"] == sum(row["order_quantity"] for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_has_every_network_and_category_and_the_total(name: str) -> None:
    made = PURCHASES[name]()
    rows = merged_rows(made)
    *lines, total, planned, changed = _table(_book(_file(name)), SUMMARY, 4)
    found = {(line["Network"], line["Category"]): line for line in lines}
    assert set(found) == {(row["network"], row["category"]) for row in rows}
    for (network, category), line in found.items():
        own = [row for row in rows if (row["network"], row["category"]) == (network, category)]
        known = [float(row["extended_price"]) for row in own if row["extended_price"] is not None]
        assert line["Lines"] == len(own)
        assert line["Pieces to order"] == sum(row["order_quantity"] for row in own)
        assert line["Pieces without a price"] == sum(r["order_quantity"] for r in own if r["unit_price"] is None)
        assert line["Price, USD"] == (pytest.approx(sum(known), abs=0.005) if known else None)
        whole = not line["Pieces without a price"]
        assert line["State"] == (
            "complete" if whole else "a lower bound: parts without a price are not in it" if known else "no price"
        )
    assert total["Price, USD"] == planned["Price, USD"] == pytest.approx(float(made.totals.capex_usd), abs=0.005)
    assert changed["Price, USD"] == 0
    assert (total["State"] == "complete") == made.totals.complete


def test_an_unpriced_part_has_an_empty_price_never_0() -> None:
    book = _book(_file("unpriced"))
    lines = [line for line in _table(book, "compute") if line["Price state"] == "no price"]
    assert lines
    assert all(line["Unit price"] is None and not line["Extended price"] for line in lines)
    summary = _table(book, SUMMARY, 4)
    assert [line["Price, USD"] for line in summary if line["State"] == "no price"] == [None]


def test_where_nothing_has_a_price_no_sum_is_0() -> None:
    made = joint_bill(samples.BOTH)
    bare = with_items(made, [replace(item, unit_price_usd=None) for item in made.shares[0].design.line_items])
    summary = _table(_book(bom_xlsx(bare)), SUMMARY, 4)
    assert [line["Price, USD"] for line in summary[:-1]] == [None] * (len(summary) - 1)
    assert summary[-3]["State"] == "no price"


@pytest.mark.parametrize("name", NAMES)
def test_sums_and_extended_prices_are_formulas(name: str) -> None:
    book = _book(_file(name), formulas=True)
    for sheet in book.sheetnames[1:-1]:
        *lines, total = _table(book, sheet)
        assert all(str(line["Extended price"]).startswith("=IF(ISNUMBER(") for line in lines)
        assert "SUM(" in total["Extended price"]
    (total,) = [line for line in _table(book, SUMMARY, 4) if line["Network"] == "Total"]
    assert "SUM(E5:" in total["Price, USD"]


@pytest.mark.parametrize("name", NAMES)
def test_headers_stay_in_sight_and_rows_can_be_filtered(name: str) -> None:
    book = _book(_file(name))
    for sheet in book.worksheets:
        assert sheet.freeze_panes == ("A5" if sheet.title == SUMMARY else "A2")
        if sheet.title not in (SUMMARY, NOTES):
            assert sheet.auto_filter.ref == f"A1:{sheet.cell(sheet.max_row - 1, sheet.max_column).coordinate}"
    money = next(cell for cell in book["compute"][2] if cell.number_format == "#,##0.00")
    assert isinstance(money.value, int | float)


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@x", "{=1}", "https://x.invalid", "0012", "\t=1"])
def test_texts_stay_texts(start: str) -> None:
    book = _book(bom_xlsx(hostile(start)), formulas=True)
    row = next(book["compute"].iter_rows(min_row=2))
    number = row[4]
    assert (number.value, number.data_type, number.hyperlink) == (start, "s", None)
    assert not any(cell.data_type == "f" and start in str(cell.value) for line in book["compute"].rows for cell in line)


def test_the_same_order_gives_the_same_bytes() -> None:
    for name in NAMES:
        assert bom_xlsx(PURCHASES[name]()) == _file(name)


def test_the_notes_say_what_the_bill_rests_on() -> None:
    notes = list(_book(_file("several"))[NOTES].iter_rows(min_row=2, values_only=True))
    said = {str(subject) for subject, _, _ in notes}
    assert {"Design", "Price book", "Kind of price", "Price source", "No price", "Left out of this plan"} <= said
    made = PURCHASES["several"]()
    assert [text for subject, _, text in notes if subject == "Design"] == [share.design.id for share in made.shares]
    sources = {row["price_source"] for row in merged_rows(made)} - {None}
    assert {text for subject, _, text in notes if subject == "Price source"} == sources
    missing = {f"{row.part} ({row.quantity:,})" for row in made.totals.unpriced}
    assert {text for subject, _, text in notes if subject == "No price"} == missing
    assert all(row["price_date"] is None or row["price_kind"] for row in merged_rows(made))


def test_a_text_too_long_for_a_cell_says_that_it_was_cut() -> None:
    assert cell_text("x" * 32_767) == "x" * 32_767
    cut = cell_text("x" * 32_768)
    assert len(cut) == 32_767
    assert cut.endswith("(cut: too long for a cell)")
    assert cell_text("\udc80") == "\\udc80"


def test_a_line_that_does_not_multiply_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from ibplan.report import bom_xlsx as module

    wrong = [row | {"extended_price": Decimal(1)} for row in merged_rows(two_networks())]
    monkeypatch.setattr(module, "merged_rows", lambda joint_bill, by: wrong)
    with pytest.raises(ValueError, match=r"line 1: 1 is not 48 x 32870"):
        bom_xlsx(two_networks())
