"""Whether plain Ethernet carries a job: the formulas by hand, the boundary, and what is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ibplan.spec.models import Workload
from ibplan.workload.need import JobScale, assumptions, ethernet_verdict, step_tokens

TRAINING = Workload()
INFERENCE = Workload(task="inference")

# One billion parameters on two servers of one GPU with 100 Tflop/s.
SMALL = JobScale(10**9, 10**9, servers=2, gpus_per_server=1, gpu_tflops=100.0, gpu_memory_gbytes=100.0)


def test_the_assumptions_are_the_written_ones() -> None:
    # data/network_need.yaml: each with its source.
    rules = assumptions()
    assert rules.model_flops_utilization.value == 0.4
    assert rules.exchange_share_max.value == 0.1
    assert rules.gradient_bytes_per_parameter.value == 2
    assert rules.tcp_efficiency.value == 0.8
    assert rules.weights_share_of_memory_max.value == 0.8


@pytest.mark.parametrize(("gbps", "enough"), [(1, False), (2, True), (25, True)])
def test_training_compares_the_exchange_with_a_tenth_of_the_step(gbps: int, enough: bool) -> None:
    # A step of 2 million tokens: 6 x 1e9 x 2e6 / (2 x 100e12 x 0.4) = 150 s. The exchange: 2 x 1/2 x 1e9 x 2 bytes
    # = 2 GB over gbps / 8 x 0.8: 20 s at 1 Gb/s, 10 s at 2 Gb/s, 0.8 s at 25 Gb/s. The limit is 15 s.
    assert ethernet_verdict(SMALL, TRAINING, gbps).enough is enough


def test_training_says_its_numbers() -> None:
    assert ethernet_verdict(SMALL, TRAINING, 2).reason == (
        "The job does not need RDMA: exchanging gradients over 2 Gb/s a server takes 10 s beside 1.5e+02 s of compute "
        "a step (7%; limit 10%; 2,000,000 tokens a step)."
    )
    assert ethernet_verdict(SMALL, TRAINING, 1).reason.startswith("Plain Ethernet would hold the job up: ")


def test_more_servers_send_more_and_compute_less() -> None:
    # 100 servers: 3 s a step; 2 x 99/100 x 2 GB over 2 GB/s (20 Gb/s x 0.8 / 8) takes 1.98 s.
    many = replace(SMALL, servers=100)
    assert ethernet_verdict(many, TRAINING, 20).enough is False
    # At 200 Gb/s 0.198 s, below 0.3 s.
    assert ethernet_verdict(many, TRAINING, 200).enough is True


def test_experts_compute_with_the_active_parameters_and_exchange_them_all() -> None:
    # Ten times the parameters in all: the exchange is ten times as long (8 s at 25 Gb/s), the step as before (150 s).
    sparse = replace(SMALL, parameters=10**10)
    assert ethernet_verdict(sparse, TRAINING, 25).enough is True
    assert ethernet_verdict(sparse, TRAINING, 12).enough is False


def test_a_stated_batch_stands_before_the_table() -> None:
    stated = Workload(global_batch=2048, sequence=8192)
    assert step_tokens(10**9, stated) == 2048 * 8192
    # Half a statement is none.
    assert step_tokens(10**9, Workload(global_batch=2048)) == 2e6


@pytest.mark.parametrize(
    ("parameters", "tokens"),
    # data/network_need.yaml: rows up to 15 and up to 350 billion parameters.
    [(1, 2e6), (15 * 10**9, 2e6), (15 * 10**9 + 1, 4e6), (350 * 10**9, 4e6), (405 * 10**9, 8e6)],
)
def test_tokens_of_a_step_grow_with_the_model(parameters: int, tokens: float) -> None:
    assert step_tokens(parameters, TRAINING) == tokens


@pytest.mark.parametrize(
    ("billions", "precision", "enough"),
    # 8 GPUs of 100 GB, four fifths of it: 640 GB. Two bytes a parameter in bf16, one in fp8.
    [(320, "bf16", True), (321, "bf16", False), (640, "fp8", True), (641, "fp8", False)],
)
def test_inference_fits_a_server_or_not(billions: int, precision: str, enough: bool) -> None:
    job = replace(SMALL, parameters=billions * 10**9, gpus_per_server=8)
    workload = Workload(task="inference", precision=precision)  # type: ignore[arg-type]
    assert ethernet_verdict(job, workload, 25).enough is enough


def test_inference_says_its_numbers() -> None:
    job = replace(SMALL, parameters=70 * 10**9, gpus_per_server=8)
    assert "the weights take 140 GB of the 640 GB" in ethernet_verdict(job, INFERENCE, 25).reason
    assert (
        "plain Ethernet is not recommended"
        in ethernet_verdict(replace(job, parameters=405 * 10**9), INFERENCE, 25).reason
    )


def test_an_unknown_gpu_is_not_guessed() -> None:
    unknown = replace(SMALL, gpu_tflops=None, gpu_memory_gbytes=None)
    for workload, word in ((TRAINING, "peak"), (INFERENCE, "memory")):
        verdict = ethernet_verdict(unknown, workload, 100)
        assert verdict.enough is None
        assert "cannot be known" in verdict.reason
        assert word in verdict.reason


def test_what_the_task_does_not_use_may_be_unknown() -> None:
    assert ethernet_verdict(replace(SMALL, gpu_memory_gbytes=None), TRAINING, 25).enough is True
    assert ethernet_verdict(replace(SMALL, gpu_tflops=None), INFERENCE, 25).enough is True


@pytest.mark.parametrize("workload", [TRAINING, INFERENCE])
def test_one_server_needs_no_network(workload: Workload) -> None:
    alone = replace(SMALL, servers=1, gpu_tflops=None, gpu_memory_gbytes=None)
    assert ethernet_verdict(alone, workload, 1).enough is True
