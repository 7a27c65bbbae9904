"""Cells of a quote with their row numbers: of a CSV file here, of a workbook in `workbook`."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from ibplan.document import open_regular, printable
from ibplan.errors import InputError, Problem

MAX_BYTES: Final = 5 * 1024 * 1024
MAX_ROWS: Final = 5_000
MAX_COLUMNS: Final = 200
MAX_CELL: Final = 2_000
_ZIP: Final = b"PK\x03\x04"
_OLD_EXCEL: Final = b"\xd0\xcf\x11\xe0"
DELIMITERS: Final = (",", ";", "\t", "|")

Cell = str | int | float | None
Row = tuple[int, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows with their numbers in the file (1-based; a CSV row has that of its first line). Empty rows are left out."""

    source: str
    rows: tuple[Row, ...]

    def problem(self, row: int, message: str, remedy: str = "") -> Problem:
        """A problem of a row. Row 0 = of the file."""
        return Problem(self.source, 0, 0, f"row {row}: {message}" if row else message, remedy)


class _LongCellError(InputError):
    """A cell that is too long, or text that is no CSV: what whole lines look like by a wrong delimiter."""


def read_sheets(path: Path, name: str | None) -> tuple[Sheet, ...]:
    """The readings of a file, of which one holds the quote: sheets of a workbook, or a CSV by each delimiter.

    `name` picks a sheet; the path `-` is standard input. Raises InputError.
    """
    data, source = _read(path)
    if len(data) > MAX_BYTES:
        refuse(source, f"larger than {MAX_BYTES // 1024**2} MiB, the limit for a quote")
    if data.startswith(_ZIP):
        from ibplan.quote.workbook import workbook_sheets

        return workbook_sheets(data, source, name)
    if data.startswith(_OLD_EXCEL):
        refuse(source, "a workbook of the old kind (.xls), or one with a password", "save it as .xlsx without one")
    if name is not None:
        refuse(source, "a CSV file has no sheets", "leave --sheet out")
    return _csv_sheets(_decoded(data, source), source)


def _csv_sheets(text: str, source: str) -> tuple[Sheet, ...]:
    sheets: list[Sheet] = []
    refusals: list[InputError] = []
    for delimiter in DELIMITERS:
        try:
            sheets.append(Sheet(source, _csv_rows(text, delimiter, source)))
        except _LongCellError as error:
            refusals.append(error)
    if not sheets:
        raise refusals[0]
    return tuple(sheets)


def _read(path: Path) -> tuple[bytes, str]:
    if str(path) != "-":
        source = printable(path)
        with open_regular(path, source) as stream:
            return stream.read(MAX_BYTES + 1), source
    if sys.stdin is None:
        refuse("<stdin>", "standard input is closed", "give a file, or pipe a quote in")
    return sys.stdin.buffer.read(MAX_BYTES + 1), "<stdin>"


def refuse(source: str, message: str, remedy: str = "") -> NoReturn:
    """Raise InputError about the file."""
    raise InputError([Problem(source, 0, 0, message, remedy)])


def _decoded(data: bytes, source: str) -> str:
    """Text as spreadsheets write it: UTF-8 with or without a mark, or UTF-16 with one."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"line {data[: error.start].count(10) + 1}" if encoding != "utf-16" else "the text is cut off"
        refuse(source, f"not {encoding.removesuffix('-sig').upper()} text ({place})", "save the file as CSV UTF-8")
    if "\0" in text:
        refuse(source, "not a text file", "save the quote as CSV UTF-8 or .xlsx")
    return text


def _csv_rows(text: str, delimiter: str, source: str) -> tuple[Row, ...]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    line = 1
    try:
        for cells in reader:
            bounded(line, len(cells), source)
            rows += kept(line, (text_cell(cell, line, source) for cell in cells))
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"line {reader.line_num}: not CSV: {error}"
        raise _LongCellError([Problem(source, 0, 0, message, "check the quotes")]) from None
    return tuple(rows)


def bounded(row: int, columns: int, source: str) -> None:
    """Refuse a row beyond the limits."""
    if row > MAX_ROWS:
        refuse(source, f"more than {MAX_ROWS:,} rows, the limit for a quote", "keep the rows of the quote alone")
    if columns > MAX_COLUMNS:
        refuse(source, f"row {row}: more than {MAX_COLUMNS} columns, the limit for a quote")


def kept(line: int, cells: Iterable[Cell]) -> Iterator[Row]:
    """The row, unless it is empty."""
    row = tuple(cells)
    if any(cell is not None for cell in row):
        yield line, row


def text_cell(cell: str, row: int, source: str) -> str | None:
    """A text in one line that drives no terminal; None if it is empty. Raises InputError if it is too long."""
    if len(cell) > MAX_CELL:
        message = f"row {row}: a cell of {len(cell):,} characters; {MAX_CELL:,} is the limit"
        raise _LongCellError([Problem(source, 0, 0, message)])
    return printable(" ".join(cell.split())) or None
