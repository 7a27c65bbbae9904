"""Marginal value: by hand, at the limits, and against the cheapest choice at every price of a GPU-hour."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.plan.marginal import counted_costs, marginal_values
from ibplan.plan.pareto import comparable
from ibplan.plan.results import Design
from ibplan.plan.value_results import MarginalValue
from tests.plan.valued import design, timed

# 1,024 GPUs x 8,760 hours x 4 years.
HOURS = 35_880_960


def _values(*designs: Design) -> tuple[MarginalValue, ...]:
    return marginal_values(comparable(designs))


def test_a_step_up_by_hand() -> None:
    (found,) = _values(timed("one", "1900000.00", 9.96), timed("two", "1000000.00", 10.0))
    assert (found.design, found.against, found.axis, found.verdict) == ("one", "two", "step_s", "gain")
    assert (found.value, found.against_value) == (9.96, 10.0)
    assert (found.costs, found.extra_usd, found.extra_purchase_usd) == (("purchase",), 900_000, 900_000)
    assert (found.years, found.gpus) == (4, 1024)
    assert found.saved_fraction == pytest.approx(0.004)
    assert found.saved_gpu_hours == pytest.approx(HOURS * 0.004)  # 143,523.84
    assert found.break_even_usd == Decimal("6.27")  # 900,000 / 143,523.84 = 6.2707
    assert found.usd_per_gbps is None
    assert found.text == (
        "one costs $900,000 more to buy than two and saves 0.4% of the step time, 143,524 GPU-hours in 4 years: "
        "not worth it below $6.27 per GPU-hour."
    )


def test_money_is_exact() -> None:
    (found,) = _values(timed("a", "0.10", 4.0), timed("b", "0.30", 2.0))
    assert found.extra_usd == Decimal("0.20")
    assert found.saved_gpu_hours == HOURS / 2
    assert found.break_even_usd == Decimal("0.00")
    assert "not worth it below $0.01 per GPU-hour" in found.text
    (found,) = _values(timed("a", "1000000000.01", 4.0), timed("b", "1017940480.02", 2.0))  # + $1 for each hour saved
    assert (found.extra_usd, found.break_even_usd) == (Decimal("17940480.01"), Decimal("1.00"))


def test_equal_times_and_longer_ones_save_nothing() -> None:
    same, slower = _values(timed("a", "100", 10.0), timed("b", "150", 10.0), timed("c", "175", 11.0))
    assert (same.verdict, same.saved_fraction, same.saved_gpu_hours, same.break_even_usd) == ("no gain", 0, 0, None)
    assert same.text == "b costs $50.00 more to buy than a and saves no step time."
    assert (slower.verdict, slower.break_even_usd) == ("loss", None)
    assert slower.saved_fraction == pytest.approx(-0.1)
    assert slower.saved_gpu_hours == pytest.approx(-0.1 * HOURS)
    assert slower.text == "c costs $75.00 more to buy than a and takes 10% more step time."


def test_designs_alike_in_both() -> None:
    (found,) = _values(timed("a", "100", 10.0), timed("b", "100", 10.0))
    assert (found.verdict, found.extra_usd, found.break_even_usd) == ("no gain", 0, None)
    assert found.text == "b costs as much as a and saves no step time."


def test_no_statement_without_prices_or_times() -> None:
    assert _values() == ()
    assert _values(timed("a", "100", 10.0)) == ()
    compared = comparable([timed("a", "100", 10.0), timed("b", "1", 9.0, priced=False), timed("c", "2", None)])
    assert marginal_values(compared) == ()
    assert list(compared.not_compared.values()) == ["parts without a price", "its step time is not known"]


def test_a_step_that_a_larger_one_outdoes() -> None:
    small, large = _values(timed("a", "0", 10.0), timed("b", "1000", 9.9), timed("c", "1100", 9.0))
    assert (small.design, small.verdict, small.against) == ("b", "outdone", "a")
    assert small.break_even_usd is not None
    assert small.text.endswith("of the step time, 358,810 GPU-hours in 4 years: c gives more for each dollar.")
    assert (large.design, large.verdict, large.against) == ("c", "gain", "a")


def test_energy_and_support_count_where_they_tell_the_designs_apart() -> None:
    def two(**second: object) -> list[Design]:
        options = {"energy_usd": "50", "basis": "typical", "support_usd": "20"}
        return [timed("a", "100", 10.0, **options), timed("b", "120", 9.0, **(options | second))]

    (found,) = _values(*two(energy_usd="80", support_usd="24"))
    assert (found.costs, found.extra_usd) == (("purchase", "energy", "support"), 54)
    assert found.extra_purchase_usd == 20
    assert "costs $54.00 more than a in 4 years (purchase, energy, support)" in found.text
    assert counted_costs(two(basis="maximum")) == ("purchase", "support")
    assert counted_costs(two(support_usd=None)) == ("purchase", "energy")
    known = {"basis": "known", "energy_usd": "50"}
    assert counted_costs([timed("a", "1", 1.0, **known), timed("b", "1", 1.0, **known)]) == ("purchase",)
    assert counted_costs([]) == ("purchase",)


def test_what_is_dearer_to_buy_can_be_cheaper_over_the_years() -> None:
    options = {"basis": "maximum"}
    (found,) = _values(
        timed("a", "100", 10.0, energy_usd="500", **options), timed("b", "120", 9.0, energy_usd="80", **options)
    )
    assert (found.design, found.against, found.verdict) == ("a", "b", "loss")
    assert (found.extra_usd, found.extra_purchase_usd) == (400, -20)


def test_tokens_a_second_save_time_too() -> None:
    (found,) = _values(
        design("a", "100", None, {"tokens_per_s": 80.0}), design("b", "200", None, {"tokens_per_s": 100.0})
    )
    assert (found.axis, found.verdict) == ("tokens_per_s", "gain")
    assert found.saved_fraction == pytest.approx(0.2)  # 100 tokens take 1 s in place of 1.25 s
    assert "saves 20% of the time a token" in found.text


def test_bandwidth_while_no_time_is_known() -> None:
    more, same, less = _values(
        design("a", "1000", gbps=200),
        design("b", "412600", gbps=400),
        design("c", "412700", gbps=400),
        design("d", "500000", gbps=100),
    )
    assert (more.axis, more.verdict, more.saved_fraction, more.break_even_usd) == ("per_gpu_gbps", "gain", None, None)
    assert more.usd_per_gbps == Decimal("2.01")  # 411,600 / (1,024 x 200) = 2.0098
    assert more.text == (
        "b costs $411,600 more to buy than a for 400 Gb/s per GPU instead of 200 Gb/s: $2.01 for each Gb/s of a GPU."
    )
    assert same.text == "c costs $100.00 more to buy than b for the same bandwidth per GPU."
    assert (less.verdict, less.against) == ("loss", "b")
    assert less.text == "d costs $87,400 more to buy than b for 100 Gb/s per GPU instead of 400 Gb/s."


points = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), min_size=1, max_size=6)


@given(points, st.fractions(0, 20))
def test_the_cheapest_choice_at_any_price_of_time_is_a_step(found: list[tuple[int, int]], usd_per_s: Fraction) -> None:
    designs = [timed(str(number), str(usd), float(time)) for number, (usd, time) in enumerate(found)]
    values = _values(*designs)
    worse = {row.design for row in values if row.verdict != "gain"}
    totals = {str(number): usd + usd_per_s * time for number, (usd, time) in enumerate(found)}
    assert min(totals[i] for i in totals if i not in worse) == min(totals.values())
    for row in values:
        assert row.extra_usd >= 0
        assert (row.verdict in ("gain", "outdone")) == (row.break_even_usd is not None)
