"""`ibplan diff`: two orders side by side."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibplan.cli.common import OutputOption, OverlaysOption, PricesOption, WidthOption, emit, page, say
from ibplan.errors import EXIT_DIFFERENCE, UsageError

if TYPE_CHECKING:
    from ibplan.plan.difference import Difference


class DiffFormat(StrEnum):
    """How a comparison is written."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


_SIDE = "a spec, a lock, or what `design --format json` printed; - is standard input."


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help=f"The order before: {_SIDE}")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help=f"The order now: {_SIDE}")],
    form: Annotated[
        DiffFormat, typer.Option("--format", metavar="FORMAT", help="table, json or markdown.")
    ] = DiffFormat.TABLE,
    output: OutputOption = None,
    old_design: Annotated[
        str | None, typer.Option("--old-design", metavar="ID", help="The design of OLD; default: the recommended.")
    ] = None,
    new_design: Annotated[
        str | None, typer.Option("--new-design", metavar="ID", help="The design of NEW; default: the recommended.")
    ] = None,
    show_unchanged: Annotated[bool, typer.Option("--show-unchanged", help="Also list what did not change.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if there is any change.")] = False,
    fail_over_budget: Annotated[
        bool,
        typer.Option("--fail-over-budget", help="Exit with 1 if NEW costs more than its network budget."),
    ] = False,
    fail_over: Annotated[
        str | None,
        typer.Option(
            "--fail-over", metavar="AMOUNT", help="Exit with 1 if NEW costs more than OLD by over $50k, or 5%."
        ),
    ] = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    width: WidthOption = None,
) -> None:
    """Compare two orders: parts, money, power, bandwidth. A spec is planned without its lock: name the lock itself."""
    from ibplan.cli.sides import read_sides
    from ibplan.plan.difference import difference
    from ibplan.plan.limits import over_budget, over_rise, read_rise

    rise = None if fail_over is None else read_rise(fail_over)
    named = ((old, old_design, "--old-design"), (new, new_design, "--new-design"))
    before, now = read_sides(named, overlays or (), prices)
    if fail_over_budget and now.budget_usd is None:
        raise UsageError(f"--fail-over-budget: {now.source} sets no budget.network")
    for order in (before, now):
        if not order.recommended:
            say(f"ibplan: {order.source}: no design is recommended; {order.design}, the first in rank, is compared")
    found = difference(before, now)
    emit(_rendered(found, form, show_unchanged, output, width), output)
    broken = [*(over_budget(now) if fail_over_budget else ()), *(over_rise(found, rise) if rise is not None else ())]
    for sentence in broken:
        say(f"ibplan: {sentence}")
    if broken or (exit_code and not found.equal):
        raise typer.Exit(EXIT_DIFFERENCE)


def _rendered(found: Difference, form: DiffFormat, unchanged: bool, output: Path | None, width: int | None) -> str:
    from ibplan.report.data import to_json
    from ibplan.report.difference import difference_data, difference_markdown, difference_text

    if form is DiffFormat.JSON:
        return to_json(difference_data(found, unchanged=unchanged))
    if form is DiffFormat.MARKDOWN:
        return difference_markdown(found, unchanged=unchanged)
    shown, color = page(output, width)
    return difference_text(found, unchanged=unchanged, width=shown, color=color)
