"""Spares: how many parts are bought beyond what is built in, as lines of the tier `spares`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ibplan.economics.items import Category, LineItem, LineNetwork

SPARES_TIER = "spares"
_WEEKS_A_YEAR = Fraction(36525, 700)


@dataclass(frozen=True, slots=True)
class ShareOfPieces:
    """A share of the pieces built in, rounded up for each part."""

    share: Fraction

    def stock(self, pieces: int) -> int:
        """Spares of a part of which so many pieces are built in."""
        return math.ceil(pieces * self.share)


@dataclass(frozen=True, slots=True)
class StockByFailures:
    """As many as cover, with a probability of `confidence`, the failures until new parts come."""

    failures_per_year: float
    lead_time_weeks: float
    confidence: float

    def stock(self, pieces: int) -> int:
        """Spares of a part of which so many pieces are built in."""
        mean = pieces * self.failures_per_year * self.lead_time_weeks / float(_WEEKS_A_YEAR)
        return poisson_stock(mean, self.confidence)


SparePolicy = Mapping[Category, ShareOfPieces | StockByFailures]


def poisson_stock(mean: float, confidence: float) -> int:
    """The least s for which a Poisson number of failures of a mean is at most s with the confidence asked.

    The exact sum of e^-mean mean^k / k! over k = 0..s, from where its terms matter. 0 < confidence < 1, mean >= 0.
    """
    if mean == 0:
        return 0
    first = max(0, math.floor(mean - 12 * math.sqrt(mean) - 12))  # what is left out is below 1e-30
    term = math.exp(first * math.log(mean) - mean - math.lgamma(first + 1))
    total, failures = term, first
    while total < confidence:
        failures += 1
        term *= mean / failures
        if failures > mean and total + term == total:
            break  # the confidence is nearer to 1 than floating point can tell
        total += term
    return failures


def spare_items(items: Sequence[LineItem], policy: SparePolicy) -> list[LineItem]:
    """One line for each part that the policy keeps spares of, after its quantities in all lines are added up.

    A spare lies on a shelf: it draws no power. Its network is that of all lines of the part, else `shared`.
    """
    by_part: dict[LineItem, list[LineItem]] = {}
    for item in items:
        if item.category in policy and item.tier != SPARES_TIER:
            by_part.setdefault(_as_spare(item), []).append(item)
    found = []
    for spare, lines in by_part.items():
        quantity = policy[spare.category].stock(sum(line.quantity for line in lines))
        networks = {line.network for line in lines}
        if quantity:
            network: LineNetwork = lines[0].network if len(networks) == 1 else "shared"
            found.append(replace(spare, network=network, quantity=quantity))
    return found


def _as_spare(item: LineItem) -> LineItem:
    """What lines of one part have in common, as a spare has it."""
    return replace(
        item,
        network="shared",
        tier=SPARES_TIER,
        quantity=0,
        power_each_w=0.0,
        power_typical_each_w=0.0,
        power_in_host=False,
        where="spares, on the shelf",
        basis=None,
    )
