"""The findings of a design's racks."""

from __future__ import annotations

from collections.abc import Iterator

from ibplan.findings import Finding, finding
from ibplan.plan.evaluate import Evaluated
from ibplan.units import format_watts


def site_findings(design: Evaluated) -> Iterator[Finding]:
    """What a layout lacks, and what nothing could check."""
    placed = design.placed
    if placed.floor is None:
        yield finding("layout-unknown", design=design.id, what=", ".join(placed.unknown))
        return
    if placed.over_limit:
        limit = format_watts(placed.floor.rules.power_w)
        yield finding("rack-over-limit", design=design.id, what=", ".join(placed.over_limit), limit=limit)
    if placed.unmeasured:
        yield finding("rack-power-unchecked", design=design.id, what=", ".join(placed.unmeasured))
    if placed.unweighed:
        yield finding("rack-weight-unchecked", design=design.id, what=", ".join(placed.unweighed))
    if placed.floor.not_placed:
        yield finding("hosts-not-placed", design=design.id, what=", ".join(placed.floor.not_placed))
