"""What `design` and `bom` say about every example spec, held against golden files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ibplan.report.bom import bom_csv, bom_rows
from ibplan.report.data import plan_data, to_json
from ibplan.report.table import to_table
from tests.golden import check_golden
from tests.report import samples

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in samples.SPECS.glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_golden_design_table(name: str) -> None:
    check_golden(GOLDEN / f"{name}.txt", to_table(samples.data(name), width=100))


@pytest.mark.parametrize("name", NAMES)
def test_golden_design_json(name: str) -> None:
    check_golden(GOLDEN / f"{name}.json", to_json(plan_data(samples.plan(name))))


@pytest.mark.parametrize("name", NAMES)
def test_golden_bom(name: str) -> None:
    plan = samples.plan(name)
    rows = [] if plan.recommended is None else bom_rows(plan, plan.design(plan.recommended))
    check_golden(GOLDEN / f"{name}.csv", bom_csv(rows))
