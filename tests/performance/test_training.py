from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.performance.practice import practices
from ibplan.performance.training import StepTimes, step_times
from ibplan.workload.flops import hardware_flops
from ibplan.workload.job import TrainingJob
from ibplan.workload.mapping import RECOMPUTE, Mappings
from tests.examples import share
from tests.performance.machines import NET, machine
from tests.workload import shapes


def job(preset: str = "llama3.1-8b", sequence: int = 8192, batch: int = 64, **changes: Any) -> TrainingJob:
    return shapes.job(shapes.preset(preset), sequence, batch, **changes)


def mapping(
    tp: int = 1, pp: int = 1, dp: int = 1, *, zero: int = 1, recompute: str = "none", **degrees: int
) -> Mappings:
    return shapes.mapping(tp=tp, pp=pp, dp=dp, zero=zero, recompute=recompute, sequence_parallel=tp > 1, **degrees)


PARTS = [field.name for field in fields(StepTimes)]


def total(*args: object, **kwargs: object) -> float:
    return float(step_times(*args, **kwargs).total_s[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("recompute", RECOMPUTE)
@pytest.mark.parametrize("fused", [False, True])
def test_without_memory_traffic_a_gpu_computes_its_hardware_flops(recompute: str, fused: bool) -> None:
    """Oracle: the FLOPs of arXiv 2104.04473 and 2205.05198 at the fitted rate; nothing else is left."""
    work = job("gpt3-175b", sequence=2048, batch=8, fused_attention=fused, dropout=not fused)
    boundless = machine(1, memory_gbytes_per_s=1e15)
    times = step_times(work, mapping(micro_batch=2, recompute=recompute), boundless)
    if fused:
        # Backward makes the scores again: 2.5 times the forward pass and not twice; all of it causal.
        count, again = "causal", 0.5
        mode = "full" if recompute == "full" else "none"
    else:
        count, again, mode = "full", 0.0, recompute
    tokens = work.step_tokens
    flops = hardware_flops(work.shape, 2048, tokens, count, mode)  # type: ignore[arg-type]
    flops += again * hardware_flops(work.shape, 2048, tokens, count, "selective")  # type: ignore[arg-type]
    flops -= again * hardware_flops(work.shape, 2048, tokens, count, "none")  # type: ignore[arg-type]
    assert times.total_s[0] == pytest.approx(flops / (989e12 * 0.6), rel=1e-6)


def test_one_gpu_waits_for_nobody() -> None:
    times = step_times(job(batch=4), mapping(), machine(1))
    assert times.communication_s[0] == 0
    assert times.bubble_s[0] == 0
    assert times.compute_s[0] > times.memory_bound_s[0] > times.optimizer_s[0] > 0


def test_a_step_is_the_sum_of_its_parts() -> None:
    times = step_times(job("llama3.1-70b"), mapping(8, 4, 4), machine(128))
    assert times.total_s[0] == pytest.approx(sum(float(getattr(times, part)[0]) for part in PARTS))
    assert 0 < times.exposed_communication_fraction[0] < 1


@pytest.mark.parametrize(("interleave", "microbatches"), [(1, 8), (1, 64), (4, 8), (10, 16)])
def test_bubble_of_equal_stages(interleave: int, microbatches: int) -> None:
    """(p - 1) / (m v) of the time without a bubble (arXiv 2104.04473, section 2.2), for stages alike."""
    work = job("llama3.1-70b", batch=microbatches)
    nobody_has_more = replace(work, shape=replace(work.shape, vocab=1))
    times = step_times(nobody_has_more, mapping(8, 8, interleave=interleave), machine(64))
    steady = times.total_s - times.bubble_s - times.optimizer_s - times.pipeline_s - times.data_s
    assert times.bubble_s[0] / steady[0] == pytest.approx(7 / (microbatches * interleave), rel=2e-3)


def test_recomputing_more_takes_longer_and_all_of_it_a_forward_pass_more() -> None:
    work = job("llama3.1-70b")
    none, selective, full = (step_times(work, mapping(8, 4, 4, recompute=mode), machine(128)) for mode in RECOMPUTE)
    assert none.total_s[0] < selective.total_s[0] < full.total_s[0]
    # A third of a product's FLOPs, less attention's backward pass and the output matrix.
    assert 1.28 < full.compute_s[0] / none.compute_s[0] < 1.34


def test_slower_spines_slow_down_what_crosses_them_in_the_order_of_their_share() -> None:
    """ZeRO 3 over more GPUs than a leaf has: 1:1, 2:1 and 7:1."""
    work, over_leaves = job("llama3.1-70b", batch=1024), mapping(dp=1024, zero=3)
    times = [
        total(work, over_leaves, machine(1024, net=replace(NET, spine_share=share, leaf_gpus=32)))
        for share in (1, 1 / 2, 1 / 7, 1 / 30)
    ]
    assert times == sorted(times)
    assert times[-1] > 1.2 * times[0]


def test_spines_do_not_matter_to_a_job_below_one_leaf() -> None:
    work, below = job("llama3.1-8b"), mapping(dp=32, zero=3)
    slow = replace(NET, spine_share=1 / 7)
    assert total(work, below, machine(32, net=slow)) == total(work, below, machine(32))


def test_tensor_exchanges_stay_off_the_network() -> None:
    work, inside = job("llama3.1-8b", batch=1), mapping(8)
    slow = replace(NET, nic_gbytes_per_s=1, latency_us=500)
    assert total(work, inside, machine(8, net=slow)) == total(work, inside, machine(8))
    beyond = step_times(work, mapping(16), machine(16, net=slow))
    assert beyond.tensor_s[0] > 30 * step_times(work, inside, machine(8)).tensor_s[0]


@pytest.mark.parametrize(
    "mapped",
    [mapping(dp=64, zero=1), mapping(dp=64, zero=3), mapping(8, 8, recompute="full"), mapping(8, dp=2, cp=4)],
    ids=["zero1", "zero3", "pipeline", "context"],
)
def test_slower_nics_and_longer_paths_never_help(mapped: Mappings) -> None:
    work = job("llama3.1-8b", batch=64)
    base, gpus = NET, int(mapped.gpus[0])
    rates = [total(work, mapped, machine(gpus, net=replace(base, nic_gbytes_per_s=rate))) for rate in (100, 25, 3)]
    paths = [total(work, mapped, machine(gpus, net=replace(base, latency_us=us))) for us in (2, 10, 1000)]
    assert rates[0] <= rates[1] <= rates[2]
    assert rates[0] < rates[2]
    assert paths[0] <= paths[1] <= paths[2]
    assert paths[0] < paths[2]


def test_sums_in_the_network_help_the_all_reduce() -> None:
    work, reduced = job("llama3.1-8b", batch=64), mapping(dp=64, zero=0)
    plain = step_times(work, reduced, machine(64), practice=practices()["megatron-2022"])
    summed = machine(64, net=replace(NET, in_network_reduction=True))
    assert step_times(work, reduced, summed, practice=practices()["megatron-2022"]).data_s[0] < plain.data_s[0]


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_overlap_hides_data_exchange_and_never_all_of_it(zero: int) -> None:
    work, mapped = job("llama3.1-8b", batch=128), mapping(dp=64, zero=zero)
    hidden = step_times(work, mapped, machine(64))
    waited = step_times(work, mapped, machine(64), practice=practices()["megatron-2022"])
    assert 0 < hidden.data_s[0] < waited.data_s[0]
    assert hidden.compute_s[0] == waited.compute_s[0]


def test_interleaved_sends_hide_and_others_do_not() -> None:
    work = job("llama3.1-70b", batch=64)
    plain, interleaved = (step_times(work, mapping(8, 8, interleave=v), machine(64)).pipeline_s[0] for v in (1, 10))
    waited = step_times(work, mapping(8, 8, interleave=10), machine(64), practice=practices()["megatron-2022"])
    assert interleaved < plain < waited.pipeline_s[0]


def test_keys_and_values_hide_under_attention_of_long_sequences_only_where_software_does_so() -> None:
    work = job("llama3.1-8b", sequence=131072, batch=1)
    hidden = step_times(work, mapping(cp=16), machine(16)).context_s[0]
    gathered = step_times(work, mapping(cp=16), machine(16), practice=practices()["llama3"]).context_s[0]
    assert hidden == 0
    assert gathered > 0


def test_experts_are_waited_for_except_in_dualpipe() -> None:
    work = job("mixtral-8x7b", sequence=4096, batch=64)
    apart = mapping(pp=4, dp=16, ep=8)
    exposed = step_times(work, apart, machine(64)).expert_s[0]
    assert exposed > 0
    assert step_times(work, apart, machine(64), practice=practices()["dualpipe"]).expert_s[0] < exposed
    assert step_times(work, mapping(pp=4, dp=16), machine(64)).expert_s[0] == 0


def test_fp8_speeds_up_products_with_weights_only() -> None:
    work, mapped = job("llama3.1-8b"), mapping(dp=64)
    bf16 = step_times(work, mapped, machine(64))
    fp8 = step_times(work, mapped, machine(64, peak_tflops=1979))
    assert 1.5 < bf16.compute_s[0] / fp8.compute_s[0] < 1979 / 989
    assert fp8.memory_bound_s[0] == bf16.memory_bound_s[0]


@pytest.mark.parametrize("unknown", [{"peak_tflops": None}, {"memory_gbytes_per_s": None}, {"bf16_tflops": None}])
def test_what_is_not_known_has_no_time(unknown: dict[str, None]) -> None:
    assert np.isnan(total(job(), mapping(dp=8), machine(8, **unknown)))


def test_unknown_links_have_no_time_where_they_are_used() -> None:
    unknown = replace(NET, domain_gbytes_per_s=None, domain_generation=None)
    assert np.isnan(total(job(batch=1), mapping(8), machine(8, net=unknown)))


def powers(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most).map(lambda n: 2**n)


@settings(max_examples=share(40))
@given(
    degrees=st.lists(
        st.tuples(powers(3), powers(3), powers(5), powers(2), powers(2), st.integers(0, 3), st.integers(0, 2)),
        min_size=2,
        max_size=8,
    )
)
def test_mappings_together_are_each_as_alone(degrees: list[tuple[int, ...]]) -> None:
    names = ("tp", "pp", "dp", "cp", "micro_batch", "zero", "recompute")
    columns = {name: np.array(column) for name, column in zip(names, zip(*degrees, strict=True), strict=True)}
    ones = np.ones(len(degrees), dtype=np.int64)
    together = Mappings(**columns, ep=ones, interleave=ones, sequence_parallel=columns["tp"] > 1)
    work, many = job("llama3.1-70b", batch=256), machine(4096)
    whole = step_times(work, together, many)
    for index in range(len(degrees)):
        alone = step_times(work, together.take(np.array([index])), many)
        for part in PARTS:
            assert getattr(alone, part)[0] == pytest.approx(getattr(whole, part)[index], rel=1e-12)
            assert getattr(alone, part)[0] >= 0
