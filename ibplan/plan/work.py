"""What a design's performance says of the job: the figures that compare designs, None where they are not modelled."""

from __future__ import annotations

from ibplan.plan.job_results import Performance


def step_s(performance: Performance) -> float | None:
    """Seconds of one training step."""
    return None if performance.training is None else performance.training.step_s


def training_days(performance: Performance) -> float | None:
    """Days of the whole training."""
    return None if performance.training is None else performance.training.days


def tokens_per_s(performance: Performance) -> float | None:
    """Tokens a second of the whole cluster: trained on, or else generated."""
    job = performance.training or performance.inference
    return None if job is None else job.tokens_per_s
