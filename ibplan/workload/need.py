"""Does the job need more than plain Ethernet? A bound from the model's own arithmetic, with its assumptions in data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ibplan.document import read_document, validate
from ibplan.spec.models import Workload
from ibplan.workload.defaults import Sourced, training_defaults

_FILE = Path(__file__).parent / "data" / "network_need.yaml"


class Assumptions(BaseModel):
    """All assumptions of the verdict."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    model_flops_utilization: Sourced
    exchange_share_max: Sourced
    gradient_bytes_per_parameter: Sourced
    tcp_efficiency: Sourced
    weights_share_of_memory_max: Sourced


@lru_cache(maxsize=1)
def assumptions() -> Assumptions:
    """The packaged assumptions."""
    return validate(Assumptions, read_document(_FILE))


@dataclass(frozen=True, slots=True)
class JobScale:
    """What the verdict needs to know: parameters (total, active), servers, GPUs a server, GPU peak and memory."""

    parameters: int
    active_parameters: int
    servers: int
    gpus_per_server: int
    gpu_tflops: float | None
    gpu_memory_gbytes: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a network speed is enough (None = cannot be known) and why, in a sentence with its numbers."""

    enough: bool | None
    reason: str


ONE_SERVER = Verdict(True, "One server: the job does not cross the network.")
UNKNOWN_MODEL = Verdict(None, "Whether plain Ethernet is enough cannot be known: the model's size is not stated.")


def ethernet_verdict(job: JobScale, workload: Workload, server_gbps: int) -> Verdict:
    """Whether TCP at `server_gbps` (Gb/s a server, one direction) carries the job.

    Inference: enough if the weights fit the memory of one server, so that requests stay inside it. Training: enough if
    a gradient all-reduce, not overlapped, takes at most a tenth of the step: 2 (S-1)/S N q / (bandwidth x efficiency)
    against 6 N_active T / (GPUs x peak x utilization).
    """
    if job.servers == 1:
        return ONE_SERVER
    if workload.task == "inference":
        return _inference(job, workload.precision)
    return _training(job, workload, server_gbps)


def _inference(job: JobScale, precision: Literal["bf16", "fp8"]) -> Verdict:
    if job.gpu_memory_gbytes is None:
        return Verdict(None, "Whether plain Ethernet is enough cannot be known: the GPU's memory is not known.")
    weights = job.parameters * (2 if precision == "bf16" else 1) / 1e9
    memory = job.gpu_memory_gbytes * job.gpus_per_server
    usable = memory * assumptions().weights_share_of_memory_max.value
    if weights <= usable:
        text = f"the weights take {weights:,.0f} GB of the {usable:,.0f} GB that one server can give them"
        return Verdict(True, f"Inference stays inside a server: {text}, so requests do not need RDMA between servers.")
    text = f"the weights take {weights:,.0f} GB and one server can give them {usable:,.0f} GB"
    return Verdict(False, f"Inference spans servers: {text}, so plain Ethernet is not recommended.")


def _training(job: JobScale, workload: Workload, server_gbps: int) -> Verdict:
    if job.gpu_tflops is None:
        return Verdict(None, "Whether plain Ethernet is enough cannot be known: the GPU's peak is not known.")
    rules = assumptions()
    tokens = step_tokens(job.parameters, workload, experts=job.active_parameters < job.parameters)
    rate = job.servers * job.gpus_per_server * job.gpu_tflops * 1e12 * rules.model_flops_utilization.value
    step_s = 6 * job.active_parameters * tokens / rate
    share_of_ring = 2 * (job.servers - 1) / job.servers
    sent_bytes = share_of_ring * job.parameters * rules.gradient_bytes_per_parameter.value
    exchange_s = sent_bytes / (server_gbps / 8 * 1e9 * rules.tcp_efficiency.value)
    share, limit = exchange_s / step_s, rules.exchange_share_max.value
    text = (
        f"exchanging gradients over {server_gbps} Gb/s a server takes {exchange_s:.2g} s beside {step_s:.2g} s of "
        f"compute a step ({share:.0%}; limit {limit:.0%}; {tokens:,.0f} tokens a step)"
    )
    if share <= limit:
        return Verdict(True, f"The job does not need RDMA: {text}.")
    return Verdict(False, f"Plain Ethernet would hold the job up: {text}.")


def step_tokens(parameters: int, workload: Workload, *, experts: bool = False) -> float:
    """Tokens in one training step: the spec's batch and sequence, else the low end of published recipes by size."""
    if workload.global_batch is not None and workload.sequence is not None:
        return float(workload.global_batch * workload.sequence)
    return training_defaults().batch_of(parameters, experts).step_tokens
