"""Floating-point operations of a token and of a training step. A multiplication and an addition are two.

Matrix products count; norms, activations, look-ups and biases do not (PaLM's convention, arXiv 2204.02311 appendix B).
How attention is counted is always said: `full`, every query with every key, or `causal`, with the keys before it only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ibplan.workload.parameters import matmul_parameters, query_width, value_width
from ibplan.workload.shape_model import ModelShape

# Whether a query counts all keys of the sequence, or those that it sees.
AttentionCount = Literal["full", "causal"]
Recompute = Literal["none", "selective", "full"]


@dataclass(frozen=True, slots=True)
class ForwardFlops:
    """Operations of one token's forward pass.

    `projections`: attention's matrices, a layer. `scores`: queries with keys and weights with values, of a layer with
    full attention; `windowed_scores`: of one with a window. `dense_ffn`, `moe_ffn`: of such a layer. `logits`: once.
    """

    projections: float
    scores: float
    windowed_scores: float
    dense_ffn: float
    moe_ffn: float
    logits: float


def keys_of_a_query(sequence: int, window: int | None, count: AttentionCount) -> float:
    """Mean number of keys of a query. Causal: half the sequence; with a window w of s: w (1 - w / 2s)."""
    if window is None or window >= sequence:
        return float(sequence) if count == "full" else sequence / 2
    return float(window) if count == "full" else window * (1 - window / (2 * sequence))


def forward_flops(shape: ModelShape, sequence: int, count: AttentionCount) -> ForwardFlops:
    """The parts of a token's forward pass in sequences of that length."""
    weights, a = matmul_parameters(shape), shape.attention
    a_key = 2.0 * (query_width(a) + value_width(a))
    return ForwardFlops(
        projections=2.0 * weights.attention,
        scores=a_key * keys_of_a_query(sequence, None, count),
        windowed_scores=a_key * keys_of_a_query(sequence, a.window, count),
        dense_ffn=2.0 * weights.dense_ffn,
        moe_ffn=2.0 * weights.moe_ffn,
        logits=2.0 * weights.output,
    )


def score_flops_per_token(shape: ModelShape, sequence: int, count: AttentionCount) -> float:
    """Queries with keys and weights with values, over all layers, forward."""
    flops = forward_flops(shape, sequence, count)
    windowed = shape.windowed_layers
    return (shape.layers - windowed) * flops.scores + windowed * flops.windowed_scores


def layer_flops_per_token(shape: ModelShape, sequence: int, count: AttentionCount) -> float:
    """All layers, forward."""
    flops = forward_flops(shape, sequence, count)
    ffn = shape.dense_layers * flops.dense_ffn + shape.moe_layers * flops.moe_ffn
    return shape.layers * flops.projections + ffn + score_flops_per_token(shape, sequence, count)


def forward_flops_per_token(shape: ModelShape, sequence: int, count: AttentionCount) -> float:
    """A token's whole forward pass: about 2 N_active, and attention."""
    return layer_flops_per_token(shape, sequence, count) + forward_flops(shape, sequence, count).logits


def model_flops(shape: ModelShape, sequence: int, tokens: float, count: AttentionCount) -> float:
    """Operations that training on `tokens` needs: the forward pass and twice as much backward. What MFU counts."""
    return 3 * tokens * forward_flops_per_token(shape, sequence, count)


def hardware_flops(
    shape: ModelShape, sequence: int, tokens: float, count: AttentionCount, recompute: Recompute
) -> float:
    """Operations that training on `tokens` carries out, with what is computed again. What HFU counts.

    `full`: all layers once more (arXiv 2104.04473, equation 3); `selective`: the scores (arXiv 2205.05198).
    """
    again = 0.0
    if recompute == "full":
        again = layer_flops_per_token(shape, sequence, count)
    elif recompute == "selective":
        again = score_flops_per_token(shape, sequence, count)
    return model_flops(shape, sequence, tokens, count) + tokens * again
