"""Spares: shares rounded up for each part, and stocks by failure rate against the Poisson distribution itself."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.economics.capital import capital_cost, maximum_power_w
from ibplan.economics.spares import SPARES_TIER, ShareOfPieces, SparePolicy, StockByFailures, poisson_stock, spare_items
from tests.economics.lines import line


@pytest.mark.parametrize(
    ("mean", "confidence", "stock"),
    # Printed tables of the cumulative Poisson distribution: 1.0: .3679 .7358 .9197 .9810 .9963; 5.0: 8 .9319, 9 .9682;
    # 10.0: 14 .9165, 15 .9513; 20.0: 27 .9475, 28 .9657.
    [(1.0, 0.36, 0), (1.0, 0.95, 3), (1.0, 0.99, 4), (5.0, 0.95, 9), (10.0, 0.95, 15), (20.0, 0.95, 28)],
)
def test_stocks_of_printed_tables(mean: float, confidence: float, stock: int) -> None:
    assert poisson_stock(mean, confidence) == stock


def exact_stock(mean: Fraction, confidence: Fraction) -> int:
    """The least s with sum of mean^k / k! over k = 0..s >= confidence e^mean, e^mean by enough terms of its series."""
    whole, term, k = Fraction(0), Fraction(1), 0
    while k <= mean or term > Fraction(1, 10**30):
        whole += term
        k += 1
        term = term * mean / k
    total, term, s = Fraction(1), Fraction(1), 0
    while total < confidence * whole:
        s += 1
        term = term * mean / s
        total += term
    return s


@given(
    st.fractions(Fraction(1, 40), 30, max_denominator=40),
    st.sampled_from((Fraction(1, 2), Fraction(9, 10), Fraction(99, 100))),
)
def test_stocks_are_those_of_exact_sums(mean: Fraction, confidence: Fraction) -> None:
    assert poisson_stock(float(mean), float(confidence)) == exact_stock(mean, confidence)


def test_limiting_cases() -> None:
    assert poisson_stock(0.0, 0.999) == 0
    assert poisson_stock(1e-9, 0.999) == 0
    # A large mean is nearly normal: mean + z sqrt(mean), z = 1.645 for 95 %.
    assert poisson_stock(1e6, 0.95) == pytest.approx(1e6 + 1.645 * 1e3, abs=2)
    assert poisson_stock(1e6, 0.5) == pytest.approx(1e6, abs=1)
    assert poisson_stock(3.0, math.nextafter(1.0, 0.0)) < 60


@given(st.floats(0, 500), st.floats(0, 50), st.floats(0.01, 0.99), st.floats(0, 0.009))
def test_stocks_grow_with_failures_and_confidence(mean: float, more: float, confidence: float, surer: float) -> None:
    stock = poisson_stock(mean, confidence)
    assert stock <= poisson_stock(mean + more, confidence)
    assert stock <= poisson_stock(mean, confidence + surer)


def test_a_stock_covers_the_lead_time() -> None:
    # 48 switches x 2.56 % x 12 weeks of 52.18 = 0.2826 failures: P(0) = 75 %, P(0 or 1) = 97 %.
    rule = StockByFailures(0.0256, 12, 0.95)
    assert rule.stock(48) == 1
    assert StockByFailures(0.0256, 12, 0.7).stock(48) == 0
    # 52.18 weeks of 100 % a year: as many failures as pieces.
    assert StockByFailures(1.0, 36525 / 700, 0.95).stock(10) == poisson_stock(10.0, 0.95)


@pytest.mark.parametrize(
    ("pieces", "share", "spares"), [(100, "1/50", 2), (101, "1/50", 3), (1, "1/50", 1), (9, "0", 0)]
)
def test_a_share_is_rounded_up(pieces: int, share: str, spares: int) -> None:
    assert ShareOfPieces(Fraction(share)).stock(pieces) == spares


def test_a_part_is_added_up_over_lines_before_it_is_rounded() -> None:
    items = [line(quantity=26), line(tier="spine", where="spine tier", quantity=25), line("other", quantity=10)]
    spares = spare_items(items, {"switch": ShareOfPieces(Fraction(1, 50))})
    assert [(s.part, s.quantity, s.tier) for s in spares] == [("the-switch", 2, SPARES_TIER), ("other", 1, SPARES_TIER)]


def test_a_spare_draws_no_power_and_costs_what_the_part_costs() -> None:
    items = [line()]
    spares = spare_items(items, {"switch": ShareOfPieces(Fraction(1, 5))})
    assert capital_cost([*items, *spares]).usd == 12_000
    assert capital_cost([*items, *spares]).by_tier == {"leaf": 10_000, "spares": 2_000}
    assert maximum_power_w([*items, *spares]) == 1000.0


def test_pieces_of_two_networks_share_a_stock() -> None:
    items = [line(network="compute"), line(network="storage", tier="leaf")]
    (spare,) = spare_items(items, {"switch": ShareOfPieces(Fraction(1, 20))})
    assert (spare.network, spare.quantity) == ("shared", 1)
    (spare,) = spare_items(items[1:], {"switch": ShareOfPieces(Fraction(1, 20))})
    assert spare.network == "storage"


def test_categories_without_a_rule_have_no_spares_and_spares_no_spares() -> None:
    rule: SparePolicy = {"switch": ShareOfPieces(Fraction(1))}
    assert spare_items([line(category="cable")], rule) == []
    spares = spare_items([line()], rule)
    assert spare_items(spares, rule) == []


@given(
    st.lists(st.integers(1, 5000), min_size=1, max_size=5),
    st.fractions(0, 1, max_denominator=100),
    st.fractions(0, 1, max_denominator=100),
)
def test_more_share_never_means_fewer_spares(pieces: list[int], one: Fraction, other: Fraction) -> None:
    items = [line(f"part-{i}", quantity=n) for i, n in enumerate(pieces)]
    low, high = (
        sum(s.quantity for s in spare_items(items, {"switch": ShareOfPieces(x)})) for x in sorted((one, other))
    )
    assert low <= high
