"""The cable schedule as CSV, JSON and XLSX: the same rows, cell by cell."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ibplan.cabling.rows import CableRow, cable_rows
from ibplan.plan.cabled import cable_design
from ibplan.report.cables import COLUMNS, cells, schedule_csv, schedule_json
from ibplan.report.cables_xlsx import write_schedule
from ibplan.spec.load import load_spec
from tests.cabling.places import Row, cabled
from tests.cabling.test_rows import SPLIT
from tests.golden import check_golden
from tests.report import samples
from tests.report.wired import wired

_NS = {"x": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


@cache
def rows() -> tuple[CableRow, ...]:
    """Splitters and straight cables, with places and without."""
    design = wired(*SPLIT)
    found = [*cable_rows(cabled(design, Row(design.wiring)))]
    return (*found[:40], *found[-40:], *islice(cable_rows(cabled(design, None)), 5))


def sheet_rows(data: bytes, number: int) -> Iterator[list[str]]:
    """The cells of a sheet as texts, blank ones as empty texts."""
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        sheet = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml"))
    for row in sheet.findall(".//x:row", _NS):
        values = {}
        for cell in row.findall("x:c", _NS):
            name = "".join(filter(str.isalpha, cell.get("r", "")))
            text = cell.find("x:is/x:t", _NS)
            values[name] = (cell.findtext("x:v", "", _NS) if text is None else text.text) or ""
        yield [values.get(_letters(column), "") for column in range(len(COLUMNS))]


def _letters(column: int) -> str:
    return chr(65 + column) if column < 26 else chr(64 + column // 26) + chr(65 + column % 26)


def test_a_cell_for_every_column() -> None:
    assert len(set(COLUMNS)) == len(COLUMNS)
    assert {len(cells(row)) for row in rows()} == {len(COLUMNS)}


def test_csv_and_xlsx_have_the_same_cells() -> None:
    read = list(csv.reader(io.StringIO("".join(schedule_csv(rows())), newline=""), strict=True))
    assert read[0] == list(COLUMNS)
    stream = io.BytesIO()
    write_schedule(stream, rows())
    assert list(sheet_rows(stream.getvalue(), 1)) == read
    assert len(read) == len(rows()) + 1


def test_a_full_sheet_goes_on_in_another() -> None:
    stream = io.BytesIO()
    write_schedule(stream, rows(), rows_a_sheet=50)
    first, second = (list(sheet_rows(stream.getvalue(), n)) for n in (1, 2))
    assert (len(first), len(second)) == (51, len(rows()) - 50 + 1)
    assert first[0] == second[0] == list(COLUMNS)


def test_the_same_workbook_every_time() -> None:
    streams = [io.BytesIO(), io.BytesIO()]
    for stream in streams:
        write_schedule(stream, rows()[:3])
    assert streams[0].getvalue() == streams[1].getvalue()


def test_json_holds_every_far_end_by_itself() -> None:
    data = json.loads("".join(schedule_json({"schema_version": "1", "design": "d"}, rows())))
    assert list(data) == ["schema_version", "design", "cables"]
    for found, row in zip(data["cables"], rows(), strict=True):
        assert found["cable_id"] == row.cable_id
        assert [end["device"] for end in found["b"]] == [end.device for end in row.b]
        assert found["a"]["module_quantity"] == row.a.module_quantity
        assert found["length_m"] == row.length_m


def test_a_schedule_without_cables_is_still_one() -> None:
    assert json.loads("".join(schedule_json({"design": "d"}, ()))) == {"design": "d", "cables": []}
    assert "".join(schedule_csv(())).count("\n") == 1
    stream = io.BytesIO()
    write_schedule(stream, ())
    assert list(sheet_rows(stream.getvalue(), 1)) == [list(COLUMNS)]


def test_far_ends_of_a_splitter_share_their_cells() -> None:
    row = next(row for row in rows() if len(row.b) == 2)
    found = dict(zip(COLUMNS, cells(row), strict=True))
    assert found["b_device"] == f"{row.b[0].device}; {row.b[1].device}"
    assert found["label_b"] == "; ".join(row.label_b)
    assert found["b_module_quantity"] == sum(end.module_quantity for end in row.b)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_run_by_a_spreadsheet(start: str) -> None:
    row = rows()[0]._replace(description=f"{start}cmd|' /C calc'!A0")
    text = "".join(schedule_csv([row, rows()[1]]))
    read = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert read[0]["description"] == f"'{start}cmd|' /C calc'!A0"
    assert read[1]["description"] == rows()[1].description
    stream = io.BytesIO()
    write_schedule(stream, [row])
    assert b"<f>" not in zipfile.ZipFile(stream).read("xl/worksheets/sheet1.xml")


def test_the_start_of_a_schedule_is_golden() -> None:
    design = cable_design(load_spec(samples.SPECS / "one-switch.yaml"), samples.catalog())
    text = "".join(schedule_csv(islice(cable_rows(design.networks[0]), 12)))
    check_golden(Path(__file__).parents[1] / "golden" / "cables-one-switch.csv", text)
