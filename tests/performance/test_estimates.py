"""Means with intervals."""

from __future__ import annotations

import pytest

from ibplan.performance.estimates import estimate, student


@pytest.mark.parametrize(
    # NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2: two-sided 95 %.
    ("freedom", "t"),
    [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (29, 2.045), (100, 1.984)],
)
def test_students_t(freedom: int, t: float) -> None:
    assert student(freedom) == pytest.approx(t, abs=6e-4)


def test_an_interval_by_hand() -> None:
    found = estimate([1.0, 2.0, 3.0])  # standard deviation 1, t of two degrees of freedom 4.303
    assert (found.mean, found.lowest, found.highest) == (2.0, 1.0, 3.0)
    assert found.half_width == pytest.approx(4.303 / 3**0.5, abs=1e-3)


def test_one_run_says_nothing_of_its_error() -> None:
    assert estimate([0.5]).half_width is None
    with pytest.raises(ValueError, match="no runs"):
        estimate([])
