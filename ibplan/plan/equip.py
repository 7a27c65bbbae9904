"""The switches that a sized network is equipped with."""

from __future__ import annotations

from typing import Literal

from ibplan.economics.bill import Equipment
from ibplan.fabric.network import NetworkSize
from ibplan.plan.switches import SwitchModel, TierModels

Airflow = Literal["p2c", "c2p"]


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
