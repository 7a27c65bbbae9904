"""Operations of a token and a step: the published equations as limiting cases, and published figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.workload.flops import (
    AttentionCount,
    Recompute,
    forward_flops_per_token,
    hardware_flops,
    keys_of_a_query,
    model_flops,
    score_flops_per_token,
)
from ibplan.workload.parameters import active_parameters
from tests.workload.shapes import gpt, preset


@given(
    layers=st.integers(1, 200),
    heads=st.integers(1, 200),
    vocab=st.integers(1000, 300_000),
    sequence=st.sampled_from([128, 2048, 8192]),
    batch=st.integers(1, 4096),
)
def test_the_equations_of_gpt(layers: int, heads: int, vocab: int, sequence: int, batch: int) -> None:
    h, tokens = 128 * heads, batch * sequence
    shape = gpt(layers, h, heads, vocab)
    # arXiv 2104.04473 equation 3, all layers computed again; arXiv 2205.05198 appendix A without.
    hardware = 96 * tokens * layers * h**2 * (1 + sequence / (6 * h) + vocab / (16 * layers * h))
    model = 72 * tokens * layers * h**2 * (1 + sequence / (6 * h) + vocab / (12 * layers * h))
    # Selective: the scores' 4 b s^2 h forward once more.
    selective = model + 4 * tokens * sequence * h * layers
    assert hardware_flops(shape, sequence, tokens, "full", "full") == pytest.approx(hardware, rel=1e-12)
    assert hardware_flops(shape, sequence, tokens, "full", "selective") == pytest.approx(selective, rel=1e-12)
    assert hardware_flops(shape, sequence, tokens, "full", "none") == pytest.approx(model, rel=1e-12)
    assert model_flops(shape, sequence, tokens, "full") == pytest.approx(model, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "gflops"),
    # arXiv 2505.09343 (ISCA'25) Table 2: training a token at a sequence of 4,096, in 1e9 operations.
    [("deepseek-v2", 155), ("deepseek-v3", 250), ("llama3.1-405b", 2448)],
)
def test_published_operations_of_a_token(name: str, gflops: float) -> None:
    assert model_flops(preset(name), 4096, 1, "causal") / 1e9 == pytest.approx(gflops, rel=0.011)


def test_the_published_gap_between_the_conventions() -> None:
    # arXiv 2505.09343 Table 4: the same run of DeepSeek-V3 at 4,096 makes 432 TFLOP/s, or 385 counted causally.
    shape = preset("deepseek-v3")
    ratio = model_flops(shape, 4096, 1, "full") / model_flops(shape, 4096, 1, "causal")
    assert ratio == pytest.approx(432 / 385, rel=0.002)


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "tokens", "gpus", "tflops", "days"),
    # arXiv 2104.04473 section 5.1: its estimates leave attention out (8 T P / n X), which is 2 % and 1 %.
    [(96, 12288, 96, 300e9, 1024, 140, 34), (128, 25600, 160, 450e9, 3072, 163, 84)],
)
def test_published_days(
    layers: int, hidden: int, heads: int, tokens: float, gpus: int, tflops: float, days: float
) -> None:
    flops = hardware_flops(gpt(layers, hidden, heads), 2048, tokens, "full", "full")
    assert flops / (gpus * tflops * 1e12) / 86400 == pytest.approx(days, rel=0.025)


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "batch", "gpus", "seconds", "mfu"),
    # arXiv 2205.05198 Table 5, selective and sequence parallel, A100: the step's time and its MFU at 312 TFLOP/s.
    [
        (48, 6144, 64, 4, 8, 1.10, 0.417),
        (96, 12288, 96, 64, 64, 13.75, 0.514),
        (105, 20480, 128, 280, 280, 37.83, 0.560),
        (128, 25600, 160, 512, 512, 71.49, 0.563),
    ],
)
def test_published_utilization(
    layers: int, hidden: int, heads: int, batch: int, gpus: int, seconds: float, mfu: float
) -> None:
    flops = model_flops(gpt(layers, hidden, heads), 2048, batch * 2048, "full")
    assert flops / (gpus * 312e12 * seconds) == pytest.approx(mfu, abs=0.001)


@pytest.mark.parametrize("name", ["llama3.1-70b", "mixtral-8x7b", "deepseek-v3", "qwen2.5-7b"])
def test_short_sequences_cost_twice_the_active_parameters(name: str) -> None:
    # Without attention 2 N: biases and norms are all that is missing.
    shape = preset(name)
    assert forward_flops_per_token(shape, 1, "causal") == pytest.approx(
        2 * active_parameters(shape, input_embedding=False), rel=2e-3
    )


def test_scores_by_hand() -> None:
    # Llama-3.1 405B: 126 layers x 4 x 8192 x (128 heads of 128); DeepSeek-V3: 2 x 128 x (192 + 128) x 4096 x 61.
    assert score_flops_per_token(preset("llama3.1-405b"), 8192, "full") == 126 * 4 * 8192 * 128 * 128
    assert score_flops_per_token(preset("deepseek-v3"), 4096, "full") == 61 * 2 * 4096 * 128 * (192 + 128)


def test_windows_bound_the_keys() -> None:
    # GPT-OSS: every other of 36 layers sees 128 keys.
    flops = score_flops_per_token(preset("gpt-oss-120b"), 8192, "full")
    assert flops == 4 * 64 * 64 * (18 * 8192 + 18 * 128)


@given(sequence=st.integers(1, 5000), window=st.integers(1, 5000))
def test_mean_keys_of_a_causal_window(sequence: int, window: int) -> None:
    # Against the sum: query i of s sees min(i, w) keys; the formula leaves out half a key of the diagonal.
    exact = sum(min(i, window) for i in range(1, sequence + 1)) / sequence
    assert keys_of_a_query(sequence, window, "causal") == pytest.approx(exact, abs=0.5 + 1e-9)
    assert keys_of_a_query(sequence, window, "full") == min(sequence, window)


@pytest.mark.parametrize("count", ["full", "causal"])
def test_recomputation_only_adds(count: AttentionCount) -> None:
    modes: tuple[Recompute, ...] = ("none", "selective", "full")
    none, selective, full = (hardware_flops(preset("mixtral-8x7b"), 4096, 1e6, count, mode) for mode in modes)
    assert none == model_flops(preset("mixtral-8x7b"), 4096, 1e6, count)
    assert none < selective < full < none * 4 / 3
