"""`ibplan catalog`: what can be bought, one entry in full, and what the catalogue lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ibplan.cli.common import (
    Format,
    FormatOption,
    OutputOption,
    OverlaysOption,
    PricesOption,
    WidthOption,
    ascii_only,
    page,
    say,
)
from ibplan.cli.output import emit
from ibplan.errors import UsageError
from ibplan.system import readable

if TYPE_CHECKING:
    from ibplan.catalog.store import Catalog

app = typer.Typer(no_args_is_help=True, help="What can be bought: list it, show an entry, find what is lacking.")

_DAYS: Final = {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}


class KindName(StrEnum):
    """The kinds of entries."""

    SWITCHES = "switches"
    NICS = "nics"
    SERVERS = "servers"
    GPUS = "gpus"
    MODULES = "modules"
    CABLES = "cables"
    RECIPES = "recipes"


@app.command("list")
def list_entries(
    kind: Annotated[list[KindName] | None, typer.Option("--kind", help="Only this kind. May be repeated.")] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    width: WidthOption = None,
) -> None:
    """List the entries with the price that stands for each."""
    from ibplan.catalog.layers import KINDS
    from ibplan.report.catalog import LIST_COLUMNS, list_columns, list_rows, render_rows

    kinds = [k for k in KINDS if not kind or k in kind]
    rows = list_rows(_load(overlays, prices), kinds)
    shown, color = page(output, width)
    columns = list_columns(shown) if form is Format.TABLE else LIST_COLUMNS
    emit(render_rows(rows, columns, form.value, width=shown, color=color, ascii_only=ascii_only(output)), output)


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="ID", parser=readable, help="The entry's id, such as nvidia-qm9700.")],
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    width: WidthOption = None,
) -> None:
    """Show one entry: its facts, their sources, its prices."""
    from difflib import get_close_matches

    from ibplan.catalog.layers import KINDS
    from ibplan.report.catalog import entry_data, flatten, render_data, render_rows

    catalog = _load(overlays, prices)
    data = entry_data(catalog, name)
    if data is None:
        near = [found for kind in KINDS if (found := catalog.nearest(name, kind)) is not None]
        best = get_close_matches(name, near, 1)
        hint = f"did you mean {best[0]}?" if best else "`ibplan catalog list` names them all"
        raise UsageError(f"nothing in the catalogue has the id {name!r}: {hint}")
    shown, color = page(output, width)
    if form in (Format.JSON, Format.YAML):
        emit(render_data(data, form.value), output)
    else:
        rows, columns = list(flatten(data)), ("field", "value")
        emit(render_rows(rows, columns, form.value, width=shown, color=color, ascii_only=ascii_only(output)), output)


@app.command("check")
def check(
    own: Annotated[bool, typer.Option("--own", help="Only entries of the files given with --catalog.")] = False,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", parser=readable, help="Also list older prices: 180d, 26w, 6m, 1y."),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="DATE", parser=readable, help="The day that ages count from; default: today."),
    ] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    width: WidthOption = None,
) -> None:
    """List what the catalogue lacks: fields to plan with, prices, fresh prices, parts that fit."""
    from datetime import date

    from ibplan.catalog.checks import check_catalog
    from ibplan.report.catalog import CHECK_COLUMNS, check_rows, render_rows

    days = None if older_than is None else _days(older_than)
    try:
        today = date.today() if as_of is None else date.fromisoformat(as_of)
    except ValueError:
        raise UsageError(f"--as-of: {as_of!r} is not a date such as 2026-01-31") from None
    if own and not overlays:
        raise UsageError("--own lists entries of your files: name them with --catalog")
    catalog = _load(overlays, prices)
    rows = check_rows(check_catalog(catalog, days, today))
    mine = _ids(overlays or ())
    found = [row for row in rows if row["id"] in mine]
    shown, color = page(output, width)
    if not own or found or form is not Format.TABLE:
        asked = found if own else rows
        text = render_rows(asked, CHECK_COLUMNS, form.value, width=shown, color=color, ascii_only=ascii_only(output))
        emit(text, output)
    if mine and not found:
        entries = "1 entry" if len(mine) == 1 else f"{len(mine):,} entries"
        say(f"ibplan: {entries} of your files checked, nothing to report")


def _ids(overlays: Sequence[Path]) -> set[str]:
    """Ids of the entries that files of the user state."""
    from ibplan.catalog.layers import KINDS, own_documents

    sections = [document.data.get(kind) or () for document in own_documents(overlays) for kind in KINDS]
    return {entry["id"] for section in sections for entry in section}


def _days(age: str) -> int:
    found = re.fullmatch(r"([0-9]{1,5})([dwmy]?)", age.strip())
    if found is None:
        raise UsageError(f"--older-than: {age!r} is not an age such as 180d, 26w, 6m or 1y")
    return int(found[1]) * _DAYS[found[2]]


def _load(overlays: list[Path] | None, prices: Path | None) -> Catalog:
    from ibplan.catalog.store import load_catalog

    return load_catalog(overlays or (), prices)
