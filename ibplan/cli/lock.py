"""`ibplan lock`: fix the order of a spec, check that it still stands, move it on purpose."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibplan.cli.common import (
    DesignOption,
    OutputOption,
    OverlaysOption,
    PricesOption,
    SettingsOption,
    SpecArgument,
    WidthOption,
    emit,
    page,
    say,
)
from ibplan.errors import NoDesignError, UsageError

if TYPE_CHECKING:
    from ibplan.catalog.store import Catalog
    from ibplan.plan.results import Plan
    from ibplan.spec.load import LoadedSpec
    from ibplan.spec.lock import Lock


def lock(
    spec: SpecArgument,
    output: OutputOption = None,
    design_id: DesignOption = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if the order is not the locked one any more.")
    ] = False,
    update_prices: Annotated[
        bool, typer.Option("--update-prices", help="Keep design and parts, take the prices of today.")
    ] = False,
    update: Annotated[bool, typer.Option("--update", help="Take the design, parts and prices of today.")] = False,
    settings: SettingsOption = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    width: WidthOption = None,
) -> None:
    """Write the chosen design with every part, quantity and price to <spec>.lock.yaml: `design`, `bom` and others then
    keep to it."""
    if check + update_prices + update > 1:
        raise UsageError("--check, --update-prices and --update do not go together")
    if design_id is not None and (check or update_prices):
        raise UsageError("--design goes with a new lock or with --update")
    from ibplan.cli.planning import load_inputs

    target = _target(spec, output)
    old = _old(target, check or update_prices, update)
    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, no_lock=True)
    if check:
        assert old is not None  # _old has read it, or has raised
        _check(loaded, catalog, old, target)
        return
    plan, chosen = _planned(loaded, catalog, old if update_prices else None, design_id)
    _write(loaded, plan, chosen, target)
    if old is not None:
        shown, color = page(None, width)
        _show_moves(old, target, loaded, plan, chosen, shown, color)


def _target(spec: Path, output: Path | None) -> Path:
    from ibplan.spec.load import lock_path

    if output is not None:
        return output
    if str(spec) == "-":
        raise UsageError("a spec from standard input has no place for its lock: name it with --output")
    return lock_path(spec)


def _old(target: Path, needed: bool, update: bool) -> Lock | None:
    """The lock that is there; None if there is none. Raises UsageError where one is not expected, or lacking."""
    from ibplan.document import printable
    from ibplan.spec.lock import read_lock

    there = str(target) != "-" and os.path.lexists(target)
    if needed and not there:
        raise UsageError(f"{printable(target)}: there is no lock yet; `ibplan lock SPEC` writes one")
    if there and not (needed or update):
        raise UsageError(
            f"{printable(target)}: the lock exists; --check compares it, --update-prices takes the prices of today, "
            "--update all of today"
        )
    return read_lock(target) if there else None


def _check(loaded: LoadedSpec, catalog: Catalog, old: Lock, target: Path) -> None:
    from dataclasses import replace

    from ibplan.document import printable
    from ibplan.plan.locked import prices_moved
    from ibplan.plan.make import make_plan

    make_plan(replace(loaded, lock=old), catalog)
    emit(f"{printable(target)}: the order stands as it was locked: {old.design}\n")
    moved = prices_moved(old, catalog)
    if moved:
        parts = "1 locked part has" if len(moved) == 1 else f"{len(moved):,} locked parts have"
        say(
            f"ibplan: {parts} another price today ({', '.join(moved[:3])}{', …' if len(moved) > 3 else ''}): "
            "--update-prices takes it"
        )


def _planned(loaded: LoadedSpec, catalog: Catalog, locked: Lock | None, design_id: str | None) -> tuple[Plan, str]:
    """The plan, and the design to lock: that of a lock whose prices are updated, the named, or the recommended one."""
    if locked is not None:
        from ibplan.plan.locked import plan_locked_parts
        from ibplan.plan.make import make_evaluated_plan

        return plan_locked_parts(loaded, catalog, locked, make_evaluated_plan), locked.design
    from ibplan.cli.planning import plan_loaded

    plan = plan_loaded(loaded, catalog, design_id)
    chosen = design_id or plan.recommended
    if chosen is None:
        raise NoDesignError("no design can be recommended: `ibplan design` says why; name one with --design to lock it")
    return plan, chosen


def _write(loaded: LoadedSpec, plan: Plan, chosen: str, target: Path) -> None:
    from ibplan.plan.orders import make_lock
    from ibplan.report.data import plan_data
    from ibplan.report.lock import lock_text

    emit(lock_text(make_lock(loaded, plan, plan_data(plan), plan.design(chosen))), target)


def _show_moves(old: Lock, target: Path, loaded: LoadedSpec, plan: Plan, chosen: str, width: int, color: bool) -> None:
    from ibplan.plan.difference import difference
    from ibplan.plan.orders import order_of_lock, order_of_plan
    from ibplan.report.data import plan_data
    from ibplan.report.difference import difference_text

    now = order_of_plan(plan, plan_data(plan), loaded.source, chosen, "--design")
    found = difference(order_of_lock(old, str(target)), now)
    emit(difference_text(found, unchanged=False, width=width, color=color))
