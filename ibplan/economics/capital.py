"""Capital cost and power of a list of line items: sums that say whether they are complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ibplan.economics.items import LineItem


@dataclass(frozen=True, slots=True)
class Capital:
    """Purchase price in USD of the priced lines. `complete` = every line has a price.

    `estimated_fraction` = share of `usd` that rests on estimates. `unpriced` = (part, quantity), parts added up.
    """

    usd: Decimal
    complete: bool
    estimated_fraction: float
    unpriced: tuple[tuple[str, int], ...]
    by_category: dict[str, Decimal]
    by_tier: dict[str, Decimal]
    by_network: dict[str, Decimal]


def capital_cost(items: Sequence[LineItem]) -> Capital:
    """Sum the priced lines. A missing price is a state, never 0: it makes the sum incomplete."""
    usd = sum((i.extended_usd for i in items if i.extended_usd is not None), Decimal(0))
    estimated = sum((i.extended_usd or Decimal(0) for i in items if i.price_kind == "estimate"), Decimal(0))
    unpriced: dict[str, int] = {}
    for item in items:
        if item.unit_price_usd is None:
            unpriced[item.part] = unpriced.get(item.part, 0) + item.quantity
    return Capital(
        usd,
        not unpriced,
        float(estimated / usd) if usd else 0.0,
        tuple(unpriced.items()),
        _sum_by(items, lambda i: i.category),
        _sum_by(items, lambda i: i.tier),
        _sum_by(items, lambda i: i.network),
    )


def _sum_by(items: Iterable[LineItem], key: Callable[[LineItem], str]) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = {}
    for item in items:
        sums[key(item)] = sums.get(key(item), Decimal(0)) + (item.extended_usd or Decimal(0))
    return sums


def maximum_power_w(items: Iterable[LineItem]) -> float | None:
    """Maximum power in W of switches, NICs, modules and active cables; None if any line's is unknown."""
    return _total(item.counted_power_w for item in items)


def known_power_w(items: Iterable[LineItem]) -> float:
    """Maximum power in W of the lines whose maximum is known: a lower bound."""
    return sum(item.counted_power_w or 0.0 for item in items)


def typical_power_w(items: Iterable[LineItem]) -> float | None:
    """Typical power in W, None if any line's is unknown. Typical figures of switches hold no modules: all are added."""
    return _total(None if i.power_typical_each_w is None else i.power_typical_each_w * i.quantity for i in items)


def _total(figures: Iterable[float | None]) -> float | None:
    total = 0.0
    for figure in figures:
        if figure is None:
            return None
        total += figure
    return total


def unknown_power_parts(items: Iterable[LineItem]) -> tuple[str, ...]:
    """Parts whose maximum power is unknown, in order, once each."""
    return tuple(dict.fromkeys(i.part for i in items if i.counted_power_w is None))
