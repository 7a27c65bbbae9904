"""The parallel mapping that trains fastest on a machine, of all that fit its memory; or the one that is given."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ibplan.performance.candidates import bounds, candidate_mappings
from ibplan.performance.machine import Machine
from ibplan.performance.practice import Practice
from ibplan.performance.training import StepTimes, step_times
from ibplan.spec.models import Parallelism
from ibplan.workload.flops import Recompute
from ibplan.workload.job import TrainingJob
from ibplan.workload.mapping import RECOMPUTE, Mappings, given_mapping
from ibplan.workload.memory import memory_bytes, usable_bytes
from ibplan.workload.traffic import Traffic, traffic_bytes

if TYPE_CHECKING:
    from ibplan.workload.arrays import Floats

ZERO_STAGES = (0, 1, 2, 3)
# Times that agree in so many digits are equal: they are shown with no more.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Mappings that fit, fastest first, with their times, memory and network bytes; arrays of shape (mappings,).

    Empty if none fits: then `missing_bytes` says how many bytes a GPU the smallest one is short, None where no
    mapping exists at all. `unknown`: what must be known of the machine to tell; nothing was searched then.
    `candidates_count` mappings were looked at, `fitting_count` of them fit the memory.
    """

    mappings: Mappings
    times: StepTimes
    memory_bytes: Floats
    network_bytes: Floats
    candidates_count: int
    fitting_count: int
    missing_bytes: float | None
    unknown: tuple[str, ...]


def best_mappings(
    job: TrainingJob,
    machine: Machine,
    *,
    given: Parallelism | None = None,
    recomputes: tuple[Recompute, ...] = RECOMPUTE,
    practice: Practice | None = None,
    keep: int = 1,
) -> SearchResult:
    """The `keep` fastest mappings on all GPUs of the machine; of equally fast ones those with fewer network bytes.

    `recomputes`: the modes to choose from; of those that fit, the one that computes least again is taken. `given`: the
    mapping to evaluate as it is, with the job's own mode; it must suit the GPUs (workload.checks tells).
    """
    return fastest(job, machine, fitting_mappings(job, machine, given=given, recomputes=recomputes), practice, keep)


def fitting_mappings(
    job: TrainingJob,
    machine: Machine,
    *,
    given: Parallelism | None = None,
    recomputes: tuple[Recompute, ...] = RECOMPUTE,
) -> Fitting:
    """The mappings that fit, as `best_mappings` takes them: the same for machines that differ in their network only."""
    if machine.unknown or machine.memory_gbytes is None:
        return _fitting_of(job, machine, [], 0.0, recomputes)
    usable = usable_bytes(machine.memory_gbytes * 1e9)
    if given is not None:
        return _fitting_of(job, machine, [given_mapping(given, job.recompute, machine.gpus)], usable, (job.recompute,))
    candidates = candidate_mappings(job, machine.gpus, machine.interconnect.domain_gpus)
    return _fitting_of(job, machine, _at_zero_stages(candidates), usable, recomputes)


def _at_zero_stages(candidates: Mappings) -> list[Mappings]:
    """The candidates at each ZeRO stage that there is something to shard for."""
    stages = [candidates]
    for zero in ZERO_STAGES[1:]:
        worth = candidates.data_ranks > 1
        if zero > bounds().pipeline_zero_max:
            worth &= candidates.pp == 1
        some = candidates.take(worth)
        stages.append(replace(some, zero=np.full(len(some), zero)))
    return stages


@dataclass(frozen=True, slots=True)
class Fitting:
    """Mappings that fit with their memory and traffic, how many were looked at, and what the smallest is short of.

    `missing_bytes` of a GPU; None where no mapping exists, or nothing can be known.
    """

    mappings: Mappings
    memory_bytes: Floats
    traffic: Traffic
    looked_at: int
    missing_bytes: float | None


def _fitting_of(
    job: TrainingJob, machine: Machine, candidates: list[Mappings], usable: float, recomputes: tuple[Recompute, ...]
) -> Fitting:
    """Each candidate with the least recomputation that fits: more never makes a step faster."""
    kept: list[Mappings] = []
    memory: list[Floats] = [np.zeros(0)]
    looked_at, missing = 0, np.inf
    for left in candidates:
        for mode in sorted(RECOMPUTE.index(mode) for mode in recomputes):
            tried = replace(left, recompute=np.full(len(left), mode))
            total = memory_bytes(job, tried).total
            fits = total <= usable
            kept.append(tried.take(fits))
            memory.append(total[fits])
            looked_at += len(total)
            missing = min(missing, float(total.min(initial=np.inf)) - usable)
            left = tried.take(~fits)
    short = max(0.0, missing) if looked_at else None
    mappings = _joined(kept)
    traffic = traffic_bytes(job, mappings, machine.interconnect.domain_gpus)
    return Fitting(mappings, np.concatenate(memory), traffic, looked_at, short)


def fastest(
    job: TrainingJob, machine: Machine, fitting: Fitting, practice: Practice | None = None, keep: int = 1
) -> SearchResult:
    """The `keep` fastest of the mappings that fit."""
    mappings, traffic = fitting.mappings, fitting.traffic
    times, network = step_times(job, mappings, machine, practice=practice, traffic=traffic), traffic.network_bytes()
    order = np.lexsort((network, _rounded(times.total_s)))[:keep]
    return SearchResult(
        mappings=mappings.take(order),
        times=times.take(order),
        memory_bytes=fitting.memory_bytes[order],
        network_bytes=network[order],
        candidates_count=fitting.looked_at,
        fitting_count=len(mappings),
        missing_bytes=fitting.missing_bytes,
        unknown=machine.unknown,
    )


def _rounded(seconds: Floats) -> Floats:
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(seconds)))
    return np.round(seconds * scale) / scale


def _joined(parts: list[Mappings]) -> Mappings:
    nothing = np.zeros(0, dtype=np.int64)
    names = [field.name for field in fields(Mappings)]
    return Mappings(**{name: np.concatenate([nothing, *(getattr(part, name) for part in parts)]) for name in names})
