"""Capital cost and power of a list of line items: sums that say whether they are complete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    usd = estimated = Decimal(0)
    unpriced: dict[str, int] = {}
    by_category: dict[str, Decimal] = {}
    by_tier: dict[str, Decimal] = {}
    by_network: dict[str, Decimal] = {}
    for item in items:
        extended = item.extended_usd
        if extended is None:
            unpriced[item.part] = unpriced.get(item.part, 0) + item.quantity
            extended = Decimal(0)
        usd += extended
        if item.price_kind == "estimate":
            estimated += extended
        for sums, key in ((by_category, item.category), (by_tier, item.tier), (by_network, item.network)):
            sums[key] = sums.get(key, Decimal(0)) + extended
    return Capital(
        usd,
        not unpriced,
        float(estimated / usd) if usd else 0.0,
        tuple(unpriced.items()),
        by_category,
        by_tier,
        by_network,
    )


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
