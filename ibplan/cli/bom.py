"""`ibplan bom`: what to order for one design of each spec."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ibplan.cli.common import (
    DesignOption,
    LockOption,
    NoLockOption,
    OutputOption,
    OverlaysOption,
    PricesOption,
    SettingsOption,
    SpecsArgument,
    say,
)
from ibplan.cli.output import emit
from ibplan.errors import EXIT_DIFFERENCE, InputError, NoDesignError, Problem, UsageError

if TYPE_CHECKING:
    from ibplan.plan.results import Design, Plan

_MAX_BYTES: Final = 2 * 1024 * 1024


class BomFormat(StrEnum):
    """How a bill is written."""

    CSV = "csv"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"
    XLSX = "xlsx"
    CYCLONEDX = "cyclonedx"


class Grouping(StrEnum):
    """What makes one row."""

    PART = "part"
    TIER = "tier"


def bom(
    specs: SpecsArgument,
    form: Annotated[
        BomFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="csv, json, yaml, markdown, xlsx or cyclonedx. Default: what the ending of FILE says, else csv.",
        ),
    ] = None,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    by: Annotated[
        Grouping, typer.Option("--by", metavar="KEY", help="part: one row a part; tier: one a part and tier.")
    ] = Grouping.PART,
    crlf: Annotated[bool, typer.Option("--crlf", help="End lines with CR LF (csv only).")] = False,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FILE",
            help="Write nothing; if FILE is not what would be written now, show the diff and exit with 1.",
        ),
    ] = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
) -> None:
    """Print the bill of materials of a design: the recommended one, or the one named by --design.

    Of several specs: one bill, a row a part, with the sum and the quantity of each spec.
    """
    chosen = _chosen_format(form, check or output)
    _check_usage(specs, chosen, design_id, crlf, check, output)
    if lock is not None and len(specs) > 1:
        raise UsageError("--lock goes with one spec: the lock beside each spec is found by its name")
    from ibplan.plan.joint_bill import make_joint_bill
    from ibplan.report.bom_files import write_bill

    joint_bill = make_joint_bill(
        [(str(spec), *_bought(spec, settings, design_id, overlays, prices, lock, no_lock)) for spec in specs]
    )
    bill = write_bill(joint_bill, chosen.value, by.value, crlf=crlf)
    if check is None:
        emit(bill, output)
    else:
        _compare(bill if isinstance(bill, bytes) else bill.encode("utf-8", "backslashreplace"), check)


def _chosen_format(form: BomFormat | None, file: Path | None) -> BomFormat:
    from ibplan.report.bom_files import form_of

    said = None if file is None else form_of(file)
    return form or (BomFormat.CSV if said is None else BomFormat(said))


def _check_usage(
    specs: Sequence[Path], form: BomFormat, design_id: str | None, crlf: bool, check: Path | None, output: Path | None
) -> None:
    twice = next((spec for spec in specs if specs.count(spec) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is given twice: each spec is bought once")
    if design_id is not None and len(specs) > 1:
        raise UsageError("--design goes with one spec: let each spec pin its own with the key `design`")
    if str(check) == "-" and any(str(spec) == "-" for spec in specs):
        raise UsageError("standard input can be the spec or the file to check, not both")
    if crlf and form is not BomFormat.CSV:
        raise UsageError(f"--crlf does not go with --format {form.value}")
    if check is not None and output is not None:
        raise UsageError("--check writes nothing, so it does not go with --output")
    if check is None and form is BomFormat.XLSX and _is_screen(output):
        raise UsageError("a workbook is no text for a terminal: give -o FILE, or pipe it")


def _is_screen(output: Path | None) -> bool:
    return (output is None or str(output) == "-") and sys.stdout is not None and sys.stdout.isatty()


def _bought(
    spec: Path,
    settings: Sequence[str] | None,
    design_id: str | None,
    overlays: Sequence[Path] | None,
    prices: Path | None,
    lock: Path | None,
    no_lock: bool,
) -> tuple[Plan, Design]:
    from ibplan.cli.planning import plan_spec

    plan = plan_spec(spec, settings or (), overlays or (), prices, design_id, lock, no_lock)
    chosen = design_id or plan.choice
    if chosen is None:
        raise NoDesignError(
            f"{'<stdin>' if str(spec) == '-' else spec}: no design can be recommended: `ibplan design` says why; "
            "name one with --design to get its bill anyway"
        )
    return plan, plan.design(chosen)


def _compare(current: bytes, check: Path) -> None:
    from ibplan.report.staleness import stale_lines

    name, committed = _committed(check)
    different = stale_lines(committed, current, name)
    if not different:
        say(f"{name}: up to date")
        return
    emit("\n".join(different) + "\n")
    say(f"ibplan: {name} is stale: read the difference, then write it anew with -o")
    raise typer.Exit(EXIT_DIFFERENCE)


def _committed(check: Path) -> tuple[str, bytes]:
    """The name and the content of the file to check; `-` is standard input. Raises InputError."""
    from ibplan.document import open_regular, printable

    if str(check) == "-":
        name = "<stdin>"
        content = sys.stdin.buffer.read(_MAX_BYTES + 1)
    else:
        name = printable(check)
        with open_regular(check, name) as stream:
            content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise InputError([Problem(name, 0, 0, f"larger than {_MAX_BYTES // 1024**2} MiB, the limit for a bill")])
    return name, content
