"""What `simulate` prints: the same figures in every form, within the width, with everything that is assumed."""

from __future__ import annotations

import csv
import io
from functools import cache

import pytest

from ibplan.performance.failure_words import parse_failures
from ibplan.plan.simulated import SimulatedDesign, simulate_design
from ibplan.plan.simulation_options import SimulationOptions
from ibplan.report.simulation import simulation_markdown, simulation_text
from ibplan.report.simulation_data import simulation_csv, simulation_data
from ibplan.spec.load import load_spec
from tests.golden import check_golden
from tests.report import samples
from tests.test_golden_specs import GOLDEN

MIXED = "workload.jobs=[{gpus: 128, share: 75%}, {gpus: 32, share: 25%}]"
MAPPED = "workload.parallelism={tp: 8, pp: 2, ep: 4}"


@cache
def done(name: str, design: str | None = None, *settings: str, options: SimulationOptions) -> SimulatedDesign:
    return simulate_design(load_spec(samples.SPECS / f"{name}.yaml", settings), samples.catalog(), options, design)


def text(found: SimulatedDesign, width: int = 100, ascii_only: bool = False) -> str:
    return simulation_text(found, width=width, color=False, ascii_only=ascii_only)


FAILING = SimulationOptions(
    ("permutation", "ring"), ("adaptive", "ecmp"), 4, 3, failures=parse_failures(("leaf=1,link=3",))
)
CASES = {
    "failing": lambda: done("rail-only-512", options=FAILING),
    "apart": lambda: done(
        "rail-only-512",
        "infiniband-nvidia-qm9700-1t-1to1-railonly",
        options=SimulationOptions(seeds=2, cross_rail="network"),
    ),
    "jobs": lambda: done("b300-two-planes", None, MIXED, options=SimulationOptions(("shift",), seeds=2, jobs=True)),
    "mapping": lambda: done(
        "gb300-nvl72", None, MAPPED, "workload.global_batch=4608", options=SimulationOptions(("job",), seeds=2)
    ),
    "tiers": lambda: done(
        "three-lines",
        "infiniband-nvidia-qm9700-3t-1to1",
        "network.tiers=3",
        options=SimulationOptions(("incast",), ("static",), seeds=1),
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_line_fits_the_width_and_no_cell_is_cut(case: str, width: int) -> None:
    found = CASES[case]()
    shown = text(found, width)
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    if width >= 80:
        words = {word for row in found.rows for word in (row.pattern, row.routing)}
        assert all(word in shown for word in words)


@pytest.mark.parametrize("case", CASES)
def test_all_forms_give_the_same_figures(case: str) -> None:
    found = CASES[case]()
    data, rows = simulation_data(found), list(csv.DictReader(io.StringIO(simulation_csv(found))))
    assert len(data["rows"]) == len(rows) == len(found.rows)
    for said, row in zip(data["rows"], rows, strict=True):
        for key in ("pattern", "routing", "axis", "pairs", "unreachable_pairs", "cross_leaf_fraction"):
            assert row[key] == ("" if said[key] is None else f"{said[key]}".removesuffix(".0"))
        worst = said["worst"]
        assert row["worst_fraction"] == ("" if worst is None else f"{worst['mean_fraction']}".removesuffix(".0"))
    shown, markdown = text(found, 200), simulation_markdown(found)
    for line in data["assumptions"]:
        assert line in shown.replace("\n    ", " ")
    assert markdown.count("\n| ") == 2 + len(found.rows)


def test_everything_assumed_is_said() -> None:
    said = simulation_data(CASES["failing"]())["assumptions"]
    starts = ["permutation:", "ring:", "placement contiguous:", "adaptive:", "ecmp:", "between rails:", "failures ("]
    assert [line.startswith(start) for line, start in zip(said, starts, strict=False)] == [True] * 7
    assert said[-1].startswith("flow level:")
    assert "InfiniBand does not route so" in said[4]
    assert any("no path over the network" in line for line in simulation_data(CASES["apart"]())["assumptions"])


def test_pairs_without_a_path_are_shown() -> None:
    shown = text(CASES["apart"]())
    assert "No path: pairs that cannot reach each other." in shown
    assert CASES["apart"]().rows[0].unreachable_pairs > 400


def test_ascii() -> None:
    text(CASES["failing"](), ascii_only=True).encode("ascii")


def test_the_text_is_golden() -> None:
    check_golden(GOLDEN / "simulate-rail-only-512-failing.txt", text(CASES["failing"]()))
    check_golden(GOLDEN / "simulate-gb300-nvl72-job.txt", text(CASES["mapping"](), 80))
