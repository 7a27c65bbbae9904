"""The findings of a design's cables: lengths and reaches that nobody knows, and prices that no length is stated for."""

from __future__ import annotations

from collections.abc import Iterator

from ibplan.economics.bill import NO_LENGTH
from ibplan.findings import Finding, finding
from ibplan.plan.evaluate import Evaluated, is_billed


def cable_findings(design: Evaluated) -> Iterator[Finding]:
    """What is not known of the cables, once each."""
    bought = [p for _, p in design.all_parts if p.recipe is not None and p.cables and is_billed(p, design.form)]
    for parts in bought:
        if parts.too_long is not None:
            yield finding("run-too-long", design=design.id, pointer="/site", reason=parts.too_long.text)
    unplaced = [p for p in bought if p.longest_m is None and p.too_long is None]
    reaches = [p.recipe.max_length_m for p in unplaced if p.recipe is not None and p.recipe.max_length_m is not None]
    if unplaced and reaches:
        kinds = ", ".join(dict.fromkeys(p.link.kind for p in unplaced))
        yield finding("lengths-unknown", design=design.id, kinds=kinds, reach_m=min(reaches))
    open_runs: dict[str, float] = {}
    for parts in bought:
        if parts.longest_m is None or parts.cable is None or parts.recipe is None:
            continue
        if any(order.length_m is None for order in parts.orders):
            name = parts.cable.entry.id
            open_runs[name] = max(parts.longest_m, open_runs.get(name, 0.0))
        if parts.recipe.max_length_m is None:
            yield finding("reach-unknown", design=design.id, recipe=parts.recipe.id, run_m=parts.longest_m)
    for name, run_m in open_runs.items():
        yield finding("lengths-not-listed", design=design.id, part=name, run_m=run_m)
    flat = dict.fromkeys(i.part for i in design.items if i.price_source is not None and NO_LENGTH in i.price_source)
    if flat:
        yield finding("length-price-unknown", design=design.id, parts=", ".join(flat))
