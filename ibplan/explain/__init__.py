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
from ibplan.explain.money import fit_figures, money_figures, power_figures

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
    money_figures(),
    power_figures(),
    fit_figures(),
)


def nearest_figures(name: str) -> list[str]:
    """Ids of figures that look like a name, nearest first."""
    inside = [figure_id for figure_id in FIGURES if len(name) > 2 and name in figure_id]
    return list(dict.fromkeys([*get_close_matches(name, FIGURES, 3), *inside]))[:3]
