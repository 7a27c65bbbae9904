"""A workbook (XLSX) as lines of text, for a comparison cell by cell."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ibplan.errors import InputError, Problem

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_MAGIC: Final = b"PK\x03\x04"
_MAX_UNPACKED_BYTES: Final = 2 * 1024 * 1024
_MAX_MEMBERS: Final = 200
_MAX_CELLS: Final = 200_000


def is_workbook(content: bytes) -> bool:
    """Whether a file begins as a workbook does."""
    return content.startswith(_MAGIC)


def workbook_lines(content: bytes, source: str) -> list[str]:
    """For each sheet one line a row with the values of its cells, then one line a formula with the cell it is in.

    Raises InputError if it is no workbook, or one that is larger than any bill.
    """
    import warnings

    import openpyxl

    _check_size(content, source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts of a file that hold no cells
            values = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
            formulas = openpyxl.load_workbook(io.BytesIO(content))
    except Exception as error:  # a damaged file can break the reader anywhere
        raise _refuse(source, f"cannot be read as a workbook: {type(error).__name__}: {error}") from None
    lines = []
    for shown, written in zip(values.worksheets, formulas.worksheets, strict=True):
        lines += [f"sheet {shown.title}", *_sheet_lines(shown, written, source)]
    return lines


def _check_size(content: bytes, source: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            members = packed.infolist()
    # zipfile raises NotImplementedError for a version of the format that it does not know.
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _refuse(source, f"is not a workbook: {error}") from None
    if len(members) > _MAX_MEMBERS or sum(member.file_size for member in members) > _MAX_UNPACKED_BYTES:
        raise _refuse(source, f"unpacks to more than {_MAX_UNPACKED_BYTES // 1024**2} MiB or {_MAX_MEMBERS} parts")


def _refuse(source: str, message: str) -> InputError:
    return InputError([Problem(source, 0, 0, message, "write it anew with -o")])


def _sheet_lines(shown: Worksheet, written: Worksheet, source: str) -> Iterator[str]:
    if shown.max_row * shown.max_column > _MAX_CELLS:
        raise _refuse(source, f"the sheet {shown.title} has more than {_MAX_CELLS:,} cells")
    for row in shown.iter_rows(values_only=True):
        yield _line(row)
    for cells in written.iter_rows():
        yield from (f"{shown.title}!{c.coordinate}: {c.value}" for c in cells if c.data_type == "f")


def _line(row: Sequence[Any]) -> str:
    """The cells up to the last that holds something; a bar within a cell is marked, so that no two rows look alike."""
    texts = [_text(value).replace("\\", "\\\\").replace("|", "\\|") for value in row]
    while texts and not texts[-1]:
        texts.pop()
    return " | ".join(texts)


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)
