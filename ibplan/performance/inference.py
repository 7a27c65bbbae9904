"""The best way to serve a model on a machine: units for prefill and for decode, and what users get from them.

Searched: tensor, pipeline and expert parallel sizes, and requests at once, for prefill and decode each; on GPUs of
their own with the key-value cache sent over (disaggregated), or both on the same units. Best = most requests a second
within the limits on the time to the first token and on the time of each later one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ibplan.performance.collectives import send_s
from ibplan.performance.serving_candidates import layouts, shallow, with_batches
from ibplan.performance.serving_passes import PassTimes, decode_pass, prefill_pass
from ibplan.performance.serving_results import Phase, Service, Unserved
from ibplan.workload.serving import (
    Deployments,
    fits_serving,
    kv_bytes,
    missing_serving_bytes,
    prompt_job,
    serving_bytes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ibplan.performance.machine import Machine
    from ibplan.workload.arrays import Bools, Floats
    from ibplan.workload.job import InferenceJob

# Requests at once in each copy of the attention.
_DECODE_BATCHES = tuple(sorted({round(2 ** (k / 2)) for k in range(25)}))
_PREFILL_BATCHES = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class _Found:
    """Deployments of one phase that fit, with their times. `rate`: requests a second that a unit finishes."""

    deployments: Deployments
    times: PassTimes
    latency_s: Floats
    rate: Floats

    def take(self, index: NDArray[np.intp] | Bools) -> _Found:
        return _Found(self.deployments.take(index), self.times.take(index), self.latency_s[index], self.rate[index])

    def best_of_each_size(self) -> Iterator[_Found]:
        """For each number of GPUs of a unit the deployment that finishes most."""
        order = np.lexsort((-self.rate, self.deployments.gpus))
        _, first = np.unique(self.deployments.gpus[order], return_index=True)
        return (self.take(order[[index]]) for index in first)


class _Choice(NamedTuple):
    """A service: its requests a second, and for each phase one deployment and the number of its units."""

    served: float
    prefill: _Found
    decode: _Found
    prefill_units: int
    decode_units: int
    tpot_s: float
    apart: bool


def best_service(job: InferenceJob, machine: Machine) -> Service | Unserved:
    """The service with most requests a second, or why there is none."""
    if machine.unknown:
        return Unserved(f"cannot be known without {' and '.join(machine.unknown)}")
    memory = (machine.memory_gbytes or 0) * 1e9
    every = layouts(job.shape, machine)
    found = shallow(every.take(fits_serving(job, every, memory)))
    if not len(found):
        missing = missing_serving_bytes(job, every, memory)
        return Unserved(f"weights and the cache of one request are {missing / 1e9:,.1f} GB a GPU too large", missing)
    decode = _decode(job, machine, with_batches(found, _DECODE_BATCHES), memory)
    prefill = _prefill(job, machine, with_batches(found, _PREFILL_BATCHES), memory)
    choices: list[_Choice] = []
    if job.disaggregated is not False:
        transfer_s = transfer_times_s(job, machine, prefill.deployments)
        choices += _apart(job, machine, replace(prefill, latency_s=prefill.latency_s + transfer_s), decode)
    if job.disaggregated is not True:
        choices += _together(job, machine, prefill, decode)
    if not choices:
        return _unserved(job, machine, prefill, decode)
    return _service(job, machine, max(choices, key=lambda choice: choice.served))


def transfer_times_s(job: InferenceJob, machine: Machine, prefill: Deployments) -> Floats:
    """Seconds to send a request's cache to the GPUs that decode: all GPUs of a copy send their part at once."""
    part = kv_bytes(job, job.input_tokens) / (prefill.tp * prefill.pp)
    return send_s(part, 2, 1, machine.interconnect, span_gpus=machine.gpus)


def _decode(job: InferenceJob, machine: Machine, tried: Deployments, memory: float) -> _Found:
    fitting = tried.take(fits_serving(job, tried, memory))
    times = decode_pass(job, fitting, machine)
    # With a pipeline a request's next token waits for the microbatches before it.
    latency_s = np.maximum(times.total_s, fitting.pp * times.interval_s)
    return _Found(fitting, times, latency_s, fitting.requests / (latency_s * job.output_tokens))


def _prefill(job: InferenceJob, machine: Machine, tried: Deployments, memory: float) -> _Found:
    fitting = tried.take(fits_serving(prompt_job(job), tried, memory))
    times = prefill_pass(job, fitting, machine)
    return _Found(fitting, times, times.total_s, fitting.batch * fitting.copies / times.interval_s)


def _apart(job: InferenceJob, machine: Machine, prefill: _Found, decode: _Found) -> Iterator[_Choice]:
    """Services with GPUs for each phase: of each size of unit the deployment with the highest rate."""
    quick = list(prefill.take(prefill.latency_s <= job.ttft_s).best_of_each_size())
    steady = list(decode.take(decode.latency_s <= job.tpot_s).best_of_each_size())
    for p in quick:
        for d in steady:
            split = _split(machine.gpus, p, d)
            if split is not None:
                yield _Choice(split[0], p, d, split[1], split[2], float(d.latency_s[0]), True)


