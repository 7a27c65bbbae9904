"""What is wrong with a stated model, precision or mapping: its place, a sentence, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from ibplan.catalog.store import load_catalog
from ibplan.spec.models import ModelSpec, Parallelism, Workload
from ibplan.workload.checks import (
    WorkloadProblem,
    job_problems,
    model_problems,
    parallelism_problems,
    precision_problems,
    task_problems,
)
from ibplan.workload.job import inference_job, training_job
from tests.workload.shapes import preset


def problems(
    model: str = "llama3.1-70b", gpus: int = 1024, workload: dict[str, Any] | None = None, **given: int
) -> list[WorkloadProblem]:
    stated = Workload(**(workload or {}), parallelism=Parallelism(**given))
    return parallelism_problems(stated, training_job(stated, preset(model)), gpus)


@pytest.mark.parametrize(
    "given",
    [
        {"tp": 8, "pp": 8},
        {"tp": 8, "pp": 8, "dp": 16},
        {"tp": 8, "pp": 4, "dp": 8, "cp": 2},
        {"tp": 4, "pp": 80},
        {"tp": 8, "pp": 8, "interleave": 10, "micro_batch": 2},
        {"tp": 16, "pp": 4},
        {"cp": 64},
    ],
)
def test_mappings_that_go(given: dict[str, int]) -> None:
    gpus = given.get("tp", 1) * given.get("pp", 1) * given.get("cp", 1) * given.get("dp", 16)
    assert problems(gpus=gpus, **given) == []


@pytest.mark.parametrize(
    ("given", "key", "message", "remedy"),
    [
        ({"tp": 8, "pp": 8, "dp": 17}, None, "tp x pp x cp x dp = 1,088 GPUs, and the cluster has 1,024", "lower"),
        ({"tp": 8, "pp": 80, "cp": 2}, None, "tp x pp x cp = 1,280 GPUs, and the cluster has 1,024", "lower"),
        ({"pp": 3}, None, "tp x pp x cp = 3 does not divide the 1,024 GPUs", "1 GPUs would idle"),
        ({"pp": 128}, "pp", "pp 128 is more than the 80 layers", "at most 80"),
        ({"interleave": 2}, "interleave", "pp is 1", "leave it out"),
        ({"pp": 8, "interleave": 11}, "interleave", "pp 8 x interleave 11 is more than the 80 layers", "at most 10"),
        ({"tp": 128}, "tp", "tp 128 does not divide the 64 heads", "such as 64"),
        ({"ep": 8}, "ep", "the model has none", "leave it out"),
    ],
)
def test_mappings_that_do_not(given: dict[str, int], key: str | None, message: str, remedy: str) -> None:
    first = problems(**given)[0]
    assert first.at == (("workload", "parallelism") if key is None else ("workload", "parallelism", key))
    assert message in first.message
    assert remedy in first.remedy


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = problems(tp=3, pp=100, dp=7, cp=3)
    assert {problem.at[-1] for problem in found} == {"parallelism", "pp", "tp", "cp"}


def test_a_tensor_width_that_does_not_divide() -> None:
    # Qwen2.5 7B: 28 heads, 4 key-value heads, width 18,944 = 148 x 128.
    found = problems("qwen2.5-7b", gpus=14 * 4, tp=14)
    assert [problem.message for problem in found] == [
        "tp 14 neither divides the 4 key-value heads of the model nor is a multiple of them",
        "tp 14 does not divide the model's ffn of 18,944",
    ]
    # Qwen3 30B-A3B: no dense layer, experts of 768.
    assert problems("qwen3-30b-a3b", gpus=64, tp=32, micro_batch=1) == []


def test_experts_that_do_not_spread() -> None:
    found = problems("mixtral-8x7b", gpus=24, dp=24, ep=6, workload={"global_batch": 48})
    assert found[0].message == "ep 6 does not divide the 8 experts of the model"
    assert found[0].remedy == "such as 8"
    found = problems("deepseek-v3", gpus=64, tp=8, ep=16, workload={"global_batch": 48})
    assert found[0].message == "ep 16 does not divide dp x cp = 8, over which experts are spread"
    assert found[0].remedy == "such as 8"


def test_a_batch_that_does_not_divide() -> None:
    (found,) = problems(gpus=1008, tp=8, pp=1, workload={"global_batch": 500})
    assert found.at == ("workload", "global_batch")
    assert found.message == "global_batch 500 is not a multiple of dp x micro_batch = 126 x 1"
    assert found.remedy == "such as 504"
    # An assumed batch is the spec's silence, not its mistake.
    (found,) = problems(gpus=1008, tp=8, pp=1)
    assert found.at == ("workload", "parallelism")
    assert "state workload.global_batch, such as 504" in found.remedy


def test_a_searched_mapping_has_no_problems() -> None:
    assert parallelism_problems(Workload(), training_job(Workload(), preset("llama3.1-8b")), 7) == []


def test_models() -> None:
    assert model_problems(None) == []
    assert model_problems(ModelSpec(preset="llama3.1-70b")) == []
    (found,) = model_problems(ModelSpec(layers=2, hidden=512, heads=7))
    assert found == (("model", "heads"), "hidden 512 is not a multiple of heads 7", found.remedy)


def test_learned_positions_bound_the_sequence() -> None:
    long = Workload(sequence=4096)
    (found,) = job_problems(long, training_job(long, preset("gpt3-175b")))
    assert found.at == ("workload", "sequence")
    assert "longer than the 2,048 positions" in found.message
    assert job_problems(Workload(), training_job(Workload(), preset("gpt3-175b"))) == []
    assert job_problems(long, training_job(long, preset("llama3.1-8b"))) == []


def test_requests_are_bound_by_learned_positions_too() -> None:
    stated = Workload(task="inference", input_tokens=2000, output_tokens=100)
    (found,) = job_problems(stated, inference_job(stated, preset("gpt3-175b")))
    assert found.at == ("workload", "input_tokens")
    assert found.message.startswith("a sequence of 2,100 tokens is longer")
    short = Workload(task="inference", input_tokens=1000, output_tokens=100)
    assert job_problems(short, inference_job(short, preset("gpt3-175b"))) == []


def test_keys_of_the_other_task() -> None:
    training = Workload.model_validate({"input_tokens": 5, "tpot": "5 ms", "global_batch": 8})
    assert [problem.at[1] for problem in task_problems(training)] == ["input_tokens", "tpot"]
    inference = Workload.model_validate({"task": "inference", "input_tokens": 5, "recompute": "full"})
    (found,) = task_problems(inference)
    assert found == (("workload", "recompute"), "recompute is of training, and the task is inference", "task: training")
    # A null says nothing.
    assert task_problems(Workload.model_validate({"ttft": None})) == []
    assert task_problems(Workload(task="inference", output_tokens=5)) == []


def test_a_precision_that_the_gpu_lacks() -> None:
    gpus = load_catalog().gpus
    fp8 = Workload(precision="fp8")
    (found,) = precision_problems(fp8, gpus["nvidia-a100-80g-sxm"])
    assert found.at == ("workload", "precision")
    assert found.message == "the catalogue has no fp8 peak of the GPU NVIDIA A100 80 GB SXM"
    assert found.remedy == "it has: bf16"
    assert precision_problems(fp8, gpus["nvidia-h100-sxm"]) == []
    assert precision_problems(Workload(), gpus["nvidia-a100-80g-sxm"]) == []
    assert precision_problems(fp8, None) == []
