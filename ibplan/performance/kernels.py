"""Seconds that a GPU computes for one layer and microbatch: matrix products, attention's scores, memory traffic.

A product takes FLOPs / (peak x efficiency) + operand bytes / memory bandwidth. Everything else is memory traffic: the
passes over a tensor (a read or a write each) are counted below. Nothing of these overlaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ibplan.performance.machine import Machine
from ibplan.workload.flops import AttentionCount, keys_of_a_query, score_flops_per_token
from ibplan.workload.job import TrainingJob
from ibplan.workload.mapping import RECOMPUTE, Mappings
from ibplan.workload.parameters import attention_matrices, matrices_of, query_width, value_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ibplan.workload.arrays import Floats, Ints

# A fused kernel computes the scores again in its backward pass: 5 products where the forward pass has 2.
_FUSED_BACKWARD = 2.5
# Passes over the scores that are kept in memory. Products write them forward and read them for the values; backward
# two products read and write them each. Softmax reads and writes them, backward it reads two and writes one; dropout
# likewise reads and writes, and a mask of one byte.
_PRODUCT_PASSES = (1, 2)
_SOFTMAX_PASSES = (2.0, 3.0)
_DROPOUT_PASSES = 2.5
# A norm reads and writes; a residual sum reads two and writes one. Backward moves twice as much.
_NORM_PASSES, _RESIDUAL_PASSES, _BACKWARD_PASSES = 2, 3, 2.0
_RESIDUALS = 2
# Logits in fp32: written and read by the maximum, the sum and the gradient.
_LOGIT_BYTES = 4 * 4.0


@dataclass(frozen=True, slots=True)
class Work:
    """Seconds of matrix products (with their operands) and of other memory traffic. Arrays of shape (mappings,)."""

    products_s: Floats
    memory_s: Floats

    @property
    def total_s(self) -> Floats:
        """Both: they do not overlap."""
        return self.products_s + self.memory_s

    def __add__(self, other: Work) -> Work:
        return Work(self.products_s + other.products_s, self.memory_s + other.memory_s)

    def __mul__(self, factor: float | NDArray[np.floating[Any]] | Ints) -> Work:
        return Work(self.products_s * factor, self.memory_s * factor)


@dataclass(frozen=True, slots=True)
class LayerWork:
    """One layer and microbatch on one GPU. `again`: what recomputation adds; `scores_s`: attention's, in all passes."""

    forward: Work
    backward: Work
    again: Work
    scores_s: Floats

    @property
    def all_passes(self) -> Work:
        """Forward, backward and what is computed again."""
        return self.forward + self.backward + self.again

    def mix(self, other: LayerWork, share: float) -> LayerWork:
        """The mean with a share of another kind of layer."""
        return LayerWork(
            self.forward * (1 - share) + other.forward * share,
            self.backward * (1 - share) + other.backward * share,
            self.again * (1 - share) + other.again * share,
            self.scores_s * (1 - share) + other.scores_s * share,
        )


@dataclass(frozen=True, slots=True)
class _Matrices:
    """Of one GPU: weights that a token meets, weights that are read, values in and out of products for a token."""

    used: Floats
    read: Floats
    values: Floats


def layer_work(job: TrainingJob, mappings: Mappings, machine: Machine, *, moe: bool) -> LayerWork:
    """Seconds of a layer with or without experts; attention is the mean of windowed and other layers."""
    tokens = tokens_of(job, mappings)
    matrices = _layer_matrices(job, mappings, moe=moe)
    products = _products_s(job, machine, tokens, matrices, machine.matmul_flops_per_s)
    whole, split = _elementwise_values(job, mappings, moe=moe)
    elementwise = tokens * (whole + split) * _element_seconds(job, machine)
    scores, scores_back = _scores(job, mappings, machine, tokens)
    forward = Work(products, elementwise) + scores
    backward = Work(2 * products, _BACKWARD_PASSES * elementwise) + scores_back
    full, selective = (mappings.recompute == RECOMPUTE.index(mode) for mode in ("full", "selective"))
    remade = scores
    if job.fused_attention:
        moved = tokens * _remade_values(job, mappings, moe=moe) * _element_seconds(job, machine)
        remade = Work(np.zeros_like(products), moved)
    again = forward * full + remade * selective
    return LayerWork(forward, backward, again, scores.total_s * (1.0 + full) + scores_back.total_s)


