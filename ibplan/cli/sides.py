"""What `diff` compares: each side a spec, a lock or the JSON of a plan, told apart by content."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ibplan.errors import InputError, Problem, UsageError

if TYPE_CHECKING:
    from ibplan.document import Document
    from ibplan.plan.difference import Order

Named = tuple[Path, str | None, str]


def read_sides(named: Sequence[Named], overlays: Sequence[Path], prices: Path | None) -> list[Order]:
    """The order of every side: a file, the design to take of it, and the option that names it.

    Raises InputError, UsageError, NoDesignError.
    """
    if sum(str(path) == "-" for path, _, _ in named) > 1:
        raise UsageError("standard input can be one side only")
    return [_order(path, design, option, overlays, prices) for path, design, option in named]


def _order(path: Path, design: str | None, option: str, overlays: Sequence[Path], prices: Path | None) -> Order:
    from ibplan.plan.orders import is_plan, order_of_document, order_of_lock
    from ibplan.spec.lock import is_lock, lock_of

    document = _document(path)
    if is_lock(document):
        lock = lock_of(document)
        if design not in (None, lock.design):
            raise UsageError(f"{option}: {document.source} locks {lock.design}, no other design")
        return order_of_lock(lock, document.source)
    if is_plan(document):
        return order_of_document(document, design, option)
    if "rows" in document.data and "design" in document.data:
        wrong = document.problem((), "this is a bill, which does not hold all that is compared")
        raise InputError([Problem(wrong.source, wrong.line, wrong.column, wrong.message, "give the plan's JSON")])
    return _planned(path, document, design, option, overlays, prices)


def _planned(
    path: Path, document: Document, design: str | None, option: str, overlays: Sequence[Path], prices: Path | None
) -> Order:
    from ibplan.catalog.store import load_catalog
    from ibplan.cli.planning import plan_loaded
    from ibplan.plan.orders import order_of_plan
    from ibplan.report.data import plan_data
    from ibplan.spec.load import load_spec

    stream = io.BytesIO(document.text.encode()) if str(path) == "-" else None
    loaded = load_spec(path, stdin=stream)
    catalog = load_catalog([*loaded.catalog_paths, *overlays], prices or loaded.price_path)
    plan = plan_loaded(loaded, catalog, design, option)
    return order_of_plan(plan, plan_data(plan), loaded.source, design, option)


def _document(path: Path) -> Document:
    from ibplan.document import read_document, read_stream

    if str(path) != "-":
        return read_document(path)
    if sys.stdin is None:
        raise InputError([Problem("<stdin>", 0, 0, "standard input is closed", "give a file, or pipe one in")])
    return read_stream(sys.stdin.buffer, "<stdin>")
