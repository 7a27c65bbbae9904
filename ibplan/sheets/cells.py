"""Cells with their row numbers: of a CSV file here, of a workbook in `workbook`."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from ibplan.document import open_regular, printable
from ibplan.errors import InputError, Problem

_MIB: Final = 1024**2
MAX_CELL: Final = 2_000
_ZIP: Final = b"PK\x03\x04"
_OLD_EXCEL: Final = b"\xd0\xcf\x11\xe0"
DELIMITERS: Final = (",", ";", "\t", "|")

Cell = str | int | float | None
Row = tuple[int, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read of a table that `what` names; of a workbook the MiB that its cells and all else may unpack to."""

    what: str
    mib: int
    rows: int
    cells_mib: int
    other_mib: int = 1
    columns: int = 200


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows with their numbers in the file (1-based; a CSV row has that of its first line). Empty rows are left out.

    `name` is that of a sheet of a workbook, as it can be printed; None for a CSV.
    """

    source: str
    rows: tuple[Row, ...]
    name: str | None = None

    def problem(self, row: int, message: str, remedy: str = "") -> Problem:
        """A problem of a row. Row 0 = of the file."""
        place = f"row {row}: " if self.name is None else f"sheet {self.name}, row {row}: "
        return Problem(self.source, 0, 0, f"{place}{message}" if row else message, remedy)


class _LongCellError(InputError):
    """A cell that is too long, or text that is no CSV: what whole lines look like by a wrong delimiter."""


def read_sheets(path: Path, name: str | None, limits: Limits) -> tuple[Sheet, ...]:
    """The readings of a file, of which one holds the table: sheets of a workbook, or a CSV by each delimiter.

    `name` picks a sheet; the path `-` is standard input. Raises InputError.
    """
    return sheets_of(*read_bytes(path, limits), name, limits)


def sheets_of(data: bytes, source: str, name: str | None, limits: Limits) -> tuple[Sheet, ...]:
    """The same of what was read already."""
    if data.startswith(_ZIP):
        from ibplan.sheets.workbook import workbook_sheets

        return workbook_sheets(data, source, name, limits)
    if data.startswith(_OLD_EXCEL):
        refuse(source, "a workbook of the old kind (.xls), or one with a password", "save it as .xlsx without one")
    if name is not None:
        refuse(source, "a CSV file has no sheets", "leave --sheet out")
    return _csv_sheets(decoded(data, source), source, limits)


def is_workbook(data: bytes) -> bool:
    """Whether these are the bytes of a workbook, of the new kind or the old one."""
    return data.startswith((_ZIP, _OLD_EXCEL))


def _csv_sheets(text: str, source: str, limits: Limits) -> tuple[Sheet, ...]:
    sheets: list[Sheet] = []
    refusals: list[InputError] = []
    for delimiter in [sign for sign in DELIMITERS if sign in text] or DELIMITERS[:1]:
        try:
            sheets.append(Sheet(source, _csv_rows(text, delimiter, source, limits)))
        except _LongCellError as error:
            refusals.append(error)
    if not sheets:
        raise refusals[0]
    return tuple(sheets)


def read_bytes(path: Path, limits: Limits) -> tuple[bytes, str]:
    """A file, or standard input for the path `-`, and its name in messages. Raises InputError."""
    most = limits.mib * _MIB
    if str(path) != "-":
        source = printable(path)
        with open_regular(path, source) as stream:
            # What is too large by its own word is not read at all.
            large = os.fstat(stream.fileno()).st_size > most
            data = b"" if large else stream.read(most + 1)
    else:
        source, large = "<stdin>", False
        if sys.stdin is None:
            refuse(source, "standard input is closed", f"give a file, or pipe a {limits.what} in")
        data = sys.stdin.buffer.read(most + 1)
    if large or len(data) > most:
        refuse(source, f"larger than {limits.mib} MiB, the limit for a {limits.what}")
    return data, source


def refuse(source: str, message: str, remedy: str = "") -> NoReturn:
    """Raise InputError about the file."""
    raise InputError([Problem(source, 0, 0, message, remedy)])


def decoded(data: bytes, source: str) -> str:
    """Text as spreadsheets write it: UTF-8 with or without a mark, or UTF-16 with one."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"line {data[: error.start].count(10) + 1}" if encoding != "utf-16" else "the text is cut off"
        refuse(source, f"not {encoding.removesuffix('-sig').upper()} text ({place})", "save the file as CSV UTF-8")
    if "\0" in text:
        refuse(source, "not a text file", "save it as CSV UTF-8 or .xlsx")
    return text


def _csv_rows(text: str, delimiter: str, source: str, limits: Limits) -> tuple[Row, ...]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    line = 1
    try:
        for cells in reader:
            bounded(line, len(cells), source, limits)
            rows += kept(line, (text_cell(cell, line, source) for cell in cells))
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"line {reader.line_num}: not CSV: {error}"
        raise _LongCellError([Problem(source, 0, 0, message, "check the quotes")]) from None
    return tuple(rows)


def bounded(row: int, columns: int, source: str, limits: Limits) -> None:
    """Refuse a row beyond the limits."""
    what = limits.what
    if row > limits.rows:
        refuse(source, f"more than {limits.rows:,} rows, the limit for a {what}", f"keep the rows of the {what} alone")
    if columns > limits.columns:
        refuse(source, f"row {row}: more than {limits.columns} columns, the limit for a {what}")


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
