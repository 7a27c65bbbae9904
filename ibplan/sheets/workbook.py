"""Cells of a workbook. What is hostile is refused before it is unpacked or parsed."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any, Final
from xml.etree import ElementTree

from ibplan.document import printable
from ibplan.errors import InputError
from ibplan.sheets.cells import Cell, Limits, Row, Sheet, bounded, kept, refuse, text_cell

_MIB: Final = 1024**2
_MAX_PARTS: Final = 1_000
_CELLS: Final = ("xl/worksheets/sheet", "xl/sharedStrings")
# zipfile raises NotImplementedError for a way of packing or a version that it does not know: such files exist.
_UNREADABLE: Final = (zipfile.BadZipFile, NotImplementedError, ElementTree.ParseError)
_BROKEN: Final = (ValueError, KeyError, EOFError, OSError, RuntimeError)


def workbook_sheets(data: bytes, source: str, name: str | None, limits: Limits) -> tuple[Sheet, ...]:
    """All sheets of a workbook, or the one of a name. Raises InputError."""
    _check_archive(data, source, limits)
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and rules that it does not read: the cells are all that counts
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            names = [sheet.title for sheet in book.worksheets]
            if name is not None and name not in names:
                refuse(source, f"there is no sheet {name!r}", f"there are: {', '.join(map(printable, names))}")
            return tuple(
                Sheet(source, tuple(_sheet_rows(book[each], source, limits)), printable(each))
                for each in names
                if name in (None, each)
            )
    except InputError:
        raise
    except Exception as error:  # a damaged workbook fails anywhere in the reader, in any way
        refuse(source, f"not a workbook that can be read: {type(error).__name__}", "save it anew as .xlsx, or as CSV")


def _sheet_rows(sheet: Any, source: str, limits: Limits) -> Iterator[Row]:
    sheet.reset_dimensions()  # what the file says of its own size is not to be believed
    for number, cells in enumerate(sheet.iter_rows(max_col=limits.columns, values_only=True), 1):
        bounded(number, len(cells), source, limits)
        if cells.count(None) < len(cells):  # a cell in the last row makes a million empty ones before it
            yield from kept(number, [None if cell is None else _value(cell, number, source) for cell in cells])


def _value(cell: object, row: int, source: str) -> Cell:
    if cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)):
        return cell
    return text_cell(str(cell), row, source)


def _check_archive(data: bytes, source: str, limits: Limits) -> None:
    """Refuse what would unpack to a multiple of its size, and XML that declares entities, before it is read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = [part for part in archive.infolist() if not part.is_dir()]
            if any(part.flag_bits & 1 for part in parts):
                refuse(source, "a workbook with a password", "save it without one")
            read = [part for part in parts if not _is_picture(archive, part)]
            cells = sum(part.file_size for part in read if part.filename.startswith(_CELLS))
            other = sum(part.file_size for part in read) - cells
            if cells > limits.cells_mib * _MIB or other > limits.other_mib * _MIB or len(parts) > _MAX_PARTS:
                most = f"{limits.cells_mib} MiB of cells and {limits.other_mib} MiB besides"
                message = f"unpacks to more than the limit for a {limits.what}, {most}"
                refuse(source, message, f"save the {limits.what}'s sheet alone")
            for part in read:
                text = archive.read(part).replace(b"\0", b"")  # as ASCII, whether it is UTF-8 or UTF-16
                if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
                    refuse(source, f"{printable(part.filename)} declares entities, which no spreadsheet writes")
            _check_main(archive, source)
    except (*_UNREADABLE, *_BROKEN) as error:
        refuse(source, f"not a workbook that can be read: {error}", "save it anew as .xlsx, or as CSV")


def _is_picture(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Whether nobody reads a part: a picture that is no XML."""
    if not part.filename.startswith("xl/media/"):
        return False
    with archive.open(part) as stream:
        return not stream.read(4).lstrip().startswith((b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))


def _check_main(archive: zipfile.ZipFile, source: str) -> None:
    """Refuse a workbook whose main part stands elsewhere than in all others, where other limits hold."""
    for part in ElementTree.fromstring(archive.read("[Content_Types].xml")):
        if part.get("ContentType", "").endswith("main+xml") and part.get("PartName") not in (None, "/xl/workbook.xml"):
            refuse(source, "not a workbook that can be read: its main part is not xl/workbook.xml", "save it anew")
