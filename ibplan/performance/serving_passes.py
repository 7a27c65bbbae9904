"""Seconds of a pass of the model over a unit of GPUs that serves: a prefill, or one decode step. Vectorised.

Roofline: each part takes the longer of its operations over the GPU's FLOP/s and its bytes over the memory's; parts
follow each other. Where tokens go to experts on other GPUs, the batch can be halved and one half's exchange runs beside
the other half's work; of both ways the faster one counts. A service reaches a share of this, its pace, which is
calibrated on published services; all seconds are at that pace.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict

from ibplan.document import read_document, validate
from ibplan.performance.collectives import all_reduce_s, all_to_all_s, send_s
from ibplan.workload.defaults import Sourced
from ibplan.workload.parameters import attention_matrices, embedding, matrices_of, query_width, value_width
from ibplan.workload.serving import kv_shards

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ibplan.performance.machine import Machine
    from ibplan.workload.arrays import Bools, Floats
    from ibplan.workload.job import InferenceJob
    from ibplan.workload.serving import Deployments

_FILE = Path(__file__).parent / "data" / "inference.yaml"


class Constants(BaseModel):
    """What the times rest on beside the GPU's peaks."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    layer_overhead_us: Sourced
    pace: Sourced
    pace_with_experts: Sourced


@lru_cache(maxsize=1)
def constants() -> Constants:
    """The packaged constants."""
    return validate(Constants, read_document(_FILE))


@dataclass(frozen=True, slots=True)
class PassTimes:
    """Seconds through all stages of a unit. Arrays of shape (deployments,); NaN where the machine is not known.

    `matrices_s`, `scores_s`, `overhead_s`: on the GPU; `tensor_s`, `expert_s`, `pipeline_s`: exchanges; `total_s`: the
    pass, which is less than the sum where expert exchanges are hidden; `interval_s`: until the fullest stage is free
    for the next microbatch.
    """

    matrices_s: Floats
    scores_s: Floats
    overhead_s: Floats
    tensor_s: Floats
    expert_s: Floats
    pipeline_s: Floats
    total_s: Floats
    interval_s: Floats

    @property
    def communication_s(self) -> Floats:
        """Seconds of the pass in which the GPU only waits for exchanges."""
        return np.maximum(self.total_s - self.matrices_s - self.scores_s - self.overhead_s, 0.0)

    def take(self, index: NDArray[np.intp] | Bools) -> PassTimes:
        """The passes of that index or mask."""
        return PassTimes(**{field.name: getattr(self, field.name)[index] for field in fields(self)})


@dataclass(frozen=True, slots=True)
class _Batch:
    """What a copy of the attention works on: `tokens`, for `requests`; `keys` a token, `read` tokens of each cache.

    `latent`: scores in the latent space of MLA, without making keys and values of the cache again.
    """

    tokens: Floats
    requests: Floats
    keys: float
    read: float
    latent: bool


def decode_pass(job: InferenceJob, deployments: Deployments, machine: Machine) -> PassTimes:
    """A decode step of `batch` requests of mean context in each copy: one token each."""
    batch = deployments.batch.astype(np.float64)
    context = job.mean_context
    return _pass(job, deployments, machine, _Batch(batch, batch, context, context, latent=True))


def prefill_pass(job: InferenceJob, deployments: Deployments, machine: Machine) -> PassTimes:
    """A prefill of `batch` requests in each copy: all input tokens that are not in the cache."""
    batch = deployments.batch.astype(np.float64)
    new = job.new_tokens
    cached = job.input_tokens - new
    return _pass(
        job, deployments, machine, _Batch(batch * new, batch, cached + new / 2, job.input_tokens, latent=False)
    )


