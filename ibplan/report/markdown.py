"""The plan as Markdown: what `design` says, for a merge request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ibplan.explain import Data
from ibplan.report import sections
from ibplan.report.comparison import comparison_groups
from ibplan.report.rows import kept
from ibplan.report.sections import Line, Section

_SPECIAL: Final = re.compile(r"([\\`*\[\]<>#|~&])")


def escape(text: str) -> str:
    """A text that Markdown shows as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> str:
    """A table whose cells are escaped; a line break within a cell stays one."""
    lines = [head, *rows]
    cells = [["<br>".join(escape(part) for part in cell.split("\n")) for cell in line] for line in lines]
    rule = ["---:" if is_right else "---" for is_right in right]
    return "".join(f"| {' | '.join(line)} |\n" for line in [cells[0], rule, *cells[1:]])


def to_markdown(data: Data) -> str:
    """The whole plan: choice, comparison with one column a design, findings, defaults."""
    ranked = [d for d in data["designs"] if d["rank"] is not None]
    others = [d for d in data["designs"] if d["rank"] is None]
    parts = [f"# {escape(sections.headline(data))}\n"]
    parts += [_section(s) for s in (sections.recommendation(data), sections.shortfall(data), sections.nearest(data))]
    parts += [_section(sections.design_list(data, ranked, "Designs, best first")), *_comparison(data, ranked)]
    parts += [_section(sections.design_list(data, others, "Not ranked: parts without a price"))]
    parts += _comparison(data, others)
    parts += [_section(make(data)) for make in (sections.alternatives, sections.rejected, sections.findings)]
    parts += [_section(sections.left_out(data)), _section(sections.defaults(data))]
    return "\n".join(part for part in parts if part)


def _section(section: Section) -> str:
    if not section.lines:
        return ""
    return f"## {escape(section.title)}\n\n" + "".join(f"- {_line(line)}\n" for line in section.lines)


def _line(line: Line) -> str:
    marker = f"**{escape(line.marker)}** " if line.marker not in ("", "-") else ""
    return marker + escape(line.words)


def _comparison(data: Data, designs: Sequence[Data]) -> Iterator[str]:
    if not designs:
        return
    names = sections.labels(data)
    cells: list[str] = []
    rows: list[list[str]] = []
    for group in kept(comparison_groups(data), designs, data):
        rows.append([group.title, "", *("" for _ in designs)])
        for row in group.rows:
            found = [row.cell(design, data) for design in designs]
            cells += found
            rows.append([row.label, row.unit, *found])
    head = ["Design", "Unit", *(names[design["id"]] for design in designs)]
    yield table(head, rows, [False, False, *(True for _ in designs)])
    yield _section(sections.legend(cells))
