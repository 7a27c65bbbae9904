"""`ibplan compare`: what keys of the spec do to its plan, one row for each combination of their values."""

from __future__ import annotations

from typing import Annotated

import typer

from ibplan.cli.common import (
    Format,
    FormatOption,
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
from ibplan.errors import EXIT_NO_DESIGN
from ibplan.system import readable


def compare(
    spec: SpecArgument,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="KEY=VALUE,...",
            parser=readable,
            help="Values that a key takes in turn: gpus=512,1024. May be given more than once: values multiply.",
        ),
    ],
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    settings: SettingsOption = None,
    all_designs: Annotated[
        bool, typer.Option("--all-designs", help="A row for every design, not only for the recommended one.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes at once; default: one a processor.")
    ] = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    width: WidthOption = None,
) -> None:
    """Plan a spec with every combination of values, side by side. Exit code 3 if no combination fits."""
    from ibplan.plan.compare import Source, sweep
    from ibplan.plan.processes import processors
    from ibplan.report.compare import compare_csv, compare_data, compare_markdown, compare_text
    from ibplan.report.data import to_json, to_yaml
    from ibplan.spec.variations import parse_variations

    variations = parse_variations(vary, settings or ())
    source = Source(spec, tuple(settings or ()), tuple(overlays or ()), prices)
    data = compare_data(sweep(source, variations, all_designs=all_designs, jobs=jobs or processors()))
    if form is Format.TABLE:
        shown, color = page(output, width)
        text = compare_text(data, width=shown, color=color, ascii_only=ascii_only(output))
    elif form is Format.MARKDOWN:
        text = compare_markdown(data)
    elif form is Format.CSV:
        text = compare_csv(data)
    else:
        text = to_json(data) if form is Format.JSON else to_yaml(data)
    emit(text, output)
    if all(row["exit_code"] == EXIT_NO_DESIGN for row in data["combinations"]):
        raise typer.Exit(EXIT_NO_DESIGN)
