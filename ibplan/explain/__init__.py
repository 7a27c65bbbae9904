"""The registry of figures: what each number of a design means, its formula, and where its inputs stand in the JSON.

Figures read the plain mappings of the JSON output, so that every figure that is shown is in the JSON, and evaluating a
formula with its inputs gives the figure (rounding apart).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final

from ibplan.explain.core import SWITCH_TIERS, Data, Figure, Input
from ibplan.explain.counts import bandwidth_figures, cabling_figures, count_figures, form_figures
from ibplan.explain.job import fabric_figures, outcome_figures, service_figures, step_figures
from ibplan.explain.money import cluster_figures, fit_figures, money_figures, power_figures
from ibplan.explain.networks import network_total_figures, side_figures
from ibplan.explain.running import energy_figures, spread_figures, total_figures
from ibplan.explain.scorecard import scorecard_figures
from ibplan.explain.site import site_figures

__all__ = ["FIGURES", "SWITCH_TIERS", "Data", "Figure", "Input", "nearest_figures"]


def _registry(*groups: Iterable[Figure]) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    for figure in (f for group in groups for f in group):
        if figure.id in found:
            raise AssertionError(f"two figures are called {figure.id}")
        found[figure.id] = figure
    return found


FIGURES: Final[Mapping[str, Figure]] = _registry(
    form_figures(),
    count_figures(),
    cabling_figures(),
    bandwidth_figures(),
    fabric_figures(),
    side_figures(),
    network_total_figures(),
    money_figures(),
    cluster_figures(),
    spread_figures(),
    power_figures(),
    energy_figures(),
    total_figures(),
    scorecard_figures(),
    step_figures(),
    outcome_figures(),
    service_figures(),
    site_figures(),
    fit_figures(),
)


def nearest_figures(name: str, rows: Mapping[str, str] | None = None) -> list[str]:
    """Ids of figures whose id, row (by id) or title looks like a name, nearest first."""
    wanted = name.strip().lower()
    spelled = {figure_id: figure_id for figure_id in FIGURES}
    spelled |= {row.lower(): figure_id for figure_id, row in (rows or {}).items()}
    near = [spelled[word] for word in get_close_matches(wanted, spelled, 3)]
    inside = [figure_id for word, figure_id in spelled.items() if len(wanted) > 2 and wanted in word]
    words = [figure.id for figure in FIGURES.values() if len(wanted) > 2 and wanted in figure.title.lower()]
    return list(dict.fromkeys([*near, *inside, *words]))[:3]
