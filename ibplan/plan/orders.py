"""Orders to compare: from a plan, from the JSON of a plan, from a lock; and the lock that is written of an order."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ibplan._version import __version__
from ibplan.document import Document, validate
from ibplan.errors import InputError, NoDesignError, UsageError
from ibplan.explain import FIGURES
from ibplan.plan.difference import COMPARED, Order, Value, lines_of
from ibplan.plan.results import Design, Plan
from ibplan.spec.load import LoadedSpec
from ibplan.spec.lock import LOCK_VERSION, Lock, LockedBook, LockedItem, spec_digest
from ibplan.units import UsdNumber, parse_usd

Data = Mapping[str, Any]
_LONGEST_SHOWN = 100
_LARGEST = 10**15


class _Loose(BaseModel):
    """Base of what is read of a plan's JSON: a newer ibplan may have written more keys."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False, defer_build=True)


class _ItemFile(_Loose):
    network: str
    tier: str
    category: str
    part: str
    part_number: str | None
    length_m: float | None = None
    description: str
    quantity: int = Field(ge=0, le=10**9)
    unit_price_usd: UsdNumber | None
    price_kind: Literal["list", "street", "estimate"] | None
    price_date: str | None
    price_source: str | None


class _DesignFile(_Loose):
    id: str
    rank: int | None
    pinned: bool
    fabric: str
    totals: dict[str, Any]
    networks: dict[str, Any]
    line_items: tuple[_ItemFile, ...]


class _PlanFile(_Loose):
    schema_version: Literal["1"]
    name: str
    effective_spec: dict[str, Any]
    recommended: str | None
    designs: tuple[_DesignFile, ...]


def is_plan(document: Document) -> bool:
    """Whether a document is the JSON of a plan (whole or broken), by its content."""
    return "designs" in document.data and "effective_spec" in document.data


def order_of_document(document: Document, design_id: str | None, option: str) -> Order:
    """The order in the JSON (or YAML) that `design` printed. Raises InputError; UsageError, NoDesignError as below."""
    plan = validate(_PlanFile, document)
    chosen = _chosen(plan, document.source, design_id, option)
    index = [design.id for design in plan.designs].index(chosen)
    design = plan.designs[index]
    items = tuple(LockedItem.model_construct(**item.model_dump()) for item in design.line_items)
    figures = _figures(document.data["designs"][index], document.data)
    if figures["capex_usd"] is None:
        where = document.problem(("designs", index), "the design lacks totals.capex_usd", "write the JSON anew")
        raise InputError([where])
    try:
        budget = _budget(plan.effective_spec)
    except ValueError as error:
        raise InputError([document.problem(("effective_spec", "budget", "network"), str(error))]) from None
    stands = design_id is not None or design.pinned or chosen == plan.recommended
    return Order(document.source, plan.name, design.id, design.fabric, lines_of(items), figures, budget, stands)


def order_of_plan(plan: Plan, data: Data, source: str, design_id: str | None, option: str) -> Order:
    """The order of a plan; `data` is its JSON, whose figures are rounded as those of others are.

    Raises UsageError if no design has the id, NoDesignError if none is named and none can be recommended.
    """
    chosen = _chosen(plan, source, design_id, option)
    index = [design.id for design in plan.designs].index(chosen)
    design = plan.designs[index]
    figures = _figures(data["designs"][index], data)
    lines, budget = lines_of(design.line_items), _budget(plan.effective_spec)
    stands = design_id is not None or design.pinned or chosen == plan.recommended
    return Order(source, plan.name, design.id, design.fabric, lines, figures, budget, stands)


def order_of_lock(lock: Lock, source: str) -> Order:
    """The order that was locked."""
    figures = _with_known_power({figure_id: lock.figures.get(figure_id) for figure_id in COMPARED})
    return Order(source, lock.name, lock.design, lock.fabric, lines_of(lock.items), figures, lock.budget_usd)


def make_lock(loaded: LoadedSpec, plan: Plan, data: Data, design: Design) -> Lock:
    """The lock of a design: its line items with their prices, and what it rests on. `data` is the plan's JSON."""
    index = [each.id for each in plan.designs].index(design.id)
    book = plan.inputs.price_book
    return Lock(
        ibplan_lock=LOCK_VERSION,
        ibplan=__version__,
        name=plan.name,
        design=design.id,
        fabric=design.fabric,
        spec_digest=spec_digest(loaded.document),
        catalog_digest=plan.inputs.catalog_digest,
        price_book=LockedBook(name=book.name, date=book.date),
        budget_usd=loaded.spec.budget.network,
        figures=_figures(data["designs"][index], data),
        items=_locked_items(design),
    )


def _locked_items(design: Design) -> tuple[LockedItem, ...]:
    """The line items without their places: those that then are alike become one."""
    merged: dict[LockedItem, int] = {}
    for item in design.line_items:
        known = {name: getattr(item, name) for name in LockedItem.model_fields}
        # A price that nothing was taken off is written once.
        before = None if item.list_price_usd == item.unit_price_usd else item.list_price_usd
        key = LockedItem.model_validate(known | {"quantity": 1, "list_price_usd": before})
        merged[key] = merged.get(key, 0) + item.quantity
    return tuple(key.model_copy(update={"quantity": quantity}) for key, quantity in merged.items())


def _chosen(plan: Plan | _PlanFile, source: str, design_id: str | None, option: str) -> str:
    """The id that is named, else the recommended, the pinned, or the first in rank where all break a limit."""
    ids = [design.id for design in plan.designs]
    if design_id is not None:
        if design_id in ids:
            return design_id
        shown = design_id[:_LONGEST_SHOWN]
        near = get_close_matches(shown, ids, 3) or ids[:3]
        raise UsageError(f"{option}: {source} has no design {shown!r}; nearest: {', '.join(near) or 'none'}")
    pinned = next((design.id for design in plan.designs if design.pinned), None)
    ranked = next((design.id for design in plan.designs if design.rank == 1), None)
    chosen = plan.recommended or pinned or ranked
    if chosen is None:
        raise NoDesignError(f"{source}: no design can be recommended; name one with {option}")
    if chosen not in ids:
        raise UsageError(
            f"{source}: the recommended design {chosen!r} is not among its designs; name one with {option}"
        )
    return chosen


def _figures(design: Data, plan: Data) -> dict[str, Value]:
    """The compared figures of a design. What an older ibplan did not write, or nobody can have, is unknown."""
    found: dict[str, Value] = {}
    for figure_id in COMPARED:
        try:
            value = FIGURES[figure_id].value(design, plan)
        except (KeyError, TypeError, IndexError, AttributeError):
            value = None
        sensible = isinstance(value, bool | int | float) and abs(value) <= _LARGEST
        found[figure_id] = value if sensible else None
    return _with_known_power(found)


def _with_known_power(figures: dict[str, Value]) -> dict[str, Value]:
    """Where the power of every part is known, that of the known parts is the same: older files have only the first."""
    if figures["power_known_w"] is None:
        figures["power_known_w"] = figures["power_w"]
    return figures


def _budget(effective_spec: Mapping[str, Any]) -> Decimal | None:
    """The limit of the network's purchase price in USD. Raises ValueError if it is not written as money."""
    budget = effective_spec.get("budget")
    text = budget.get("network") if isinstance(budget, Mapping) else None
    return None if text is None else parse_usd(text)
