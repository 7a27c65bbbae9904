"""Cells of a CSV file or a workbook, with their row numbers. Hostile files are refused before they are unpacked."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from ibplan.document import open_regular, printable
from ibplan.errors import InputError, Problem

MAX_BYTES: Final = 5 * 1024 * 1024
MAX_ROWS: Final = 5_000
MAX_COLUMNS: Final = 200
MAX_CELL: Final = 2_000
# What a workbook may unpack to in all, and how many parts it may have.
_MAX_UNPACKED: Final = 12 * 1024 * 1024
_MAX_PARTS: Final = 1_000
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

    `name` picks a sheet. Raises InputError.
    """
    source = printable(path)
    with open_regular(path, source) as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        _refuse(source, f"larger than {MAX_BYTES // 1024**2} MiB, the limit for a quote")
    if data.startswith(_ZIP):
        return _workbook(data, source, name)
    if data.startswith(_OLD_EXCEL):
        _refuse(source, "a workbook of the old kind (.xls), or one with a password", "save it as .xlsx without one")
    if name is not None:
        _refuse(source, "a CSV file has no sheets", "leave --sheet out")
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


def _refuse(source: str, message: str, remedy: str = "") -> NoReturn:
    raise InputError([Problem(source, 0, 0, message, remedy)])


def _decoded(data: bytes, source: str) -> str:
    """Text as spreadsheets write it: UTF-8 with or without a mark, or UTF-16 with one."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"line {data[: error.start].count(10) + 1}" if encoding != "utf-16" else "the text is cut off"
        _refuse(source, f"not {encoding.removesuffix('-sig').upper()} text ({place})", "save the file as CSV UTF-8")
    if "\0" in text:
        _refuse(source, "not a text file", "save the quote as CSV UTF-8 or .xlsx")
    return text


def _csv_rows(text: str, delimiter: str, source: str) -> tuple[Row, ...]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[Row] = []
    line = 1
    try:
        for cells in reader:
            _bounded(line, len(cells), source)
            rows += _kept(line, (_text(cell, line, source) for cell in cells))
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"line {reader.line_num}: not CSV: {error}"
        raise _LongCellError([Problem(source, 0, 0, message, "check the quotes")]) from None
    return tuple(rows)


def _bounded(row: int, columns: int, source: str) -> None:
    if row > MAX_ROWS:
        _refuse(source, f"more than {MAX_ROWS:,} rows, the limit for a quote", "keep the rows of the quote alone")
    if columns > MAX_COLUMNS:
        _refuse(source, f"row {row}: more than {MAX_COLUMNS} columns, the limit for a quote")


def _kept(line: int, cells: Iterable[Cell]) -> Iterator[Row]:
    row = tuple(cells)
    if any(cell is not None for cell in row):
        yield line, row


def _text(cell: str, row: int, source: str) -> str | None:
    if len(cell) > MAX_CELL:
        message = f"row {row}: a cell of {len(cell):,} characters; {MAX_CELL:,} is the limit"
        raise _LongCellError([Problem(source, 0, 0, message)])
    return printable(" ".join(cell.split())) or None


def _workbook(data: bytes, source: str, name: str | None) -> tuple[Sheet, ...]:
    _check_archive(data, source)
    from openpyxl import load_workbook

    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        names = [sheet.title for sheet in book.worksheets]
        if name is not None and name not in names:
            _refuse(source, f"there is no sheet {name!r}", f"there are: {', '.join(map(printable, names))}")
        return tuple(Sheet(source, tuple(_sheet_rows(book[each], source))) for each in names if name in (None, each))
    except InputError:
        raise
    except Exception as error:  # a damaged workbook fails anywhere in the reader, in any way
        _refuse(source, f"not a workbook that can be read: {type(error).__name__}", "save it anew as .xlsx, or as CSV")


def _sheet_rows(sheet: Any, source: str) -> Iterator[Row]:
    sheet.reset_dimensions()  # what the file says of its own size is not to be believed
    for number, cells in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS, values_only=True), 1):
        _bounded(number, len(cells), source)
        yield from _kept(number, (_value(cell, number, source) for cell in cells))


def _value(cell: object, row: int, source: str) -> Cell:
    if cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)):
        return cell
    return _text(str(cell), row, source)


def _check_archive(data: bytes, source: str) -> None:
    """Refuse what would unpack to a multiple of its size, and XML that declares entities, before it is read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = [part for part in archive.infolist() if part.filename.endswith((".xml", ".rels"))]
            if len(archive.infolist()) > _MAX_PARTS or sum(part.file_size for part in parts) > _MAX_UNPACKED:
                limit = f"{_MAX_UNPACKED // 1024**2} MiB"
                _refuse(source, f"unpacks to more than {limit}, the limit for a quote", "save the quote's sheet alone")
            for part in parts:
                if part.flag_bits & 1:
                    _refuse(source, "a workbook with a password", "save it without one")
                text = archive.read(part).replace(b"\0", b"")  # as ASCII, whether it is UTF-8 or UTF-16
                if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
                    _refuse(source, f"{printable(part.filename)} declares entities, which no spreadsheet writes")
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError, RuntimeError) as error:
        _refuse(source, f"not a workbook that can be read: {error}", "save it anew as .xlsx, or as CSV")
