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
from ibplan.workload.traffic import traffic_bytes

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
    if machine.unknown or machine.memory_gbytes is None:
        return _ranked(job, machine, _Fitting(_joined([]), np.zeros(0), 0, None), practice, keep)
    usable = usable_bytes(machine.memory_gbytes * 1e9)
    if given is not None:
        tried = [given_mapping(given, job.recompute, machine.gpus)]
    else:
        tried = _at_zero_stages(candidate_mappings(job, machine.gpus, machine.interconnect.domain_gpus))
    modes = (job.recompute,) if given is not None else recomputes
    return _ranked(job, machine, _fitting(job, tried, usable, modes), practice, keep)


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
class _Fitting:
    """Mappings that fit with their memory, how many were looked at, and how many bytes the smallest is short."""

    mappings: Mappings
    memory_bytes: Floats
    looked_at: int
    missing_bytes: float | None


def _fitting(
    job: TrainingJob, candidates: list[Mappings], usable: float, recomputes: tuple[Recompute, ...]
) -> _Fitting:
    """Each candidate with the least recomputation that fits: more never makes a step faster."""
    kept: list[Mappings] = []
    memory: list[Floats] = []
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
    return _Fitting(_joined(kept), np.concatenate(memory), looked_at, short)


def _ranked(
    job: TrainingJob, machine: Machine, fitting: _Fitting, practice: Practice | None, keep: int
) -> SearchResult:
    mappings = fitting.mappings
    traffic = traffic_bytes(job, mappings, machine.interconnect.domain_gpus)
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
