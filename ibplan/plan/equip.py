"""What a sized network is equipped with: switches to buy, and the parts of every class of links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ibplan.catalog.entries import LinkLayer
from ibplan.economics.bill import Equipment
from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.network import NetworkSize
from ibplan.parts.links import LinkClass
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import LinkParts, MediumChoice, choose_parts
from ibplan.plan.switches import SwitchModel, TierModels

Airflow = Literal["p2c", "c2p"]


def all_parts(
    network: NetworkSize, layer: LinkLayer, book: PartsBook, medium: Callable[[LinkClass], MediumChoice]
) -> tuple[LinkParts, ...]:
    """The parts of every class, in order. Raises Unbuildable with the reasons of all classes that have none."""
    chosen: list[LinkParts] = []
    reasons: list[Reason] = []
    first: LinkParts | None = None
    for link in network.links:
        try:
            parts = choose_parts(book, link, layer, medium(link), first)
        except Unbuildable as refusal:
            reasons += refusal.reasons
            continue
        if link.kind == "server-leaf" and parts.recipe is not None and first is None:
            first = parts
        chosen.append(parts)
    if reasons:
        raise Unbuildable(*reasons)
    return tuple(chosen)


def all_switches(network: NetworkSize, models: TierModels, airflow: Airflow) -> list[Equipment]:
    """The switches of every tier."""
    by_tier = {"leaf": models.leaf, "spine": models.spine, "core": models.core}
    return [_switch(by_tier[t.tier], t.tier, t.count, airflow) for t in network.tiers]


def _switch(model: SwitchModel, tier: str, count: int, airflow: Airflow) -> Equipment:
    entry = model.entry
    return Equipment(
        tier,
        "switch",
        model.id,
        entry.vendor if entry else None,
        (entry.part_numbers.get(airflow) or entry.part_numbers.get("any")) if entry else None,
        f"{entry.model} switch" if entry else "switch stated in the spec",
        count,
        model.price,
        model.power_max_w,
        model.power_typical_w,
        model.holds_module_power,
        f"{tier} tier",
    )
