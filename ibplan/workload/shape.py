"""The shape of the spec's model: of a preset, derived from a size alone, or as the spec states it."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

from ibplan.spec.models import ModelSpec
from ibplan.workload.presets import Preset, load_presets
from ibplan.workload.shape_model import ModelShape, ShapeError
from ibplan.workload.size import shape_of_size
from ibplan.workload.stated import SHAPE_KEYS, of_size, stated_shape

__all__ = ["ModelShape", "ShapeError", "find_preset", "preset_shape", "shape_of"]


def preset_shape(preset: Preset) -> ModelShape:
    """The shape that was published."""
    return ModelShape(
        name=preset.name,
        layers=preset.layers,
        hidden=preset.hidden,
        attention=preset.attention,
        ffn=preset.ffn,
        experts=preset.experts,
        vocab=preset.vocab,
        tied_embeddings=preset.tied_embeddings,
        learned_positions=preset.learned_positions or 0,
        extra_params=preset.extra_params or 0,
        pretrain_sequence=preset.pretrain_sequence,
        pretrain_tokens=preset.pretrain_tokens,
    )


@lru_cache(maxsize=64)
def shape_of(model: ModelSpec) -> ModelShape:
    """The shape of the spec's model: its preset's, the stated one, or one derived from the size.

    Raises ShapeError: an unknown preset, a shape that does not divide or is incomplete, a size that disagrees.
    """
    stated = [key for key in SHAPE_KEYS if getattr(model, key) is not None]
    if model.preset is not None:
        if stated:
            message = f"preset {model.preset!r} has its own shape, and the spec states {', '.join(stated)}, too"
            raise ShapeError(stated[0], message, "leave out the preset or the shape")
        return of_size(preset_shape(find_preset(model.preset)), model.parameters)
    if stated:
        return stated_shape(model)
    if model.parameters is None:
        raise ShapeError(None, "the model has neither a size nor a preset nor a shape", "give a size such as 70B")
    return shape_of_size(model.parameters)


def find_preset(name: str) -> Preset:
    """The preset of that id. Raises ShapeError with the nearest ids."""
    presets = load_presets()
    if name in presets:
        return presets[name]
    near = get_close_matches(name, presets, 3)
    remedy = f"did you mean {' or '.join(near)}?" if near else "give a size such as 70B"
    raise ShapeError("preset", f"unknown model preset {name!r}", remedy)
