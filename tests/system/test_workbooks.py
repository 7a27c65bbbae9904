"""Workbooks as LibreOffice computes them, cell by cell against the engine's own numbers."""

from __future__ import annotations

import io
import re
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from ibplan.plan.joint_bill import JointBill
from ibplan.report.bom_merged import merged_rows
from ibplan.report.bom_xlsx import NOTES, SUMMARY, bom_xlsx
from tests.report import samples
from tests.report.joint_bills import PURCHASES, hostile, joint_bill
from tests.system.office import Sheets, find_office, sheets_of

NAMES = sorted(PURCHASES)
_SUMMARY_HEAD = 3  # rows above the first line


def _agree(cell: str, value: Any) -> bool:
    """Whether a cell of CSV is a value of the engine: money to a tenth of a cent, all else exactly."""
    if value is None or value == "":
        return cell == ""
    if isinstance(value, int | float | Decimal):
        return cell != "" and abs(Decimal(cell) - Decimal(value)) < Decimal("0.001")
    return cell == str(value)


def _holds(sheets: Sheets, made: JointBill) -> None:
    """Every line, every sum and every state of a workbook is what the engine says."""
    rows = merged_rows(made)
    networks = dict.fromkeys(row["network"] for row in rows)
    assert set(sheets) == {SUMMARY, *networks, NOTES}
    for network in networks:
        own = [row for row in rows if row["network"] == network]
        _, *lines, total = sheets[network]
        assert len(lines) == len(own)
        for line, row in zip(lines, own, strict=True):
            state = list(row).index("extended_price") + 1
            assert line.pop(state) == ("no price" if row["unit_price"] is None else "priced")
            assert [cell for cell, value in zip(line, row.values(), strict=True) if not _agree(cell, value)] == []
        assert _agree(total[list(own[0]).index("order_quantity")], sum(row["order_quantity"] for row in own))
        assert _agree(total[list(own[0]).index("extended_price")], _sum(own))
    _holds_summary(sheets[SUMMARY][_SUMMARY_HEAD + 1 :], rows, made)


def _sum(rows: list[Any]) -> Decimal | None:
    known = [row["extended_price"] for row in rows if row["extended_price"] is not None]
    return sum(known, Decimal(0)) if known else None


def _missing(rows: list[Any]) -> int:
    return sum(row["order_quantity"] for row in rows if row["unit_price"] is None)


def _holds_summary(table: list[list[str]], rows: list[Any], made: JointBill) -> None:
    *lines, total, planned, changed = table
    assert len(lines) == len({(row["network"], row["category"]) for row in rows})
    for network, category, *cells in [*lines, total]:
        own = [r for r in rows if network == "Total" or (r["network"], r["category"]) == (network, category)]
        wanted = (len(own), sum(row["order_quantity"] for row in own), _sum(own), _missing(own))
        assert [_agree(cell, value) for cell, value in zip(cells, wanted, strict=False)] == [True] * 4
        assert (cells[4] == "complete") == (_missing(own) == 0)
    assert _agree(total[4], made.totals.capex_usd)
    assert _agree(planned[4], made.totals.capex_usd)
    assert _agree(changed[4], 0)


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_is_the_engines(name: str, tmp_path: Path) -> None:
    _holds(sheets_of(bom_xlsx(PURCHASES[name]()), tmp_path), PURCHASES[name]())


def _without_values(content: bytes) -> bytes:
    """The workbook with a wrong number as the kept value of every formula."""
    out, changed = io.BytesIO(), 0
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text, count = re.subn(
                r'( t="str")?><f>(.*?)</f><v>.*?</v>', r"><f>\2</f><v>-7</v>", old.read(name).decode()
            )
            new.writestr(name, text)
            changed += count
    assert changed > 20
    return out.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_formulas_recompute_whatever_values_were_kept(name: str, tmp_path: Path) -> None:
    _holds(sheets_of(_without_values(bom_xlsx(PURCHASES[name]())), tmp_path), PURCHASES[name]())


def test_prices_that_a_buyer_fills_in_reach_every_total(tmp_path: Path) -> None:
    find_office()
    made = joint_bill(samples.UNPRICED)
    book = openpyxl.load_workbook(io.BytesIO(bom_xlsx(made)))
    missing = [row for row in merged_rows(made) if row["unit_price"] is None]
    unit = list(missing[0]).index("unit_price") + 1
    for row in missing:
        book["compute"].cell(row["line"] + 1, unit).value = 1000
    out = io.BytesIO()
    book.save(out)
    *_, total, planned, changed = sheets_of(out.getvalue(), tmp_path)[SUMMARY]
    added = 1000 * sum(row["order_quantity"] for row in missing)
    assert _agree(planned[4], made.totals.capex_usd)
    assert _agree(total[4], made.totals.capex_usd + added)
    assert _agree(changed[4], added)
    assert (total[5], total[6]) == ("0", "complete")


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "@SUM(1)"])
def test_texts_are_not_run(text: str, tmp_path: Path) -> None:
    _, first, *_ = sheets_of(bom_xlsx(hostile(text)), tmp_path)["compute"]
    assert first[3:5] == [text, text]
