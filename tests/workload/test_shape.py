"""Shapes from a preset, from a size alone, and as the spec states them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.spec.models import ModelSpec, Spec
from ibplan.workload.parameters import active_parameters, total_parameters
from ibplan.workload.shape import ShapeError, shape_of
from ibplan.workload.size import aspect_of
from tests.workload.shapes import preset


def error_of(**keys: Any) -> ShapeError:
    with pytest.raises(ShapeError) as found:
        shape_of(ModelSpec(**keys))
    return found.value


def test_a_preset_has_its_published_shape() -> None:
    shape = shape_of(ModelSpec(preset="llama3.1-70b"))
    assert (shape.layers, shape.hidden, shape.attention.kv_heads) == (80, 8192, 8)
    assert shape.assumed == ()
    assert shape.pretrain_sequence == 8192


def test_an_unknown_preset_names_the_nearest() -> None:
    error = error_of(preset="llama3.1-80b")
    assert error.at == ("model", "preset")
    assert "unknown model preset 'llama3.1-80b'" in error.message
    assert "llama3.1-8b" in error.remedy
    assert "size" in error_of(preset="zzz").remedy


@given(st.floats(7.7, 14).map(lambda exponent: int(10**exponent)))
def test_a_size_alone_is_met(parameters: int) -> None:
    shape = shape_of(ModelSpec(parameters=parameters))
    assert total_parameters(shape) == pytest.approx(parameters, rel=0.015)
    # What the mapping search needs to divide.
    assert shape.attention.heads % shape.attention.kv_heads == 0
    assert shape.hidden == shape.attention.heads * (shape.attention.head_dim or 0)
    assert len(shape.assumed) == 4


@pytest.mark.parametrize(("size", "name"), [(8_030_261_248, "llama3.1-8b"), (70_553_706_496, "llama3.1-70b")])
def test_the_size_of_a_published_model_gives_its_shape(size: int, name: str) -> None:
    derived, published = shape_of(ModelSpec(parameters=size)), preset(name)
    assert total_parameters(published) == size
    assert (derived.layers, derived.hidden, derived.ffn) == (published.layers, published.hidden, published.ffn)
    assert derived.attention == published.attention


@pytest.mark.parametrize(
    ("name", "layers", "hidden"),
    # Published shapes that the ladder does not name are met within a quarter in depth and width.
    [("llama2-13b", 40, 5120), ("qwen2.5-32b", 64, 5120), ("qwen2.5-72b", 80, 8192), ("llama3.1-405b", 126, 16384)],
)
def test_derived_shapes_are_like_published_ones(name: str, layers: int, hidden: int) -> None:
    shape = shape_of(ModelSpec(parameters=total_parameters(preset(name))))
    assert shape.layers == pytest.approx(layers, rel=0.25)
    assert shape.hidden == pytest.approx(hidden, rel=0.25)


def test_the_aspect_is_held_outside_the_ladder() -> None:
    assert aspect_of(10**6) == 64
    assert aspect_of(10**14) == 200
    assert aspect_of(1_236_000_000) == pytest.approx(128)


@pytest.mark.parametrize("parameters", [1, 10_000_000, 10**15])
def test_absurd_sizes_are_refused(parameters: int) -> None:
    error = error_of(parameters=parameters)
    assert error.key == "parameters"
    assert "state the shape" in error.remedy


def test_the_full_form_of_the_design_page_is_llama() -> None:
    stated = ModelSpec(
        layers=80, hidden=8192, heads=64, kv_heads=8, ffn=28672, vocab=128256, experts=0, experts_per_token=0
    )
    shape = shape_of(stated)
    assert total_parameters(shape) == total_parameters(preset("llama3.1-70b"))
    assert shape.assumed == ("gated feed-forward (three matrices)", "embeddings not tied")


def test_a_size_settles_what_the_shape_leaves_open() -> None:
    # GPT-3: two matrices and one embedding. Gated it would have 291 billion parameters.
    keys: dict[str, Any] = {"layers": 96, "hidden": 12288, "heads": 96, "ffn": 49152, "vocab": 50257}
    shape = shape_of(ModelSpec(**keys, parameters=175_000_000_000))
    assert not shape.ffn.gated
    assert "feed-forward of two matrices" in shape.assumed
    error = error_of(**keys, gated=True, parameters=175_000_000_000)
    assert error.at == ("model", "parameters")
    assert "175B" in error.message


def test_a_size_beside_a_preset_has_to_agree() -> None:
    # A rounded name is near enough: Llama-2 7B has 6.74 billion.
    shape_of(ModelSpec(preset="llama2-7b", parameters=7_000_000_000))
    assert "more than 5% apart" in error_of(preset="llama2-7b", parameters=8_000_000_000).message


def test_a_preset_takes_no_shape() -> None:
    error = error_of(preset="llama2-7b", layers=3)
    assert error.at == ("model", "layers")


def test_latent_attention_can_be_stated() -> None:
    shape = shape_of(
        ModelSpec(
            layers=61,
            hidden=7168,
            heads=128,
            ffn=18432,
            vocab=129280,
            experts=256,
            experts_per_token=8,
            shared_experts=1,
            expert_ffn=2048,
            dense_layers=3,
            q_latent=1536,
            kv_latent=512,
            rope_dim=64,
            qk_nope_dim=128,
            v_dim=128,
        )
    )
    published = preset("deepseek-v3")
    # All but the routers' biases: 58 x 256.
    assert total_parameters(shape) == total_parameters(published) - 58 * 256
    assert active_parameters(shape) == active_parameters(published) - 58 * 256


def test_windows_and_alternating_experts_can_be_stated() -> None:
    shape = shape_of(
        ModelSpec(
            layers=48,
            hidden=5120,
            heads=40,
            kv_heads=8,
            ffn=16384,
            vocab=202048,
            experts=128,
            experts_per_token=1,
            shared_experts=1,
            expert_ffn=8192,
            moe_every=2,
            window=8192,
            full_attention_every=4,
        )
    )
    assert total_parameters(shape) == total_parameters(preset("llama4-maverick"))
    assert (shape.moe_layers, shape.windowed_layers) == (24, 36)


def test_a_mixture_without_dense_layers_needs_no_dense_width() -> None:
    shape = shape_of(
        ModelSpec(layers=2, hidden=256, heads=2, vocab=1000, experts=4, experts_per_token=1, expert_ffn=512)
    )
    assert shape.dense_layers == 0
    assert not any("feed-forward width" in text for text in shape.assumed)


def test_the_width_that_is_assumed_is_llamas() -> None:
    assert shape_of(ModelSpec(layers=32, hidden=4096, vocab=32000)).ffn.width == preset("llama2-7b").ffn.width
    assert shape_of(ModelSpec(layers=40, hidden=5120, vocab=32000)).ffn.width == preset("llama2-13b").ffn.width


def test_what_is_left_out_is_said() -> None:
    shape = shape_of(ModelSpec(layers=2, hidden=256))
    assert shape.attention.heads == 2
    assert shape.assumed == (
        "2 heads of 128",
        "as many key-value heads as heads",
        "feed-forward width of 768",
        "gated feed-forward (three matrices)",
        "embeddings not tied",
        "vocabulary of 128,256",
    )


SHAPE: dict[str, Any] = {"layers": 4, "hidden": 512, "heads": 8, "ffn": 2048}


@pytest.mark.parametrize(
    ("keys", "key", "message"),
    [
        ({}, None, "neither a size nor a preset nor a shape"),
        ({"hidden": 512}, None, "lacks layers"),
        ({"layers": 4}, None, "lacks hidden"),
        (SHAPE | {"hidden": 500}, "heads", "hidden 500 is not a multiple of heads 8"),
        ({"layers": 4, "hidden": 500}, "hidden", "not a multiple of a head's 128"),
        (SHAPE | {"kv_heads": 3}, "kv_heads", "heads 8 is not a multiple of kv_heads 3"),
        (SHAPE | {"kv_heads": 16}, "kv_heads", "heads 8 is not a multiple of kv_heads 16"),
        (SHAPE | {"experts": 8}, "experts", "needs experts_per_token"),
        (SHAPE | {"experts": 8, "experts_per_token": 9}, "experts_per_token", "is above experts 8"),
        (SHAPE | {"experts_per_token": 2}, "experts_per_token", "there are none"),
        (SHAPE | {"experts": 0, "expert_ffn": 64}, "expert_ffn", "there are none"),
        (SHAPE | {"experts": 8, "experts_per_token": 2, "dense_layers": 4}, "dense_layers", "leaves none of 4"),
        (SHAPE | {"experts": 8, "experts_per_token": 2, "moe_every": 5}, "moe_every", "leaves none of 4"),
        (SHAPE | {"kv_latent": 64}, "kv_latent", "missing: rope_dim, qk_nope_dim, v_dim"),
        (
            SHAPE | {"kv_latent": 64, "rope_dim": 8, "qk_nope_dim": 8, "v_dim": 8, "head_dim": 8},
            "head_dim",
            "latent attention states",
        ),
        (
            SHAPE | {"kv_latent": 64, "rope_dim": 8, "qk_nope_dim": 8, "v_dim": 8, "kv_heads": 4},
            "kv_heads",
            "as many key-value heads as heads",
        ),
        (SHAPE | {"full_attention_every": 2}, "full_attention_every", "there is none"),
    ],
)
def test_what_does_not_go_together_is_refused(keys: dict[str, Any], key: str | None, message: str) -> None:
    error = error_of(**keys)
    assert error.key == key
    assert message in error.message


def test_the_spec_reads_the_keys() -> None:
    spec = Spec.model_validate({"gpus": 8, "model": SHAPE | {"gated": False, "tied_embeddings": True}})
    assert spec.model is not None
    assert shape_of(spec.model).ffn.gated is False
