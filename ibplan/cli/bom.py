"""`ibplan bom`: what to order for one design."""

from __future__ import annotations

from enum import StrEnum
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
from ibplan.cli.output import emit
from ibplan.errors import NoDesignError, UsageError


class BomFormat(StrEnum):
    """How a bill is written."""

    CSV = "csv"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"


class Grouping(StrEnum):
    """What makes one row."""

    PART = "part"
    TIER = "tier"


def bom(
    spec: SpecArgument,
    form: Annotated[
        BomFormat, typer.Option("--format", metavar="FORMAT", help="csv, json, yaml or markdown.")
    ] = BomFormat.CSV,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    by: Annotated[
        Grouping, typer.Option("--by", metavar="KEY", help="part: one row a part; tier: one a part and tier.")
    ] = Grouping.PART,
    crlf: Annotated[bool, typer.Option("--crlf", help="End lines with CR LF (csv only).")] = False,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
) -> None:
    """Print the bill of materials of a design: the recommended one, or the one named by --design."""
    if crlf and form is not BomFormat.CSV:
        raise UsageError(f"--crlf does not go with --format {form.value}")
    from ibplan.cli.planning import plan_spec
    from ibplan.report.bom import bom_csv, bom_data, bom_markdown, bom_rows
    from ibplan.report.data import to_json, to_yaml

    plan = plan_spec(spec, settings or (), overlays or (), prices, design_id, lock, no_lock)
    chosen = design_id or plan.choice
    if chosen is None:
        raise NoDesignError(
            "no design can be recommended: `ibplan design` says why; name one with --design to get its bill anyway"
        )
    design = plan.design(chosen)
    rows = bom_rows(plan, design, by.value)
    if form is BomFormat.CSV:
        text = bom_csv(rows, by.value, crlf=crlf)
    elif form is BomFormat.MARKDOWN:
        text = bom_markdown(plan, design, rows, by.value)
    else:
        data = bom_data(plan, design, rows)
        text = to_json(data) if form is BomFormat.JSON else to_yaml(data)
    emit(text, output)
