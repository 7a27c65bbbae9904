"""Marginal value: what each design costs more than a cheaper one, what that saves, and when it is worth it.

A step up is worth its price where a GPU-hour is worth more than

    break-even = extra cost / (GPUs x 8,760 h x years x (1 - time / time of the cheaper design))

the extra cost over the hours that the cheaper design, busy all the years, takes longer for the same work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from ibplan.economics.running import HOURS_A_YEAR
from ibplan.plan.marginal_words import words
from ibplan.plan.pareto import Comparable
from ibplan.plan.results import Design
from ibplan.plan.value_results import Benefit, Cost, MarginalValue, Verdict

_CENT = Decimal("0.01")
# Cost in USD, what the design gives (more is better), the design, and its value on the axis.
_Point = tuple[Decimal, Fraction, Design, float]


def marginal_values(compared: Comparable) -> tuple[MarginalValue, ...]:
    """Every design but the cheapest against a cheaper one, in the order of their cost.

    One that gives more than all cheaper ones stands against the last of them that is the best choice at some price of
    a GPU-hour; another against the one that gives most of the cheaper ones.
    """
    costs = counted_costs(compared.designs)
    parts = zip(compared.designs, compared.values, compared.gains(), strict=True)
    points = [(_cost(design, costs), gain, design, value) for design, value, gain in parts]
    points.sort(key=lambda point: (point[0], -point[1]))  # designs alike in both stay in their order
    front = _front(points)
    steps = _steps(points, front)
    found = []
    for here in range(1, len(points)):
        beyond = None
        if here in front:
            there = max(step for step in steps if step < here)
            verdict: Verdict = "gain" if here in steps else "outdone"
            beyond = next((points[step][2].id for step in steps if step > here), None)
        else:
            there = max(other for other in front if other < here)
            verdict = "no gain" if points[there][1] == points[here][1] else "loss"
        record = _record(points[here], points[there], verdict, compared.axis, costs)
        found.append(replace(record, text=words(record, beyond)))
    return tuple(found)


def counted_costs(designs: Sequence[Design]) -> tuple[Cost, ...]:
    """The costs that tell the designs apart: energy where that of all rests on the same kind of power, support where
    all have it. A lower bound against another says nothing of their difference.
    """
    costs: list[Cost] = ["purchase"]
    bases = {design.energy.network_basis for design in designs}
    if len(bases) == 1 and bases <= {"typical", "maximum"}:
        costs.append("energy")
    if designs and all(design.tco.support_usd is not None for design in designs):
        costs.append("support")
    return tuple(costs)


def _cost(design: Design, costs: Sequence[Cost]) -> Decimal:
    """What a design costs over the years, USD, as far as it is counted."""
    usd = design.totals.capex_usd
    for cost, amount in (("energy", design.tco.energy_usd), ("support", design.tco.support_usd)):
        if cost in costs and amount is not None:
            usd += amount
    return usd


def _front(points: Sequence[_Point]) -> list[int]:
    """The places of those that give more than all before them."""
    found = [0] if points else []
    for here, (_, gain, *_) in enumerate(points):
        if gain > points[found[-1]][1]:
            found.append(here)
    return found


def _steps(points: Sequence[_Point], front: Sequence[int]) -> list[int]:
    """Those of the front that are the best choice at some price of what they give: the corners of its upper hull."""
    found, rest = list(front[:1]), list(front[1:])
    while rest:
        usd, gain, *_ = points[found[-1]]
        price = {here: Fraction(points[here][0] - usd) / (points[here][1] - gain) for here in rest}
        found.append(max(here for here in rest if price[here] == min(price.values())))
        rest = [here for here in rest if here > found[-1]]
    return found


def _record(point: _Point, cheaper: _Point, verdict: Verdict, axis: Benefit, costs: tuple[Cost, ...]) -> MarginalValue:
    (usd, gain, design, value), (other_usd, other_gain, other, other_value) = point, cheaper
    years, gpus = design.tco.years, design.totals.gpus
    extra = usd - other_usd
    gained = gain - other_gain
    saved = None if axis == "per_gpu_gbps" else 1 - gain / other_gain
    hours = None if saved is None else gpus * HOURS_A_YEAR * years * saved
    return MarginalValue(
        design=design.id,
        against=other.id,
        axis=axis,
        verdict=verdict,
        value=value,
        against_value=other_value,
        costs=costs,
        extra_usd=extra,
        extra_purchase_usd=design.totals.capex_usd - other.totals.capex_usd,
        years=years,
        gpus=gpus,
        saved_fraction=None if saved is None else float(saved),
        saved_gpu_hours=None if hours is None else float(hours),
        break_even_usd=_cents(Fraction(extra) / hours) if hours is not None and hours > 0 else None,
        usd_per_gbps=_cents(Fraction(extra) / (gpus * gained)) if saved is None and gained > 0 else None,
        text="",
    )


def _cents(usd: Fraction) -> Decimal:
    """An exact amount in whole cents."""
    return (Decimal(usd.numerator) / Decimal(usd.denominator)).quantize(_CENT, ROUND_HALF_EVEN)
