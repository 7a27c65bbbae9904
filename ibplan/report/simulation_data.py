"""A simulation as plain data and as CSV."""

from __future__ import annotations

from typing import Any, Final

from ibplan.performance.estimates import CONFIDENCE, Estimate
from ibplan.performance.simulation_rows import Row
from ibplan.plan.simulated import SimulatedDesign
from ibplan.report import simulation_words as words
from ibplan.report.data import plain
from ibplan.report.spreadsheet import csv_text

SCHEMA_VERSION: Final = "1"
_PLAIN: Final = (
    "pattern",
    "axis",
    "job_gpus",
    "job_count",
    "routing",
    "flows",
    "pairs",
    "nvlink_pairs",
    "unreachable_pairs",
    "cross_leaf_fraction",
    "cross_pod_fraction",
)


def simulation_data(done: SimulatedDesign) -> dict[str, Any]:
    """A simulation as dicts, lists, texts, numbers and None: what was simulated, the rows, and what they assume."""
    experiment = done.experiment
    return {
        "schema_version": SCHEMA_VERSION,
        "name": done.wired.name,
        "design": done.wired.id,
        "fabric": done.wired.fabric,
        "recommended": done.wired.recommended,
        "gpus": done.gpus,
        "nvlink_domain_gpus": done.domain_gpus,
        "nic_gbps_per_gpu": plain(done.nic_gbps_per_gpu),
        "placement": experiment.placement,
        "cross_rail": experiment.cross_rail,
        "group": experiment.group,
        "fan_in": experiment.fan_in if "incast" in experiment.patterns else None,
        "failures": list(done.failures),
        "seeds": experiment.seeds,
        "confidence": CONFIDENCE,
        "rows": [_row(row) for row in done.rows],
        "assumptions": list(words.assumptions(done)),
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        **{name: plain(getattr(row, name)) for name in _PLAIN},
        "mean": _estimate(row.mean),
        "worst": _estimate(row.worst),
    }


def _estimate(found: Estimate | None) -> dict[str, Any] | None:
    """Shares of the NIC bandwidth of a GPU."""
    if found is None:
        return None
    return {
        "mean_fraction": plain(found.mean),
        "half_width_fraction": plain(found.half_width),
        "lowest_fraction": plain(found.lowest),
        "highest_fraction": plain(found.highest),
    }


def simulation_csv(done: SimulatedDesign) -> str:
    """One row for each pattern (axis, kind of jobs) and routing scheme; what does not apply is empty."""
    head = [*_PLAIN, "mean_fraction", "mean_half_width_fraction", "worst_fraction", "worst_half_width_fraction"]
    rows = []
    for row in done.rows:
        cells = [plain(getattr(row, name)) for name in _PLAIN]
        for found in (row.mean, row.worst):
            cells += [None, None] if found is None else [plain(found.mean), plain(found.half_width)]
        rows.append(cells)
    return csv_text(head, rows)
