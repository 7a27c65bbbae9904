"""Published training runs: what the step time is held to, what is fitted on them, and the page that shows all of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ibplan.performance.efficiency import Calibration, efficiencies
from ibplan.performance.practice import practices
from ibplan.workload.parameters import active_parameters, total_parameters
from tests.golden import check_golden
from tests.measured import training_fit
from tests.measured.training_page import Errors, marks, page, ratio_errors
from tests.measured.training_tables import cases, tables

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"


@pytest.mark.parametrize(("table", "asked", "found", "holds"), marks())
def test_marks_hold(table: str, asked: str, found: str, holds: bool) -> None:
    assert holds, f"{table}: {asked}, found {found}"


def test_the_model_is_fast_on_the_older_software_as_the_same_runs_were_measured_to_be() -> None:
    """530B and 1T were measured twice: 54.08 and 102.63 s in 2021, 49.05 and 94.42 s a year later."""
    assert -0.12 < Errors(cases("sc21_table1")).bias < -0.04
    assert pytest.approx(-0.093, abs=1e-3) == 49.05 / 54.08 - 1
    assert pytest.approx(-0.080, abs=1e-3) == 94.42 / 102.63 - 1


def test_zero3_collapses_where_the_pipeline_scales() -> None:
    """The batch stays, GPUs grow four times: ZeRO 3 falls to a third of its throughput, the pipeline loses a tenth."""
    collapsed = [case.modelled for case in cases("sc21_table2_zero3")]
    scaled = [case.modelled for case in cases("sc21_table2_ptd")]
    for first in (0, 3):
        assert collapsed[first + 2] / collapsed[first] < 0.42
        assert scaled[first + 2] / scaled[first] > 0.88
    assert len(ratio_errors(cases("sc21_table2_zero3"))) == 4


def test_interleaving_that_table2_does_not_state_changes_no_verdict() -> None:
    """With a chunk for every layer (8 and 3 chunks a stage) the ratios stay within 10 %, too."""
    for first in (0, 3):
        base, *grown = cases("sc21_table2_ptd")[first : first + 3]
        chunks = base.job.shape.layers // base.run.pp
        whole, *times = (
            replace(case, mapping=replace(case.mapping, interleave=np.array([chunks]))) for case in (base, *grown)
        )
        for case in times:
            assert case.modelled / whole.modelled == pytest.approx(case.measured / whole.measured, rel=0.10)


@pytest.mark.parametrize("calibration", efficiencies().calibrations, ids=lambda c: f"{c.gpu}-{c.precision}")
def test_efficiencies_are_what_the_fit_gives(calibration: Calibration) -> None:
    assert training_fit.matmul_efficiency(calibration) == pytest.approx(calibration.matmul_efficiency, abs=0.0015)


def test_zero3_constants_are_what_the_fit_gives() -> None:
    share, copy_us = training_fit.sharded_weights("sc21_table2_zero3")
    fitted = practices()["deepspeed-2021"].sharded_weights
    assert share == pytest.approx(fitted.rate_share, abs=0.0015)
    assert copy_us == pytest.approx(fitted.copy_us, abs=0.06)


def test_shapes_from_memory_have_the_published_size() -> None:
    """Qwen2 57B-A14B and the parameters that llm-foundry prints of MPT."""
    shapes = {name: shape.model() for name, shape in tables().shapes.items()}
    printed = {"mpt-70b": 64862437376, "mpt-30b": 29975214080, "mpt-13b": 12853954560}
    printed |= {"mpt-7b": 6658859008, "mpt-3b": 2651837440}
    for name, count in printed.items():
        assert total_parameters(shapes[name]) == pytest.approx(count, rel=0.003)
    assert total_parameters(shapes["qwen2-57b-a14b"]) == pytest.approx(57e9, rel=0.01)
    assert active_parameters(shapes["qwen2-57b-a14b"]) == pytest.approx(14e9, rel=0.02)


def test_the_page_is_what_the_model_gives() -> None:
    check_golden(PAGE, page())
