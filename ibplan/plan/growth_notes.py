"""What the user should know of the way to the last stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import pairwise

from ibplan.findings import Finding, finding, plural
from ibplan.plan.growth_results import Growth
from ibplan.plan.judge import Judged
from ibplan.units import format_usd


def growth_findings(growth: Growth) -> Iterator[Finding]:
    """Of the design that is chosen: what is built ahead, where a tier comes, what is re-cabled."""
    stages = growth.planned.stages
    if growth.reaches and growth.reserved and growth.reserved_usd is not None:
        yield finding(
            "growth-reserved",
            design=growth.design,
            pointer="/growth",
            gpus=plural(stages[-1].gpus, "GPU"),
            cost=format_usd(growth.reserved_usd),
            parts=", ".join(f"{part.quantity:,} {part.part} ({part.network})" for part in growth.reserved),
        )
    for before, now in pairwise(stages):
        tiers = {network.network: network.tiers for network in before.networks}
        for network in now.networks:
            was = tiers.get(network.network, network.tiers)
            if network.tiers != was:
                fields = {"year": now.year, "network": network.network, "tiers": network.tiers, "before": was}
                yield finding("growth-tier", design=growth.design, pointer="/growth", **fields)
            if network.recabled:
                links = plural(network.recabled, f"{network.network} link")
                yield finding("growth-recabled", design=growth.design, pointer="/growth", year=now.year, links=links)


def over_budget_findings(
    judged: Iterable[Judged], growth: Growth | None, last_year: int, budget_usd: Decimal | None
) -> Iterator[Finding]:
    """Designs whose first stage keeps the network budget, and whose later ones take the sum beyond it.

    `growth` has the stages of the chosen design; of others the price of the last stage is known, or nothing.
    """
    if budget_usd is None:
        return
    for j in judged:
        year, usd, complete = last_year, j.last_usd, True
        if growth is not None and growth.design == j.design.id and growth.planned.stages:
            path = growth.planned
            year, usd, complete = path.stages[-1].year, path.purchase_usd, path.complete
        if usd is None or not j.design.capital.usd <= budget_usd < usd:
            continue
        yield finding(
            "growth-over-budget",
            design=j.design.id,
            pointer="/growth",
            year=year,
            cost=("" if complete else "at least ") + format_usd(usd),
            over=format_usd(usd - budget_usd),
            budget=format_usd(budget_usd),
        )
