"""What a design's performance says of the job: the figures that compare designs, None where they are not modelled."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any

from ibplan.plan.results import Performance


def step_s(performance: Performance) -> float | None:
    """Seconds of one training step."""
    return _positive(performance.training, "step_s")


def training_days(performance: Performance) -> float | None:
    """Days of the whole training."""
    return _positive(performance.training, "days")


def tokens_per_s(performance: Performance) -> float | None:
    """Tokens a second of the whole cluster: trained on, or else generated."""
    trained = _positive(performance.training, "tokens_per_s")
    return _positive(performance.inference, "tokens_per_s") if trained is None else trained


def _positive(figures: dict[str, Any] | None, key: str) -> float | None:
    """A figure that can be divided by: what is 0, negative or not finite is no time and no rate."""
    value = None if figures is None else figures.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return None
    return float(value) if isfinite(value) and value > 0 else None
