"""Parameter counts: published models, the equation of GPT, and that the parts make up the whole."""

from __future__ import annotations

import pytest

from ibplan.workload.parameters import (
    active_parameters,
    embeddings,
    expert_parameters,
    layer_parameters,
    norm,
    total_parameters,
)
from ibplan.workload.presets import load_presets
from tests.workload.shapes import gpt, measured, preset

PUBLISHED = measured("model_parameters.yaml")["models"]


def test_every_preset_is_looked_at() -> None:
    assert set(PUBLISHED) == set(load_presets())


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_shape_gives_the_published_total(name: str) -> None:
    # The largest difference is that of Gemma 3 27B, 1.43 %: its published count includes a vision encoder.
    published = PUBLISHED[name]["published_total"]
    assert total_parameters(preset(name)) / 1e9 == pytest.approx(published, rel=0.01431)


@pytest.mark.parametrize("name", PUBLISHED)
def test_another_program_counts_the_same(name: str) -> None:
    shape, row = preset(name), PUBLISHED[name]
    total, active = total_parameters(shape), active_parameters(shape)
    assert round(total / 1e9, 3) == row["total"]
    assert round(active / 1e9, 3) == row["active"]
    assert round(active_parameters(shape, input_embedding=False) / 1e9, 3) == row["active_without_input"]
    assert round((total - embeddings(shape)) / 1e9, 3) == row["non_embedding"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_active_count_lies_between_the_ways_to_count(name: str) -> None:
    # Publishers leave out both embeddings, the input's or none (the file says who). They round to billions.
    shape, published = preset(name), PUBLISHED[name]["published_active"]
    most = active_parameters(shape) / 1e9
    least = most - embeddings(shape) / 1e9
    assert least * 0.985 <= published <= most * 1.015


@pytest.mark.parametrize(
    ("billions", "layers", "hidden", "heads"),
    # arXiv 2104.04473 (SC'21) Table 1: vocabulary 51,200, 2,048 positions.
    [
        (1.7, 24, 2304, 24),
        (3.6, 30, 3072, 32),
        (7.5, 36, 4096, 32),
        (18.4, 40, 6144, 48),
        (39.1, 48, 8192, 64),
        (76.1, 60, 10240, 80),
        (145.6, 80, 12288, 96),
        (310.1, 96, 16384, 128),
        (529.6, 105, 20480, 128),
        (1008.0, 128, 25600, 160),
    ],
)
def test_gpt_of_the_megatron_paper(billions: float, layers: int, hidden: int, heads: int) -> None:
    assert total_parameters(gpt(layers, hidden, heads)) / 1e9 == pytest.approx(billions, abs=0.055)


def test_the_equation_of_gpt() -> None:
    # SC'21 equation 2: 12 l h^2 (1 + 13 / 12h + (V + s) / 12lh), with biases and two layer norms of 2 h each.
    # It leaves out the last norm, 2 h, and has no positions but s.
    shape = preset("megatron-1t")
    layers, h, vocab, s = 128, 25600, 51200, 2048
    equation = 12 * layers * h**2 + 13 * layers * h + (vocab + s) * h
    assert total_parameters(shape) == equation + 2 * h


@pytest.mark.parametrize("name", PUBLISHED)
def test_layers_embeddings_and_the_last_norm_are_all(name: str) -> None:
    shape = preset(name)
    assert layer_parameters(shape) + embeddings(shape) + norm(shape) + shape.extra_params == total_parameters(shape)


def test_experts_hold_most_of_a_mixture() -> None:
    # DeepSeek-V3: 58 layers of 256 experts of 3 x 7168 x 2048.
    assert expert_parameters(preset("deepseek-v3")) == 58 * 256 * 3 * 7168 * 2048
    assert expert_parameters(preset("llama3.1-8b")) == 0
