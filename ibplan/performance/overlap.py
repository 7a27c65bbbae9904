"""Which part of an exchange stays exposed: what computing cannot hide, by the rules of a practice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ibplan.performance.exchanges import ExchangeSeconds
from ibplan.performance.kernels import LayerWork
from ibplan.performance.practice import Practice
from ibplan.workload.mapping import Mappings

if TYPE_CHECKING:
    from ibplan.workload.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class LayerExposed:
    """Exposed seconds of one layer and microbatch, all passes. Arrays of shape (mappings,)."""

    tensor_s: Floats
    context_s: Floats
    expert_s: Floats

    @property
    def sum_s(self) -> Floats:
        """All of them."""
        return self.tensor_s + self.context_s + self.expert_s


def layer_exposed_s(seconds: ExchangeSeconds, layer_passes: Ints, layer: LayerWork, rules: Practice) -> LayerExposed:
    """Tensor exchanges are waited for; keys and values go round under attention, experts under the layer's work."""
    context, expert = seconds.context_s / layer_passes, seconds.expert_s / layer_passes
    if rules.context_overlap:
        context = np.maximum(0.0, context - layer.scores_s)
    if rules.expert_overlap:
        expert = np.maximum(0.0, expert - layer.all_passes.total_s)
    return LayerExposed(seconds.tensor_s / layer_passes, context, expert)


def sends_exposed_s(mappings: Mappings, microbatches: Ints, pace_s: Floats, send_s: Floats, rules: Practice) -> Floats:
    """Sends between stages: for each microbatch and chunk, and the way of the first one forward and of the last back.

    An interleaved pipeline hides a send behind the pass of another chunk; the way through the stages is never hidden.
    """
    pp, v = mappings.pp, mappings.interleave
    pass_s = pace_s / (2 * v)
    waited = np.where(rules.pipeline_overlap & (v > 1), np.maximum(0.0, send_s - pass_s), send_s)
    ways = np.where((pp == 2) & (v == 1), 1, 2)
    return np.where(pp > 1, microbatches * v * ways * waited + 2 * (pp - 1) * send_s, 0.0)


def data_exposed_s(
    mappings: Mappings, microbatches: Ints, layers: Floats, layer: LayerWork, seconds: ExchangeSeconds, rules: Practice
) -> Floats:
    """Reductions of gradients and gathers of weights.

    Up to ZeRO 1 both are made once a step: one hides behind the last microbatch's backward pass, the other behind the
    first one's forward pass. ZeRO 2 reduces after every microbatch. ZeRO 3 gathers for the forward and the backward
    pass of each. Of what hides, the last layer's reduction and the first layer's gather stay exposed.
    """
    reduce_s, gather_s, m = seconds.reduce_s, seconds.gather_s, microbatches
    forward_s, backward_s = layers * layer.forward.total_s, layers * (layer.backward + layer.again).total_s
    if rules.data_overlap:
        gather = np.maximum(gather_s / layers, gather_s - forward_s)
        once = np.maximum(reduce_s / layers, reduce_s - backward_s) + gather
        each = m * np.maximum(0.0, reduce_s - backward_s) + reduce_s / layers + gather
    else:
        once, each = reduce_s + gather_s, m * reduce_s + gather_s
    if rules.sharded_weights.prefetch:
        forward, backward = gather_s - forward_s, gather_s + reduce_s - backward_s
        sharded = m * (np.maximum(0.0, forward) + np.maximum(0.0, backward)) + (gather_s + reduce_s) / layers
    else:
        sharded = m * (2 * gather_s + reduce_s)
    return np.select([mappings.zero <= 1, mappings.zero == 2], [once, each], sharded)
