"""`ibplan design`: all designs of a spec side by side, with the one to choose."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    say,
)
from ibplan.cli.output import emit
from ibplan.errors import EXIT_DIFFERENCE, EXIT_NO_DESIGN, UsageError
from ibplan.system import readable

if TYPE_CHECKING:
    from ibplan.explain import Figure
    from ibplan.plan.results import Plan


class SeverityName(StrEnum):
    """Severities of findings, the mildest first."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def design(
    spec: SpecArgument,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="FIGURE",
            parser=readable,
            help="How a figure is made, by its id or its row; `list` lists all.",
        ),
    ] = None,
    fail_on: Annotated[
        SeverityName | None,
        typer.Option(
            "--fail-on", metavar="SEVERITY", help="Exit with 1 if a finding is of this severity (info, warning, error)."
        ),
    ] = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
    width: WidthOption = None,
) -> None:
    """Compare all designs of a spec and recommend one. Exit code 3 if no design fits."""
    from ibplan.cli.planning import only, plan_spec
    from ibplan.report.data import plan_data

    if explain == "list":
        from ibplan.report.figures import figure_list

        emit(figure_list(), output)
        return
    figure = None if explain is None else _figure(explain, form)
    plan = only(plan_spec(spec, settings or (), overlays or (), prices, design_id, lock, no_lock), design_id)
    data = plan_data(plan)
    text = _rendered(data, form, output, width) if figure is None else _explained(figure, data, form)
    emit(text, output)
    if plan.recommended is None and plan.fits:
        say(f"ibplan: no design can be recommended: {_why_none(data)}")
    code = _exit_code(plan, fail_on)
    if code:
        raise typer.Exit(code)


def _figure(name: str, form: Format) -> Figure:
    from ibplan.explain import nearest_figures
    from ibplan.report.comparison import row_names
    from ibplan.report.figures import find_figure

    if form in (Format.CSV, Format.MARKDOWN):
        raise UsageError(f"--explain does not go with --format {form.value}: take table, json or yaml")
    figure = find_figure(name)
    if figure is not None:
        return figure
    rows = row_names()
    near = [f"{i} ({rows[i]})" if i in rows else i for i in nearest_figures(name, rows)]
    remedy = f"did you mean {' or '.join(near)}?" if near else "--explain list lists them"
    raise UsageError(f"--explain: there is no figure {name!r}; {remedy}")


def _rendered(data: dict[str, Any], form: Format, output: Path | None, width: int | None) -> str:
    if form is Format.TABLE:
        from ibplan.report.table import to_table

        shown, color = page(output, width)
        return to_table(data, width=shown, color=color, ascii_only=ascii_only(output))
    if form is Format.MARKDOWN:
        from ibplan.report.markdown import to_markdown

        return to_markdown(data)
    if form is Format.CSV:
        from ibplan.report.figures import to_csv

        return to_csv(data)
    return _serialized(data, form)


def _explained(figure: Figure, data: dict[str, Any], form: Format) -> str:
    from ibplan.report.figures import explain_data, explain_text

    return explain_text(figure, data) if form is Format.TABLE else _serialized(explain_data(figure, data), form)


def _serialized(data: dict[str, Any], form: Format) -> str:
    from ibplan.report.data import to_json, to_yaml

    return to_yaml(data) if form is Format.YAML else to_json(data)


def _why_none(data: dict[str, Any]) -> str:
    from ibplan.report.sections import why_none

    return why_none(data)


def _exit_code(plan: Plan, fail_on: SeverityName | None) -> int:
    if not plan.fits:
        return EXIT_NO_DESIGN
    if fail_on is not None:
        grave = list(SeverityName)[list(SeverityName).index(fail_on) :]
        if any(found.severity in grave for found in plan.findings):
            return EXIT_DIFFERENCE
    return 0
