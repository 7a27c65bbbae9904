"""Quotes from someone who means harm: refused at once, in little memory."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.cli.run import ROOT, measured
from tests.hostile.inside import cli
from tests.hostile.measured import refused
from tests.quote.files import HEAD, with_part, workbook, zipped

POD = str(ROOT / "specs" / "h100-pod-127.yaml")
SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'
NAME = "xl/worksheets/sheet2.xml"
LAUGHS = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
ROW = b'<row r="%d"><c r="A%d" t="inlineStr"><is><t>x</t></is></c></row>'


def _many() -> bytes:
    return SHEET % b"".join(ROW % (i, i) for i in range(1, 30_000))


def changed(folder: Path, data: bytes, name: str = NAME) -> str:
    """A workbook with other data as one of its parts."""
    return str(with_part(workbook(folder / "q.xlsx", [HEAD, ["MQM9700-NS2F", "", 1]]), name, data))


def refused_here(file: str, said: str) -> None:
    done = cli("quote", POD, "--file", file)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err) < 500


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (LAUGHS + SHEET % b"", "declares entities"),
        ((LAUGHS + SHEET % b"").decode().encode("utf-16"), "declares entities"),
        (OUTSIDE + SHEET % b"", "declares entities"),
        (b"<worksheet><sheetData>", "not a workbook that can be read"),
    ],
    ids=["entities", "utf-16 entities", "outside", "broken"],
)
def test_workbooks_that_are_none(tmp_path: Path, data: bytes, said: str) -> None:
    refused_here(changed(tmp_path, data), said)


def test_workbooks_that_are_much_more_than_they_seem(tmp_path: Path) -> None:
    for data, said in (
        (SHEET % b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "more than 5,000 rows"),
        (SHEET % b"".join(ROW % (i, i) for i in range(1, 30_000)), "more than 5,000 rows"),
        (SHEET % (b"<row/>" * 3_000_000), "unpacks to more than the limit"),
    ):
        refused(measured("quote", POD, "--file", changed(tmp_path, data)), said)


def test_archives_that_are_no_workbooks(tmp_path: Path) -> None:
    for parts, said in (
        ({f"{i}": b"" for i in range(1_001)}, "unpacks to more than"),
        ({"xl/media/a.png": b"<" + b"x" * 1024**2}, "unpacks to more than"),
        ({"a.txt": b"x"}, "not a workbook that can be read"),
        ({"[Content_Types].xml": b"<a"}, "not a workbook that can be read"),
    ):
        refused_here(str(zipped(tmp_path / "q.xlsx", parts)), said)


def test_a_main_part_in_another_place_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(workbook(tmp_path / "good.xlsx", [HEAD])) as archive:
        types = archive.read("[Content_Types].xml").replace(b"/xl/workbook.xml", b"/xl/worksheets/sheet9.xml")
    refused_here(changed(tmp_path, types, "[Content_Types].xml"), "its main part")


@pytest.mark.parametrize("text", ['"' * 3_000_000, "," * 4_000_000, "Qty,Part\n1," + "9" * 100_000 + "\n"])
def test_long_lines_of_signs(tmp_path: Path, text: str) -> None:
    (tmp_path / "q.csv").write_text(text)
    refused_here(str(tmp_path / "q.csv"), "q.csv: ")
