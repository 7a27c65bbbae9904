"""The plan as Markdown: what `design` says, for a merge request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ibplan.explain import Data
from ibplan.report import networks, sections
from ibplan.report.comparison import comparison_groups
from ibplan.report.job_sections import job_section
from ibplan.report.rejections import rejected_in_full
from ibplan.report.rows import arranged, kept
from ibplan.report.scorecard import operating_section
from ibplan.report.sections import Line, Section
from ibplan.report.value import value_section

_SPECIAL: Final = re.compile(r"([\\`*\[\]<>#|~&])")


def escape(text: str) -> str:
    """A text that Markdown shows as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def cell(text: str) -> str:
    """A text as a cell of a table; a line break within it stays one."""
    return "<br>".join(escape(part) for part in text.split("\n"))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> str:
    """A table of cells that are escaped already; `right` says which columns are set to the right."""
    rule = ["---:" if is_right else "---" for is_right in right]
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, rule, *rows])


def to_markdown(data: Data) -> str:
    """The whole plan: choice, comparison with one column a design, findings, prices, defaults."""
    ranked = [d for d in data["designs"] if d["rank"] is not None]
    others = [d for d in data["designs"] if d["rank"] is None]
    parts = [f"# {escape(sections.headline(data))}\n"]
    parts += [_section(s) for s in (sections.recommendation(data), sections.shortfall(data), sections.nearest(data))]
    parts += [_section(sections.design_list(data, ranked, "Designs, best first")), _section(value_section(data))]
    parts += _comparison(data, ranked)
    parts += [_section(sections.design_list(data, others, "Not ranked: parts without a price"))]
    parts += _comparison(data, others)
    parts += [_section(section) for section in (job_section(data), *networks.network_sections(data))]
    parts += [
        _section(make(data))
        for make in (
            operating_section,
            sections.sensitivity,
            sections.alternatives,
            rejected_in_full,
            sections.findings,
        )
    ]
    parts += [_section(sections.prices(data))] if data["designs"] else []
    parts += [_section(sections.left_out(data, networks.left_out_words(data))), _section(sections.site(data))]
    parts += [_section(sections.defaults(data)), _section(sections.side_defaults(data))]
    return "\n".join(part for part in parts if part)


def _section(section: Section) -> str:
    if not section.lines:
        return ""
    nested = any(line.marker for line in section.lines)
    return f"## {escape(section.title)}\n\n" + "".join(f"{_line(line, nested)}\n" for line in section.lines)


def _line(line: Line, nested: bool) -> str:
    if line.marker in ("", "-"):
        return f"{'  ' if nested and not line.marker else ''}- {escape(line.words)}"
    return f"- **{escape(line.marker)}** {escape(line.words)}"


def _comparison(data: Data, designs: Sequence[Data]) -> Iterator[str]:
    if not designs:
        return
    designs = arranged(designs, data["recommended"])
    names = sections.labels(data)
    cells: list[str] = []
    rows: list[list[str]] = []
    for group in kept(comparison_groups(data), designs, data):
        rows.append([f"**{escape(group.title)}**", "", *("" for _ in designs)])
        for row in group.rows:
            found = [row.cell(design, data) for design in designs]
            cells += found
            rows.append([escape(row.label), escape(row.unit), *map(cell, found)])
    head = ["Design", "Unit", *(names[design["id"]] for design in designs)]
    yield table(head, rows, [False, False, *(True for _ in designs)])
    yield _section(sections.legend(data, cells))
