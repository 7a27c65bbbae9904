"""`ibplan verify`: the built fabric against the plan."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibplan.cli.common import (
    DesignOption,
    Format,
    FormatOption,
    LockOption,
    Network,
    NetworkOption,
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
from ibplan.errors import EXIT_DIFFERENCE, UsageError
from ibplan.system import readable

if TYPE_CHECKING:
    from ibplan.asbuilt.differences import VerifyResult


class MatchBy(StrEnum):
    """How devices are told."""

    AUTO = "auto"
    NAME = "name"
    STRUCTURE = "structure"


ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="KEY=NAME,...",
        parser=readable,
        help="Names of the columns of a cable list: a_device=From,b_device=To (docs/verify.md).",
    ),
]
SheetOption = Annotated[
    str | None, typer.Option("--sheet", metavar="NAME", parser=readable, help="The sheet of a workbook.")
]


def verify(
    spec: SpecArgument,
    more: Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="More files of the fabric.")] = None,
    as_built: Annotated[
        list[Path] | None,
        typer.Option(
            "--as-built",
            metavar="FILE",
            help="What is there: ibnetdiscover, iblinkinfo, LLDP neighbors, a cable list; or a folder of such files.",
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    name_map: Annotated[
        Path | None,
        typer.Option("--name-map", metavar="FILE", help="Which device is which: found name or GUID, planned name."),
    ] = None,
    match: Annotated[
        MatchBy, typer.Option("--match", metavar="HOW", help="Tell devices by name, by structure, or auto.")
    ] = MatchBy.AUTO,
    expect: Annotated[
        str | None,
        typer.Option("--expect", metavar="PART", parser=readable, help="A partial build: units=1-2, pods=1,3."),
    ] = None,
    columns: ColumnsOption = None,
    sheet: SheetOption = None,
    network: NetworkOption = Network.COMPUTE,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
    width: WidthOption = None,
) -> None:
    """Hold a built fabric against its plan: what differs, and the fewest moves that mend it.

    Exit code 1 if it differs.
    """
    from ibplan.asbuilt.cable_list import KEYS
    from ibplan.asbuilt.name_map import EMPTY, read_name_map
    from ibplan.asbuilt.planned import planned_fabric
    from ibplan.asbuilt.reading import read_fabric
    from ibplan.asbuilt.verify import verify as verify_fabric
    from ibplan.cli.planning import load_inputs
    from ibplan.sheets.heads import read_columns

    files = [*(as_built or ()), *(more or ())]
    if not files:
        raise UsageError("name what was found: --as-built FILE")
    if [str(path) for path in (spec, name_map, *files)].count("-") > 1:
        raise UsageError("standard input can be one of the files, not several")
    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, lock, no_lock)
    found = read_fabric(files, read_columns(columns, KEYS), sheet, network.value)
    names = EMPTY if name_map is None else read_name_map(name_map)
    plan = planned_fabric(loaded, catalog, design_id, network.value)
    result = verify_fabric(plan, found, names, match.value, expect)
    emit(_rendered(result, form, output, width), output)
    if result.differences:
        raise typer.Exit(EXIT_DIFFERENCE)


def _rendered(result: VerifyResult, form: Format, output: Path | None, asked: int | None) -> str:
    from ibplan.asbuilt.verify_report import verify_csv, verify_data, verify_markdown, verify_text
    from ibplan.report.data import to_json, to_yaml

    if form is Format.CSV:
        return verify_csv(result)
    if form is Format.MARKDOWN:
        return verify_markdown(result)
    if form is Format.TABLE:
        width, color = page(output, asked)
        return verify_text(result, width=width, color=color, ascii_only=ascii_only(output))
    data = verify_data(result)
    return to_json(data) if form is Format.JSON else to_yaml(data)
