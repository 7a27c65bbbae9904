"""What a step time means: utilization, tokens a second, days, energy, cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ibplan.performance.machine import Machine
from ibplan.workload.flops import AttentionCount, hardware_flops, model_flops
from ibplan.workload.job import TrainingJob
from ibplan.workload.mapping import RECOMPUTE

if TYPE_CHECKING:
    from ibplan.workload.arrays import Floats
    from ibplan.workload.mapping import Mappings

_HOUR_S, _DAY_S = 3600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of each mapping, arrays of its step times' shape. None = not asked for or not known.

    `attention`: how attention's FLOPs are counted in `model_tflops_per_gpu` and `mfu`: `full` or `causal`. MFU counts
    the FLOPs that the model needs, not those of recomputation; see `hardware_tflops_per_gpu` for these. `days` and
    `energy_kwh` are those of all the job's tokens; they and `usd_per_million_tokens` include the lost time (goodput).
    """

    attention: AttentionCount
    tokens_per_s: Floats
    model_tflops_per_gpu: Floats
    mfu: Floats | None
    days: Floats | None
    energy_kwh: Floats | None
    usd_per_million_tokens: Floats | None


def training_outcome(
    job: TrainingJob,
    step_s: Floats,
    machine: Machine,
    *,
    attention: AttentionCount,
    goodput_fraction: float = 1.0,
    server_w: float | None = None,
    pue: float = 1.0,
    usd_per_gpu_hour: float | None = None,
) -> Outcome:
    """What training the job with steps of `step_s` seconds gives.

    `server_w`: power of a server while it trains, in watts; `pue` covers what the site adds. Lost time draws the same
    power. `usd_per_gpu_hour`: what one GPU costs an hour, whether it trains or not.
    """
    tokens_per_s = job.step_tokens / step_s
    per_gpu = model_flops(job.shape, job.sequence, job.step_tokens, attention) / (machine.gpus * step_s) / 1e12
    days = None if job.tokens is None else job.tokens / (tokens_per_s * goodput_fraction) / _DAY_S
    energy_kwh = None
    if days is not None and server_w is not None:
        servers = -(-machine.gpus // machine.gpus_per_server)
        energy_kwh = servers * server_w / 1e3 * pue * days * _DAY_S / _HOUR_S
    usd = None
    if usd_per_gpu_hour is not None:
        usd = usd_per_gpu_hour * machine.gpus / _HOUR_S / (tokens_per_s * goodput_fraction) * 1e6
    return Outcome(
        attention=attention,
        tokens_per_s=tokens_per_s,
        model_tflops_per_gpu=per_gpu,
        mfu=None if machine.peak_tflops is None else per_gpu / machine.peak_tflops,
        days=days,
        energy_kwh=energy_kwh,
        usd_per_million_tokens=usd,
    )


def hardware_tflops_per_gpu(
    job: TrainingJob, mapping: Mappings, step_s: float, gpus: int, attention: AttentionCount
) -> float:
    """TFLOP/s of a GPU with what is computed again, of the only mapping in `mapping`."""
    mode = RECOMPUTE[int(mapping.recompute[0])]
    return hardware_flops(job.shape, job.sequence, job.step_tokens, attention, mode) / (gpus * step_s) / 1e12
