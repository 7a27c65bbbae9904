"""Whole-number arithmetic, against counting."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ibplan.integers import ceil_div, divisors, largest
from tests.fabric.shapes import property_settings


def test_divisors_are_all_there_in_order() -> None:
    for number in range(1, 400):
        assert divisors(number) == tuple(d for d in range(1, number + 1) if number % d == 0)


@given(st.integers(-5, 300), st.integers(-5, 320))
@property_settings
def test_the_largest_number_that_something_holds_for(limit: int, last: int) -> None:
    tried: list[int] = []

    def holds(number: int) -> bool:
        tried.append(number)
        return number <= last

    assert largest(limit, holds) == max((n for n in range(1, limit + 1) if n <= last), default=0)
    assert len(tried) <= 9


@given(st.integers(0, 10_000), st.integers(1, 100))
@property_settings
def test_quotients_are_rounded_up(a: int, b: int) -> None:
    found = ceil_div(a, b)
    assert (found - 1) * b < a <= found * b
