"""Bytes that a GPU sends in a training step on each parallel axis, and which of them leave the NVLink domain.

A collective over a group of n GPUs, K to a domain's worth of g, is taken as hierarchical: of a gather or scatter of S
bytes, (g - 1) / g S stay in the domain and (K - 1) / K S / g leave it, together (n - 1) / n S.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ibplan.workload.mapping import RECOMPUTE
from ibplan.workload.parameters import query_width, value_width
from ibplan.workload.stages import busiest_layers, stages_of

if TYPE_CHECKING:
    from ibplan.workload.arrays import Floats, Ints
    from ibplan.workload.job import TrainingJob
    from ibplan.workload.mapping import Mappings


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a GPU exchanges on one axis. Arrays of shape (mappings,).

    `group`: GPUs that take part, `inside` of them in one NVLink domain; `message_bytes`: size of one collective in
    the terms of nccl-tests (mean, where sizes differ); `calls` a step; `sent_bytes` a GPU and step, of which
    `network_bytes` leave the domain.
    """

    group: Ints
    inside: Ints
    message_bytes: Floats
    calls: Floats
    sent_bytes: Floats
    network_bytes: Floats

    @property
    def domain_bytes(self) -> Floats:
        """Bytes that stay inside the NVLink domain."""
        return self.sent_bytes - self.network_bytes


@dataclass(frozen=True, slots=True)
class Traffic:
    """A step's exchanges, on the busiest pipeline stage.

    `tp`: all-reduces, with sequence parallelism each a reduce-scatter and an all-gather; `pp`, `cp`: sends to a
    neighbour; `dispatch`, `combine`: all-to-alls of experts; `gradients`: reduce-scatters, `weights`: all-gathers
    (ZeRO 0: together one all-reduce), and the same of `expert_` parameters.
    """

    tp: Exchange
    pp: Exchange
    cp: Exchange
    dispatch: Exchange
    combine: Exchange
    gradients: Exchange
    weights: Exchange
    expert_gradients: Exchange
    expert_weights: Exchange

    def axes(self) -> dict[str, tuple[Exchange, ...]]:
        """The exchanges of each axis."""
        data = (self.gradients, self.weights, self.expert_gradients, self.expert_weights)
        return {"tp": (self.tp,), "pp": (self.pp,), "cp": (self.cp,), "ep": (self.dispatch, self.combine), "dp": data}

    def sent_bytes(self, axis: str) -> Floats:
        """Bytes that a GPU sends a step on `axis`: tp, pp, cp, ep or dp."""
        return sum_of([exchange.sent_bytes for exchange in self.axes()[axis]])

    def network_bytes(self, axis: str | None = None) -> Floats:
        """Those that leave the NVLink domain; of all axes without one."""
        names = self.axes() if axis is None else (axis,)
        return sum_of([e.network_bytes for name in names for e in self.axes()[name]])


def sum_of(arrays: list[Floats]) -> Floats:
    """The sum, element by element."""
    return functools.reduce(np.add, arrays)


def traffic_bytes(job: TrainingJob, mappings: Mappings, domain_gpus: int) -> Traffic:
    """What each mapping exchanges, with NVLink domains of `domain_gpus`."""
    m = mappings.microbatches(job.global_batch)
    hidden_bytes = _tokens(job, mappings) * (job.shape.hidden * job.element_bytes.activations)
    dispatch, combine = _experts(job, mappings, m, domain_gpus)
    return Traffic(
        _tensor(job, mappings, m, hidden_bytes, domain_gpus),
        _pipeline(mappings, m, hidden_bytes, domain_gpus),
        _context(job, mappings, m, domain_gpus),
        dispatch,
        combine,
        *_data(job, mappings, m, domain_gpus),
    )


def _tokens(job: TrainingJob, mappings: Mappings) -> Floats:
    """Tokens of a microbatch on a context rank."""
    return mappings.micro_batch * (job.sequence / mappings.cp)


def _forward_passes(mappings: Mappings) -> Ints:
    """How often a layer's forward exchanges are made: again where all is computed again."""
    passes: Ints = 1 + (mappings.recompute == RECOMPUTE.index("full"))
    return passes


def _moe_layers(job: TrainingJob, mappings: Mappings) -> Floats:
    """Layers with experts on the busiest stage: its share of all."""
    return np.multiply(busiest_layers(job.shape, mappings), job.shape.moe_layers / job.shape.layers, dtype=np.float64)


