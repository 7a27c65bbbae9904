"""Cells that a spreadsheet would run are shown instead."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.report.spreadsheet import csv_text, safe

FORMULAS = (
    *("=1+1", "+1", "-1", "@SUM(A1)"),
    *("\t=1", "\r=1", "\n=1", "\r\n=1", " =1", "\N{NO-BREAK SPACE}=1", "\N{IDEOGRAPHIC SPACE}=1"),
    *("\ufeff=1", "\u200b=1", "\x00=1", "\x1f+1"),
    *("\uff1d1", "\uff0b1", "\uff0d1", "\uff201"),  # full-width = + - @
    *("\ufe661", "\ufe621", "\ufe631", "\ufe6b1"),  # small ones
    *("\u207c1", "\u207a1", "\u208c1", "\u208a1", "\u2a751", "\u22121"),
    *(" \uff1d1", "\t", "\rx", "\nx"),
)


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_quoted(text: str) -> None:
    assert safe(text) == f"'{text}"
    assert csv_text(["a"], [[text]]).startswith(f'"a"\n"\'{text}"')


@pytest.mark.parametrize(
    "text", ["", " ", "a=1", "1-1", "x@y", "'=1", "\u2014 a dash", "\u4e2d", "#1", "(-1)", "\uff0e"]
)
def test_other_texts_stay(text: str) -> None:
    assert safe(text) == text


def test_numbers_stay_numbers() -> None:
    assert csv_text(["a", "b", "c"], [[-1, -0.5, None]]) == '"a","b","c"\n-1,-0.5,""\n'


@given(st.text())
def test_no_cell_begins_as_a_formula(text: str) -> None:
    shown = unicodedata.normalize("NFKC", safe(text)).strip()
    assert not shown.startswith(("=", "+", "-", "@"))
