"""`ibplan racks`: the floor of one design, or the elevation of one rack."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from ibplan.cli.common import (
    DesignOption,
    Format,
    FormatOption,
    LockOption,
    NoLockOption,
    OutputOption,
    OverlaysOption,
    PricesOption,
    SettingsOption,
    SpecArgument,
    WidthOption,
    ascii_only,
    page,
)
from ibplan.cli.output import emit
from ibplan.errors import UsageError

if TYPE_CHECKING:
    from ibplan.plan.sited import SitedDesign
    from ibplan.site.elevation import RackContent


def racks(
    spec: SpecArgument,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    rack: Annotated[
        str | None, typer.Option("--rack", metavar="NAME", help="One rack in full: R01-04, N01-10.")
    ] = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
    width: WidthOption = None,
) -> None:
    """Show where a design stands: its racks and rows, and what is in each rack against the limits."""
    from ibplan.cli.planning import load_inputs
    from ibplan.plan.sited import site_design
    from ibplan.report.data import to_json, to_yaml
    from ibplan.report.racks import racks_markdown, racks_text
    from ibplan.report.racks_data import racks_csv, racks_data

    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, lock, no_lock)
    sited = site_design(loaded, catalog, design_id)
    chosen = sited.racks if rack is None else (_one(sited, rack),)
    one = rack is not None
    if form is Format.CSV:
        text = racks_csv(chosen)
    elif form is Format.MARKDOWN:
        text = racks_markdown(sited, chosen, one=one)
    elif form is Format.TABLE:
        shown, color = page(output, width)
        text = racks_text(sited, chosen, one=one, width=shown, color=color, ascii_only=ascii_only(output))
    else:
        data = racks_data(sited, chosen)
        text = to_json(data) if form is Format.JSON else to_yaml(data)
    emit(text, output)


def _one(sited: SitedDesign, name: str) -> RackContent:
    wanted = name.strip().upper()
    for content in sited.racks:
        if content.rack.name == wanted:
            return content
    names = [content.rack.name for content in sited.racks]
    near = get_close_matches(wanted, names, 3) or names[:3]
    shown = name if len(name) <= 100 else f"{name[:100]}..."
    raise UsageError(f"--rack: no rack is called {shown!r}; nearest: {', '.join(near)}")
