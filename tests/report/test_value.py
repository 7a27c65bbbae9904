"""What more money buys, in the report: from bandwidth today, from times where designs have them, and short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ibplan.plan.marginal import marginal_values
from ibplan.plan.pareto import comparable, pareto_set
from ibplan.plan.results import Plan
from ibplan.report.data import plan_data
from ibplan.report.markdown import to_markdown
from ibplan.report.sections import labels
from ibplan.report.table import to_table
from ibplan.report.value import value_section
from tests.plan.valued import performance
from tests.report import samples

TITLE = "What more money buys"


def _timed(plan: Plan, steps: Mapping[str, float]) -> dict[str, Any]:
    """The plan's data, had its designs these step times."""
    designs = tuple(
        replace(d, performance=performance({"step_s": steps[d.id]} if d.id in steps else None)) for d in plan.designs
    )
    compared = comparable(designs)
    return plan_data(replace(plan, designs=designs, pareto=pareto_set(compared), marginal=marginal_values(compared)))


def _lines(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(line.marker, line.words) for line in value_section(data).lines]


def test_bandwidth_until_a_time_is_known() -> None:
    data = _timed(samples.plan("budget-forces-2to1"), {})
    first, (label, words) = _lines(data)
    assert first == ("-", "Nothing beats 1, 3 by price and bandwidth per GPU (the step time is not known).")
    assert (label, words) == ("3", f"{data['marginal'][1]['text']} It breaks a limit of the spec.")
    assert "per GPU-hour" not in words


def test_times_where_they_are_known() -> None:
    plan = samples.plan("budget-forces-2to1")
    ids = [design.id for design in plan.designs]
    data = _timed(plan, dict(zip(ids, (10.0, 9.99, 9.96, 9.97), strict=True)))
    lines = _lines(data)
    assert lines[0] == ("-", "Nothing beats 1, 2, 3 by price and step time together.")
    assert [label for label, _ in lines[1:]] == ["2", "3", "4"]
    assert "of the step time" in lines[1][1]
    assert "not worth it below $" in lines[2][1]
    assert lines[3] == ("4", f"costs more than {ids[2]} and saves no time.")


def test_priced_designs_without_a_time_are_named() -> None:
    plan = samples.plan("budget-forces-2to1")
    ids = [design.id for design in plan.designs]
    lines = _lines(_timed(plan, {ids[0]: 10.0, ids[2]: 9.0}))
    assert lines[-1] == ("2, 4", "not compared: its step time is not known.")


@pytest.mark.parametrize("name", [samples.BOTH, samples.POD, samples.UNPRICED, "rail-only-512"])
def test_it_is_left_out_where_it_says_nothing_new(name: str) -> None:
    data = _timed(samples.plan(name), {})
    assert _lines(data) == []
    assert TITLE not in to_table(data, width=80)
    assert TITLE not in to_markdown(data)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_it_stands_before_the_table(width: int) -> None:
    data = samples.data("budget-forces-2to1")
    table = to_table(data, width=width)
    assert table.index("Designs, best first") < table.index(TITLE) < table.index("Oversubscription, asked")
    assert max(map(len, table.splitlines())) <= width
    assert f"## {TITLE}" in to_markdown(data)


def test_one_design_alone_speaks_of_itself_only() -> None:
    data = _timed(samples.plan("budget-forces-2to1"), {})
    for design in data["designs"]:
        alone = {**data, "designs": [design]}
        shown = _lines(alone)
        assert all(marker in labels(alone).values() for marker, _ in shown)
        assert len(shown) == (design["id"] == data["marginal"][1]["design"])


def test_a_recommended_design_that_is_no_better_for_the_job_says_so() -> None:
    plan = samples.plan("budget-forces-2to1")
    ids = [design.id for design in plan.designs]
    alike = _lines(_timed(replace(plan, recommended=ids[2]), dict.fromkeys(ids, 10.0)))
    assert any(label == "3" and "for this job alone" in words and ids[0] in words for label, words in alike)
    faster = _lines(_timed(replace(plan, recommended=ids[2]), dict(zip(ids, (10.0, 10.0, 9.0, 10.0), strict=True))))
    assert not any("for this job alone" in words for _, words in faster)


def test_the_design_that_is_enough_for_the_job_is_the_cheapest_that_gives_as_much() -> None:
    plan = samples.plan("budget-forces-2to1")
    ids = [design.id for design in plan.designs]
    by_cost = sorted(plan.designs, key=lambda design: design.totals.capex_usd)
    dearest = by_cost[-1].id
    # The second is a little faster than the first, and the dearest only as fast as the first.
    steps = dict(zip((design.id for design in by_cost), (10.0, 9.9, 9.95, 10.0), strict=True))
    data = _timed(replace(plan, recommended=dearest), steps)
    assert next(row for row in data["marginal"] if row["design"] == dearest)["against"] == by_cost[1].id
    label = str(1 + ids.index(dearest))
    (said,) = [words for marker, words in _lines(data) if marker == label and "for this job alone" in words]
    assert f"{by_cost[0].id} gives as much for less" in said
    # One that breaks a limit cannot be pinned instead.
    over = {**data, "designs": [_broken(d) if d["id"] == by_cost[0].id else d for d in data["designs"]]}
    (said,) = [words for marker, words in _lines(over) if marker == label and "for this job alone" in words]
    assert f"{by_cost[1].id} gives as much for less" in said


def _broken(design: dict[str, Any]) -> dict[str, Any]:
    return {**design, "fits": {**design["fits"], "power": False}}
