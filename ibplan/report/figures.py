"""Figures one by one: the comparison as CSV with one row a design, and what `--explain` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ibplan.explain import FIGURES, SWITCH_TIERS, Data, Figure
from ibplan.report import text
from ibplan.report.comparison import row_names
from ibplan.report.data import significant
from ibplan.report.spreadsheet import csv_text

_FACTS: Final[tuple[tuple[str, Callable[[Data, Data], Any]], ...]] = (
    ("id", lambda design, plan: design["id"]),
    ("recommended", lambda design, plan: design["id"] == plan["recommended"]),
    ("pinned", lambda design, plan: design["pinned"]),
    ("fabric", lambda design, plan: design["fabric"]),
    *((f"{tier}_switch", lambda design, plan, tier=tier: _switch(design, tier)) for tier in SWITCH_TIERS),
    ("complete", lambda design, plan: design["totals"]["complete"]),
)


def _switch(design: Data, tier: str) -> str | None:
    rows = [row["switch"] for row in design["networks"]["compute"]["switches"] if row["tier"] == tier]
    return rows[0] if rows else None


def to_csv(data: Data) -> str:
    """One row a design: facts, then every figure under its id. Unknown and absent figures are empty cells."""
    head = [*(name for name, _ in _FACTS), *FIGURES]
    rows = (
        [*(get(design, data) for _, get in _FACTS), *(_value(f, design, data) for f in FIGURES.values())]
        for design in data["designs"]
    )
    return csv_text(head, rows)


def find_figure(name: str) -> Figure | None:
    """The figure with an id, or with a name of the table's rows (in small or capital letters); None if there is none.

    An id stands before a row. The dash that sets some rows in may be left out; of rows with one name the first stands.
    """
    wanted = name.strip().lower()
    if wanted in FIGURES:
        return FIGURES[wanted]
    rows = [(figure, row.lower()) for figure, row in row_names().items()]
    spelled = [figure for figure, row in rows if row == wanted]
    spelled += [figure for figure, row in rows if row == f"- {wanted}"]
    return FIGURES[spelled[0]] if spelled else None


def figure_list() -> str:
    """All figures: id, unit, name of the row in the table, meaning."""
    rows = row_names()
    width = max(map(len, FIGURES))
    units = max(len(figure.unit) for figure in FIGURES.values())
    names = max(map(len, rows.values()))
    lines = [f"{f.id:{width}}  {f.unit:{units}}  {rows.get(f.id, ''):{names}}  {f.title}" for f in FIGURES.values()]
    return "".join(f"{line}\n" for line in lines)


def explain_data(figure: Figure, data: Data) -> dict[str, Any]:
    """A figure with its formula, and its inputs and value for every design."""
    return {
        "figure": figure.id,
        "title": figure.title,
        "unit": figure.unit,
        "formula": figure.formula,
        "rule": figure.rule,
        "designs": [
            {
                "id": design["id"],
                "inputs": figure.input_values(design, data),
                "value": _value(figure, design, data),
            }
            for design in data["designs"]
        ],
    }


def _value(figure: Figure, design: Data, data: Data) -> Any:
    value = figure.value(design, data)
    return significant(value) if figure.unit == "share" and value is not None else value


def explain_text(figure: Figure, data: Data) -> str:
    """The same for people: formula, then inputs with units and the value for every design."""
    lines = [f"{figure.id}: {figure.title}", *_formula(figure)]
    for design in data["designs"]:
        lines += ["", design["id"]]
        lines += [] if figure.plain else _inputs(figure, design, data)
        lines.append(f"  {figure.id} = {_quantity(_value(figure, design, data), figure.unit)}")
    return "\n".join(lines) + "\n"


def _formula(figure: Figure) -> Iterator[str]:
    if figure.plain:
        yield f"  {figure.rule}"
    else:
        yield f"  {figure.id} = {figure.formula}"


def _inputs(figure: Figure, design: Data, data: Data) -> Iterator[str]:
    for entry in figure.inputs:
        value = entry.get(design, data)
        if not isinstance(value, dict):
            yield f"  {entry.name} = {_quantity(value, entry.unit)}  ({entry.meaning})"
            continue
        yield f"  {entry.name}: {entry.meaning}{'' if value else ' (none)'}"
        yield from (f"    {_quantity(amount, entry.unit)}  {label}" for label, amount in value.items())


def _quantity(value: Any, unit: str) -> str:
    if value is None:
        return "unknown, or not there"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{text.number(value)} {unit}".rstrip()
