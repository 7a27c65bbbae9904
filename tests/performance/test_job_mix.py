"""The oversubscription that a job mix bears: by hand, and by simulation."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ibplan.performance.job_mix import MixDemand, MixPattern, mix_demand
from ibplan.performance.job_traffic import JobKind
from ibplan.performance.simulate import Experiment, simulate
from tests.performance.nets import two_tiers


def demand(
    jobs: list[tuple[int, str]], gpus: int, pattern: MixPattern = "uniform", unit: int = 256, pod: int = 1024
) -> MixDemand:
    mix = [JobKind(size, Fraction(share)) for size, share in jobs]
    return mix_demand(mix, gpus, unit_gpus=unit, pod_gpus=pod, domain_gpus=8, pattern=pattern)


def test_jobs_that_fit_a_unit_bear_anything() -> None:
    found = demand([(256, "1/2"), (64, "1/2")], 1024)
    assert (found.leaf.mean, found.leaf.bearable, found.pod.bearable) == (0, None, None)


def test_one_job_on_all_units() -> None:
    # Of the 1,023 others 768 are in other units; a ring leaves each unit from one server of its 32.
    found = demand([(1024, "1")], 1024)
    assert found.leaf.mean == found.leaf.worst == Fraction(768, 1023)
    assert found.leaf.bearable == Fraction(1023, 768)
    assert found.pod.worst == 0
    assert demand([(1024, "1")], 1024, "ring").leaf.bearable == 32


def test_jobs_that_take_turns() -> None:
    # Half of the GPU time nothing crosses; what has to be borne is the large job's.
    found = demand([(1024, "1/2"), (256, "1/2")], 1024)
    assert found.leaf.mean == Fraction(768, 1023) / 2
    assert found.leaf.bearable == Fraction(1023, 768)


def test_a_job_that_straddles_two_units() -> None:
    # 192 + 192 on units of 256: the second has 64 GPUs in the first unit and 128 in the second.
    found = demand([(192, "3/4")], 512)
    crossing = 64 * Fraction(128, 191)
    assert found.leaf.mean == 2 * crossing / 384
    assert found.leaf.worst == crossing / 256


def test_pods_are_bound_together_with_leaves() -> None:
    # Llama 3 (arXiv 2407.21783, section 3.3.1): 16,384 GPUs over pods of 3,072 at 1:7. Rings between servers bear it,
    # traffic from each GPU to all others does not.
    ring = demand([(16384, "1")], 16384, "ring", pod=3072)
    assert ring.pod.bearable is not None
    assert ring.pod.bearable > 7
    uniform = demand([(16384, "1")], 16384, pod=3072)
    assert uniform.pod.bearable is not None
    assert uniform.pod.bearable < 2


@pytest.mark.parametrize(("pattern", "simulated"), [("uniform", "all-to-all"), ("ring", "ring")])
def test_the_share_that_crosses_is_that_of_a_simulation(pattern: MixPattern, simulated: str) -> None:
    w, jobs = two_tiers(4, 8, 8), (JobKind(12, Fraction(3, 4)), JobKind(4, Fraction(1, 4)))
    rows = simulate(w, 1, 1, Experiment((simulated,), ("spray",), seeds=1, jobs=jobs))  # type: ignore[arg-type]
    sent = [(row.cross_leaf_fraction or 0) * (row.job_gpus or 0) * (row.job_count or 0) for row in rows]
    found = mix_demand(jobs, 32, unit_gpus=8, pod_gpus=32, domain_gpus=1, pattern=pattern)
    running = sum((row.job_gpus or 0) * (row.job_count or 0) for row in rows)
    assert sum(sent) / running == pytest.approx(float(found.leaf.mean))
