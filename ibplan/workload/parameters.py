"""How many parameters a shape has, exactly: per layer, in the embeddings, in all, and active for a token."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.workload.presets import Attention, Experts, Ffn
from ibplan.workload.shape_model import ModelShape


@dataclass(frozen=True, slots=True)
class MatmulParameters:
    """Weights that a token is multiplied with: in one layer's attention, one dense or one MoE layer's feed-forward
    part (experts used, shared experts, router), and in the output matrix."""

    attention: int
    dense_ffn: int
    moe_ffn: int
    output: int


def query_width(attention: Attention) -> int:
    """Values of all queries of a token, and of all keys if every head had its own."""
    if attention.type == "mla":
        return attention.heads * ((attention.qk_nope_dim or 0) + (attention.rope_dim or 0))
    return attention.heads * (attention.head_dim or 0)


def value_width(attention: Attention) -> int:
    """Values of the heads' outputs of a token: the input of the output projection."""
    return attention.heads * ((attention.v_dim if attention.type == "mla" else attention.head_dim) or 0)


def attention_matrices(shape: ModelShape) -> tuple[int, int, int]:
    """Weights of one layer's attention matrices: those split by heads, by key-value heads, and by neither.

    Latent attention's projections down are the same on every tensor rank; those up and out are split by heads.
    """
    a, h = shape.attention, shape.hidden
    if a.type != "mla":
        return h * (query_width(a) + value_width(a)), 2 * h * a.kv_heads * (a.head_dim or 0), 0
    latent = a.kv_latent or 0
    from_latent = latent * a.heads * ((a.qk_nope_dim or 0) + (a.v_dim or 0))
    query = (h if a.q_latent is None else a.q_latent) * query_width(a)
    down = h * (latent + (a.rope_dim or 0)) + h * (a.q_latent or 0)
    return query + from_latent + value_width(a) * h, 0, down


def attention_vectors(shape: ModelShape) -> int:
    """Biases, norms and sinks of one layer's attention."""
    a = shape.attention
    if a.type == "mla":
        return (a.q_latent or 0) + (a.kv_latent or 0)
    head_dim = a.head_dim or 0
    bias = head_dim * (a.heads + 2 * a.kv_heads) if a.bias is not None else 0
    out = shape.hidden if a.bias == "all" else 0
    return bias + out + (2 * head_dim if a.qk_norm else 0) + (a.heads if a.sinks else 0)


def matrices_of(ffn: Ffn) -> int:
    """Matrices of a feed-forward part: gate, up and down, or up and down. Experts are gated as `ffn` is."""
    return 3 if ffn.gated else 2


def dense_ffn(shape: ModelShape) -> int:
    """Parameters of the feed-forward part of a layer without experts."""
    ffn, h = shape.ffn, shape.hidden
    return matrices_of(ffn) * h * ffn.width + (_ffn_bias(ffn, ffn.width, h) if ffn.bias else 0)


def one_expert(shape: ModelShape, experts: Experts) -> int:
    """Parameters of one expert."""
    h, width = shape.hidden, experts.ffn_width
    return matrices_of(shape.ffn) * h * width + (_ffn_bias(shape.ffn, width, h) if experts.bias else 0)


def _ffn_bias(ffn: Ffn, width: int, hidden: int) -> int:
    return (matrices_of(ffn) - 1) * width + hidden


def router(shape: ModelShape, experts: Experts) -> int:
    """Parameters that choose a layer's experts."""
    return shape.hidden * experts.routed + (experts.routed if experts.router_bias else 0)


def norm(shape: ModelShape) -> int:
    """Parameters of one norm: a scale, and with `layernorm` a shift."""
    return shape.hidden * (2 if shape.ffn.norm == "layernorm" else 1)


def layer_without_ffn(shape: ModelShape) -> int:
    """Attention and norms of one layer."""
    return sum(attention_matrices(shape)) + attention_vectors(shape) + shape.ffn.norms_per_layer * norm(shape)


def dense_layer(shape: ModelShape) -> int:
    """Parameters of a layer without experts."""
    return layer_without_ffn(shape) + dense_ffn(shape)


def moe_layer(shape: ModelShape, experts_used: int | None = None) -> int:
    """Parameters of a layer with experts; with `experts_used`, of a token's way through it. 0 without experts."""
    experts = shape.experts
    if experts is None:
        return 0
    routed = experts.routed if experts_used is None else experts_used
    ffn = (routed + experts.shared) * one_expert(shape, experts) + router(shape, experts)
    return layer_without_ffn(shape) + ffn


def embedding(shape: ModelShape) -> int:
    """Parameters of one embedding matrix."""
    return shape.vocab * shape.hidden


def embeddings(shape: ModelShape) -> int:
    """All embeddings: input, output unless tied, positions."""
    return embedding(shape) * (1 if shape.tied_embeddings else 2) + shape.learned_positions * shape.hidden


def total_parameters(shape: ModelShape) -> int:
    """All parameters."""
    layers = shape.dense_layers * dense_layer(shape) + shape.moe_layers * moe_layer(shape)
    return layers + embeddings(shape) + norm(shape) + shape.extra_params


def active_parameters(shape: ModelShape, *, input_embedding: bool = True) -> int:
    """Parameters that a token passes. Without the input embedding: those that compute (a tied matrix computes)."""
    unused = 0
    if shape.experts is not None:
        unused = (shape.experts.routed - shape.experts.per_token) * one_expert(shape, shape.experts)
    active = total_parameters(shape) - shape.moe_layers * unused
    return active if input_embedding or shape.tied_embeddings else active - embedding(shape)


def layer_parameters(shape: ModelShape) -> int:
    """Parameters of all layers, without embeddings and the last norm."""
    return shape.dense_layers * dense_layer(shape) + shape.moe_layers * moe_layer(shape)


def expert_parameters(shape: ModelShape) -> int:
    """Parameters of all routed experts: those that expert parallelism spreads."""
    if shape.experts is None:
        return 0
    return shape.moe_layers * shape.experts.routed * one_expert(shape, shape.experts)


def matmul_parameters(shape: ModelShape) -> MatmulParameters:
    """The weights that a token is multiplied with: no biases, norms or look-ups."""
    h, experts = shape.hidden, shape.experts
    matrices = matrices_of(shape.ffn)
    moe = 0
    if experts is not None:
        used = experts.per_token + experts.shared
        moe = used * matrices * h * experts.ffn_width + h * experts.routed
    return MatmulParameters(
        attention=sum(attention_matrices(shape)),
        dense_ffn=matrices * h * shape.ffn.width,
        moe_ffn=moe,
        output=embedding(shape),
    )
