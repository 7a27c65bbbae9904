"""The cable schedule as a workbook, written row by row: a sheet a network, and another where a sheet is full."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import IO, Any, Final

import xlsxwriter

from ibplan.cabling.rows import CableRow
from ibplan.report.cables import COLUMNS, cells

# A sheet holds 1,048,576 rows, one of them the head.
_ROWS: Final = 1_048_575
_WIDTHS: Final = {"label_a": 60, "label_b": 60, "description": 40, "cable_id": 28}
# The same input gives the same bytes: no date of today in the properties.
_CREATED: Final = datetime(1980, 1, 1, tzinfo=UTC).replace(tzinfo=None)


def write_schedule(stream: IO[bytes], rows: Iterable[CableRow], rows_a_sheet: int = _ROWS) -> None:
    """Write the schedule as XLSX to an open file."""
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    # Packed in memory, a tenth of the rows' size: on a full disk a half-made archive would complain when it is dropped.
    packed = io.BytesIO()
    with xlsxwriter.Workbook(packed, options) as book:
        book.set_properties({"created": _CREATED})
        head = book.add_format({"bold": True})
        sheet: Any = None
        network, used, sheets = "", 0, 0
        for row in rows:
            if sheet is None or row.network != network or used == rows_a_sheet:
                sheets = 1 if row.network != network else sheets + 1
                network, used = row.network, 0
                sheet = _new_sheet(book, network if sheets == 1 else f"{network} {sheets}", head)
            used += 1
            sheet.write_row(used, 0, cells(row))
        if sheet is None:
            _new_sheet(book, "no cables", head)
    stream.write(packed.getbuffer())


def _new_sheet(book: Any, name: str, head: Any) -> Any:
    sheet = book.add_worksheet(name)
    for column, title in enumerate(COLUMNS):
        sheet.set_column(column, column, _WIDTHS.get(title, 14))
    sheet.freeze_panes(1, 2)
    sheet.write_row(0, 0, COLUMNS, head)
    return sheet
