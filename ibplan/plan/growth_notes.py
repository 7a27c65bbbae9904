"""What the user should know of the way to the last stage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ibplan.findings import Finding, finding, plural
from ibplan.plan.growth_results import Growth
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
            parts=", ".join(f"{part.quantity:,} {part.part}" for part in growth.reserved),
        )
    for before, now in pairwise(stages):
        if now.tiers != before.tiers:
            yield finding(
                "growth-tier",
                design=growth.design,
                pointer="/growth",
                year=now.year,
                tiers=now.tiers,
                before=before.tiers,
            )
        again = (now.links_moved or 0) + (now.links_removed or 0)
        if again:
            links = plural(again, "link")
            yield finding("growth-recabled", design=growth.design, pointer="/growth", year=now.year, links=links)
