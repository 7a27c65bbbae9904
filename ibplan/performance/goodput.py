"""How much of the time trains: stops, restarts, and checkpoints at the interval that loses least."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite, sqrt
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ibplan.document import read_document, validate
from ibplan.workload.job import TrainingJob
from ibplan.workload.parameters import total_parameters

_FILE = Path(__file__).parent / "data" / "failures.yaml"
_DAY_S = 86_400.0


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


class Fleet(_Model):
    """Unplanned stops that were counted on `gpus` GPUs in `days` days."""

    id: str
    stops: float = Field(gt=0)
    gpus: int = Field(ge=1)
    days: float = Field(gt=0)
    observed_gpus: int = Field(ge=1)
    source: str

    @property
    def stops_per_gpu_day(self) -> float:
        """Stops of a job in a day, for each of its GPUs."""
        return self.stops / (self.gpus * self.days)


class _Seconds(_Model):
    value: float = Field(ge=0)
    source: str


class Failures(_Model):
    """The packaged file."""

    fleets: tuple[Fleet, ...]
    default_fleet: str
    restart_s: _Seconds
    save_s: _Seconds

    @model_validator(mode="after")
    def _default_exists(self) -> Failures:
        if self.default_fleet not in {fleet.id for fleet in self.fleets}:
            raise ValueError(f"no fleet {self.default_fleet}")
        return self


@dataclass(frozen=True, slots=True)
class Goodput:
    """`fraction` of the time that trains, with checkpoints every `interval_s` that take `save_s` each.

    `mttf_s`: mean time between stops of the job; infinite without failures. `extrapolated`: the job is larger than any
    that the fleet's rate was observed on.
    """

    fraction: float
    mttf_s: float
    interval_s: float
    save_s: float
    restart_s: float
    fleet: str | None
    extrapolated: bool


@lru_cache(maxsize=1)
def failures() -> Failures:
    """The packaged rates."""
    return validate(Failures, read_document(_FILE))


def fleet_of(name: str | None = None) -> Fleet:
    """A fleet by id, without one the default. Raises KeyError."""
    data = failures()
    wanted = data.default_fleet if name is None else name
    return {fleet.id: fleet for fleet in data.fleets}[wanted]


def checkpoint_bytes(job: TrainingJob) -> float:
    """Bytes of a full checkpoint: weights and the optimizer's state of all parameters (not gradients)."""
    q = job.element_bytes
    return total_parameters(job.shape) * (q.weights + q.optimizer)


def checkpoint_save_s(size_bytes: float, storage_gbytes_per_s: float) -> float:
    """Seconds to write a checkpoint while training waits, at the storage's rate (GB/s)."""
    return size_bytes / (storage_gbytes_per_s * 1e9)


def mean_time_to_failure_s(gpus: int, stops_per_gpu_day: float) -> float:
    """Seconds between stops of a job: any of its GPUs' failures stops it."""
    rate = gpus * stops_per_gpu_day
    return _DAY_S / rate if rate > 0 else inf


def checkpoint_interval_s(save_s: float, mttf_s: float) -> float:
    """Seconds of work between checkpoints that lose least: sqrt(2 save MTTF) (Young 1974, doi 10.1145/361147.361115).

    Daly's correction (2006, doi 10.1016/j.future.2004.11.016) for saves that are not short against the MTTF: times
    1 + sqrt(x) / 3 + x / 9 with x = save / (2 MTTF), less the save; from x = 1 on it is the MTTF.
    """
    if not isfinite(mttf_s):
        return inf
    x = save_s / (2 * mttf_s)
    if x >= 1:
        return mttf_s
    return sqrt(2 * save_s * mttf_s) * (1 + sqrt(x) / 3 + x / 9) - save_s


def goodput(gpus: int, fleet: Fleet | None, save_s: float, restart_s: float) -> Goodput:
    """Share of the time that trains (expected effective time ratio, arXiv 2410.21680).

    (1 - (restart + (interval + save) / 2) / MTTF) / (1 + save / interval), at least 0: a stop costs the restart and on
    average half of what was done since the last checkpoint. `fleet` None = no failures and no checkpoints.
    """
    mttf_s = mean_time_to_failure_s(gpus, fleet.stops_per_gpu_day) if fleet is not None else inf
    interval_s = checkpoint_interval_s(save_s, mttf_s)
    lost, overhead = 0.0, 0.0
    if isfinite(mttf_s):
        # Without a save, a checkpoint follows every step, and only the restart is lost.
        lost = (restart_s + (interval_s + save_s) / 2) / mttf_s
        overhead = save_s / interval_s if save_s > 0 else 0.0
    return Goodput(
        fraction=max(0.0, 1 - lost) / (1 + overhead),
        mttf_s=mttf_s,
        interval_s=interval_s,
        save_s=save_s,
        restart_s=restart_s,
        fleet=None if fleet is None else fleet.id,
        extrapolated=fleet is not None and gpus > fleet.observed_gpus,
    )
