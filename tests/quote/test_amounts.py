"""Quantities and prices as vendors write them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.quote.amounts import read_price, read_quantity
from ibplan.sheets.cells import Cell
from tests.examples import share


@pytest.mark.parametrize(
    ("cell", "pieces"),
    [(16, 16), (16.0, 16), ("16", 16), ("1,024", 1024), ("1'024", 1024), ("1 024 pcs", 1024), ("16 ea", 16), ("0", 0)],
)
def test_quantities(cell: Cell, pieces: int) -> None:
    assert read_quantity(cell) == pieces


@pytest.mark.parametrize(
    "cell",
    [None, "", "two", "-3", -3, 1.5, "1.5", "1.024", "1,02", "4 boxes", float("nan"), float("inf"), 1e12, "1,2,3"],
)
def test_what_is_no_quantity_or_two(cell: Cell) -> None:
    with pytest.raises(ValueError, match=r"expected a whole number|can be read as|read in one way only"):
        read_quantity(cell)


@pytest.mark.parametrize(
    ("cell", "amount", "currency"),
    [
        (1234.5, "1234.5", None),
        ("$1,234.50", "1234.50", "USD"),
        ("1.234,50 €", "1234.50", "EUR"),
        ("EUR 1.234.567,5", "1234567.5", "EUR"),
        ("USD 12,500", "12500", "USD"),
        ("12,5", "12.5", None),
        ("1'234.50", "1234.50", None),
        ("1,234,567", "1234567", None),
        ("879.00", "879.00", None),
        ("US$ 5", "5", "USD"),
    ],
)
def test_prices(cell: Cell, amount: str, currency: str | None) -> None:
    assert read_price(cell) == (Decimal(amount), currency)


@pytest.mark.parametrize("cell", [None, "", "TBD", "on request", "-", "n/a"])
def test_no_price_is_none_not_zero(cell: Cell) -> None:
    assert read_price(cell) == (None, None)


@pytest.mark.parametrize("cell", ["1.234", "12.34.5", "1,23,4.5", "-5", "5%", "1e5", float("inf"), 1e15, -1.0])
def test_what_is_no_price_or_two(cell: Cell) -> None:
    with pytest.raises(ValueError, match=r"amount of money|can be read as|read in one way only"):
        read_price(cell)


@settings(max_examples=share(60))
@given(st.integers(0, 10**11).map(lambda cents: Decimal(cents) / 100))
def test_both_ways_of_marks_give_the_same_amount(amount: Decimal) -> None:
    english = f"{amount:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert read_price(english) == read_price(german) == (amount, None)
