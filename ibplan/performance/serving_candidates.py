"""Which ways to lay a model over GPUs are tried when it is served."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ibplan.workload.serving import Deployments

if TYPE_CHECKING:
    from ibplan.performance.machine import Machine
    from ibplan.workload.shape_model import ModelShape


def layouts(shape: ModelShape, machine: Machine) -> Deployments:
    """All sizes that divide the model and fit the machine, with a batch of 1.

    Tensor parallel stays inside a domain (without one, inside a server), in powers of two; pipelines in powers of two;
    experts over each number of GPUs that divides them and is a multiple of tp.
    """
    inside = max(machine.interconnect.domain_gpus, machine.gpus_per_server)
    found = [
        (tp, pp, ep)
        for tp in _powers(min(inside, machine.gpus))
        if _divides(shape, tp)
        for ep in _expert_sizes(shape, tp)
        for pp in _powers(shape.layers)
        if max(tp, ep) * pp <= machine.gpus
    ]
    tp, pp, ep = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return Deployments(tp, pp, ep, np.ones_like(tp))


def shallow(found: Deployments) -> Deployments:
    """Those whose pipeline is at most four times as deep as the least of the same tp and ep: deeper ones only wait."""
    _, same = np.unique(np.stack([found.tp, found.ep]), axis=1, return_inverse=True)
    least = np.full(same.max(initial=-1) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, same, found.pp)
    return found.take(found.pp <= 4 * least[same])


def with_batches(found: Deployments, batches: tuple[int, ...]) -> Deployments:
    """Each of the deployments with each of the batches."""
    repeated = found.take(np.repeat(np.arange(len(found)), len(batches)))
    return Deployments(repeated.tp, repeated.pp, repeated.ep, np.tile(np.array(batches, dtype=np.int64), len(found)))


def _powers(most: int) -> list[int]:
    return [2**k for k in range(most.bit_length())]


def _divides(shape: ModelShape, tp: int) -> bool:
    a = shape.attention
    widths = [shape.ffn.width] if shape.dense_layers else []
    keys = a.type == "mla" or a.kv_heads % tp == 0 or tp % a.kv_heads == 0
    return a.heads % tp == 0 and keys and all(width % tp == 0 for width in widths)


def _expert_sizes(shape: ModelShape, tp: int) -> list[int]:
    if shape.experts is None:
        return [1]
    routed = shape.experts.routed
    split = [1] if shape.experts.ffn_width % tp == 0 else []
    return split + [n for n in range(max(2, tp), routed + 1) if routed % n == 0 and n % tp == 0]
