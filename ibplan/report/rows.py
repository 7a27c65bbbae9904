"""Rows and groups of a comparison: a figure or words of each design, as it is written, with its marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ibplan.explain import FIGURES, Data
from ibplan.report import text

ESTIMATE: Final = "~"
LOWER_BOUND: Final = ">"
EXTRAPOLATED: Final = "*"
LEGEND: Final = (
    (ESTIMATE, "rests on estimates"),
    (LOWER_BOUND, "at least: what is unknown (parts without a price, support) is not in it"),
    (EXTRAPOLATED, "extrapolated: no published measurement of this path"),
    (text.UNKNOWN, "unknown"),
    (text.ABSENT, "does not apply"),
)
Write = Callable[[Any], str]
Mark = Callable[[Data, str], str]
Words = Callable[[Data], str]


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `figure` names what it shows; `words` says it in its own way. `keep`: `some` = only if a design has it
    (not 0), `known` = only if a design has it or has 0 of it.

    Numbers always belong to a figure, so that they can be explained.
    """

    label: str
    unit: str
    figure: str | None = None
    write: Write = text.number
    words: Words | None = None
    keep: Literal["always", "some", "known"] = "always"
    mark: Mark | None = None
    absent: str | Words = text.ABSENT

    def value(self, design: Data, plan: Data) -> Any:
        """The figure itself, or the words; None = not there, or unknown."""
        if self.words is not None:
            return self.words(design) or None
        return FIGURES[self.figure or ""].value(design, plan)

    def cell(self, design: Data, plan: Data) -> str:
        """The figure as it is shown."""
        value = self.value(design, plan)
        if value is None:
            return self.absent if isinstance(self.absent, str) else self.absent(design)
        written = value if self.words is not None else self.write(value)
        return self.mark(design, written) if self.mark is not None else written


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under a heading."""

    title: str
    rows: tuple[Row, ...]


def kept(groups: Iterable[Group], designs: Sequence[Data], plan: Data) -> Iterator[Group]:
    """The groups with the rows that say something about at least one of the designs."""
    for group in groups:
        rows = tuple(row for row in group.rows if _is_kept(row, designs, plan))
        if rows:
            yield Group(group.title, rows)


def _is_kept(row: Row, designs: Sequence[Data], plan: Data) -> bool:
    if row.keep == "always":
        return True
    values = [row.value(design, plan) for design in designs]
    return any(value is not None if row.keep == "known" else bool(value) for value in values)


def arranged(designs: Sequence[Data], recommended: str | None) -> list[Data]:
    """The recommended design, then the others in rank order."""
    return sorted(designs, key=lambda design: design["id"] != recommended)