def expert_floor_s(hidden: int, experts: int, tokens: int, bytes_a_value: float, gbytes_per_s: float) -> float:
    """Seconds of a dispatch and a combine at wire rate: bytes x tokens x experts x hidden / rate.

    arXiv 2505.09343 section 2.3.2, where `experts` counts the shared one too and `bytes_a_value` is 1 + 2.
    """
    return bytes_a_value * tokens * experts * hidden / (gbytes_per_s * 1e9)


def _pass(job: InferenceJob, deployments: Deployments, machine: Machine, batch: _Batch) -> PassTimes:
    whole = _parts(job, deployments, machine, batch)
    half = _parts(job, deployments, machine, _half(batch))
    in_turn = whole.busy_s + whole.expert_s
    beside = 2 * np.maximum(half.busy_s, half.expert_s)
    hidden = (deployments.ep > 1) & (batch.requests >= 2) & (beside < in_turn)
    # Halved, the weights are read twice.
    matrices_s, overhead_s, tensor_s, expert_s = (
        np.where(hidden, 2 * getattr(half, name), getattr(whole, name))
        for name in ("matrices_s", "overhead_s", "tensor_s", "expert_s")
    )
    pipeline_s = _pipeline(job, deployments, machine, batch.tokens)
    stages_s = np.where(hidden, beside, in_turn)
    known = constants()
    slower = 1 / (known.pace if job.shape.experts is None else known.pace_with_experts).value
    fullest = -(-job.shape.layers // deployments.pp) / job.shape.layers
    return PassTimes(
        matrices_s=slower * matrices_s,
        scores_s=slower * whole.scores_s,
        overhead_s=slower * overhead_s,
        tensor_s=slower * tensor_s,
        expert_s=slower * expert_s,
        pipeline_s=slower * pipeline_s,
        total_s=slower * (stages_s + pipeline_s),
        interval_s=slower * (stages_s * fullest + pipeline_s / np.maximum(deployments.pp - 1, 1)),
    )


def _half(batch: _Batch) -> _Batch:
    return _Batch(batch.tokens / 2, batch.requests / 2, batch.keys, batch.read, batch.latent)


@dataclass(frozen=True, slots=True)
class _Parts:
    matrices_s: Floats
    scores_s: Floats
    overhead_s: Floats
    tensor_s: Floats
    expert_s: Floats

    @property
    def busy_s(self) -> Floats:
        """All that expert exchanges can hide behind."""
        return self.matrices_s + self.scores_s + self.overhead_s + self.tensor_s


def _parts(job: InferenceJob, deployments: Deployments, machine: Machine, batch: _Batch) -> _Parts:
    overhead_s = job.shape.layers * constants().layer_overhead_us.value * 1e-6
    return _Parts(
        matrices_s=_matrices(job, deployments, machine, batch),
        scores_s=_scores(job, deployments, machine, batch),
        overhead_s=np.full(len(deployments), overhead_s),
        tensor_s=_tensor(job, deployments, machine, batch.tokens),
        expert_s=_expert(job, deployments, machine, batch.tokens),
    )


def _roofline(machine: Machine, flops: Floats, moved_bytes: Floats, flops_per_s: float) -> Floats:
    """The longer of computing and moving."""
    return np.maximum(flops / flops_per_s, moved_bytes / machine.memory_bytes_per_s)


def _matrices(job: InferenceJob, deployments: Deployments, machine: Machine, batch: _Batch) -> Floats:
    """Products with weights: attention and feed-forward parts of all layers; in bf16 the logits of each request."""
    shape, q, tp = job.shape, job.element_bytes.weights, deployments.tp
    by_head, by_kv_head, whole = attention_matrices(shape)
    attention = by_head / tp + by_kv_head / np.minimum(tp, shape.attention.kv_heads) + whole
    dense = matrices_of(shape.ffn) * shape.hidden * shape.ffn.width / tp
    output = embedding(shape) / tp
    tokens, rate = batch.tokens, machine.matmul_flops_per_s
    return (
        shape.layers * _roofline(machine, 2 * tokens * attention, q * attention, rate)
        + shape.dense_layers * _roofline(machine, 2 * tokens * dense, q * dense, rate)
        + shape.moe_layers * _experts(job, deployments, machine, tokens)
        + _roofline(machine, 2 * batch.requests * output, 2 * output, machine.bf16_flops_per_s)
    )


def _experts(job: InferenceJob, deployments: Deployments, machine: Machine, tokens: Floats) -> Floats:
    """One layer's experts: balanced work; of the weights those of experts that some token of the unit chose."""
    shape, experts, tp = job.shape, job.shape.experts, deployments.tp
    if experts is None:
        return np.zeros(len(deployments))
    one = matrices_of(shape.ffn) * shape.hidden * experts.ffn_width
    chosen = 1 - (1 - experts.per_token / experts.routed) ** (tokens * deployments.copies)
    shared = experts.shared * one / tp + shape.hidden * experts.routed
    flops = 2 * tokens * (experts.per_token * one / tp + shared)
    weights = experts.routed * chosen * one / deployments.stage_gpus + shared
    return _roofline(machine, flops, job.element_bytes.weights * weights, machine.matmul_flops_per_s)


def _scores(job: InferenceJob, deployments: Deployments, machine: Machine, batch: _Batch) -> Floats:
    """Queries with keys and weights with values, in bf16, against reading the cache of each request."""
    shape, a = job.shape, job.shape.attention
    if a.type == "mla" and batch.latent:
        width = a.heads * (2 * (a.kv_latent or 0) + (a.rope_dim or 0))
    else:
        width = query_width(a) + value_width(a)
    shards = kv_shards(a, deployments.tp)
    seconds = np.zeros(len(deployments))
    for layers, window in ((shape.layers - shape.windowed_layers, None), (shape.windowed_layers, a.window)):
        keys, read = (min(n, window or n) for n in (batch.keys, batch.read))
        flops = 2 * batch.tokens * width * keys / deployments.tp
        cache = batch.requests * read * a.kv_values_per_token * job.kv_bytes / shards
        seconds = seconds + layers * _roofline(machine, flops, cache, machine.bf16_flops_per_s)
    return seconds


def _tensor(job: InferenceJob, deployments: Deployments, machine: Machine, tokens: Floats) -> Floats:
    """An all-reduce of the hidden states after attention, and after the feed-forward part where tp splits it."""
    net, shape = machine.interconnect, job.shape
    size = tokens * (shape.hidden * job.element_bytes.activations)
    calls = shape.layers + shape.dense_layers + np.where(deployments.ep == 1, shape.moe_layers, 0)
    return calls * all_reduce_s(size, deployments.tp, np.minimum(deployments.tp, net.domain_gpus), net)


def _expert(job: InferenceJob, deployments: Deployments, machine: Machine, tokens: Floats) -> Floats:
    """Tokens to their experts and back, each tensor rank its part of them."""
    net, shape, q = machine.interconnect, job.shape, job.element_bytes
    if shape.experts is None:
        return np.zeros(len(deployments))
    values = tokens / deployments.tp * (shape.experts.per_token * shape.hidden)
    inside = np.minimum(deployments.ep, net.domain_gpus)
    ways = (all_to_all_s(values * bytes_, deployments.ep, inside, net) for bytes_ in (q.dispatch, q.combine))
    return shape.moe_layers * sum(ways, np.zeros(len(deployments)))


def _pipeline(job: InferenceJob, deployments: Deployments, machine: Machine, tokens: Floats) -> Floats:
    """Hidden states to the next stage, each tensor rank its part, once between each two stages."""
    net = machine.interconnect
    size = tokens / deployments.tp * (job.shape.hidden * job.element_bytes.activations)
    inside = np.clip(net.domain_gpus // deployments.stage_gpus, 1, deployments.pp)
    return (deployments.pp - 1) * send_s(size, deployments.pp, inside, net)
