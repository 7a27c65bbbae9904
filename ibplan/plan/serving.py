"""A service on a design: its units, what users get, what network it needs, and what it costs."""

from __future__ import annotations

from decimal import Decimal

from ibplan.performance.machine import Machine
from ibplan.performance.serving_network import network_need, network_sentences, network_value
from ibplan.performance.serving_results import Phase, Service
from ibplan.plan.job import PlannedInference
from ibplan.plan.job_results import Inference, ServingPhase
from ibplan.plan.running import Running
from ibplan.workload.serving import usable_serving_bytes

_CENT = Decimal("0.01")
_GB = 1e9


def describe_inference(planned: PlannedInference, machine: Machine, service: Service, running: Running) -> Inference:
    """The result of a service that keeps its limits."""
    job, usd = planned.job, running.usd_per_gpu_hour
    efficiency = machine.efficiency
    assert machine.memory_gbytes is not None  # the search has asked for it
    need, others = network_need(job, machine, service), network_value(job, machine, service)
    spent = None
    if usd is not None:
        spent = (usd * service.gpus / 3600 / Decimal(service.tokens_per_s) * 10**6).quantize(_CENT)
    return Inference(
        gpus=planned.gpus,
        serving_gpus=service.gpus,
        disaggregated=service.disaggregated,
        prefill=_phase(service.prefill),
        decode=_phase(service.decode),
        memory_usable_gbytes=usable_serving_bytes(machine.memory_gbytes * _GB) / _GB,
        input_tokens=job.input_tokens,
        output_tokens=job.output_tokens,
        ttft_limit_s=job.ttft_s,
        tpot_limit_s=job.tpot_s,
        ttft_s=service.ttft_s,
        tpot_s=service.tpot_s,
        cache_transfer_s=service.transfer_s,
        requests_per_s=service.requests_per_s,
        concurrent_requests=service.concurrent_requests,
        tokens_per_s=service.tokens_per_s,
        user_tokens_per_s=service.user_tokens_per_s,
        usd_per_gpu_hour=usd,
        usd_per_million_tokens=spent,
        usd_complete=running.usd_complete,
        network=need,
        other_networks=others,
        network_words=network_sentences(need, others),
        calibrated=efficiency.transferred is None,
        calibration=efficiency.transferred or efficiency.matmul_source,
        assumed=job.assumed,
    )


def _phase(phase: Phase) -> ServingPhase:
    return ServingPhase(
        tp=phase.tp,
        pp=phase.pp,
        ep=phase.ep,
        gpus=phase.gpus,
        units=phase.units,
        requests=phase.requests,
        pass_s=phase.total_s,
        communication_fraction=phase.communication_s / phase.total_s,
        memory_gbytes=phase.memory_bytes / _GB,
    )
