from __future__ import annotations

import itertools
from dataclasses import fields, replace

import numpy as np
import pytest

from ibplan.performance.candidates import bounds, candidate_mappings
from ibplan.performance.search import best_mappings
from ibplan.performance.training import step_times
from ibplan.spec.models import Parallelism
from ibplan.workload.job import TrainingJob
from ibplan.workload.mapping import RECOMPUTE, Mappings
from ibplan.workload.memory import memory_bytes, usable_bytes
from tests.performance.machines import NET, machine
from tests.workload import shapes

EVERYTHING = 10**9


def job(preset: str, sequence: int, batch: int) -> TrainingJob:
    return shapes.job(shapes.preset(preset), sequence, batch)


def choices(mappings: Mappings) -> set[tuple[int, ...]]:
    names = [field.name for field in fields(Mappings)]
    return set(zip(*(getattr(mappings, name).tolist() for name in names), strict=True))


def test_candidates_are_all_there_are() -> None:
    """Oracle: every combination of small numbers, kept by the rules as they are stated."""
    work, gpus = job("mixtral-8x7b", 4096, 32), 32
    numbers = range(1, 33)
    expected = set()
    for tp, pp, cp, ep, b, v in itertools.product(numbers, numbers, (1, 2, 4), (1, 2, 4, 8), (1, 2, 4, 8, 16), numbers):
        if gpus % (tp * pp * cp) or 8 % tp or 4096 // cp < 2048:
            continue
        dp = gpus // (tp * pp * cp)
        microbatches = -(-32 // (dp * b))
        chunks = v == 1 or (pp > 1 and -(-32 // pp) % v == 0 and pp * v <= 32 and microbatches >= pp)
        if (dp * cp) % ep == 0 and dp * b <= 32 and chunks:
            expected.add((tp, pp, dp, cp, ep, b, v, 0, 0, tp > 1))
    assert bounds().context_tokens_min == 2048
    assert choices(candidate_mappings(work, gpus, 8)) == expected


def test_the_best_is_the_best_of_all_that_fit_one_by_one() -> None:
    work, small = job("llama2-7b", 4096, 4), machine(4, memory_gbytes=60)
    usable = usable_bytes(60e9)
    times: dict[tuple[int, ...], float] = {}
    for one in range(len(candidates := candidate_mappings(work, 4, 8))):
        for zero, mode in itertools.product(range(4), range(len(RECOMPUTE))):
            alone = replace(candidates.take(np.array([one])), zero=np.array([zero]), recompute=np.array([mode]))
            allowed = zero == 0 or (alone.data_ranks[0] > 1 and (zero <= 1 or alone.pp[0] == 1))
            if allowed and memory_bytes(work, alone).total[0] <= usable:
                times[choices(alone).pop()] = float(step_times(work, alone, small).total_s[0])
    found = best_mappings(work, small)
    assert float(found.times.total_s[0]) == pytest.approx(min(times.values()), rel=1e-5)
    assert choices(found.mappings) <= set(times)
    assert found.memory_bytes[0] <= usable


def test_of_equally_fast_mappings_the_one_with_fewer_network_bytes_comes_first() -> None:
    found = best_mappings(job("llama3.1-8b", 8192, 64), machine(16), keep=EVERYTHING)
    times = np.array([float(f"{seconds:.5e}") for seconds in found.times.total_s])
    assert (np.diff(times) >= 0).all()
    alike = np.diff(times) == 0
    assert alike.any()
    assert (np.diff(found.network_bytes)[alike] >= 0).all()
    assert found.fitting_count == len(found.mappings) < found.candidates_count


def test_less_is_computed_again_wherever_it_fits() -> None:
    work, tight = job("llama3.1-70b", 8192, 64), machine(64)
    found = best_mappings(work, tight, keep=EVERYTHING).mappings
    assert set(found.recompute.tolist()) == {0, 1, 2}
    for mode in (1, 2):
        again = found.take(found.recompute == mode)
        less = replace(again, recompute=np.full(len(again), mode - 1))
        assert (memory_bytes(work, less).total > usable_bytes(80e9)).all()


def test_only_the_modes_that_are_asked_for() -> None:
    found = best_mappings(job("llama3.1-8b", 8192, 64), machine(16), recomputes=("full",), keep=EVERYTHING)
    assert set(found.mappings.recompute.tolist()) == {2}


def test_tensor_ranks_stay_in_the_domain_and_every_gpu_works() -> None:
    found = best_mappings(job("gpt3-175b", 2048, 1536), machine(96), keep=EVERYTHING).mappings
    assert found.tp.max() == 8
    assert set(found.gpus.tolist()) == {96}
    rack = replace(NET, domain_gpus=72)
    wide = best_mappings(job("gpt3-175b", 2048, 1536), machine(96, net=rack, memory_gbytes=180), keep=EVERYTHING)
    assert set(wide.mappings.tp.tolist()) >= {12, 24}


def test_odd_numbers_of_servers_find_a_mapping() -> None:
    """127 servers of 8: 127 is a prime."""
    found = best_mappings(job("llama3.1-8b", 8192, 512), machine(1016))
    assert found.mappings.gpus.tolist() == [1016]


def test_a_model_that_does_not_fit_is_so_many_bytes_short() -> None:
    work, few = job("llama3.1-405b", 8192, 64), machine(8)
    found = best_mappings(work, few)
    assert len(found.mappings) == found.fitting_count == 0
    smallest = np.inf
    candidates = candidate_mappings(work, 8, 8)
    for zero in range(4):
        tried = replace(
            candidates,
            zero=np.full(len(candidates), zero),
            recompute=np.full(len(candidates), RECOMPUTE.index("full")),
        )
        allowed = (zero <= 1) | (tried.pp == 1)
        smallest = min(smallest, memory_bytes(work, tried.take(allowed)).total.min())
    assert found.missing_bytes == pytest.approx(smallest - usable_bytes(80e9))
    enough = (80e9 + found.missing_bytes / usable_bytes(1.0) * 1.000001) / 1e9
    assert len(best_mappings(work, machine(8, memory_gbytes=enough)).mappings) == 1
    assert best_mappings(work, machine(8, memory_gbytes=2 * enough)).missing_bytes == 0


def test_no_mapping_at_all_has_no_missing_bytes() -> None:
    """More pipelines than sequences, however the GPUs are dealt out."""
    found = best_mappings(job("llama3.1-8b", 2048, 1), machine(4096))
    assert (found.candidates_count, found.missing_bytes) == (0, None)


def test_a_given_mapping_is_taken_as_it_is() -> None:
    work = replace(job("llama3.1-70b", 8192, 48), recompute="full")
    stated = Parallelism(tp=16, pp=2, micro_batch=3, zero=2)
    found = best_mappings(work, machine(96), given=stated)
    assert choices(found.mappings) == {(16, 2, 3, 1, 1, 3, 1, 2, 2, 1)}
    assert found.candidates_count == 1
    too_much = best_mappings(replace(work, recompute="none"), machine(96), given=Parallelism(pp=2))
    assert len(too_much.mappings) == 0
    assert too_much.missing_bytes is not None
    assert too_much.missing_bytes > 1e9


def test_what_is_not_known_of_the_machine_is_said() -> None:
    found = best_mappings(job("llama3.1-8b", 8192, 64), machine(16, memory_gbytes=None, peak_tflops=None))
    assert found.unknown == ("the GPU's peak at the job's precision", "the GPU's memory")
    assert (len(found.mappings), found.candidates_count, found.missing_bytes) == (0, 0, None)


def test_a_worse_fabric_never_gives_a_faster_best() -> None:
    work = job("mixtral-8x7b", 4096, 512)
    best = [
        float(best_mappings(work, machine(256, net=replace(NET, spine_share=share, leaf_gpus=32))).times.total_s[0])
        for share in (1, 1 / 2, 1 / 7)
    ]
    assert best == sorted(best)
    assert best[0] < best[2]
