"""The traffic of jobs: the axes of one job's parallel mapping, and several jobs of a mix at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ibplan.performance.fairness import Indices
from ibplan.performance.patterns import Members, Pairs, Places, all_to_all, members_of, ring


@dataclass(frozen=True, slots=True)
class Mapping:
    """How a job is laid over its ranks, fastest first: tp, cp, dp, pp. `ep` ranks of the dp x cp group share experts.

    `interleave` > 1: the last pipeline stage sends to the first, too.
    """

    tp: int
    pp: int
    dp: int
    cp: int = 1
    ep: int = 1
    interleave: int = 1

    @property
    def gpus(self) -> int:
        """GPUs of the job."""
        return self.tp * self.cp * self.dp * self.pp


@dataclass(frozen=True, slots=True)
class AxisTraffic:
    """What one axis of a mapping (tp, cp, ep, dp or pp) sends at once."""

    axis: str
    pairs: Pairs


def job_traffic(
    mapping: Mapping, gpu: Indices, places: Places, generator: np.random.Generator
) -> Iterator[AxisTraffic]:
    """The pairs of every axis that has more than one rank. `gpu`: of each rank, shape (ranks,).

    Tensor, context and data (over the dp x cp ranks) send around rings, experts all-to-all within their group,
    pipeline stages to the next one; the gradients that go back are its mirror.
    """
    rank = np.arange(len(gpu), dtype=np.int32)
    shard, outer = rank % mapping.tp, rank // mapping.tp
    stage, replica = outer // (mapping.cp * mapping.dp), outer % (mapping.cp * mapping.dp)
    column = stage * mapping.tp + shard

    def members(group: Indices) -> Members:
        return members_of(gpu, places, group)

    if mapping.tp > 1:
        yield AxisTraffic("tp", ring(members(outer), generator))
    if mapping.cp > 1:
        yield AxisTraffic("cp", ring(members(outer // mapping.cp * mapping.tp + shard), generator))
    if mapping.ep > 1:
        block = column * (mapping.cp * mapping.dp // mapping.ep) + replica // mapping.ep
        yield AxisTraffic("ep", all_to_all(members(block), generator))
    if mapping.cp * mapping.dp > 1:
        yield AxisTraffic("dp", ring(members(column), generator))
    if mapping.pp > 1:
        yield AxisTraffic("pp", _pipeline(mapping, gpu))


def _pipeline(mapping: Mapping, gpu: Indices) -> Pairs:
    step = mapping.tp * mapping.cp * mapping.dp
    source = gpu if mapping.interleave > 1 else gpu[:-step]
    return Pairs(source, np.roll(gpu, -step)[: len(source)])


@dataclass(frozen=True, slots=True)
class JobKind:
    """Jobs of a mix: GPUs of one, and their share of all GPU time."""

    gpus: int
    share: Fraction


@dataclass(frozen=True, slots=True)
class JobSet:
    """Jobs that run at once: how many of each kind of the mix, in its order."""

    counts: tuple[int, ...]

    def groups(self, kinds: Sequence[JobKind], gpus: int) -> Indices:
        """The job of every rank, shape (gpus,), numbered kind after kind; -1 = idle."""
        sizes = [kind.gpus for kind, count in zip(kinds, self.counts, strict=True) for _ in range(count)]
        found = np.full(gpus, -1, np.int32)
        found[: sum(sizes)] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        return found


def job_sets(kinds: Sequence[JobKind], gpus: int) -> tuple[JobSet, ...]:
    """Which jobs of a mix run at once on a number of GPUs.

    A job that needs more than its share of the GPUs runs in a set of its own kind with the others beside it as far as
    there is room; all others run at once. Of each kind there are as many as its share gives, then one more at a time
    of the kind that is furthest below its share and still fits.
    """
    large = [i for i, kind in enumerate(kinds) if kind.share * gpus < kind.gpus]
    small = [i for i in range(len(kinds)) if i not in large]
    sets = [_filled(kinds, small, gpus, first) for first in large]
    return tuple(sets if large and not small else [*sets, _filled(kinds, small, gpus, None)])


def _filled(kinds: Sequence[JobKind], small: Sequence[int], gpus: int, first: int | None) -> JobSet:
    counts = [0] * len(kinds)
    if first is not None:
        counts[first] = 1
    room = gpus - (0 if first is None else kinds[first].gpus)
    for i in small:
        counts[i] = min(int(kinds[i].share * gpus / kinds[i].gpus), room // kinds[i].gpus)
        room -= counts[i] * kinds[i].gpus
    while fitting := [i for i in small if kinds[i].gpus <= room]:
        i = max(fitting, key=lambda i: kinds[i].share * gpus - counts[i] * kinds[i].gpus)
        counts[i] += 1
        room -= kinds[i].gpus
    return JobSet(tuple(counts))
