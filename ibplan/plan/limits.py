"""How much an order may cost: against its budget, and against the order before. What cannot be known is not kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ibplan.errors import UsageError
from ibplan.plan.difference import Difference, Order
from ibplan.units import format_usd, parse_share, parse_usd


@dataclass(frozen=True, slots=True)
class Rise:
    """By how much a new order may cost more than the old: an amount in USD, or a share of the old price."""

    usd: Decimal | None
    share: Fraction | None

    def allowed_usd(self, old_usd: Decimal) -> Decimal:
        """The amount for an old price, USD."""
        if self.usd is not None:
            return self.usd
        share = self.share or Fraction(0)
        return old_usd * share.numerator / share.denominator


def read_rise(written: str) -> Rise:
    """`$50k` or `5%`. Raises UsageError."""
    try:
        return Rise(None, parse_share(written)) if "%" in written else Rise(parse_usd(written), None)
    except ValueError as error:
        raise UsageError(f"--fail-over: {error}") from None


def over_budget(order: Order) -> Iterator[str]:
    """Why an order does not keep its network budget, or that it cannot be known; nothing where it does."""
    budget = order.budget_usd
    if budget is None:
        return
    if order.usd > budget:
        price = ("" if order.complete else "at least ") + format_usd(order.usd)
        over = format_usd(order.usd - budget)
        yield f"{order.name} costs {price}: {over} over its network budget of {format_usd(budget)}"
    elif not order.complete:
        yield (
            f"whether {order.name} keeps its network budget of {format_usd(budget)} cannot be known: parts have no "
            f"price, the others cost {format_usd(order.usd)}"
        )


def over_rise(found: Difference, rise: Rise) -> Iterator[str]:
    """Why a new order costs too much more than the old, or that it cannot be known; nothing where it does not."""
    total, allowed = found.total, rise.allowed_usd(found.total.old_usd)
    if total.usd_change is None:
        yield f"by how much {found.new.name} costs more cannot be known: parts have no price"
    elif total.usd_change > allowed:
        step = format_usd(total.usd_change)
        yield f"{found.new.name} costs {step} more than before; {format_usd(allowed)} more is allowed"
