"""Means over runs, with the interval in which the true mean lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, cos, exp, lgamma, log, pi, sqrt
from statistics import NormalDist, fmean, stdev
from typing import Final

CONFIDENCE: Final = 0.95
_STEPS: Final = 400


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean over runs; half the width of its confidence interval (None = one run says nothing of it); extremes."""

    mean: float
    half_width: float | None
    lowest: float
    highest: float


def estimate(values: Sequence[float]) -> Estimate:
    """Mean of independent runs with Student's interval at CONFIDENCE. Raises ValueError where there are no runs."""
    if not values:
        raise ValueError("no runs")
    half = None if len(values) < 2 else student(len(values) - 1) * stdev(values) / sqrt(len(values))
    return Estimate(fmean(values), half, min(values), max(values))


def student(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The t that so many degrees of freedom exceed, either way, with probability 1 - confidence."""
    low, high = NormalDist().inv_cdf(0.5 + confidence / 2), 1e4
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if 2 * _half_area(middle, freedom) < confidence else (low, middle)
    return high


def _half_area(t: float, freedom: int) -> float:
    """Student's density from 0 to t by Simpson's rule, over the angle atan(x / sqrt(freedom)), where it is smooth."""
    scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(pi) / 2)
    end = atan(t / sqrt(freedom))
    step = end / _STEPS
    values = [cos(k * step) ** (freedom - 1) for k in range(_STEPS + 1)]
    return scale * step / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))
