"""What stands on a pipeline stage: its layers, its parameters, and how many microbatches it holds at once.

Three stages are looked at, one of which is always the fullest: the first (embedding, most microbatches in flight), the
second (a layer more than the first if the layers do not divide), the last (output matrix and logits).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ibplan.workload.parameters import (
    attention_matrices,
    attention_vectors,
    dense_ffn,
    embedding,
    norm,
    one_expert,
    router,
)
from ibplan.workload.shape_model import ModelShape

if TYPE_CHECKING:
    from ibplan.workload.arrays import Bools, Floats, Ints
    from ibplan.workload.mapping import Mappings


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of each mapping. Arrays of shape (mappings,).

    `layers`, of which `moe_layers` have experts; `dense_parameters`, `expert_parameters` a GPU, unsharded by ZeRO:
    those that all data x context ranks have in common, and the routed experts. `in_flight`: microbatches whose
    activations are kept at once. `first`, `last`: has the embedding, has the output.
    """

    layers: Ints
    moe_layers: Ints
    dense_parameters: Floats
    expert_parameters: Floats
    in_flight: Floats
    first: Bools
    last: Bools


@dataclass(frozen=True, slots=True)
class LayerParameters:
    """Parameters of one layer on one GPU, arrays of shape (mappings,); `expert`: of the routed experts there."""

    dense: Floats
    moe: Floats
    expert: Floats


def busiest_layers(shape: ModelShape, mappings: Mappings) -> Ints:
    """Layers of the fullest stage: layers / pp, rounded up."""
    return -(-shape.layers // mappings.pp)


def layer_parameters_per_gpu(shape: ModelShape, mappings: Mappings) -> LayerParameters:
    """Matrices are split over tp (keys and values over the key-value heads at most), routers and norms are not."""
    by_head, by_kv_head, whole = attention_matrices(shape)
    tp = mappings.tp
    rest = whole + attention_vectors(shape) + shape.ffn.norms_per_layer * norm(shape)
    attention = by_head / tp + by_kv_head / np.minimum(tp, shape.attention.kv_heads) + rest
    dense = attention + dense_ffn(shape) / tp
    if shape.experts is None:
        nothing = np.zeros(len(mappings))
        return LayerParameters(dense, nothing, nothing)
    one = one_expert(shape, shape.experts) / tp
    moe = attention + shape.experts.shared * one + router(shape, shape.experts)
    return LayerParameters(dense, moe, shape.experts.routed * one / mappings.ep)


def stages_of(shape: ModelShape, mappings: Mappings, microbatches: Ints) -> tuple[Stage, ...]:
    """The first, the second (only if layers do not divide somewhere) and the last stage."""
    pp = mappings.pp
    base, extra = np.divmod(shape.layers, pp)
    per_layer = layer_parameters_per_gpu(shape, mappings)
    on_first = base + ((extra > 0) & (extra > pp - 2))
    first = _stage(shape, mappings, microbatches, per_layer, np.zeros_like(pp), np.zeros_like(pp), on_first)
    last = _stage(shape, mappings, microbatches, per_layer, pp - 1, shape.layers - base, base)
    if not extra.any():
        return first, last
    # With two stages or one there is no second besides the last: no layers there.
    on_second = np.where(pp > 2, base + (extra > 0), 0)
    second = _stage(shape, mappings, microbatches, per_layer, np.minimum(1, pp - 1), on_first, on_second)
    return first, second, last


def _stage(
    shape: ModelShape,
    mappings: Mappings,
    microbatches: Ints,
    per_layer: LayerParameters,
    index: Ints,
    start: Ints,
    layers: Ints,
) -> Stage:
    moe_layers = _moe_layers_before(shape, start + layers) - _moe_layers_before(shape, start)
    first, last = (index == 0) & (layers > 0), (index == mappings.pp - 1) & (layers > 0)
    matrix = embedding(shape) / mappings.tp
    outside = first * (matrix + shape.learned_positions * shape.hidden + shape.extra_params)
    # A tied output matrix is a second copy only where the embedding is on another stage.
    outside = outside + last * ((matrix * ~first if shape.tied_embeddings else matrix) + norm(shape))
    return Stage(
        layers=layers,
        moe_layers=moe_layers,
        dense_parameters=(layers - moe_layers) * per_layer.dense + moe_layers * per_layer.moe + outside,
        expert_parameters=moe_layers * per_layer.expert,
        in_flight=_in_flight(mappings, microbatches, index),
        first=first,
        last=last,
    )


def _moe_layers_before(shape: ModelShape, layer: Ints) -> Ints:
    experts = shape.experts
    if experts is None:
        return np.zeros_like(layer)
    return np.maximum(0, layer - experts.first_dense_layers) // experts.every_n_layers


def _in_flight(mappings: Mappings, microbatches: Ints, index: Ints) -> Floats:
    """Microbatches whose activations stage `index` keeps, one forward one backward.

    pp - index; interleaved ((v - 1) pp + 2 (pp - 1 - index) + 1) / v, for the first stage pp (1 + (pp - 1) / (pp v))
    (arXiv 2205.05198). Never more than there are.
    """
    pp, v = mappings.pp, mappings.interleave
    behind = pp - 1 - index
    held = np.where(v > 1, ((v - 1) * pp + 2 * behind + 1) / v, behind + 1.0)
    return np.minimum(held, microbatches)
