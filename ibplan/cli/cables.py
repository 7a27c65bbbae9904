"""`ibplan cables`: one row for every cable of a design."""

from __future__ import annotations

from enum import StrEnum
from itertools import chain
from typing import Annotated

import typer

from ibplan.cli.common import (
    DesignOption,
    LockOption,
    NoLockOption,
    OutputOption,
    OverlaysOption,
    PricesOption,
    SettingsOption,
    SpecArgument,
)
from ibplan.cli.output import emit_pieces, emit_with
from ibplan.errors import UsageError


class CablesFormat(StrEnum):
    """How a cable schedule is written."""

    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"


def cables(
    spec: SpecArgument,
    form: Annotated[
        CablesFormat, typer.Option("--format", metavar="FORMAT", help="csv, xlsx or json.")
    ] = CablesFormat.CSV,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    network: Annotated[
        str | None, typer.Option("--network", metavar="NAME", help="Only one network: compute, storage, inband, oob.")
    ] = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
) -> None:
    """Print the cable schedule of a design, one row a cable: the recommended one, or the one named by --design."""
    if form is CablesFormat.XLSX and (output is None or str(output) == "-"):
        raise UsageError("--format xlsx needs a file: name it with -o")
    from ibplan.cabling.schedule import schedule_rows
    from ibplan.cli.planning import load_inputs
    from ibplan.plan.assemble import SCHEMA_VERSION
    from ibplan.plan.cabled import cable_design

    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, lock, no_lock)
    cabled = cable_design(loaded, catalog, design_id, network)
    rows = chain.from_iterable(schedule_rows(one) for one in cabled.networks)
    if form is CablesFormat.XLSX:
        from ibplan.report.cables_xlsx import write_schedule

        emit_with(lambda stream: write_schedule(stream, rows), output)
        return
    from ibplan.report.cables import schedule_csv, schedule_json

    if form is CablesFormat.CSV:
        emit_pieces(schedule_csv(rows), output)
    else:
        head = {"schema_version": SCHEMA_VERSION, "name": cabled.name, "design": cabled.id}
        emit_pieces(schedule_json(head, rows), output)
