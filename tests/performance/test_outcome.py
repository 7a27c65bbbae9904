from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ibplan.performance.outcome import Outcome, hardware_tflops_per_gpu, training_outcome
from ibplan.workload.job import TrainingJob
from tests.performance.machines import machine
from tests.workload import shapes

A100 = machine(64, gpu="nvidia-a100-80g-sxm", peak_tflops=312)


def outcome(work: TrainingJob, step_s: float, gpus: int, **changes: float) -> Outcome:
    return training_outcome(work, np.array([step_s]), replace(A100, gpus=gpus), attention="full", **changes)


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "gpus", "batch", "step_s", "mfu"),
    [
        (48, 6144, 64, 8, 4, 1.10, 0.417),
        (96, 12288, 96, 64, 64, 13.75, 0.514),
        (105, 20480, 128, 280, 280, 37.83, 0.560),
        (128, 25600, 160, 512, 512, 71.49, 0.563),
    ],
)
def test_published_utilization(
    layers: int, hidden: int, heads: int, gpus: int, batch: int, step_s: float, mfu: float
) -> None:
    """arXiv 2205.05198 table 5: iteration times and MFU of the same rows."""
    found = outcome(shapes.job(shapes.gpt(layers, hidden, heads), 2048, batch), step_s, gpus)
    assert found.mfu is not None
    assert found.mfu[0] == pytest.approx(mfu, abs=0.001)
    assert found.attention == "full"


def test_published_hardware_rate() -> None:
    """arXiv 2104.04473 table 1: 1T, 163 TFLOP/s with full recomputation; its own derived step time is 102.63 s."""
    work = shapes.job(shapes.gpt(128, 25600, 160), 2048, 3072)
    full, none = (
        hardware_tflops_per_gpu(work, shapes.mapping(recompute=mode), 102.63, 3072, "full") for mode in ("full", "none")
    )
    assert full == pytest.approx(163, abs=0.1)
    assert none / full == pytest.approx(3 / 4, abs=0.01)


def test_a_published_training_time() -> None:
    """arXiv 2104.04473 section 5.2: 1T on 450B tokens with 3,072 GPUs takes 84 days."""
    work = shapes.job(shapes.gpt(128, 25600, 160), 2048, 3072, tokens=450_000_000_000)
    found = outcome(work, 102.63, 3072)
    assert found.days is not None
    assert found.days[0] == pytest.approx(84, rel=0.02)


def test_days_energy_and_cost_by_hand() -> None:
    """1,000 sequences of 1,000 tokens in 10 s on 16 GPUs: 100,000 tokens a second."""
    work = shapes.job(shapes.preset("llama3.1-8b"), 1000, 1000, tokens=8_640_000_000)
    found = training_outcome(
        work,
        np.array([10.0, 20.0]),
        machine(20),
        attention="causal",
        goodput_fraction=0.8,
        server_w=10_000,
        pue=1.5,
        usd_per_gpu_hour=2.0,
    )
    assert found.tokens_per_s.tolist() == [100_000, 50_000]
    assert found.days is not None
    assert found.energy_kwh is not None
    assert found.usd_per_million_tokens is not None
    assert found.days.tolist() == pytest.approx([1 / 0.8, 2 / 0.8])
    assert found.energy_kwh.tolist() == pytest.approx([3 * 10 * 1.5 * 24 / 0.8, 3 * 10 * 1.5 * 48 / 0.8])
    assert found.usd_per_million_tokens.tolist() == pytest.approx([40 / 3600 * 10 / 0.8, 40 / 3600 * 20 / 0.8])


def test_what_is_not_given_is_not_made_up() -> None:
    work = shapes.job(shapes.preset("llama3.1-8b"), 1000, 1000)
    found = training_outcome(work, np.array([1.0]), machine(8, peak_tflops=None), attention="causal", server_w=1e4)
    assert (found.mfu, found.days, found.energy_kwh, found.usd_per_million_tokens) == (None, None, None, None)


def test_counting_attention_in_full_flatters() -> None:
    """DeepSeek-V3 prints one run as 432 and 385 TFLOP/s: 12 % apart (arXiv 2505.09343 table 4)."""
    work = shapes.job(shapes.preset("deepseek-v3"), 4096, 15360)
    full, causal = (
        training_outcome(work, np.array([19.926]), machine(2048), attention=count).model_tflops_per_gpu[0]
        for count in ("full", "causal")
    )
    assert full == pytest.approx(432, rel=0.005)
    assert causal == pytest.approx(385, rel=0.005)
