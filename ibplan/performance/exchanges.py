"""Seconds that a step's exchanges take, before anything hides them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ibplan.performance.arrays import distinct_columns
from ibplan.performance.collectives import all_gather_s, all_reduce_s, all_to_all_s, reduce_scatter_s, send_s
from ibplan.performance.interconnect import Interconnect
from ibplan.performance.practice import ShardedWeights
from ibplan.workload.mapping import Mappings
from ibplan.workload.traffic import Exchange, Traffic

if TYPE_CHECKING:
    from ibplan.workload.arrays import Floats, Ints

    _Collective = Callable[..., Floats]


@dataclass(frozen=True, slots=True)
class ExchangeSeconds:
    """Seconds, arrays of shape (mappings,). `tensor_s`, `context_s`, `expert_s`: a step, on the busiest stage.

    `send_s`: one send between pipeline stages. `reduce_s`, `gather_s`: one reduction of all gradients of a GPU, one
    gather of all its weights (ZeRO 0: the all-reduce is the reduction, and there is no gather).
    """

    tensor_s: Floats
    context_s: Floats
    expert_s: Floats
    send_s: Floats
    reduce_s: Floats
    gather_s: Floats


def exchange_seconds(
    mappings: Mappings, traffic: Traffic, net: Interconnect, sharded: ShardedWeights, layers: Ints
) -> ExchangeSeconds:
    """What each exchange of `traffic` takes. `layers` of a stage: weights that ZeRO 3 shards go layer by layer."""
    tp, context_span = mappings.tp, mappings.tp * mappings.cp
    data_span, expert_span = context_span * mappings.dp, tp * mappings.ep
    reduce_s, gather_s = _data_s(mappings, traffic, net, sharded, layers, data_span)
    dispatch, combine = (
        exchange.calls * _seconds(all_to_all_s, exchange, net, expert_span)
        for exchange in (traffic.dispatch, traffic.combine)
    )
    return ExchangeSeconds(
        tensor_s=traffic.tp.calls * _tensor_s(mappings, traffic.tp, net),
        context_s=traffic.cp.calls * _seconds(send_s, traffic.cp, net, context_span),
        expert_s=dispatch + combine,
        send_s=_pipeline_s(mappings, traffic, net),
        reduce_s=reduce_s,
        gather_s=gather_s,
    )


def _seconds(
    collective: _Collective, exchange: Exchange, net: Interconnect, span: Ints, message_bytes: Floats | None = None
) -> Floats:
    """One call; 0 without asking where no group has more than one rank. Mappings that call alike are asked once."""
    if not (exchange.group > 1).any():
        return np.zeros(len(exchange.group))
    size = exchange.message_bytes if message_bytes is None else message_bytes
    calls = np.stack([size, exchange.group, exchange.inside, span]).astype(np.float64)
    first, which = distinct_columns(calls)
    size, group, inside, spanned = calls[:, first]
    return collective(size, group, inside, net, span_gpus=spanned)[which]


def _tensor_s(mappings: Mappings, tp: Exchange, net: Interconnect) -> Floats:
    """One all-reduce, or with sequence parallelism a reduce-scatter and an all-gather."""
    parallel = mappings.sequence_parallel
    reduced = 0.0 if parallel.all() else _seconds(all_reduce_s, tp, net, mappings.tp)
    if not parallel.any():
        return reduced + np.zeros(len(mappings))
    parted = _seconds(reduce_scatter_s, tp, net, mappings.tp) + _seconds(all_gather_s, tp, net, mappings.tp)
    return np.where(parallel, parted, reduced)


def _pipeline_s(mappings: Mappings, traffic: Traffic, net: Interconnect) -> Floats:
    """A send of each tensor rank's part; without sequence parallelism the parts are gathered after it."""
    send = _seconds(send_s, traffic.pp, net, mappings.gpus)
    gathers = (mappings.tp > 1) & (mappings.pp > 1) & ~mappings.sequence_parallel
    if not gathers.any():
        return send
    whole = traffic.pp.message_bytes * mappings.tp
    return send + np.where(gathers, _seconds(all_gather_s, traffic.tp, net, mappings.tp, whole), 0.0)


def _data_s(
    mappings: Mappings, traffic: Traffic, net: Interconnect, sharded: ShardedWeights, layers: Ints, span: Ints
) -> tuple[Floats, Floats]:
    """One reduction of all gradients and one gather of all weights, of dense and expert parameters."""
    whole, by_layer = mappings.zero == 0, mappings.zero >= 3
    parts = np.where(by_layer, layers * sharded.collectives_per_layer, 1)
    # A share of the rate is as many more bytes; what a call takes without bytes stays.
    stretch = np.where(by_layer, 1 / sharded.rate_share, 1.0) / parts

    def one(collective: _Collective, exchange: Exchange) -> Floats:
        return parts * _seconds(collective, exchange, net, span, exchange.message_bytes * stretch)

    reduce_s = one(reduce_scatter_s, traffic.gradients) + one(reduce_scatter_s, traffic.expert_gradients)
    copies = np.where(by_layer, parts * sharded.copy_us * 1e-6, 0.0) * mappings.data_ranks
    gather_s = one(all_gather_s, traffic.weights) + one(all_gather_s, traffic.expert_weights) + copies
    if not whole.any():
        return reduce_s, gather_s
    reduced = one(all_reduce_s, traffic.gradients) + one(all_reduce_s, traffic.expert_gradients)
    return np.where(whole, reduced, reduce_s), np.where(whole, 0.0, gather_s)
