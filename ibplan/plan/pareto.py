"""Which designs can be compared by price and by what they give, and which of them no other beats in both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ibplan.plan.results import Design
from ibplan.plan.value_results import Benefit, Pareto
from ibplan.plan.work import step_s, tokens_per_s

UNPRICED = "parts without a price"
_TIMELESS = {"step_s": "its step time is not known", "tokens_per_s": "its tokens a second are not known"}
_RAILS_APART = "its rails are not joined, so bandwidth across the bisection does not tell what it gives"


@dataclass(frozen=True, slots=True)
class Comparable:
    """Fully priced designs, in their order, with what each gives on the axis; and the reasons of the others, by id."""

    axis: Benefit
    designs: tuple[Design, ...]
    values: tuple[float, ...]
    not_compared: Mapping[str, str]

    def gains(self) -> list[Fraction]:
        """What each gives as an exact number of which more is better: times count below zero, rates as time a token."""
        return [gain(self.axis, value) for value in self.values]


def gain(axis: Benefit, value: float) -> Fraction:
    """A value on the axis as a number of which more is better."""
    if axis == "per_gpu_gbps":
        return Fraction(value)
    return -Fraction(value) if axis == "step_s" else -1 / Fraction(value)


def comparable(designs: Sequence[Design]) -> Comparable:
    """What can be compared: by step time if any priced design has one, or tokens a second; else by bandwidth per GPU.

    Where the axis is bandwidth, separate rails are not compared with joined ones.
    """
    priced = [design for design in designs if design.totals.complete]
    axis = _axis(priced)
    joined = any(design.networks.compute.bandwidth.cross_rail for design in priced)
    found: list[tuple[Design, float]] = []
    others: dict[str, str] = {}
    for design in designs:
        value = _value(design, axis)
        if not design.totals.complete:
            others[design.id] = UNPRICED
        elif value is None:
            others[design.id] = _TIMELESS[axis]
        elif axis == "per_gpu_gbps" and joined and not design.networks.compute.bandwidth.cross_rail:
            others[design.id] = _RAILS_APART
        else:
            found.append((design, value))
    return Comparable(axis, tuple(d for d, _ in found), tuple(v for _, v in found), others)


def pareto_set(compared: Comparable) -> Pareto:
    """The designs that no other beats: none is as cheap and gives as much, and is better in one of the two.

    Designs alike in both stand side by side.
    """
    points = list(zip((Fraction(d.totals.capex_usd) for d in compared.designs), compared.gains(), strict=True))
    kept = [index for index, point in enumerate(points) if not _beaten(point, points)]
    kept.sort(key=lambda index: points[index])
    return Pareto(
        ("capex_usd", compared.axis), tuple(compared.designs[index].id for index in kept), compared.not_compared
    )


def _axis(priced: Iterable[Design]) -> Benefit:
    performances = [design.performance for design in priced]
    if any(step_s(performance) is not None for performance in performances):
        return "step_s"
    if any(tokens_per_s(performance) is not None for performance in performances):
        return "tokens_per_s"
    return "per_gpu_gbps"


def _value(design: Design, axis: Benefit) -> float | None:
    if axis == "step_s":
        return step_s(design.performance)
    if axis == "tokens_per_s":
        return tokens_per_s(design.performance)
    return design.networks.compute.bandwidth.per_gpu_gbps


def _beaten(point: tuple[Fraction, Fraction], points: Iterable[tuple[Fraction, Fraction]]) -> bool:
    usd, given = point
    return any(u <= usd and g >= given and (u, g) != point for u, g in points)
