"""Shapes of published models against their published sizes."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ibplan.workload.presets import Attention, Preset, load_presets

PRESETS = load_presets()


def attention_weights(model: Preset) -> int:
    a, h = model.attention, model.hidden
    if a.type == "mla":
        assert a.kv_latent is not None
        assert a.rope_dim is not None
        assert a.qk_nope_dim is not None
        assert a.v_dim is not None
        q_out = a.heads * (a.qk_nope_dim + a.rope_dim)
        q = h * q_out if a.q_latent is None else h * a.q_latent + a.q_latent + a.q_latent * q_out
        down = h * (a.kv_latent + a.rope_dim) + a.kv_latent
        return q + down + a.kv_latent * a.heads * (a.qk_nope_dim + a.v_dim) + a.heads * a.v_dim * h
    assert a.head_dim is not None
    weights = h * a.head_dim * (2 * a.heads + 2 * a.kv_heads)
    if a.bias is not None:
        weights += a.head_dim * (a.heads + 2 * a.kv_heads) + (h if a.bias == "all" else 0)
    return weights


def weights(model: Preset, experts_used: int | None = None) -> int:
    """All weights that the shape gives; with `experts_used` those that one token passes."""
    h, ffn, experts = model.hidden, model.ffn, model.experts
    dense = h * ffn.width * (3 if ffn.gated else 2) + ((ffn.width + h) if ffn.bias else 0)
    moe_layers = experts.moe_layers(model.layers) if experts is not None else 0
    moe = 0
    if experts is not None:
        routed = experts.routed if experts_used is None else experts_used
        moe = (routed + experts.shared) * 3 * h * experts.ffn_width + h * experts.routed
    norms = ffn.norms_per_layer * h * (2 if ffn.norm == "layernorm" else 1)
    embeddings = model.vocab * h * (1 if model.tied_embeddings else 2) + (model.learned_positions or 0) * h
    per_layer = attention_weights(model) + norms
    return model.layers * per_layer + (model.layers - moe_layers) * dense + moe_layers * moe + embeddings


@pytest.mark.parametrize("name", PRESETS)
def test_the_shape_gives_the_published_size(name: str) -> None:
    model = PRESETS[name]
    assert weights(model) == pytest.approx(model.params_total, rel=0.015)


@pytest.mark.parametrize("name", [name for name, model in PRESETS.items() if model.experts is not None])
def test_the_shape_gives_the_active_size(name: str) -> None:
    # Publishers count the embeddings or not: at most two matrices of vocabulary x hidden may be left out.
    model = PRESETS[name]
    assert model.experts is not None
    most = weights(model, model.experts.per_token)
    least = most - 2 * model.vocab * model.hidden
    assert least * 0.97 <= model.params_active <= most * 1.03


def test_dense_models_are_active_as_a_whole() -> None:
    for model in PRESETS.values():
        assert (model.params_active < model.params_total) == (model.experts is not None), model.id


def test_published_sizes() -> None:
    # arXiv 2412.19437 (DeepSeek-V3): 671B in all, 37B active, 61 layers of which the first three are dense.
    model = PRESETS["deepseek-v3"]
    assert model.experts is not None
    assert (model.params_total, model.params_active) == (671 * 10**9, 37 * 10**9)
    assert (model.layers, model.experts.moe_layers(model.layers)) == (61, 58)


def test_key_value_cache() -> None:
    # DeepSeek-V2, arXiv 2405.04434: latent attention keeps 512 + 64 values a layer and token.
    assert PRESETS["deepseek-v3"].attention.kv_values_per_token == 576
    assert PRESETS["llama3.1-70b"].attention.kv_values_per_token == 2 * 8 * 128


def test_presets_are_read_only_and_loaded_once() -> None:
    assert load_presets() is PRESETS
    with pytest.raises(TypeError):
        PRESETS["x"] = PRESETS["llama3.1-8b"]  # type: ignore[index]


def test_attention_states_its_widths() -> None:
    with pytest.raises(ValidationError, match="other attention states head_dim"):
        Attention(type="gqa", heads=8, kv_heads=8)
    with pytest.raises(ValidationError, match="mla states kv_latent"):
        Attention(type="mla", heads=8, kv_heads=8, kv_latent=512)
