"""What is to be known of a design's costs: findings, and whether the choice survives other prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ibplan.catalog.entries import Price
from ibplan.catalog.prices import PriceBook
from ibplan.economics.licences import unpriced_and_required
from ibplan.economics.spares import SPARES_TIER
from ibplan.findings import Finding, finding
from ibplan.plan.costs import Costs
from ibplan.plan.judge import Judged
from ibplan.spec.models import Spec

_MOST_NAMES: Final = 12


def cost_findings(judged: Judged, costs: Costs, spec: Spec, prices: PriceBook) -> Iterator[Finding]:
    """What foreign prices, licences, spares, support and energy give rise to."""
    name = judged.design.id
    unpriced = {part for part, _ in judged.design.capital.unpriced}
    foreign = [price for price, own in prices.foreign if price.part in unpriced and not own]
    if foreign:
        parts, currencies = (", ".join(sorted(names)) for names in ({p.part for p in foreign}, _currencies(foreign)))
        yield finding("foreign-price", design=name, pointer="/exchange_rates", currencies=currencies, parts=parts)
    yield from _own_without_rate(prices)
    for licence in unpriced_and_required(costs.licences):
        quantity = f"{licence.quantity:,}"
        yield finding("licence-required", design=name, quantity=quantity, licence=licence.description)
    open_ones = [x for x in costs.licences if not x.bought and x.need != "required"]
    if open_ones:
        # Without counts, so that designs of one fabric say it once; the counts are in the JSON.
        words = dict.fromkeys(f"{x.licence} for each {x.per} ({_NEEDS[x.need]})" for x in open_ones)  # of any network
        listed = ", ".join(words)
        yield finding("licences-not-priced", design=name, licences=listed)
    if not any(item.tier == SPARES_TIER for item in costs.items):
        yield finding("no-spares", pointer="/spares")
    if costs.tco.support_usd is None:
        yield finding("support-unknown", pointer="/support")
    if costs.energy.network_basis == "maximum" or spec.site.utilization == 1:
        yield finding("energy-at-maximum", pointer="/site/utilization")


def _own_without_rate(prices: PriceBook) -> Iterator[Finding]:
    """The user's own prices that do not stand: whoever states a price has to know that the bill is at another."""
    own = [price for price, own in prices.foreign if own]
    if own:
        names = sorted({price.part for price in own})
        more = len(names) - _MOST_NAMES
        parts = ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
        currencies = ", ".join(sorted(_currencies(own)))
        yield finding("own-price-without-rate", pointer="/exchange_rates", currencies=currencies, parts=parts)


def _currencies(prices: Iterable[Price]) -> set[str]:
    return {price.currency for price in prices if price.currency is not None}


_NEEDS = {
    "recommended": "recommended",
    "optional": "optional",
    "unknown": "not known whether the switch's price holds it",
}


def survival(best: Judged, ranked: Sequence[Judged], costs: Mapping[str, Costs]) -> Iterator[str]:
    """Whether the recommended design stays the first at the lowest and at the highest known prices."""
    spread = costs[best.design.id].spread
    place = ranked.index(best) + 1
    if len(ranked) < 2:
        return
    ends = [
        f"{_place(rank)} at the {word} known prices"
        for rank, word in ((spread.rank_at_low, "lowest"), (spread.rank_at_high, "highest"))
        if rank is not None and rank != place
    ]
    if ends:
        yield f"The choice rests on prices: it is {' and '.join(ends)} of every part."
    elif any(costs[j.design.id].spread.low_usd != costs[j.design.id].spread.high_usd for j in ranked):
        yield "It keeps its rank at the lowest and at the highest known prices of every part."


def _place(rank: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(rank, f"number {rank}")
