"""Designs with the price and the performance that a test wants: a real one, with these figures in it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

from ibplan.plan.job_results import Inference, Performance
from ibplan.plan.results import Design
from tests.plan.planning import plan

SPEC = "model: 70B\ngpus: 1024\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\nsite: {years: 4}\n"


@cache
def _real() -> Design:
    (found,) = plan(SPEC).designs
    return found


@cache
def _service() -> Inference:
    (found,) = plan(SPEC + "workload: {task: inference}\n").designs
    assert found.performance.inference is not None
    return found.performance.inference


def performance(training: dict[str, Any] | None = None, inference: dict[str, Any] | None = None) -> Performance:
    """A real performance with these figures in it; None = not modelled."""
    step = _real().performance.training
    assert step is not None
    return Performance(
        training=None if training is None else replace(step, **training),
        inference=None if inference is None else replace(_service(), **inference),
    )


def design(
    name: str,
    usd: str,
    training: dict[str, Any] | None = None,
    inference: dict[str, Any] | None = None,
    *,
    gbps: float = 400.0,
    priced: bool = True,
    cross_rail: bool = True,
    energy_usd: str | None = None,
    basis: Any = "known",
    support_usd: str | None = None,
) -> Design:
    """1,024 GPUs, 4 years."""
    real = _real()
    compute = real.networks.compute
    bandwidth = replace(compute.bandwidth, per_gpu_gbps=gbps, cross_rail=cross_rail)
    energy, support = (None if x is None else Decimal(x) for x in (energy_usd, support_usd))
    return replace(
        real,
        id=name,
        totals=replace(real.totals, capex_usd=Decimal(usd), complete=priced),
        networks=replace(real.networks, compute=replace(compute, bandwidth=bandwidth)),
        energy=replace(real.energy, network_basis=basis),
        tco=replace(real.tco, energy_usd=energy, support_usd=support),
        performance=performance(training, inference),
    )


def timed(name: str, usd: str, step_s: float | None, **more: Any) -> Design:
    """A design whose training step takes so long; None = not known."""
    return design(name, usd, None if step_s is None else {"step_s": step_s}, **more)