def head_work(job: TrainingJob, mappings: Mappings, machine: Machine) -> Work:
    """The output matrix and the loss of a microbatch, forward and backward, on the last stage."""
    tokens, h, vocab = tokens_of(job, mappings), job.shape.hidden, job.shape.vocab / mappings.tp
    matrix = _Matrices(h * vocab, h * vocab, h + vocab)
    products = _products_s(job, machine, tokens, matrix, machine.bf16_flops_per_s)
    return Work(3 * products, tokens * vocab * _LOGIT_BYTES / machine.memory_bytes_per_s)


def optimizer_s(job: TrainingJob, mappings: Mappings, machine: Machine, dense: Floats, expert: Floats) -> Floats:
    """AdamW on `dense` and `expert` parameters of a GPU: gradients read, state read and written, weights written.

    From ZeRO 1 on each rank updates its shard.
    """
    q = job.element_bytes
    shards = np.where(mappings.zero >= 1, mappings.data_ranks, 1)
    expert_shards = np.where(mappings.zero >= 1, mappings.expert_data_ranks, 1)
    parameters = dense / shards + expert / expert_shards
    return parameters * (q.gradients + 2 * q.optimizer + q.weights) / machine.memory_bytes_per_s


def tokens_of(job: TrainingJob, mappings: Mappings) -> Floats:
    """Tokens of a microbatch on a context rank."""
    return mappings.micro_batch * (job.sequence / mappings.cp)


def _element_seconds(job: TrainingJob, machine: Machine) -> float:
    """Seconds of one pass over one activation value."""
    return job.element_bytes.activations / machine.memory_bytes_per_s


def _products_s(job: TrainingJob, machine: Machine, tokens: Floats, matrices: _Matrices, flops_per_s: float) -> Floats:
    values = matrices.read + tokens * matrices.values
    return 2.0 * tokens * matrices.used / flops_per_s + values * _element_seconds(job, machine)


def _layer_matrices(job: TrainingJob, mappings: Mappings, *, moe: bool) -> _Matrices:
    attention, ffn = _attention_matrices(job, mappings), _ffn_matrices(job, mappings, moe=moe)
    return _Matrices(attention.used + ffn.used, attention.read + ffn.read, attention.values + ffn.values)


def _attention_matrices(job: TrainingJob, mappings: Mappings) -> _Matrices:
    a, h, tp = job.shape.attention, job.shape.hidden, mappings.tp
    by_head, by_kv_head, whole = attention_matrices(job.shape)
    kv_shards = np.minimum(tp, a.kv_heads)
    weights = by_head / tp + by_kv_head / kv_shards + whole
    if a.type == "mla":
        latent, query_latent = (a.kv_latent or 0), (a.q_latent or 0)
        from_latent = a.heads * ((a.qk_nope_dim or 0) + (a.v_dim or 0))
        down = 2 * h + 2 * (query_latent + latent) + (a.rope_dim or 0)
        values = down + (query_width(a) + from_latent + value_width(a)) / tp + h
    else:
        keys = 2 * a.kv_heads * (a.head_dim or 0) / kv_shards
        values = 2 * h + (query_width(a) + value_width(a)) / tp + keys
    return _Matrices(weights, weights, values)


def _ffn_matrices(job: TrainingJob, mappings: Mappings, *, moe: bool) -> _Matrices:
    shape, tp = job.shape, mappings.tp
    count, h = matrices_of(shape.ffn), shape.hidden
    if not moe or shape.experts is None:
        weights = count * h * shape.ffn.width / tp
        return _Matrices(weights, weights, 2 * h + count * shape.ffn.width / tp)
    e = shape.experts
    one, values = count * h * e.ffn_width / tp, 2 * h + count * e.ffn_width / tp
    router = h * e.routed
    return _Matrices(
        used=(e.per_token + e.shared) * one + router,
        read=(e.routed / mappings.ep + e.shared) * one + router,
        values=(e.per_token + e.shared) * values + h + e.routed,
    )


