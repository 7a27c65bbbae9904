"""Bytes of activations that a GPU keeps for the backward pass, by what is computed again.

For GPT with unfused attention and dropout these are the equations of arXiv 2205.05198: s b h (10 + 24 / t + 5 a s /
(h t)) a layer, 34 s b h / t with sequence parallelism and selective recomputation, 2 s b h with full.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ibplan.workload.flops import keys_of_a_query
from ibplan.workload.mapping import RECOMPUTE
from ibplan.workload.parameters import query_width, value_width

if TYPE_CHECKING:
    from ibplan.workload.arrays import Floats
    from ibplan.workload.job import TrainingJob
    from ibplan.workload.mapping import Mappings
    from ibplan.workload.stages import Stage

_LOGIT_BYTES = 4.0  # fp32
_MASK_BYTES = 1.0


@dataclass(frozen=True, slots=True)
class _Kept:
    """Bytes a token of one layer. `whole` is the same on all tensor ranks unless sequence parallel, `split` is not.

    `keys` are split over `kv_heads` at most. `elementwise_*`: the part that fused selective recomputation
    makes again from what is kept: outputs of norms, and the input of the feed-forward part's last matrix.
    """

    whole: float
    split: float
    keys: float
    kv_heads: int
    scores: float
    elementwise_whole: float
    elementwise_split: float


def activation_bytes(job: TrainingJob, mappings: Mappings, stage: Stage) -> Floats:
    """Bytes of a stage's activations at their most: microbatches in flight, logits, and work of full recomputation."""
    tokens = mappings.micro_batch * (job.sequence / mappings.cp)
    shards = np.where(mappings.sequence_parallel, mappings.tp, 1)
    dense = _layer(job, moe=False)
    kept = (stage.layers - stage.moe_layers) * _layer_bytes(job, dense, mappings, shards)
    work = _working_bytes(dense, mappings, shards)
    if job.shape.experts is not None:
        moe = _layer(job, moe=True)
        kept = kept + stage.moe_layers * _layer_bytes(job, moe, mappings, shards)
        work = np.maximum(work, _working_bytes(moe, mappings, shards))
    full = mappings.recompute == RECOMPUTE.index("full")
    outside = _outside_bytes(job, mappings, stage, shards)
    return tokens * (stage.in_flight * kept + np.where(full, work, 0.0) + outside)


def _layer(job: TrainingJob, *, moe: bool) -> _Kept:
    shape, q = job.shape, job.element_bytes.activations
    h, a, inner = shape.hidden, shape.attention, 2 if shape.ffn.gated else 1
    masks = 2 * _MASK_BYTES * h if job.dropout else 0.0
    if a.type == "mla":
        keys, latents = 0, (a.q_latent or 0) + (a.kv_latent or 0) + (a.rope_dim or 0)
        heads = 2 * query_width(a) + 2 * value_width(a)
    else:
        keys, latents = 2 * a.kv_heads * (a.head_dim or 0), 0
        heads = query_width(a) + value_width(a)
    copies, width = 0, shape.ffn.width
    if moe and shape.experts is not None:
        copies = 2 * shape.experts.per_token
        width = shape.experts.ffn_width * (shape.experts.per_token + shape.experts.shared)
    return _Kept(
        whole=q * (h * (shape.ffn.norms_per_layer + 2 + copies) + latents) + masks,
        split=q * (heads + (inner + 1) * width),
        keys=q * keys,
        kv_heads=a.kv_heads,
        scores=_score_bytes(job),
        elementwise_whole=q * 2 * h,
        elementwise_split=q * width,
    )


def _score_bytes(job: TrainingJob) -> float:
    """Softmax, and with dropout its mask and output; nothing where attention is fused. Mean over windowed layers."""
    if job.fused_attention:
        return 0.0
    shape, q = job.shape, job.element_bytes.activations
    windowed = shape.windowed_layers / shape.layers
    keys = (1 - windowed) * job.sequence + windowed * keys_of_a_query(job.sequence, shape.attention.window, "full")
    return shape.attention.heads * keys * (q + (_MASK_BYTES + q if job.dropout else 0.0))


def _working_bytes(kept: _Kept, mappings: Mappings, shards: Floats) -> Floats:
    """Bytes a token of a layer of which nothing is computed again."""
    keys = kept.keys / np.minimum(mappings.tp, kept.kv_heads)
    return kept.whole / shards + (kept.split + kept.scores) / mappings.tp + keys


def _layer_bytes(job: TrainingJob, kept: _Kept, mappings: Mappings, shards: Floats) -> Floats:
    """Bytes a token of a layer, less what is computed again: scores and, if attention is fused, elementwise results."""
    everything = _working_bytes(kept, mappings, shards)
    again = kept.scores / mappings.tp
    if job.fused_attention:
        again = kept.elementwise_whole / shards + kept.elementwise_split / mappings.tp
    only_input = job.element_bytes.activations * job.shape.hidden / shards
    choices = [everything, everything - again, only_input]
    return np.choose(mappings.recompute, choices)


def _outside_bytes(job: TrainingJob, mappings: Mappings, stage: Stage, shards: Floats) -> Floats:
    """Bytes a token outside the layers: the embedding's dropout mask; the last norm and matrix's inputs, and logits."""
    h = job.shape.hidden
    mask = stage.in_flight * _MASK_BYTES * h if job.dropout else 0.0
    output = 2 * job.element_bytes.activations * h / shards + _LOGIT_BYTES * job.shape.vocab / mappings.tp
    return stage.first * mask / shards + stage.last * output
