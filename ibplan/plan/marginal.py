"""Marginal value: what each design costs more than a cheaper one, what that saves, and when it is worth it.

A step up is worth its price where a GPU-hour is worth more than

    break-even = extra cost / (GPUs x 8,760 h x years x (1 - time / time of the cheaper design))

the extra cost over the hours that the cheaper design, busy all the years, takes longer for the same work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from ibplan.economics.running import HOURS_A_YEAR
from ibplan.plan.marginal_words import words
from ibplan.plan.pareto import Comparable
from ibplan.plan.results import Design
from ibplan.plan.value_results import Benefit, Cost, MarginalValue, Verdict

_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class _Point:
    """A design with its cost and with what it gives (of `gain` more is better)."""

    design: Design
    value: float
    gain: Fraction
    usd: Decimal


def marginal_values(compared: Comparable) -> tuple[MarginalValue, ...]:
    """Every design but the cheapest against a cheaper one, in the order of their cost.

    One that gives more than all cheaper ones stands against the last of them that is the best choice at some price of
    a GPU-hour; another against the one that gives most of the cheaper ones.
    """
    costs = counted_costs(compared.designs)
    parts = zip(compared.designs, compared.values, compared.gains(), strict=True)
    points = [_Point(design, value, gain, _cost(design, costs)) for design, value, gain in parts]
    points.sort(key=lambda point: (point.usd, -point.gain))  # designs alike in both stay in their order
    front = _front(points)
    steps = _steps(points, front)
    found = []
    for here, point in enumerate(points[1:], 1):
        beyond = None
        if here in front:
            cheaper = points[max(step for step in steps if step < here)]
            verdict: Verdict = "gain" if here in steps else "outdone"
            beyond = next((points[step].design.id for step in steps if step > here), None)
        else:
            cheaper = points[max(other for other in front if other < here)]
            verdict = "no gain" if cheaper.gain == point.gain else "loss"
        record = _record(point, cheaper, verdict, compared.axis, costs)
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
    for here, point in enumerate(points):
        if point.gain > points[found[-1]].gain:
            found.append(here)
    return found


def _steps(points: Sequence[_Point], front: Sequence[int]) -> list[int]:
    """Those of the front that are the best choice at some price of what they give: the corners of its upper hull."""
    found, rest = list(front[:1]), list(front[1:])
    while rest:
        last = points[found[-1]]
        price = {here: Fraction(points[here].usd - last.usd) / (points[here].gain - last.gain) for here in rest}
        found.append(max(here for here in rest if price[here] == min(price.values())))
        rest = [here for here in rest if here > found[-1]]
    return found


def _record(point: _Point, cheaper: _Point, verdict: Verdict, axis: Benefit, costs: tuple[Cost, ...]) -> MarginalValue:
    years, gpus = point.design.tco.years, point.design.totals.gpus
    extra = point.usd - cheaper.usd
    gained = point.gain - cheaper.gain
    saved = None if axis == "per_gpu_gbps" else 1 - point.gain / cheaper.gain
    hours = None if saved is None else gpus * HOURS_A_YEAR * years * saved
    return MarginalValue(
        design=point.design.id,
        against=cheaper.design.id,
        axis=axis,
        verdict=verdict,
        value=point.value,
        against_value=cheaper.value,
        costs=costs,
        extra_usd=extra,
        extra_purchase_usd=point.design.totals.capex_usd - cheaper.design.totals.capex_usd,
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
