"""Workbooks (XLSX) of typed cells: the same content gives the same bytes, and no text becomes a formula."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

# A workbook names the time it was made at. Any fixed one does; this is the first that the zip format can state.
_MADE: Final = datetime(1980, 1, 1)
_LONGEST_TEXT: Final = 32_767  # of a cell, by the file format
_CUT: Final = " ... (cut: too long for a cell)"
_LINE_HEIGHT: Final = 15  # points
_TALLEST: Final = 400  # points; programs stop at 409
_HEAD_FILL: Final = "#DCE6F1"
_A3: Final = 8


class Book:
    """A workbook in the making, with the few formats that its sheets share."""

    def __init__(self, book: Workbook) -> None:
        top: dict[str, Any] = {"valign": "top"}
        self._book = book
        self.title: Format = book.add_format({"bold": True, "font_size": 14})
        self.head: Format = book.add_format(
            {"bold": True, "text_wrap": True, "bottom": 1, "bg_color": _HEAD_FILL, "align": "left", "indent": 1} | top
        )
        self.text: Format = book.add_format({"text_wrap": True, "align": "left", "indent": 1} | top)
        self.count: Format = book.add_format({"num_format": "#,##0"} | top)
        self.money: Format = book.add_format({"num_format": "#,##0.00"} | top)
        self.number: Format = book.add_format(top)
        self.bold: Format = book.add_format({"bold": True, "top": 1, "align": "left", "indent": 1} | top)
        self.total: Format = book.add_format({"bold": True, "top": 1, "num_format": "#,##0.00"} | top)
        self.total_count: Format = book.add_format({"bold": True, "top": 1, "num_format": "#,##0"} | top)

    def sheet(self, name: str, widths: Sequence[float], head: Sequence[str], head_row: int = 0) -> Worksheet:
        """A new sheet with a header that stays in sight, printed as wide as a page. Widths in characters."""
        sheet = self._book.add_worksheet(name)
        for column, (width, words) in enumerate(zip(widths, head, strict=True)):
            sheet.set_column(column, column, width)
            put(sheet, head_row, column, words, self.head)
        fit_height(sheet, head_row, head, widths)
        sheet.freeze_panes(head_row + 1, 0)
        sheet.set_landscape()
        sheet.set_paper(_A3)
        sheet.fit_to_pages(1, 0)
        sheet.repeat_rows(head_row)
        sheet.set_footer("&L&A&RPage &P of &N")
        return sheet


def workbook_bytes(fill: Callable[[Book], None]) -> bytes:
    """The file of a workbook that `fill` fills."""
    import xlsxwriter

    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, {"in_memory": True})
    book.set_properties({"created": _MADE, "author": "ibplan"})
    fill(Book(book))
    book.close()
    return stream.getvalue()


def put(sheet: Worksheet, row: int, column: int, value: Any, shape: Format) -> None:
    """One cell (0-based): a number as a number, a text as a text whatever it looks like, None as an empty cell."""
    if value is None:
        sheet.write_blank(row, column, None, shape)
    elif isinstance(value, int | float | Decimal):
        sheet.write_number(row, column, float(value), shape)
    else:
        sheet.write_string(row, column, cell_text(str(value)), shape)


def fit_height(sheet: Worksheet, row: int, texts: Sequence[Any], widths: Sequence[float]) -> None:
    """Make a row as high as its longest text needs: programs do not do it by themselves for texts that wrap."""
    lines = 1
    for value, width in zip(texts, widths, strict=True):
        if isinstance(value, str):
            # Words do not break, so a line holds somewhat less than its width.
            lines = max(lines, sum(ceil((len(part) + 2) / (width * 0.85)) for part in value.split("\n")))
    sheet.set_row(row, min(lines * _LINE_HEIGHT, _TALLEST))


def cell_text(text: str) -> str:
    """A text that a cell can hold; one that had to be cut says so."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - len(_CUT)] + _CUT
