"""The plan for people: rich tables and sentences that fit any width, a terminal, a pipe or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.columns import Columns
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ibplan.explain import Data
from ibplan.report import networks, sections
from ibplan.report.comparison import comparison_groups
from ibplan.report.job_sections import job_section
from ibplan.report.rejections import rejected
from ibplan.report.rows import Group, arranged, kept
from ibplan.report.scorecard import operating_section
from ibplan.report.screen import ascii_only_data, printed
from ibplan.report.sections import Line, Section
from ibplan.report.value import value_section

NARROWEST: Final = 60
_GAP: Final = 2
_WIDEST_LABEL: Final = 26
_SHORT: Final = 28
_STYLES: Final = {"good": "bold green", "bad": "bold red", "careful": "yellow", "faint": "dim", "strong": "bold"}


def to_table(data: Data, *, width: int, color: bool = False, ascii_only: bool = False) -> str:
    """The whole plan as text. Every line fits `width`; what does not fit beside goes below, nothing is cut."""
    width = max(width, NARROWEST)
    shown = ascii_only_data(data) if ascii_only else data
    return printed(_parts(shown, width), width=width, color=color, ascii_only=ascii_only)


def _parts(data: Data, width: int) -> Iterator[RenderableType]:
    yield Text(sections.headline(data), "bold")
    ranked = [d for d in data["designs"] if d["rank"] is not None]
    others = [d for d in data["designs"] if d["rank"] is None]
    yield from _section(sections.recommendation(data))
    yield from _section(sections.shortfall(data))
    yield from _section(sections.nearest(data))
    if len(ranked) > 1 or (ranked and data["recommended"] is None):
        yield from _section(sections.design_list(data, ranked, "Designs, best first"))
    yield from _section(value_section(data))
    yield from _comparison(data, ranked, width)
    if others:
        yield Text()
        yield Text("─" * width)
        yield from _section(sections.design_list(data, others, "Not ranked: parts without a price"))
        yield from _comparison(data, others, width)
    if ranked or others:
        yield from _section(sections.legend(data, _cells(data)))
    yield from _section(job_section(data))
    for section in networks.network_sections(data):
        yield from _section(section)
    yield from _section(operating_section(data))
    yield from _section(sections.sensitivity(data))
    yield from _section(sections.alternatives(data))
    yield from _section(rejected(data))
    yield from _section(sections.findings(data))
    if data["designs"]:
        yield from _section(sections.prices(data))
    yield from _section(sections.left_out(data, networks.left_out_words(data)))
    yield from _section(sections.site(data))
    yield from _section(sections.defaults(data))
    yield from _section(sections.side_defaults(data))


def _cells(data: Data) -> Iterator[str]:
    for group in kept(comparison_groups(data), data["designs"], data):
        for row in group.rows:
            yield from (row.cell(design, data) for design in data["designs"])


def _section(section: Section) -> Iterator[RenderableType]:
    if not section.lines:
        return
    yield Text()
    yield Text(section.title, "bold")
    if section.flowing:
        short = [line for line in section.lines if len(line.words) <= _SHORT]
        yield Padding(Columns(map(_words, short), padding=(0, 2)), (0, 0, 0, 2))
        yield from (Padding(_words(line), (0, 0, 0, 2)) for line in section.lines if line not in short)
        return
    if not any(line.marker for line in section.lines):
        for line in section.lines:
            yield Padding(_words(line), (0, 0, 0, 2))
        return
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for line in section.lines:
        grid.add_row(Text(line.marker), _words(line))
    yield Padding(grid, (0, 0, 0, 2))


def _words(line: Line) -> Text:
    return Text(line.words, _STYLES.get(line.style, ""), overflow="fold")


def _comparison(data: Data, designs: Sequence[Data], width: int) -> Iterator[RenderableType]:
    """The designs as columns, in as many tables as the width asks for."""
    if not designs:
        return
    groups = list(kept(comparison_groups(data), designs, data))
    names = sections.labels(data)
    columns = {d["id"]: _column(d, data, groups, names) for d in arranged(designs, data["recommended"])}
    label = min(_WIDEST_LABEL, max(len(row.label) for group in groups for row in group.rows))
    unit = max(len(row.unit) for group in groups for row in group.rows)
    room = width - label - unit - _GAP
    for ids in _packed(columns, room):
        yield Text()
        yield _table(groups, [columns[i] for i in ids], (label, unit, room))


def _column(design: Data, data: Data, groups: Iterable[Group], names: Mapping[str, str]) -> list[str]:
    """Head and cells of one design, in the order of the rows."""
    head = names[design["id"]] + ("\nrecommended" if design["id"] == data["recommended"] else "")
    return [head, *(row.cell(design, data) for group in groups for row in group.rows)]


def _width(cells: Iterable[str]) -> int:
    return max(len(line) for cell in cells for line in cell.split("\n"))


def _packed(columns: Mapping[str, Sequence[str]], room: int) -> Iterator[list[str]]:
    """Ids that fit beside each other: all columns of a table are as wide as its widest."""
    ids: list[str] = []
    widest = 0
    for design_id, cells in columns.items():
        wider = max(widest, _width(cells))
        if ids and (len(ids) + 1) * (wider + _GAP) > room:
            yield ids
            ids, wider = [], _width(cells)
        ids, widest = [*ids, design_id], wider
    if ids:
        yield ids


def _table(groups: Sequence[Group], columns: Sequence[Sequence[str]], widths: tuple[int, int, int]) -> Table:
    label, unit, room = widths
    each = min(max(map(_width, columns)), room // len(columns) - _GAP)
    table = Table(
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=0,  # rich draws cells without padding twice as fast: the gap is in the widths
        header_style="bold",
        safe_box=False,
    )
    table.add_column("Design", width=label + 1, overflow="fold")
    table.add_column("Unit", width=unit, overflow="fold")
    for column in columns:
        table.add_column(Text(column[0]), justify="right", width=each + 1, overflow="fold")
    place = 1
    for number, group in enumerate(groups):
        heading = [Text(group.title, "bold cyan")]
        if number:
            table.add_row()
        table.add_row(*heading)
        for row in group.rows:
            table.add_row(Text(row.label), Text(row.unit, "dim"), *(Text(column[place]) for column in columns))
            place += 1
    return table
