"""The marks of `diff` and `quote`: those that `design` shows for the same figures."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ibplan.plan.difference import COMPARED, Order, difference
from ibplan.plan.orders import make_lock, order_of_lock, order_of_plan
from ibplan.quote.compare import compare_quote
from ibplan.quote.rows import Quote
from ibplan.report.comparison import comparison_groups
from ibplan.report.difference import difference_data, difference_markdown, difference_text
from ibplan.report.order_marks import figure_marks
from ibplan.report.quote import quote_data, quote_text
from ibplan.spec.load import load_spec
from tests.report import samples


def _shown(data: dict[str, Any], number: int) -> dict[str, str]:
    """The marks of the compared figures in the table of `design`."""
    rows = [row for group in comparison_groups(data) for row in group.rows if row.figure in COMPARED]
    cells = {str(row.figure): row.cell(data["designs"][number], data) for row in rows}
    return {figure: re.match("[>~]*", cell)[0] for figure, cell in cells.items()}  # type: ignore[index]


def _order(name: str, number: int) -> Order:
    plan = samples.plan(name)
    return order_of_plan(plan, samples.data(name), f"{name}.yaml", plan.designs[number].id, "--design")


@pytest.mark.parametrize("name", [samples.POD, samples.BOTH, samples.UNPRICED, samples.COSTS, "rail-only-512"])
def test_marks_are_those_of_the_table(name: str) -> None:
    plan, loaded = samples.plan(name), load_spec(samples.SPECS / f"{name}.yaml")
    for number, design in enumerate(plan.designs):
        shown = _shown(samples.data(name), number)
        locked = order_of_lock(make_lock(loaded, plan, samples.data(name), design), "x.lock.yaml")
        for order in (_order(name, number), locked):
            assert {figure: figure_marks(order, figure) for figure in shown} == shown


def test_both_marks_occur_and_stand_in_every_form() -> None:
    old = _order(samples.POD, 0)
    new = replace(old, lines=(replace(old.lines[0], unit_usd=None, usd=None), *old.lines[1:]))
    found = difference(old, new)
    for words in (
        difference_text(found, unchanged=True, width=120, color=False),
        difference_markdown(found, unchanged=True),
    ):
        rows = [re.sub(r"[\s|]+", " ", row.replace("\\", "")).strip() for row in words.splitlines()]
        (price,) = [row for row in rows if row.startswith("Purchase price USD ")]
        assert re.fullmatch(r"Purchase price USD ~[\d,]+ >~[\d,]+", price)
        (power,) = [row for row in rows if row.startswith("Power, maximum W ")]
        assert re.fullmatch(r"Power, maximum W >[\d,]+ >[\d,]+", power)
        assert any("~ rests on estimates; > at least" in row for row in rows)
    figures = {row["id"]: row for row in difference_data(found, unchanged=True)["figures"]}
    assert (figures["capex_usd"]["old_lower_bound"], figures["capex_usd"]["old_estimated"]) == (False, True)
    assert (figures["capex_usd"]["new_lower_bound"], figures["gpus"]["new_lower_bound"]) == (True, False)


def test_power_of_which_only_a_part_is_known_is_a_change() -> None:
    old = _order(samples.POD, 0)
    assert old.figures["power_w"] is None
    known = old.figures["power_known_w"]
    assert isinstance(known, float)
    new = replace(old, figures={**old.figures, "power_known_w": known + 1})
    assert "Power, maximum" in difference_text(difference(old, new), unchanged=False, width=120, color=False)


def test_a_quote_is_held_against_estimates_that_say_so() -> None:
    plan = samples.plan(samples.POD)
    items = plan.design(str(plan.recommended)).bill_items
    check = compare_quote(Quote("q.csv", {}, (), ()), items, samples.catalog())
    words, data = (
        quote_text(check, "d", None, width=200, color=False),
        quote_data(check, "d", None),
    )
    assert "~ rests on estimates" in words
    assert "the bill: ~$" in words
    kinds = {item.part: item.price_kind == "estimate" for item in items}
    assert {row["part"]: row["book_estimated"] for row in data["parts"]} == kinds
    for need in check.needs:
        marked = f"~{need.book_usd:,.2f}" if kinds[need.part] else f" {need.book_usd:,.2f}"
        assert any(line.startswith(need.part) and marked in line for line in words.splitlines())
    plain = tuple(replace(i, price_kind="list") for i in items if i.unit_price_usd is not None)
    free = compare_quote(Quote("q.csv", {}, (), ()), plain, samples.catalog())
    assert (free.bill_estimated, free.bill_usd > Decimal(0)) == (False, True)
    assert "~" not in quote_text(free, "d", None, width=200, color=False)
