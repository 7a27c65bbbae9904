"""The job of a spec, with what it does not say taken from published recipes; and mappings."""

from __future__ import annotations

import numpy as np
import pytest

from ibplan.spec.models import ModelSpec, Parallelism, Workload
from ibplan.workload.defaults import training_defaults
from ibplan.workload.job import ElementBytes, data_parallel, element_bytes, training_job
from ibplan.workload.mapping import RECOMPUTE, given_mapping
from ibplan.workload.shape import shape_of
from tests.workload.shapes import gpt, mapping, preset


def test_what_is_stated_stands() -> None:
    stated = Workload(tokens=10**12, sequence=4096, global_batch=1000, precision="fp8", recompute="full")
    found = training_job(stated, preset("llama3.1-8b"))
    assert (found.sequence, found.global_batch, found.tokens) == (4096, 1000, 10**12)
    assert (found.precision, found.recompute, found.step_tokens) == ("fp8", "full", 4096 * 1000)
    assert not found.batch_assumed
    assert found.assumed == ()


@pytest.mark.parametrize(
    ("name", "sequence", "batch"),
    # data/training_defaults.yaml: 2, 4 and 8 million tokens to 15B, to 350B and above; 16 for large mixtures.
    [
        ("llama3.1-8b", 8192, 256),
        ("llama3.1-70b", 8192, 512),
        ("llama3.1-405b", 8192, 1024),
        ("gpt3-175b", 2048, 2048),
        ("deepseek-v3", 4096, 4096),
    ],
)
def test_batch_and_sequence_by_size(name: str, sequence: int, batch: int) -> None:
    found = training_job(Workload(), preset(name))
    assert (found.sequence, found.global_batch) == (sequence, batch)
    assert found.batch_assumed
    assert found.assumed[:2] == (
        f"sequences of {sequence:,} tokens",
        f"{batch:,} sequences a step ({batch * sequence / 1e6:.1f}M tokens)",
    )


def test_tokens_of_a_published_run_or_twenty_a_parameter() -> None:
    assert training_job(Workload(), preset("deepseek-v3")).tokens == 14_800_000_000_000
    derived = shape_of(ModelSpec(parameters=70_000_000_000))
    found = training_job(Workload(), derived)
    assert found.tokens == pytest.approx(1.4e12, rel=0.015)
    # What was assumed of the shape is said, too.
    assert found.assumed[: len(derived.assumed)] == derived.assumed


def test_a_long_sequence_takes_a_small_batch() -> None:
    assert training_job(Workload(sequence=10_000_000), preset("llama3.1-8b")).global_batch == 1


def test_the_bytes_are_those_of_the_data() -> None:
    # 18 bytes a parameter, bf16 on the wire, fp8 to the experts.
    assert element_bytes("bf16") == ElementBytes(2, 4, 12, 2, 2, 2)
    assert element_bytes("fp8") == ElementBytes(2, 4, 12, 2, 1, 2)
    rules = training_defaults()
    assert rules.weight_bytes.value + rules.gradient_bytes.value + rules.optimizer_bytes.value == 18
    assert all(row.source for row in (rules.weight_bytes, rules.optimizer_bytes, rules.usable_memory_fraction))


def test_a_stated_mapping() -> None:
    found = given_mapping(Parallelism(tp=8, pp=4, interleave=2, zero=2), "full", 1024)
    assert len(found) == 1
    assert (found.tp[0], found.pp[0], found.dp[0], found.zero[0]) == (8, 4, 32, 2)
    assert RECOMPUTE[found.recompute[0]] == "full"
    assert found.sequence_parallel[0]
    assert not given_mapping(Parallelism(), "none", 8).sequence_parallel[0]


@pytest.mark.parametrize(
    ("given", "ranks"), [(Parallelism(dp=3), 3), (Parallelism(tp=4, cp=2), 8), (Parallelism(pp=99), 1)]
)
def test_data_parallel_ranks_follow(given: Parallelism, ranks: int) -> None:
    assert data_parallel(given, 64) == ranks


def test_sizes_of_mappings() -> None:
    found = mapping(tp=[1, 2], pp=4, dp=8, cp=2, ep=4, micro_batch=2)
    assert found.gpus.tolist() == [64, 128]
    assert found.data_ranks.tolist() == [16, 16]
    assert found.expert_data_ranks.tolist() == [4, 4]
    # 64 sequences over 8 ranks, two at a time; 65 need one more.
    assert found.microbatches(64).tolist() == [4, 4]
    assert found.microbatches(65).tolist() == [5, 5]
    assert found.take(np.array([False, True])).tp.tolist() == [2]
    assert len(found.take(np.array([1, 0, 1]))) == 3


def test_a_model_of_gpts_kind_has_no_assumptions() -> None:
    assert gpt(2, 256, 2).assumed == ()
