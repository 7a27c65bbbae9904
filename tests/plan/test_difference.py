"""Two orders compared: by hand, and what must hold of any two."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.errors import UsageError
from ibplan.explain import FIGURES
from ibplan.plan.difference import COMPARED, Line, Order, PartChange, difference
from ibplan.plan.limits import Rise, over_budget, over_rise, read_rise
from ibplan.plan.orders import make_lock, order_of_lock, order_of_plan
from ibplan.spec.load import load_spec
from tests.examples import share
from tests.report import samples


def line(part: str, quantity: int, unit: int | None, network: str = "compute", category: str = "switch") -> Line:
    price = None if unit is None else Decimal(unit)
    usd = None if price is None else price * quantity
    return Line(network, category, part, None, None, part, quantity, price, usd)


def order(*lines: Line, design: str = "d", budget: int | None = None, **figures: float) -> Order:
    known = {name: figures.get(name) for name in COMPARED}
    limit = None if budget is None else Decimal(budget)
    return Order("file.yaml", "name", design, "roce", tuple(sorted(lines, key=lambda x: x.key)), known, limit)


def test_each_kind_of_change_by_hand() -> None:
    old = order(line("a", 1, 10), line("b", 2, 10), line("c", 3, 10), line("d", 4, 10), line("e", 5, 10))
    new = order(line("b", 2, 10), line("c", 4, 10), line("d", 4, 11), line("e", 6, 9), line("f", 7, 1))
    found = difference(old, new)
    assert [(p.line.part, p.kind, p.quantity_change, p.usd_change) for p in found.parts] == [
        ("a", "removed", -1, -10),
        ("b", "unchanged", 0, 0),
        ("c", "quantity", 1, 10),
        ("d", "price", 0, 4),
        ("e", "quantity and price", 1, 4),
        ("f", "added", 7, 7),
    ]
    assert (found.total.old_usd, found.total.new_usd, found.total.usd_change) == (150, 165, 15)
    assert not found.equal


def test_networks_and_categories_add_up_and_stand_in_their_order() -> None:
    old = order(line("a", 1, 10, "oob"), line("b", 1, 20, "compute", "cable"))
    new = order(line("a", 2, 10, "oob"), line("c", 1, 5, "storage"))
    found = difference(old, new)
    assert [(m.name, m.old_usd, m.new_usd) for m in found.networks] == [
        ("compute", 20, 0),
        ("storage", 0, 5),
        ("oob", 10, 20),
    ]
    assert [(m.name, m.old_usd, m.new_usd) for m in found.categories] == [("cable", 20, 0), ("switch", 10, 25)]


def test_what_has_no_price_makes_a_change_unknown_not_zero() -> None:
    found = difference(order(line("a", 1, None)), order(line("a", 2, None), line("b", 1, 3)))
    assert [p.usd_change for p in found.parts] == [None, 3]
    assert (found.total.usd_change, found.total.new_usd, found.total.new_complete) == (None, 3, False)


def test_equal_orders_of_different_designs_or_figures_are_a_change() -> None:
    lines = line("a", 1, 1)
    assert difference(order(lines), order(lines)).equal
    assert not difference(order(lines), order(lines, design="other")).equal
    assert not difference(order(lines), order(lines, power_w=5.0)).equal
    assert not difference(order(lines), order(lines, budget=5)).equal


LINES = st.builds(
    line,
    st.sampled_from("abcdef"),
    st.integers(1, 99),
    st.none() | st.integers(1, 10**6),
    st.sampled_from(["compute", "storage", "inband", "oob", "site"]),
    st.sampled_from(["switch", "cable", "rack"]),
)
ORDERS = st.lists(LINES, max_size=8, unique_by=lambda x: x.key).map(lambda lines: order(*lines))


@settings(max_examples=share(50))
@given(ORDERS, ORDERS)
def test_it_is_seen_the_same_from_both_sides(old: Order, new: Order) -> None:
    found = difference(old, new)
    assert found.mirrored() == difference(new, old)
    changes = [part.usd_change for part in found.parts]
    if None not in changes:
        assert sum(c for c in changes if c is not None) == found.total.usd_change
    for sums in (found.networks, found.categories):
        assert sum(m.new_usd - m.old_usd for m in sums) == found.total.new_usd - found.total.old_usd


@settings(max_examples=share(25))
@given(ORDERS)
def test_nothing_differs_from_itself(one: Order) -> None:
    found = difference(one, one)
    assert found.equal
    assert {part.kind for part in found.parts} <= {"unchanged"}


@pytest.mark.parametrize("name", [samples.POD, samples.BOTH, samples.ETHERNET, samples.UNPRICED])
def test_a_plan_and_its_lock_do_not_differ(name: str) -> None:
    plan, data = samples.plan(name), samples.data(name)
    chosen = plan.designs[0]
    lock = make_lock(load_spec(samples.SPECS / f"{name}.yaml"), plan, data, chosen)
    planned = order_of_plan(plan, data, f"{name}.yaml", chosen.id, "--design")
    found = difference(order_of_lock(lock, "lock"), planned)
    assert found.equal
    assert abs(planned.usd - chosen.totals.capex_usd) < Decimal("0.01")
    assert planned.complete == chosen.totals.complete


def test_every_compared_figure_is_registered() -> None:
    assert [name for name in COMPARED if name not in FIGURES] == []


def test_a_change_needs_a_line() -> None:
    assert PartChange(None, line("a", 1, 1)).kind == "added"
    assert PartChange(line("a", 1, 1), None).line.part == "a"


def test_budgets() -> None:
    assert list(over_budget(order(line("a", 1, 100), budget=100))) == []
    assert list(over_budget(order(line("a", 1, 101), budget=100))) == [
        "name costs $101.00: $1.00 over its network budget of $100.00"
    ]
    (unknown,) = over_budget(order(line("a", 1, None), budget=100))
    assert "cannot be known" in unknown
    (lower,) = over_budget(order(line("a", 1, None), line("b", 1, 200), budget=100))
    assert lower.startswith("name costs at least $200.00")


def test_rises() -> None:
    found = difference(order(line("a", 1, 1000)), order(line("a", 1, 1050)))
    assert list(over_rise(found, read_rise("5%"))) == []
    assert list(over_rise(found, read_rise("$50"))) == []
    assert list(over_rise(found, read_rise("4.9%"))) == ["name costs $50.00 more than before; $49.00 more is allowed"]
    assert list(over_rise(found.mirrored(), Rise(Decimal(0), None))) == []
    unknown = difference(order(line("a", 1, 1000)), order(line("a", 1, None)))
    assert len(list(over_rise(unknown, read_rise("$50M")))) == 1
    with pytest.raises(UsageError, match="--fail-over"):
        read_rise("50")
