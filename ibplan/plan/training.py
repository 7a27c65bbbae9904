"""A training job on a design: its best mapping, the step's time, and what follows from it."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal

from ibplan.performance.goodput import failures, fleet_of, goodput
from ibplan.performance.machine import Machine
from ibplan.performance.outcome import training_outcome
from ibplan.performance.search import Fitting, SearchResult, fitting_mappings
from ibplan.plan.job import PlannedTraining
from ibplan.plan.job_results import Lost, StepParts, Training
from ibplan.plan.running import Running
from ibplan.workload.mapping import RECOMPUTE
from ibplan.workload.memory import usable_bytes

_CENT = Decimal("0.01")
_GB = 1e9
_HOUR_S = 3600


def fitting_training(planned: PlannedTraining, machine: Machine) -> Fitting:
    """The mappings of the job that fit the memory of a machine, or the stated one if it does."""
    modes = RECOMPUTE if planned.recomputes is None else planned.recomputes
    return fitting_mappings(planned.job, machine, given=planned.given, recomputes=modes)


def describe_training(planned: PlannedTraining, machine: Machine, found: SearchResult, running: Running) -> Training:
    """The result of a search that found a mapping."""
    job, mapping, times = planned.job, found.mappings, found.times
    lost = lost_time(planned.gpus)
    usd = running.usd_per_gpu_hour
    outcome = training_outcome(
        job,
        times.total_s,
        machine,
        attention="full",
        goodput_fraction=lost.goodput_fraction or 1.0,
        server_w=running.server_w,
        pue=running.pue,
        usd_per_gpu_hour=None if usd is None else float(usd),
    )
    assert outcome.mfu is not None  # the search has asked for the peak
    assert outcome.days is not None  # a training job has tokens
    assert machine.peak_tflops is not None
    assert machine.memory_gbytes is not None
    advances = lost.goodput_fraction > 0
    spent = outcome.usd_per_million_tokens if advances else None
    efficiency = machine.efficiency
    return Training(
        gpus=planned.gpus,
        **{name: int(getattr(mapping, name)[0]) for name in _DEGREES},
        recompute=RECOMPUTE[int(mapping.recompute[0])],
        sequence=job.sequence,
        global_batch=job.global_batch,
        tokens=job.tokens or 0,
        step_s=float(times.total_s[0]),
        step=StepParts(**{field.name: float(getattr(times, field.name)[0]) for field in fields(StepParts)}),
        model_tflops_per_gpu=float(outcome.model_tflops_per_gpu[0]),
        peak_tflops=machine.peak_tflops,
        mfu=float(outcome.mfu[0]),
        attention=outcome.attention,
        exposed_communication_fraction=float(times.exposed_communication_fraction[0]),
        network_gbytes_per_gpu_step=float(found.network_bytes[0]) / _GB,
        memory_gbytes=float(found.memory_bytes[0]) / _GB,
        memory_usable_gbytes=usable_bytes(machine.memory_gbytes * _GB) / _GB,
        tokens_per_s=float(outcome.tokens_per_s[0]),
        lost=lost,
        days=float(outcome.days[0]) if advances else None,
        energy_kwh=float(outcome.energy_kwh[0]) if advances and outcome.energy_kwh is not None else None,
        usd_per_gpu_hour=usd,
        usd_per_million_tokens=None if spent is None else Decimal(str(float(spent[0]))).quantize(_CENT),
        usd_complete=running.usd_complete,
        calibrated=efficiency.transferred is None,
        calibration=efficiency.transferred or efficiency.matmul_source,
        assumed=job.assumed,
    )


_DEGREES = ("tp", "pp", "dp", "cp", "ep", "micro_batch", "interleave", "zero")


def lost_time(gpus: int) -> Lost:
    """What stops and checkpoints take from a job of so many GPUs, by the default fleet's rate."""
    known, fleet = failures(), fleet_of()
    found = goodput(gpus, fleet, known.save_s.value, known.restart_s.value)
    hours = found.mttf_s / _HOUR_S
    return Lost(found.fraction, hours, found.interval_s, found.save_s, found.restart_s, fleet.id, found.extrapolated)
