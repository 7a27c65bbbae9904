"""Fits the constants of the step time again, on the tables that their data files name."""

from __future__ import annotations

import numpy as np

from ibplan.performance.efficiency import Calibration
from ibplan.performance.practice import Practice, practices
from ibplan.performance.training import step_times
from tests.measured.training_tables import Case, cases

GOLDEN = (5**0.5 - 1) / 2


def matmul_efficiency(calibration: Calibration) -> float:
    """The efficiency with the least mean square relative error of the step, to three digits (golden section)."""
    fitted = cases(calibration.table)[: calibration.rows]

    def error(efficiency: float) -> float:
        return float(np.mean([(case.step_s(efficiency) / case.measured_step_s - 1) ** 2 for case in fitted]))

    low, high = 0.2, 1.0
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = error(left), error(right)
    while high - low > 2e-4:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = error(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = error(right)
    return round((low + high) / 2, 3)


def sharded_weights(table_id: str) -> tuple[float, float]:
    """Rate share and microseconds of a copy of ZeRO 3's gathers: least squares of the step's relative error.

    The step is linear in 1 / share and in the copy, so three evaluations a row give the equations exactly.
    """
    rows = []
    for case in cases(table_id):
        base, slower, copying = (_step_s(case, share, copy) for share, copy in ((1.0, 0.0), (0.5, 0.0), (1.0, 1.0)))
        rows.append(np.array([slower - base, copying - base, case.measured_step_s - base]) / case.measured_step_s)
    equations = np.array(rows)
    more_bytes, copy_us = np.linalg.lstsq(equations[:, :2], equations[:, 2], rcond=None)[0]
    return round(1 / (1 + more_bytes), 3), round(float(copy_us), 2)


def _step_s(case: Case, rate_share: float, copy_us: float) -> float:
    changed = case.practice.sharded_weights.model_copy(update={"rate_share": rate_share, "copy_us": copy_us})
    practice: Practice = practices()[case.practice.id].model_copy(update={"sharded_weights": changed})
    return float(step_times(case.job, case.mapping, case.machine, practice=practice).total_s[0])
