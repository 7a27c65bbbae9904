"""How much oversubscription a mix of jobs can bear: which share of its traffic leaves units and pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from ibplan.performance.job_traffic import JobKind, job_sets

MixPattern = Literal["uniform", "ring"]
MIX_PATTERNS: Final[tuple[MixPattern, ...]] = ("uniform", "ring")


@dataclass(frozen=True, slots=True)
class Crossing:
    """Traffic that leaves blocks of GPUs (units, or pods).

    `mean`: share of what all GPUs send that run. `worst`: what the block that sends most sends out, over what all its
    GPUs could send.
    """

    mean: Fraction
    worst: Fraction

    @property
    def bearable(self) -> Fraction | None:
        """Down:up at which even that block is not held up; None = any, nothing crosses."""
        return 1 / self.worst if self.worst else None


@dataclass(frozen=True, slots=True)
class MixDemand:
    """What a job mix asks of leaves and of spines, jobs placed one after the other.

    `leaf.bearable` is down:up of the leaves; `pod.bearable` that of leaves and spines together (their product).
    """

    pattern: MixPattern
    leaf: Crossing
    pod: Crossing


def mix_demand(
    kinds: Sequence[JobKind],
    gpus: int,
    *,
    unit_gpus: int,
    pod_gpus: int,
    domain_gpus: int,
    pattern: MixPattern = "uniform",
) -> MixDemand:
    """The oversubscription that a job mix bears on units of `unit_gpus` and pods of `pod_gpus`.

    uniform: every GPU sends as much to each other GPU of its job (all-to-all, random placement of ranks). ring: every
    GPU sends to the one at its place in the next NVLink domain (data parallelism on rails). Traffic between rails of a
    unit is taken to go over NVLink. Jobs stand one after the other from the first unit on, as `job_sets` picks them;
    where several sets take turns, the mean is over all of them and the worst is the worst of any.
    """
    sets = [list(_jobs(kinds, jobs.counts)) for jobs in job_sets(kinds, gpus)]
    running = sum(size for jobs in sets for _, size in jobs)

    def crossing(block_gpus: int) -> Crossing:
        sent = [amount for jobs in sets for amount in _sent(jobs, block_gpus, domain_gpus, pattern).values()]
        return Crossing(sum(sent, Fraction(0)) / running, max(sent, default=Fraction(0)) / block_gpus)

    return MixDemand(pattern, crossing(unit_gpus), crossing(pod_gpus))


def _jobs(kinds: Sequence[JobKind], counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(first GPU, GPUs) of every job."""
    start = 0
    for kind, count in zip(kinds, counts, strict=True):
        for _ in range(count):
            yield start, kind.gpus
            start += kind.gpus


def _sent(
    jobs: Sequence[tuple[int, int]], block_gpus: int, domain_gpus: int, pattern: MixPattern
) -> dict[int, Fraction]:
    """What every block sends out that does so at all, in GPUs sending at full rate."""
    found: dict[int, Fraction] = {}
    for start, size in jobs:
        first, last = start // block_gpus, (start + size - 1) // block_gpus
        for block in range(first, last + 1) if last > first else ():
            inside = min(start + size, (block + 1) * block_gpus) - max(start, block * block_gpus)
            uniform = pattern == "uniform"
            leaving = inside * Fraction(size - inside, size - 1) if uniform else Fraction(min(inside, domain_gpus))
            found[block] = found.get(block, Fraction(0)) + leaving
    return found
