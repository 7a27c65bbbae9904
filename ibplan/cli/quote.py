"""`ibplan quote`: a vendor's quote against the bill of a design."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    WidthOption,
    page,
)
from ibplan.cli.output import emit
from ibplan.errors import EXIT_DIFFERENCE, NoDesignError, UsageError

if TYPE_CHECKING:
    from ibplan.quote.compare import QuoteCheck


class QuoteFormat(StrEnum):
    """How a comparison is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def quote(
    spec: SpecArgument,
    file: Annotated[
        Path, typer.Option("--file", metavar="QUOTE", help="The quote: CSV or .xlsx; - is standard input.")
    ],
    form: Annotated[
        QuoteFormat, typer.Option("--format", metavar="FORMAT", help="table, json, csv or markdown.")
    ] = QuoteFormat.TABLE,
    output: OutputOption = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", metavar="KEY=NAME,...", help="Names of its columns, as part=P/N,quantity=Qty (docs/quote.md)."
        ),
    ] = None,
    sheet: Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="The sheet of a workbook.")] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--price-tolerance", metavar="PERCENT", help="Also a difference: prices above the bill's by more."
        ),
    ] = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
    width: WidthOption = None,
) -> None:
    """Hold a quote against a design's bill: missing, surplus and wrong parts, prices. Exit code 1 if they differ."""
    from ibplan.cli.planning import load_inputs, plan_loaded
    from ibplan.quote.columns import read_columns
    from ibplan.quote.compare import compare_quote
    from ibplan.quote.rows import read_quote

    if str(spec) == str(file) == "-":
        raise UsageError("standard input can be the spec or the quote, not both")
    allowed = None if tolerance is None else _percent(tolerance)
    read = read_quote(file, read_columns(columns), sheet)
    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, lock, no_lock)
    plan = plan_loaded(loaded, catalog, design_id)
    chosen = design_id or plan.choice
    if chosen is None:
        raise NoDesignError("no design can be recommended: `ibplan design` says why; name the quoted one with --design")
    check = compare_quote(read, plan.design(chosen).bill_items, catalog)
    emit(_rendered(check, chosen, allowed, form, page(output, width)), output)
    if check.differences(allowed):
        raise typer.Exit(EXIT_DIFFERENCE)


def _percent(written: str) -> Decimal:
    from ibplan.units import parse_share

    try:
        share = parse_share(written if "%" in written else f"{written}%")
    except ValueError as error:
        raise UsageError(f"--price-tolerance: {error}") from None
    return Decimal(share.numerator) / share.denominator


def _rendered(
    check: QuoteCheck, design: str, allowed: Decimal | None, form: QuoteFormat, shown: tuple[int, bool]
) -> str:
    from ibplan.report.data import to_json
    from ibplan.report.quote import quote_csv, quote_data, quote_markdown, quote_text

    if form is QuoteFormat.JSON:
        return to_json(quote_data(check, design, allowed))
    if form is QuoteFormat.CSV:
        return quote_csv(check)
    if form is QuoteFormat.MARKDOWN:
        return quote_markdown(check, design, allowed)
    width, color = shown
    return quote_text(check, design, allowed, width=width, color=color)
