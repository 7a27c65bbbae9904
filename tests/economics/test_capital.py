"""Sums of line items: totals, what is missing, how much is estimated, power."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.economics.capital import capital_cost, maximum_power_w, typical_power_w, unknown_power_parts
from ibplan.economics.items import Category, LineItem

LINE = LineItem(
    network="compute",
    tier="leaf",
    category="switch",
    part="switch-a",
    manufacturer=None,
    part_number=None,
    description="a switch",
    quantity=2,
    unit_price_usd=Decimal("100.10"),
    price_kind="street",
    price_date=None,
    price_source="the test",
    power_each_w=10.0,
    power_typical_each_w=8.0,
    power_in_host=False,
    where="leaf tier",
)

LINES = st.lists(
    st.builds(
        lambda tier, category, part, quantity, cents, kind: replace(
            LINE,
            tier=tier,
            category=category,
            part=part,
            quantity=quantity,
            unit_price_usd=None if cents is None else Decimal(cents) / 100,
            price_kind=None if cents is None else kind,
        ),
        st.sampled_from(["leaf", "spine", "server", "reserved"]),
        st.sampled_from(get_args(Category)),
        st.sampled_from(["a", "b", "c"]),
        st.integers(1, 10_000),
        st.none() | st.integers(0, 10**8),
        st.sampled_from(["list", "street", "estimate"]),
    ),
    max_size=12,
)


@given(LINES)
def test_categories_and_tiers_each_add_up_to_the_total(lines: list[LineItem]) -> None:
    capital = capital_cost(lines)
    assert sum(capital.by_category.values(), Decimal(0)) == capital.usd
    assert sum(capital.by_tier.values(), Decimal(0)) == capital.usd
    assert set(capital.by_category) == {line.category for line in lines}
    assert set(capital.by_tier) == {line.tier for line in lines}


@given(LINES)
def test_the_total_is_that_of_the_priced_lines(lines: list[LineItem]) -> None:
    # Counted in cents, in whole numbers.
    capital = capital_cost(lines)
    cents = sum(int(i.unit_price_usd * 100) * i.quantity for i in lines if i.unit_price_usd is not None)
    assert capital.usd == Decimal(cents) / 100
    assert isinstance(capital.usd, Decimal)


@given(LINES)
def test_what_has_no_price_is_listed_with_its_quantity(lines: list[LineItem]) -> None:
    missing: Counter[str] = Counter()
    for line in lines:
        if line.unit_price_usd is None:
            missing[line.part] += line.quantity
    capital = capital_cost(lines)
    assert dict(capital.unpriced) == missing
    assert len(capital.unpriced) == len(missing)
    assert capital.complete is (not missing)


@given(LINES)
def test_the_estimated_share_lies_between_none_and_all(lines: list[LineItem]) -> None:
    share = capital_cost(lines).estimated_fraction
    assert 0 <= share <= 1
    if all(line.price_kind != "estimate" for line in lines):
        assert share == 0


def test_a_missing_price_is_no_zero() -> None:
    unpriced = replace(LINE, part="b", quantity=3, unit_price_usd=None, price_kind=None)
    free = replace(LINE, part="c", quantity=1, unit_price_usd=Decimal(0))
    assert unpriced.extended_usd is None
    assert free.extended_usd == 0
    capital = capital_cost([LINE, unpriced, free])
    assert (capital.usd, capital.complete) == (Decimal("200.20"), False)
    assert capital.unpriced == (("b", 3),)


def test_the_estimated_share_is_by_money() -> None:
    # 300 of 400 USD.
    dear = replace(LINE, quantity=1, unit_price_usd=Decimal(300), price_kind="estimate")
    known = replace(LINE, quantity=10, unit_price_usd=Decimal(10))
    assert capital_cost([dear, known]).estimated_fraction == 0.75


def test_cents_do_not_drift() -> None:
    # 0.1 + 0.2 is not 0.3 in floats.
    lines = [replace(LINE, quantity=1, unit_price_usd=Decimal(text)) for text in ("0.10", "0.20")]
    assert capital_cost(lines).usd == Decimal("0.30")


def test_nothing_costs_nothing_and_is_complete() -> None:
    capital = capital_cost([])
    assert (capital.usd, capital.complete, capital.estimated_fraction) == (Decimal(0), True, 0.0)


def test_power_adds_up_and_leaves_out_what_the_host_counts() -> None:
    held = replace(LINE, part="module", quantity=64, power_each_w=15.0, power_typical_each_w=14.0, power_in_host=True)
    free = replace(held, part="other module", quantity=4, power_in_host=False)
    assert maximum_power_w([LINE, held, free]) == 2 * 10 + 4 * 15
    # A typical figure is read without modules: all are added.
    assert typical_power_w([LINE, held, free]) == 2 * 8 + 64 * 14 + 4 * 14


@pytest.mark.parametrize("in_host", [True, False])
def test_unknown_power_stays_unknown_unless_the_host_holds_it(in_host: bool) -> None:
    unknown = replace(LINE, part="module", power_each_w=None, power_typical_each_w=None, power_in_host=in_host)
    assert maximum_power_w([LINE, unknown, unknown]) == (20.0 if in_host else None)
    assert unknown_power_parts([LINE, unknown, unknown]) == (() if in_host else ("module",))
    assert typical_power_w([LINE, unknown]) is None


def test_no_power_is_known_to_be_no_power() -> None:
    passive = replace(LINE, category="cable", power_each_w=0.0, power_typical_each_w=0.0)
    assert maximum_power_w([passive]) == 0.0
    assert unknown_power_parts([passive]) == ()
