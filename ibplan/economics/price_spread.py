"""How far a purchase price can lie from what is shown, by all prices that are known of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from ibplan.economics.items import LineItem

End = Literal["low", "high"]
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class PriceSpread:
    """The purchase price of the priced parts before discounts, at the lowest and at the highest known prices, USD.

    The ranks are those that the design would have if all prices were so; None = it is not ranked.
    """

    list_usd: Decimal
    low_usd: Decimal
    high_usd: Decimal
    rank_at_low: int | None
    rank_at_high: int | None


def price_at(item: LineItem, end: End) -> Decimal:
    """The lowest or highest known price of a line in USD; its own where no other is known, 0 if it has none."""
    known = item.low_price_usd if end == "low" else item.high_price_usd
    return known if known is not None else item.unit_price_usd or Decimal(0)


def sum_at(items: Sequence[LineItem], end: End) -> Decimal:
    """The purchase price of the priced lines if each had its lowest, or its highest, price."""
    return sum((price_at(i, end) * i.quantity for i in items), Decimal(0)).quantize(_CENT)


def list_sum(items: Sequence[LineItem]) -> Decimal:
    """The purchase price of the priced lines before discounts."""
    prices = ((i.list_price_usd or i.unit_price_usd or Decimal(0), i.quantity) for i in items)
    return sum((usd * quantity for usd, quantity in prices), Decimal(0)).quantize(_CENT)
