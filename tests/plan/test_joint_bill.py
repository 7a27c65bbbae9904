"""Orders of several specs: their names and sums."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ibplan.plan.joint_bill import make_joint_bill
from ibplan.plan.results import Unpriced
from tests.report import samples
from tests.report.joint_bills import bought, joint_bill


def test_an_order_of_one_spec_costs_what_its_design_costs() -> None:
    _, plan, design = bought(samples.UNPRICED)
    made = joint_bill(samples.UNPRICED)
    assert [share.name for share in made.shares] == [plan.name]
    assert made.totals.capex_usd == design.totals.capex_usd
    assert made.totals.estimated_fraction == design.totals.estimated_fraction
    assert made.totals.unpriced == design.totals.unpriced
    assert not made.totals.complete


def test_the_totals_of_several_specs_are_their_sums() -> None:
    made = joint_bill(samples.BOTH, samples.POD)
    first, second = (share.design.totals for share in made.shares)
    assert made.totals.capex_usd == first.capex_usd + second.capex_usd
    estimates = sum(float(t.capex_usd) * t.estimated_fraction for t in (first, second))
    assert made.totals.estimated_fraction == pytest.approx(estimates / float(made.totals.capex_usd))
    assert made.totals.complete
    assert not joint_bill(samples.BOTH, samples.UNPRICED).totals.complete


def test_parts_without_a_price_are_added_up() -> None:
    source, plan, design = bought(samples.UNPRICED)
    twice = make_joint_bill([(source, plan, design), ("other.yaml", plan, design)])
    assert twice.totals.unpriced == tuple(Unpriced(r.part, 2 * r.quantity) for r in design.totals.unpriced)


def test_nothing_priced_is_no_share_of_estimates() -> None:
    _, plan, design = bought(samples.UNPRICED)
    free = replace(design, totals=replace(design.totals, capex_usd=Decimal(0), estimated_fraction=0.0))
    assert make_joint_bill([("a", plan, free), ("b", plan, free)]).totals.estimated_fraction == 0


def test_specs_of_one_name_are_told_apart_by_their_files() -> None:
    _, plan, design = bought(samples.BOTH)
    _, other, its = bought(samples.POD)
    made = make_joint_bill([("a.yaml", plan, design), ("b.yaml", plan, design), ("c.yaml", other, its)])
    assert [share.name for share in made.shares] == ["three-lines (a.yaml)", "three-lines (b.yaml)", other.name]
