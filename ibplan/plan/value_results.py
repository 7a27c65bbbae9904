"""What money buys: the designs that nothing beats at their price, and what each step up costs for what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

# What a design is bought for: less of the first, more of the others.
Benefit = Literal["step_s", "tokens_per_s", "per_gpu_gbps"]
Cost = Literal["purchase", "energy", "support"]
Verdict = Literal["gain", "outdone", "no gain", "loss"]


@dataclass(frozen=True, slots=True)
class Pareto:
    """The designs, cheapest first, that no other beats in both axes: purchase price, and what is bought with it.

    `not_compared`: why other designs stand beside the comparison, by their ids.
    """

    axes: tuple[Literal["capex_usd"], Benefit]
    designs: tuple[str, ...]
    not_compared: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MarginalValue:
    """A design against a cheaper one. `value` and `against_value` are what both give on the axis.

    `verdict`: `gain` = it gives more; `outdone` = so it does, but a costlier one gives more for each dollar; `no gain`,
    `loss` = it costs more for as much, or for less. `extra_usd` adds up the `costs` over the site's `years`.
    `saved_fraction` of the time for the same work, and `saved_gpu_hours` of `gpus` busy all `years`; negative = lost;
    None where the axis is no time. `break_even_usd` = what a GPU-hour has to be worth; None where none is saved.
    `usd_per_gbps` = `extra_usd` for each Gb/s of a GPU more; None where the axis is another, or none is gained.
    """

    design: str
    against: str
    axis: Benefit
    verdict: Verdict
    value: float
    against_value: float
    costs: tuple[Cost, ...]
    extra_usd: Decimal
    extra_purchase_usd: Decimal
    years: int
    gpus: int
    saved_fraction: float | None
    saved_gpu_hours: float | None
    break_even_usd: Decimal | None
    usd_per_gbps: Decimal | None
    text: str
