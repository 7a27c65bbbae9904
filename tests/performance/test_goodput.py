from __future__ import annotations

from dataclasses import replace
from math import inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.performance.goodput import (
    checkpoint_bytes,
    checkpoint_interval_s,
    checkpoint_save_s,
    failures,
    fleet_of,
    goodput,
    mean_time_to_failure_s,
)
from tests.workload import shapes

HOUR = 3600.0


@pytest.mark.parametrize(
    ("fleet", "gpus", "hours"),
    [
        ("llama3-h100", 16_384, 3.09),  # arXiv 2407.21783: 419 stops in 54 days
        ("meta-rsc1-a100", 16_384, 1.8),  # arXiv 2410.21680: what it projects
        ("meta-rsc1-a100", 131_072, 0.23),
    ],
)
def test_published_times_between_stops(fleet: str, gpus: int, hours: float) -> None:
    found = mean_time_to_failure_s(gpus, fleet_of(fleet).stops_per_gpu_day)
    assert found / HOUR == pytest.approx(hours, rel=0.03)


def test_a_rule_of_thumb_for_the_interval() -> None:
    """40 s to save, a stop every 3.1 hours: about every 16 minutes."""
    assert checkpoint_interval_s(40, 3.1 * HOUR) / 60 == pytest.approx(16, abs=0.7)
    assert checkpoint_interval_s(1e-6, 1e6) == pytest.approx(sqrt(2), rel=1e-3)  # Young's formula
    assert checkpoint_interval_s(500, 200) == 200
    assert checkpoint_interval_s(40, inf) == inf


@given(save_s=st.floats(1, 300), mttf_s=st.floats(5000, 1e7))
def test_no_other_interval_loses_less(save_s: float, mttf_s: float) -> None:
    """Against the lost share itself, to first order: save / interval + interval / (2 MTTF)."""
    best = checkpoint_interval_s(save_s, mttf_s)

    def lost(interval: float) -> float:
        return save_s / interval + (interval + save_s) / (2 * mttf_s)

    # Daly's correction moves the interval by less than the first order can tell.
    assert lost(best) <= 1.02 * min(lost(best * factor) for factor in (0.25, 0.5, 0.8, 0.95, 1.05, 1.25, 2, 4))


def test_llama_3_trains_for_more_than_nine_tenths_of_the_time() -> None:
    data = failures()
    found = goodput(16_384, fleet_of(), data.save_s.value, data.restart_s.value)
    assert 0.85 < found.fraction < 0.95
    assert found.fleet == "llama3-h100"
    assert not found.extrapolated
    assert goodput(16_385, fleet_of(), 40, 600).extrapolated


def test_nothing_is_lost_without_failures_and_all_of_it_with_too_many() -> None:
    assert goodput(100_000, None, 40, 600).fraction == 1
    assert goodput(100_000, None, 40, 600).mttf_s == inf
    dying = fleet_of().model_copy(update={"stops": 1e9})
    assert goodput(16_384, dying, 40, 600).fraction == 0
    assert goodput(16_384, fleet_of(), 0, 0).fraction == 1


@given(gpus=st.integers(1, 10**6), save_s=st.floats(0, 600), restart_s=st.floats(0, 3600))
def test_a_share_that_falls_with_everything_that_costs_time(gpus: int, save_s: float, restart_s: float) -> None:
    found = goodput(gpus, fleet_of(), save_s, restart_s)
    assert 0 <= found.fraction <= 1
    assert goodput(2 * gpus, fleet_of(), save_s, restart_s).fraction <= found.fraction + 1e-12
    assert goodput(gpus, fleet_of(), save_s, restart_s + 60).fraction <= found.fraction + 1e-12


def test_checkpoints_have_published_sizes() -> None:
    """Megatron 1T: 13.8 TB (arXiv 2104.04473); BLOOM: 2.3 TB (bigscience train/tr11-176B-ml)."""
    for name, published in (("megatron-1t", 13.8e12), ("bloom-176b", 2.3e12)):
        size = checkpoint_bytes(shapes.job(shapes.preset(name)))
        assert size == pytest.approx(published, rel=0.075)
    assert checkpoint_save_s(13.8e12, 273) == pytest.approx(50.5, abs=0.1)


def test_an_unknown_fleet_is_an_error() -> None:
    with pytest.raises(KeyError):
        fleet_of("nobody")
    assert replace(goodput(8, fleet_of(), 40, 600), fleet=None).fleet is None
