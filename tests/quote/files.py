"""Files of quotes for the tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from openpyxl import Workbook

HEAD = ("Part Number", "Description", "Qty", "Unit Price", "Total")


def csv_file(path: Path, rows: Sequence[Sequence[object]], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    """A CSV of rows; what holds the delimiter stands in quotes."""
    import csv

    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def workbook(path: Path, rows: Sequence[Sequence[object]], sheet: str = "Quote") -> Path:
    """A workbook with a cover sheet before that of the rows."""
    book = Workbook()
    cover = book.active
    assert cover is not None
    cover.title = "Cover"
    cover.append(["Our offer", "valid 30 days"])
    body = book.create_sheet(sheet)
    for row in rows:
        body.append(list(row))
    book.save(path)
    return path


def zipped(path: Path, parts: dict[str, bytes]) -> Path:
    """An archive of parts, well compressed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def with_part(path: Path, name: str, data: bytes) -> Path:
    """The workbook with one of its parts replaced."""
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    return zipped(path, parts | {name: data})
