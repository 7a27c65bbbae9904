"""A plan under a lock: the locked design at the locked prices, or an error that says what has moved since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from ibplan._version import __version__
from ibplan.catalog.entries import Price
from ibplan.catalog.prices import PriceBook, PricedRow
from ibplan.catalog.store import Catalog
from ibplan.economics.items import LineItem
from ibplan.errors import InputError, StaleLockError
from ibplan.findings import finding
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.pareto import comparable, pareto_set
from ibplan.plan.results import Plan, PriceBookId
from ibplan.spec.load import LoadedSpec
from ibplan.spec.lock import Lock, LockedItem, spec_digest
from ibplan.units import format_usd

Make = Callable[[LoadedSpec, Catalog], tuple[Plan, dict[str, Evaluated]]]
Key = tuple[str, str, str, str, str, float]
_MOST_MOVES: Final = 12


@dataclass(frozen=True, slots=True)
class _Held:
    """Lines that are one to the lock: how many pieces, at which unit prices."""

    quantity: int
    prices: frozenset[Decimal | None]


def plan_under_lock(loaded: LoadedSpec, catalog: Catalog, lock: Lock, make: Make) -> tuple[Plan, dict[str, Evaluated]]:
    """The plan with the locked design alone, priced by the lock; `make` plans without a lock.

    Raises StaleLockError where the order of today differs from the locked one; InputError as `make` does.
    """
    plan, evaluated = _pinned(loaded, replace(catalog, prices=locked_book(lock, catalog)), lock, make)
    design = plan.design(lock.design)
    moves = list(moves_since(lock, design.line_items))
    if moves:
        raise StaleLockError(_stale(loaded, catalog, lock, moves))
    book = PriceBookId(lock.price_book.name, lock.price_book.date)
    why = (f"Pinned by the lock: design, parts and prices as they were locked ({book.name}, {book.date}).",)
    kept = replace(design, rank=1 if design.totals.complete else None, why=why, alternatives=())
    note = finding("locked", design=design.id, version=lock.ibplan)
    locked = replace(
        plan,
        effective_spec={**plan.effective_spec, "design": loaded.spec.design},
        inputs=replace(plan.inputs, catalog_digest=lock.catalog_digest, price_book=book, locked=True),
        designs=(kept,),
        rejected=(),
        nearest=(),
        findings=(note, *(f for f in plan.findings if f.design in (None, design.id))),
        growth=None,  # later stages take parts that the lock has no price of
        pareto=pareto_set(comparable([kept])),
        marginal=(),
    )
    return locked, {lock.design: evaluated[lock.design]}


def plan_locked_parts(loaded: LoadedSpec, catalog: Catalog, lock: Lock, make: Make) -> Plan:
    """The plan in which the locked design has its locked parts at the prices of today. Raises StaleLockError."""
    parts = {item.part for item in lock.items}
    rows = {part: found for part, found in catalog.prices.rows.items() if part in parts or part in catalog.servers}
    plan, _ = _pinned(loaded, replace(catalog, prices=replace(catalog.prices, rows=rows)), lock, make)
    moves = list(moves_since(lock, plan.design(lock.design).line_items, prices=False))
    if moves:
        raise StaleLockError(_stale(loaded, catalog, lock, moves))
    return replace(plan, inputs=replace(plan.inputs, catalog_digest=catalog.digest))


def _pinned(loaded: LoadedSpec, catalog: Catalog, lock: Lock, make: Make) -> tuple[Plan, dict[str, Evaluated]]:
    """Plan with the locked design pinned. Raises StaleLockError if it cannot be built any more."""
    free = replace(loaded, lock=None)
    if loaded.spec.design not in (None, lock.design):
        moves = [f"the spec pins {loaded.spec.design}, the lock {lock.design}"]
        raise StaleLockError(_stale(loaded, catalog, lock, moves))
    try:
        return make(replace(free, spec=loaded.spec.model_copy(update={"design": lock.design})), catalog)
    except InputError:
        # Something is wrong with the spec, which this raises anew; or else the design is not there any more.
        plan, evaluated = make(replace(free, spec=loaded.spec.model_copy(update={"design": None})), catalog)
        if lock.design in evaluated:
            raise
    refused = next((row.reasons[0].text for row in plan.rejected if row.id == lock.design), "no design has that id now")
    raise StaleLockError(_stale(loaded, catalog, lock, [f"design {lock.design}: {refused}"]))


def locked_book(lock: Lock, catalog: Catalog) -> PriceBook:
    """The locked prices and no others, so that no other part can win by a price of today. Servers keep theirs.

    Servers are no line of the order: their prices only say whether a cluster budget is kept.
    """
    rows: dict[str, tuple[PricedRow, ...]] = {
        part: found for part, found in catalog.prices.rows.items() if part in catalog.servers
    }
    for item in lock.items:
        row = _row(item)
        if row is not None and row not in rows.get(item.part, ()):
            rows[item.part] = (*rows.get(item.part, ()), row)
    return PriceBook(lock.price_book.name, lock.price_book.date, rows, {})


def _row(item: LockedItem) -> PricedRow | None:
    """The locked price before discounts, which the spec takes off anew: a quote if none was taken off."""
    usd = item.before_discount_usd
    if usd is None or item.price_kind is None:
        return None
    price = Price(
        part=item.part,
        kind=item.price_kind,
        usd=usd,
        length_m=item.length_m,
        date=item.price_date,
        source=item.price_source or "",
    )
    return PricedRow(price, usd.quantize(Decimal("0.01")), own=item.list_price_usd is None, locked=True)


def moves_since(lock: Lock, items: Iterable[LineItem], *, prices: bool = True) -> Iterator[str]:
    """What differs between the locked lines and those of today, in words: quantities, and unit prices if asked."""
    before, now = _held(lock.items), _held(items)
    for key in dict.fromkeys([*before, *now]):
        old, new = before.get(key), now.get(key)
        if old is None or new is None or old.quantity != new.quantity:
            was, found = (0 if held is None else held.quantity for held in (old, new))
            yield f"{_named(key)}: {was:,} locked, {found:,} now"
        elif prices and old.prices != new.prices:
            yield f"{_named(key)}: {_written(old.prices)} each locked, {_written(new.prices)} now"


def prices_moved(lock: Lock, catalog: Catalog) -> tuple[str, ...]:
    """Locked parts whose price of today, before discounts, is another than the locked one, in order, once each."""
    found: dict[str, None] = {}
    for item in lock.items:
        today = catalog.prices.choose(item.part, item.length_m)
        # What the spec itself prices has no price in a book.
        if (
            catalog.part(item.part) is not None
            and (None if today is None else today.unit_usd) != item.before_discount_usd
        ):
            found[item.part] = None
    return tuple(found)


def _held(items: Iterable[LineItem] | Iterable[LockedItem]) -> Mapping[Key, _Held]:
    found: dict[Key, _Held] = {}
    for item in items:
        key = _key(item)
        before = found.get(key, _Held(0, frozenset()))
        found[key] = _Held(before.quantity + item.quantity, before.prices | {_cents(item.unit_price_usd)})
    return found


def _key(item: LineItem | LockedItem) -> Key:
    open_or_metres = -1.0 if item.length_m is None else item.length_m
    return item.network, item.tier, item.category, item.part, item.part_number or "", open_or_metres


def _cents(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else amount.quantize(Decimal("0.01"))


def _named(key: Key) -> str:
    network, tier, category, part, number, length = key
    extra = [text for text in (number, f"{length:g} m" if length >= 0 else "") if text]
    tail = f" ({', '.join(extra)})" if extra else ""
    return f"{network} {tier} {category} {part}{tail}"


def _written(prices: Iterable[Decimal | None]) -> str:
    return " or ".join(sorted("no price" if price is None else format_usd(price) for price in prices))


def _stale(loaded: LoadedSpec, catalog: Catalog, lock: Lock, moves: list[str]) -> str:
    shown = [f"  {move}" for move in moves[:_MOST_MOVES]]
    if len(moves) > _MOST_MOVES:
        shown.append(f"  … and {len(moves) - _MOST_MOVES:,} more")
    causes = [
        ("the spec has changed", spec_digest(loaded.document) != lock.spec_digest),
        (f"it was locked by ibplan {lock.ibplan}, this is {__version__}", lock.ibplan != __version__),
        ("catalogue or prices have changed", catalog.digest != lock.catalog_digest),
    ]
    why = "; ".join(text for text, holds in causes if holds)
    return "\n".join(
        [
            "the lock is stale: the order that was locked is not the one that this spec gives now",
            *shown,
            *([f"Since then: {why}."] if why else []),
            f"`ibplan lock {loaded.source} --update` takes the new order and shows what moves; --no-lock ignores it.",
        ]
    )
