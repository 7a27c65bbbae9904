"""A plain table of texts for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from ibplan.report.screen import printed


def grid(
    columns: Sequence[str],
    cells: Iterable[Sequence[str]],
    right: Sequence[bool],
    *,
    whole: Collection[str] = (),
    width: int,
    color: bool,
    ascii_only: bool = False,
) -> str:
    """A table under a head; `right` says which columns are set to the right, `whole` names those that never wrap."""
    return printed([grid_table(columns, cells, right, whole)], width=width, color=color, ascii_only=ascii_only)


def grid_table(
    columns: Sequence[str], cells: Iterable[Sequence[str]], right: Sequence[bool], whole: Collection[str] = ()
) -> Table:
    """The same as a part of something larger."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column, is_right in zip(columns, right, strict=True):
        table.add_column(column, justify="right" if is_right else "left", overflow="fold", no_wrap=column in whole)
    for row in cells:
        table.add_row(*map(Text, row))
    return table
