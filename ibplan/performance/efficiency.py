"""Which share of its peak a GPU reaches: fitted on published tables, carried over to GPUs that have none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ibplan.document import read_document, validate
from ibplan.workload.defaults import Precision

_FILE = Path(__file__).parent / "data" / "efficiency.yaml"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


class Calibration(_Model):
    """The matmul efficiency of a GPU at a precision, fitted on the first `rows` of a published table (None: all)."""

    gpu: str
    precision: Precision
    matmul_efficiency: float = Field(gt=0, le=1)
    table: str
    rows: int | None = Field(default=None, ge=1)
    source: str


class _Transfer(_Model):
    gpus: tuple[str, ...] = Field(min_length=1)
    from_gpu: str
    why: str


class _Others(_Model):
    from_gpu: str
    why: str


class _Share(_Model):
    value: float = Field(gt=0, le=1)
    source: str


class Efficiencies(_Model):
    """The packaged file."""

    calibrations: tuple[Calibration, ...] = Field(min_length=1)
    transfers: tuple[_Transfer, ...]
    other_gpus: _Others
    memory_efficiency: _Share

    @model_validator(mode="after")
    def _transfers_lead_somewhere(self) -> Efficiencies:
        known = {(c.gpu, c.precision) for c in self.calibrations}
        if not {(self.other_gpus.from_gpu, "bf16"), (self.other_gpus.from_gpu, "fp8")} <= known:
            raise ValueError(f"{self.other_gpus.from_gpu} stands in for other GPUs and lacks a calibration")
        return self

    def calibration(self, gpu: str | None, precision: Precision) -> Calibration | None:
        """That of the GPU itself."""
        return next((c for c in self.calibrations if c.gpu == gpu and c.precision == precision), None)

    def stand_in(self, gpu: str | None) -> _Transfer | _Others:
        """Which GPU's calibration to take instead."""
        return next((t for t in self.transfers if gpu in t.gpus), self.other_gpus)


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Shares of the peak that matrix products and memory traffic reach. `matmul_source`: the table fitted on.

    `transferred`: whose number it is instead, and why; None where it is this GPU's own.
    """

    matmul: float
    memory: float
    matmul_source: str
    transferred: str | None


@lru_cache(maxsize=1)
def efficiencies() -> Efficiencies:
    """The packaged efficiencies."""
    return validate(Efficiencies, read_document(_FILE))


def efficiency_of(gpu: str | None, precision: Precision) -> Efficiency:
    """The efficiency of a GPU (catalogue id; None = not in the catalogue) at a precision."""
    data = efficiencies()
    found, why = data.calibration(gpu, precision), None
    tried = {gpu}
    while found is None:
        stand_in = data.stand_in(gpu)
        # A chain of stand-ins that comes back ends at the one that has everything.
        gpu = stand_in.from_gpu if stand_in.from_gpu not in tried else data.other_gpus.from_gpu
        tried.add(gpu)
        found, why = data.calibration(gpu, precision), f"{precision} efficiency of {gpu}: {stand_in.why}"
    return Efficiency(found.matmul_efficiency, data.memory_efficiency.value, found.source, why)
