"""`ibplan import`: a fabric that is there becomes a spec."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ibplan.cli.common import OutputOption, OverlaysOption, WidthOption, page
from ibplan.cli.output import emit
from ibplan.cli.verify import ColumnsOption, SheetOption
from ibplan.errors import UsageError
from ibplan.system import readable


class ImportFormat(StrEnum):
    """How an imported fabric is written."""

    SPEC = "spec"
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"


class FabricKind(StrEnum):
    """A kind of fabric."""

    INFINIBAND = "infiniband"
    ROCE = "roce"
    ETHERNET = "ethernet"


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="What is there: ibnetdiscover, iblinkinfo, LLDP neighbors, a cable list; - is standard input.",
        ),
    ],
    form: Annotated[
        ImportFormat, typer.Option("--format", metavar="FORMAT", help="spec, table, json, yaml or markdown.")
    ] = ImportFormat.SPEC,
    output: OutputOption = None,
    hosts: Annotated[
        str | None,
        typer.Option("--hosts", metavar="PATTERN", parser=readable, help="Names of the hosts: 'gpu*,storage*'."),
    ] = None,
    server: Annotated[
        str | None, typer.Option("--server", metavar="ID", parser=readable, help="The server's id in the catalogue.")
    ] = None,
    switch: Annotated[
        str | None, typer.Option("--switch", metavar="ID", parser=readable, help="The switch's id in the catalogue.")
    ] = None,
    fabric: Annotated[
        FabricKind | None, typer.Option("--fabric", metavar="KIND", help="infiniband, roce or ethernet.")
    ] = None,
    gbps: Annotated[
        int | None,
        typer.Option("--gbps", metavar="N", min=1, max=10_000, help="Rate of links that do not state theirs."),
    ] = None,
    columns: ColumnsOption = None,
    sheet: SheetOption = None,
    overlays: OverlaysOption = None,
    width: WidthOption = None,
) -> None:
    """Make a spec of a fabric that is there, and say what it is: tiers, ratio, rails, units, irregularities."""
    from ibplan.asbuilt.cable_list import KEYS
    from ibplan.asbuilt.import_report import imported_data, imported_markdown, imported_spec, imported_text
    from ibplan.asbuilt.importing import ImportOptions, import_fabric
    from ibplan.asbuilt.reading import read_fabric
    from ibplan.catalog.store import load_catalog
    from ibplan.report.data import to_json, to_yaml
    from ibplan.sheets.heads import read_columns

    if [str(path) for path in files].count("-") > 1:
        raise UsageError("standard input can be one of the files, not several")
    found = read_fabric(files, read_columns(columns, KEYS), sheet)
    name = output.stem if output is not None and str(output) != "-" else "imported"
    options = ImportOptions(hosts, server, switch, None if fabric is None else fabric.value, gbps, readable(name)[:100])
    imported = import_fabric(found, options, load_catalog(overlays or ()))
    if form is ImportFormat.SPEC:
        text = imported_spec(imported, found.sources)
    elif form is ImportFormat.MARKDOWN:
        text = imported_markdown(imported, found.sources)
    elif form is ImportFormat.TABLE:
        text = imported_text(imported, found.sources, width=page(output, width)[0])
    else:
        data = imported_data(imported, found.sources)
        text = to_json(data) if form is ImportFormat.JSON else to_yaml(data)
    emit(text, output)