def _gathered(
    group: Ints, stride: Ints, message_bytes: Floats, calls: Floats | Ints, domain_gpus: int, ways: int = 1
) -> Exchange:
    """`calls` gathers or scatters of `message_bytes` (all-reduces: two `ways`) in groups of ranks `stride` apart."""
    inside = np.clip(domain_gpus // stride, 1, group)
    sent = ways * calls * message_bytes * ((group - 1) / group)
    across = ways * calls * message_bytes * ((group - inside) / (group * inside))
    return Exchange(group, inside, message_bytes, np.asarray(calls, dtype=np.float64), sent, across)


def _sent(group: Ints, stride: Ints, message_bytes: Floats, calls: Floats | Ints, domain_gpus: int) -> Exchange:
    """`calls` sends of `message_bytes` to a neighbour. The GPU at the edge of its domain decides: it sends all out."""
    inside = np.clip(domain_gpus // stride, 1, group)
    made = np.where(group > 1, calls, 0.0)
    sent = made * message_bytes
    return Exchange(group, inside, message_bytes, made, sent, np.where(inside < group, sent, 0.0))


def _tensor(job: TrainingJob, mappings: Mappings, m: Ints, hidden_bytes: Floats, domain_gpus: int) -> Exchange:
    """All-reduces of a microbatch's hidden states: after attention and feed-forward part, forward and backward.

    Experts are split by tp, too: their all-reduce is over the copies that their tokens were dispatched in.
    """
    passes = m * (_forward_passes(mappings) + 1)
    layers, experts = busiest_layers(job.shape, mappings), job.shape.experts
    calls, messages = 2.0 * layers, 2.0 * layers
    if experts is not None:
        moe = _moe_layers(job, mappings)
        shared = int(experts.shared > 0)
        calls, messages = calls + moe * shared, messages + moe * (experts.per_token + shared - 1)
    mean = hidden_bytes * messages / calls
    return _gathered(mappings.tp, np.ones_like(mappings.tp), mean, passes * calls, domain_gpus, ways=2)


def _pipeline(mappings: Mappings, m: Ints, hidden_bytes: Floats, domain_gpus: int) -> Exchange:
    """Hidden states forward, their gradients backward, each tensor rank its part (arXiv 2104.04473, section 4.1).

    A stage in the middle sends both; with two stages that are not interleaved each sends one.
    """
    ways = np.where((mappings.pp == 2) & (mappings.interleave == 1), 1, 2)
    stride = mappings.tp * mappings.cp * mappings.dp
    return _sent(mappings.pp, stride, hidden_bytes / mappings.tp, m * mappings.interleave * ways, domain_gpus)


def _context(job: TrainingJob, mappings: Mappings, m: Ints, domain_gpus: int) -> Exchange:
    """Keys and values once around the ring forward; backward they and their gradients. Windows are not made use of."""
    a = job.shape.attention
    if a.type == "mla":
        width = (query_width(a) + value_width(a)) / mappings.tp
    else:
        width = 2 * a.kv_heads * (a.head_dim or 0) / np.minimum(mappings.tp, a.kv_heads)
    message = _tokens(job, mappings) * width * job.element_bytes.activations
    around = busiest_layers(job.shape, mappings) * m * (mappings.cp - 1)
    return _sent(mappings.cp, mappings.tp, message, around * (_forward_passes(mappings) + 2), domain_gpus)


def _experts(job: TrainingJob, mappings: Mappings, m: Ints, domain_gpus: int) -> tuple[Exchange, Exchange]:
    """Each token to its experts and back, forward and backward; balanced, one copy for each expert."""
    experts, q = job.shape.experts, job.element_bytes
    tokens = _tokens(job, mappings) / np.where(mappings.sequence_parallel, mappings.tp, 1)
    values = tokens * (job.shape.hidden * (0 if experts is None else experts.per_token))
    calls = _moe_layers(job, mappings) * m * (_forward_passes(mappings) + 1)
    return (
        _all_to_all(mappings, values * q.dispatch, calls, domain_gpus),
        _all_to_all(mappings, values * q.combine, calls, domain_gpus),
    )


def _all_to_all(mappings: Mappings, message_bytes: Floats, calls: Floats, domain_gpus: int) -> Exchange:
    group = mappings.ep
    inside = np.clip(domain_gpus // mappings.tp, 1, group)
    total = calls * message_bytes
    return Exchange(
        group, inside, message_bytes, calls, total * ((group - 1) / group), total * ((group - inside) / group)
    )


def _data(job: TrainingJob, mappings: Mappings, m: Ints, domain_gpus: int) -> tuple[Exchange, ...]:
    """Gradients scattered and weights gathered, of dense and of expert parameters.

    Once a step; from ZeRO 2 on gradients for each microbatch, with ZeRO 3 weights for each pass of each microbatch.
    """
    stages = stages_of(job.shape, mappings, m)
    dense = np.max([stage.dense_parameters for stage in stages], axis=0)
    expert = np.max([stage.expert_parameters for stage in stages], axis=0)
    q, zero = job.element_bytes, mappings.zero
    weight = np.where(zero == 0, q.gradients, q.weights)
    scatters, gathers = np.where(zero >= 2, m, 1), np.where(zero >= 3, 2 * m, 1)
    ranks, expert_ranks = mappings.data_ranks, mappings.expert_data_ranks
    stride, expert_stride = mappings.tp, mappings.tp * mappings.ep
    return (
        _gathered(ranks, stride, dense * q.gradients, scatters, domain_gpus),
        _gathered(ranks, stride, dense * weight, gathers, domain_gpus),
        _gathered(expert_ranks, expert_stride, expert * q.gradients, scatters, domain_gpus),
        _gathered(expert_ranks, expert_stride, expert * weight, gathers, domain_gpus),
    )
