"""The comparison as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
import re

import pytest

from ibplan.explain import FIGURES
from ibplan.report.data import plan_data
from ibplan.report.figures import to_csv
from ibplan.report.markdown import to_markdown
from ibplan.report.spreadsheet import csv_text
from tests.report import samples


@pytest.mark.parametrize("name", samples.ALL)
def test_one_row_a_design_with_plain_numbers(name: str) -> None:
    data = samples.data(name)
    rows = list(csv.DictReader(io.StringIO(to_csv(data)), strict=True))
    assert [row["id"] for row in rows] == [design["id"] for design in data["designs"]]
    for row, design in zip(rows, data["designs"], strict=True):
        for figure in FIGURES.values():
            value = figure.value(design, data)
            if value is None:
                assert row[figure.id] == ""
            elif isinstance(value, bool):
                assert row[figure.id] == str(value).lower()
            else:
                assert re.fullmatch(r"\d+(\.\d+)?", row[figure.id])
                assert float(row[figure.id]) == pytest.approx(value, rel=1e-5)


def test_heads_carry_units() -> None:
    for figure in FIGURES.values():
        suffix = {"USD": "_usd", "Gb/s": "_gbps", "W": "_w", "us": "_us", "share": "_fraction"}.get(figure.unit, "")
        assert suffix in figure.id


def test_numbers_stand_plain_and_texts_quoted() -> None:
    text = csv_text(["name", "n"], [["=1+1", 1.5], [None, 1e9], [True, 0.00001]])
    assert text == '"name","n"\n"\'=1+1",1.5\n"",1000000000\n"true",0.00001\n'


@pytest.mark.parametrize("name", samples.ALL)
def test_markdown_tables_are_well_formed(name: str) -> None:
    data = samples.data(name)
    text = to_markdown(data)
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    assert all(design["id"] in text for design in data["designs"])
    assert data["recommended"] is None or f"{data['recommended']} (recommended)" in text


def test_markdown_shows_texts_from_outside_as_they_are() -> None:
    text = to_markdown(plan_data(samples.hostile("<b>|*x*|</b>")))
    assert "<b>" not in text
    assert "*x*" not in text.replace("\\*", "")