def _split(gpus: int, prefill: _Found, decode: _Found) -> tuple[float, int, int] | None:
    """Requests a second and units of each phase, as near to equal rates as whole units allow. None: too few GPUs."""
    sizes = int(prefill.deployments.gpus[0]), int(decode.deployments.gpus[0])
    rates = float(prefill.rate[0]), float(decode.rate[0])
    # Larger units are counted around the even split, smaller ones fill the rest: its remainder moves no more than one.
    large, small = (0, 1) if sizes[0] >= sizes[1] else (1, 0)
    even = int(gpus / (sizes[large] + sizes[small] * rates[large] / rates[small]))
    best: tuple[float, int, int] | None = None
    for units in (even - 1, even, even + 1):
        others = (gpus - units * sizes[large]) // sizes[small]
        if units >= 1 and others >= 1:
            served = min(units * rates[large], others * rates[small])
            option = (served, units, others) if large == 0 else (served, others, units)
            best = option if best is None else max(best, option)
    return best


def _together(job: InferenceJob, machine: Machine, prefill: _Found, decode: _Found) -> Iterator[_Choice]:
    """Services whose units do both, each better than those before: a way to prefill in time, and for it the best
    decode batch on the same units.
    """
    most = -np.inf
    sizes = [np.stack([f.deployments.tp, f.deployments.pp, f.deployments.ep]) for f in (prefill, decode)]
    for p in np.flatnonzero(prefill.latency_s <= job.ttft_s):
        same = np.flatnonzero((sizes[1] == sizes[0][:, [p]]).all(axis=0))
        # A request takes a unit's time for its prefill and for its tokens: between prefills, decode goes slower.
        seconds = 1 / prefill.rate[p] + 1 / decode.rate[same]
        tpot_s = decode.latency_s[same] * seconds * decode.rate[same]
        kept = tpot_s <= job.tpot_s
        if not kept.any():
            continue
        best = int(np.argmin(np.where(kept, seconds, np.inf)))
        units = machine.gpus // int(prefill.deployments.gpus[p])
        served = units / float(seconds[best])
        if served > most:
            most = served
            phases = prefill.take(np.array([p])), decode.take(same[[best]])
            yield _Choice(served, *phases, units, units, float(tpot_s[best]), False)


def _unserved(job: InferenceJob, machine: Machine, prefill: _Found, decode: _Found) -> Unserved:
    ttft_s, tpot_s = float(prefill.latency_s.min()), float(decode.latency_s.min())
    limits = f"{job.ttft_s:g} s to the first token and {job.tpot_s:g} s for each later one"
    if ttft_s <= job.ttft_s and tpot_s <= job.tpot_s:
        reason = f"{machine.gpus:,} GPUs are too few to keep {limits} in prefill and decode together"
    else:
        best = f"{ttft_s:.3g} s and {tpot_s:.3g} s, each for itself"
        reason = f"{limits} cannot be kept on these GPUs; the best are {best}"
    return Unserved(reason, None, ttft_s, tpot_s)


def _service(job: InferenceJob, machine: Machine, choice: _Choice) -> Service:
    prefill = _phase(prompt_job(job), choice.prefill, choice.prefill_units)
    decode = _phase(job, choice.decode, choice.decode_units)
    gpus = decode.units * decode.gpus + (prefill.units * prefill.gpus if choice.apart else 0)
    tokens, ttft_s = choice.served * job.output_tokens, float(choice.prefill.latency_s[0])
    transfer_s = float(transfer_times_s(job, machine, choice.prefill.deployments)[0]) if choice.apart else 0.0
    return Service(
        disaggregated=choice.apart,
        prefill=prefill,
        decode=decode,
        gpus=gpus,
        requests_per_s=choice.served,
        tokens_per_s=tokens,
        tokens_per_s_per_gpu=tokens / gpus,
        user_tokens_per_s=1 / choice.tpot_s,
        # Little's law.
        concurrent_requests=choice.served * (ttft_s + job.output_tokens * choice.tpot_s),
        ttft_s=ttft_s,
        tpot_s=choice.tpot_s,
        transfer_s=transfer_s,
    )


def _phase(job: InferenceJob, found: _Found, units: int) -> Phase:
    deployments, times = found.deployments, found.times
    return Phase(
        tp=int(deployments.tp[0]),
        pp=int(deployments.pp[0]),
        ep=int(deployments.ep[0]),
        gpus=int(deployments.gpus[0]),
        units=units,
        requests=int(deployments.requests[0]),
        requests_per_s=float(found.rate[0]),
        total_s=float(times.total_s[0]),
        matrices_s=float(times.matrices_s[0]),
        scores_s=float(times.scores_s[0]),
        overhead_s=float(times.overhead_s[0]),
        communication_s=float(times.communication_s[0]),
        interval_s=float(times.interval_s[0]),
        memory_bytes=float(serving_bytes(job, deployments)[0]),
    )
