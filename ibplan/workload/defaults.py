"""What a job is taken to be where the spec does not say: numbers with their sources, from data."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate

_DATA = Path(__file__).parent / "data"
Precision = Literal["bf16", "fp8"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Sourced(_Model):
    """A number and where it comes from."""

    value: float = Field(gt=0)
    source: str


class ByPrecision(_Model):
    """A number for each precision, and where it comes from."""

    bf16: float = Field(gt=0)
    fp8: float = Field(gt=0)
    source: str

    def of(self, precision: Precision) -> float:
        """The number for that precision."""
        return self.fp8 if precision == "fp8" else self.bf16


class BatchRow(_Model):
    """Tokens in a step and sequence length of models with or without experts, up to a size."""

    experts: bool
    parameters_up_to: float
    step_tokens: float = Field(gt=0)
    sequence: int = Field(ge=1)


class TrainingDefaults(_Model):
    """All defaults of a training job."""

    batch: tuple[BatchRow, ...] = Field(min_length=1)
    batch_source: str
    tokens_per_parameter: Sourced
    weight_bytes: Sourced
    gradient_bytes: Sourced
    optimizer_bytes: Sourced
    activation_bytes: Sourced
    dispatch_bytes: ByPrecision
    combine_bytes: ByPrecision
    usable_memory_fraction: Sourced

    def batch_of(self, parameters: int, experts: bool) -> BatchRow:
        """The row for a model of that many parameters, with or without experts."""
        rows = [row for row in self.batch if row.experts == experts]
        return next((row for row in rows if parameters <= row.parameters_up_to), rows[-1])


@lru_cache(maxsize=1)
def training_defaults() -> TrainingDefaults:
    """The packaged defaults."""
    return validate(TrainingDefaults, read_document(_DATA / "training_defaults.yaml"))


class InferenceDefaults(_Model):
    """All defaults of an inference service."""

    input_tokens: Sourced
    output_tokens: Sourced
    ttft_s: Sourced
    tpot_s: Sourced
    weight_bytes: ByPrecision
    kv_bytes: ByPrecision
    usable_memory_fraction: Sourced


@lru_cache(maxsize=1)
def inference_defaults() -> InferenceDefaults:
    """The packaged defaults."""
    return validate(InferenceDefaults, read_document(_DATA / "inference_defaults.yaml"))
