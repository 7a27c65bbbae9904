"""`ibplan show`: the topology of one design, or the ports of one device."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from ibplan.cli.catalog import OverlaysOption, PricesOption
from ibplan.cli.common import WIDEST, OutputOption, SettingsOption, SpecArgument, terminal
from ibplan.cli.design import DesignOption
from ibplan.cli.output import emit

# Where nothing limits the width (a pipe, a file), lines are as long as people like to read.
_READABLE: Final = 100


class ShowFormat(StrEnum):
    """How a topology is written."""

    TABLE = "table"
    JSON = "json"


def show(
    spec: SpecArgument,
    form: Annotated[ShowFormat, typer.Option("--format", metavar="FORMAT", help="table or json.")] = ShowFormat.TABLE,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME", help="The ports of one device: leaf-001, server-012.")
    ] = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    width: Annotated[
        int | None,
        typer.Option(
            "--width", metavar="COLUMNS", min=60, max=WIDEST, help="Width of the text; default: the terminal's."
        ),
    ] = None,
) -> None:
    """Show the topology of a design from the top: the recommended one, or the one named by --design."""
    from ibplan.catalog.store import load_catalog
    from ibplan.plan.wired import wire_design
    from ibplan.report.data import to_json
    from ibplan.report.topology_data import device_data, topology_data
    from ibplan.spec.load import load_spec

    loaded = load_spec(spec, settings or ())
    catalog = load_catalog([*loaded.catalog_paths, *(overlays or ())], prices or loaded.price_path)
    wired = wire_design(loaded, catalog, design_id)
    limit, color = terminal(output)
    shown = width or (_READABLE if limit == WIDEST else limit)
    if device is None:
        from ibplan.fabric.topology import topology
        from ibplan.report.topology import topology_text

        found = topology(wired.wiring)
        if form is ShowFormat.JSON:
            text = to_json(topology_data(wired, found))
        else:
            text = topology_text(wired, found, width=shown, color=color, ascii_only=_ascii_only(output))
    else:
        from ibplan.fabric.device_ports import device_view, find_device
        from ibplan.report.topology_device import device_text

        view = device_view(wired.wiring, find_device(wired.wiring, device))
        if form is ShowFormat.JSON:
            text = to_json(device_data(wired, view))
        else:
            text = device_text(wired, view, width=shown, color=color, ascii_only=_ascii_only(output))
    emit(text, output)


def _ascii_only(output: Path | None) -> bool:
    if output is not None and str(output) != "-":
        return False
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return not encoding.lower().replace("_", "-").startswith("utf")
