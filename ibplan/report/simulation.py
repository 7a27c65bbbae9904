"""A simulation for a terminal and as Markdown: the table first, then how to read it and what it assumes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ibplan.plan.simulated import SimulatedDesign
from ibplan.report import markdown
from ibplan.report import simulation_words as words
from ibplan.report.screen import ascii_only_data
from ibplan.report.topology import drawn, grid

Said = Callable[[str], str]
# Columns between those of a table.
_BETWEEN: Final = 2


def simulation_text(done: SimulatedDesign, *, width: int, color: bool, ascii_only: bool) -> str:
    """The table and its words. Every line fits `width`."""

    def said(text: str) -> str:
        return ascii_only_data(text.replace("±", "+-")) if ascii_only else text

    parts = _parts(done, said, width)
    return drawn(parts, width=width, color=color, ascii_only=ascii_only)


def _parts(done: SimulatedDesign, said: Said, width: int) -> Iterator[RenderableType]:
    yield Text(said(words.headline(done)), "bold", overflow="fold")
    yield Text(said(words.size(done)))
    yield Text(said(words.runs(done)), overflow="fold")
    yield Text()
    yield _table([[said(cell) for cell in row] for row in _rows(done)], list(_columns(done)), width)
    yield Text()
    yield _list(Text(said(line), "dim") for line in words.meanings(done))
    yield Text()
    yield Text("Assumed", "bold")
    yield _list(Text(said(line), overflow="fold") for line in words.assumptions(done))


def _table(rows: Sequence[Sequence[str]], columns: Sequence[tuple[str, bool]], width: int) -> Table:
    """A table whose cells break between words, wherever the width has room for all words."""
    table = grid(columns, rows)
    texts = [[name, *(row[number] for row in rows)] for number, (name, _) in enumerate(columns)]
    widths = [max(len(word) for text in column for word in text.split()) for column in texts]
    room = width - sum(widths) - _BETWEEN * len(columns)
    if room < 0:
        return table
    for number, column in enumerate(texts):
        wider = min(room, max(map(len, column)) - widths[number])
        widths[number], room = widths[number] + wider, room - wider
        table.columns[number].width = widths[number]
    return table


def _list(lines: Iterable[Text]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    for line in lines:
        table.add_row("  -", line)
    return table


def _columns(done: SimulatedDesign) -> Iterator[tuple[str, bool]]:
    yield from (("Traffic", False), ("Routing", False), ("Mean %", True), ("Worst %", True), ("Pairs", True))
    yield from (("NVLink", True), ("No path", True), ("Leave leaf %", True))
    if done.wired.wiring.network.fabric.tiers > 2:
        yield ("Leave pod %", True)


def _rows(done: SimulatedDesign) -> Iterator[list[str]]:
    for row in done.rows:
        cells = [words.traffic(row), words.routing(row), words.interval(row.mean), words.interval(row.worst)]
        cells += [words.count(value) for value in (row.pairs, row.nvlink_pairs, row.unreachable_pairs)]
        cells.append(words.share(row.cross_leaf_fraction))
        if done.wired.wiring.network.fabric.tiers > 2:
            cells.append(words.share(row.cross_pod_fraction))
        yield cells


def simulation_markdown(done: SimulatedDesign) -> str:
    """The same for a wiki or a merge request."""
    columns = list(_columns(done))
    rows = ([markdown.cell(cell) for cell in row] for row in _rows(done))
    lines = [f"# {markdown.escape(words.headline(done))}\n"]
    lines += [f"{markdown.escape(line)}\n" for line in (words.size(done), words.runs(done))]
    lines.append(markdown.table([name for name, _ in columns], rows, [right for _, right in columns]))
    lines += ["".join(f"- {markdown.escape(line)}\n" for line in words.meanings(done)), "## Assumed\n"]
    lines.append("".join(f"- {markdown.escape(line)}\n" for line in words.assumptions(done)))
    return "\n".join(lines)