def _scores(job: TrainingJob, mappings: Mappings, machine: Machine, tokens: Floats) -> tuple[Work, Work]:
    """Queries with keys, softmax, weights with values: forward and backward.

    Fused kernels look at the keys before a query only, and run at the efficiency of the other products (FlashAttention
    3 does on an H100: arXiv 2407.08608). Scores kept in memory are all made; a product with them takes the longer of
    its FLOPs and of moving the scores. Both stay in bf16 (arXiv 2412.19437 section 3.3.1).
    """
    shape, tp = job.shape, mappings.tp
    count: AttentionCount = "causal" if job.fused_attention else "full"
    flops = score_flops_per_token(shape, job.sequence, count) / shape.layers
    products = tokens * (flops / machine.bf16_flops_per_s) / tp
    if job.fused_attention:
        nothing = np.zeros_like(products)
        return Work(products, nothing), Work(_FUSED_BACKWARD * products, nothing)
    windowed = shape.windowed_layers / shape.layers
    keys = (1 - windowed) * job.sequence + windowed * keys_of_a_query(job.sequence, shape.attention.window, "full")
    one_pass = tokens * (shape.attention.heads * keys * _element_seconds(job, machine)) / tp
    dropout = _DROPOUT_PASSES if job.dropout else 0.0
    half, moved = products / 2, one_pass * _PRODUCT_PASSES[0]
    forward = Work(2 * np.maximum(half, moved), one_pass * (_SOFTMAX_PASSES[0] + dropout))
    backward = Work(4 * np.maximum(half, moved), one_pass * (_SOFTMAX_PASSES[1] + dropout))
    return forward, backward


def _elementwise_values(job: TrainingJob, mappings: Mappings, *, moe: bool) -> tuple[Floats, Floats]:
    """Values moved for a token, forward: of what sequence parallelism alone splits over tensor ranks; of the rest."""
    shape, h = job.shape, job.shape.hidden
    whole = shape.ffn.norms_per_layer * _NORM_PASSES * h + _RESIDUALS * (_RESIDUAL_PASSES + 0.5 * job.dropout) * h
    split = float(_activation_passes(job) * _ffn_width(job, moe=moe))
    if shape.learned_positions == 0:
        split += 2.0 * _rotated(job)
    if moe and shape.experts is not None:
        # Tokens are sorted by expert, and their results summed up.
        whole += 4 * shape.experts.per_token * h
    return whole / _shards(mappings), split / mappings.tp


def _remade_values(job: TrainingJob, mappings: Mappings, *, moe: bool) -> Floats:
    """Values moved to make the outputs of norms and of the activation function again."""
    norms = job.shape.ffn.norms_per_layer * _NORM_PASSES * job.shape.hidden
    return norms / _shards(mappings) + _activation_passes(job) * _ffn_width(job, moe=moe) / mappings.tp


def _shards(mappings: Mappings) -> Floats:
    return np.where(mappings.sequence_parallel, mappings.tp, 1.0)


def _activation_passes(job: TrainingJob) -> int:
    """The activation function reads one (gated: two) and writes one."""
    return matrices_of(job.shape.ffn)


def _ffn_width(job: TrainingJob, *, moe: bool) -> int:
    e = job.shape.experts
    return (e.per_token + e.shared) * e.ffn_width if moe and e is not None else job.shape.ffn.width


def _rotated(job: TrainingJob) -> int:
    """Values of queries and keys that rotary positions turn."""
    a = job.shape.attention
    if a.type == "mla":
        return (a.heads + 1) * (a.rope_dim or 0)
    return (a.heads + a.kv_heads) * (a.head_dim or 0)
