"""What the fabric of a design gives the job: frozen results whose fields are those of the JSON output."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from ibplan.performance.collectives import AllReduceRow
from ibplan.performance.deciding import RuleCheck
from ibplan.performance.load_balancing import LoadBalancing

if TYPE_CHECKING:
    from ibplan.performance.serving_network import NetworkNeed, Variation


@dataclass(frozen=True, slots=True)
class StepParts:
    """Where the seconds of a step go; of communication only what is not hidden behind computing. They add up to it."""

    compute_s: float
    memory_bound_s: float
    tensor_s: float
    pipeline_s: float
    context_s: float
    expert_s: float
    data_s: float
    bubble_s: float
    optimizer_s: float


@dataclass(frozen=True, slots=True)
class Lost:
    """What stops and checkpoints cost: the share of time that trains, and what it rests on.

    `extrapolated`: the job is larger than any that the rate of stops was observed on.
    """

    goodput_fraction: float
    hours_between_stops: float
    checkpoint_interval_s: float
    checkpoint_save_s: float
    restart_s: float
    fleet: str
    extrapolated: bool


@dataclass(frozen=True, slots=True)
class Training:
    """A training step in the fastest parallel mapping that fits, or in the stated one, and what follows from it.

    `mfu` = model FLOP/s over the peak; `attention` says how attention is counted in it (`full`: as if it were not
    causal), recomputation is not. `days`, `energy_kwh` and `usd_per_million_tokens` include lost time; they are None
    where stops leave no time to train. Money and energy
    are None where power or prices that decide them are not known; `usd_complete` False: some price is not in it.
    `calibrated` False: the GPU's efficiency is that of another, as `calibration` says.
    """

    gpus: int
    tp: int
    pp: int
    dp: int
    cp: int
    ep: int
    micro_batch: int
    interleave: int
    zero: int
    recompute: str
    sequence: int
    global_batch: int
    tokens: int
    step_s: float
    step: StepParts
    model_tflops_per_gpu: float
    peak_tflops: float
    mfu: float
    attention: str
    exposed_communication_fraction: float
    network_gbytes_per_gpu_step: float
    memory_gbytes: float
    memory_usable_gbytes: float
    tokens_per_s: float
    lost: Lost
    days: float | None
    energy_kwh: float | None
    usd_per_gpu_hour: Decimal | None
    usd_per_million_tokens: Decimal | None
    usd_complete: bool
    calibrated: bool
    calibration: str
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServingPhase:
    """Units of one kind, prefill or decode: GPUs of a unit and how the model is split over them, how many there are.

    `requests` in the works in a unit at once; `pass_s`: a prefill of so many, or one token of each;
    `communication_fraction` of it in which GPUs only wait.
    """

    tp: int
    pp: int
    ep: int
    gpus: int
    units: int
    requests: int
    pass_s: float
    communication_fraction: float
    memory_gbytes: float


@dataclass(frozen=True, slots=True)
class Inference:
    """The service with most requests a second within its limits on latency. Rates are of all GPUs; output tokens.

    `serving_gpus`: those that units fill. `cache_transfer_s` is part of `ttft_s`. `network`: what GPUs send out of
    their NVLink domain on average; `other_networks`: what the same service would get from others;
    `network_words`: both in sentences.
    """

    gpus: int
    serving_gpus: int
    disaggregated: bool
    prefill: ServingPhase
    decode: ServingPhase
    memory_usable_gbytes: float
    input_tokens: int
    output_tokens: int
    ttft_limit_s: float
    tpot_limit_s: float
    ttft_s: float
    tpot_s: float
    cache_transfer_s: float
    requests_per_s: float
    concurrent_requests: float
    tokens_per_s: float
    user_tokens_per_s: float
    usd_per_gpu_hour: Decimal | None
    usd_per_million_tokens: Decimal | None
    usd_complete: bool
    network: NetworkNeed
    other_networks: tuple[Variation, ...]
    network_words: tuple[str, ...]
    calibrated: bool
    calibration: str
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobMix:
    """What the job mix asks of the fabric, jobs placed one after the other (docs/simulate.md).

    `pattern`: `uniform`, all GPUs of a job with all, or `ring`. Shares of what all GPUs send that leave units and pods;
    down:up that no unit (of the leaves), and no pod (of leaves and spines together), is held up by; None = any.
    """

    pattern: str
    leaving_units_fraction: float
    leaving_pods_fraction: float
    bearable_leaf: Fraction | None
    bearable_pod: Fraction | None


@dataclass(frozen=True, slots=True)
class NotModelled:
    """A part of the performance that cannot be given, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Performance:
    """What the fabric gives the job. `allreduce`: over all GPUs; empty where there is one.

    `training` and `inference` None: another task, or what `not_modelled` says. `rules` of the field, held against the
    job: what decides the time of what it sends between NVLink domains. `job_mix`: by pattern; empty = one job.
    """

    load_balancing: LoadBalancing | None = None
    allreduce: tuple[AllReduceRow, ...] = ()
    training: Training | None = None
    inference: Inference | None = None
    rules: tuple[RuleCheck, ...] = ()
    job_mix: tuple[JobMix, ...] = ()
    not_modelled: tuple[NotModelled, ...] = ()
