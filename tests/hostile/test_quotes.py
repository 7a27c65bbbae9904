"""Quotes from someone who means harm: refused at once, in little memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.run import ROOT
from tests.hostile.measured import measured, refused
from tests.quote.files import HEAD, with_part, workbook, zipped

POD = str(ROOT / "specs" / "h100-pod-127.yaml")
SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'
NAME = "xl/worksheets/sheet2.xml"
LAUGHS = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
ROW = b'<row r="%d"><c r="A%d" t="inlineStr"><is><t>x</t></is></c></row>'


def _many() -> bytes:
    return SHEET % b"".join(ROW % (i, i) for i in range(1, 30_000))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LAUGHS + SHEET % b"", "declares entities"),
        (lambda: (LAUGHS + SHEET % b"").decode().encode("utf-16"), "declares entities"),
        (lambda: OUTSIDE + SHEET % b"", "declares entities"),
        (lambda: SHEET % b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "more than 5,000 rows"),
        (_many, "more than 5,000 rows"),
        (lambda: SHEET % (b"<row/>" * 3_000_000), "unpacks to more than 12 MiB"),
        (lambda: b"<worksheet><sheetData>", "not a workbook that can be read"),
    ],
    ids=["entities", "utf-16 entities", "outside", "far", "many", "bomb", "broken"],
)
def test_workbooks_that_are_none(tmp_path: Path, make: Callable[[], bytes], said: str) -> None:
    file = with_part(workbook(tmp_path / "q.xlsx", [HEAD, ["MQM9700-NS2F", "", 1]]), NAME, make())
    refused(measured("quote", POD, "--file", str(file)), said)


def test_archives_that_are_no_workbooks(tmp_path: Path) -> None:
    many = zipped(tmp_path / "many.xlsx", {f"{i}": b"" for i in range(1_001)})
    refused(measured("quote", POD, "--file", str(many)), "unpacks to more than")
    other = zipped(tmp_path / "other.xlsx", {"a.txt": b"x"})
    refused(measured("quote", POD, "--file", str(other)), "not a workbook that can be read")


def test_long_lines_of_signs(tmp_path: Path) -> None:
    for number, text in enumerate(('"' * 3_000_000, "," * 4_000_000, "Qty,Part\n1," + "9" * 100_000 + "\n")):
        file = tmp_path / f"{number}.csv"
        file.write_text(text)
        refused(measured("quote", POD, "--file", str(file)), f"{number}.csv: ")
