"""Overlap rules of training software, from data: which exchanges hide behind computing."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate

_FILE = Path(__file__).parent / "data" / "practices.yaml"
CURRENT = "current"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


class ShardedWeights(_Model):
    """How ZeRO 3 gathers weights: ahead of use or not, in how many collectives a layer, at which share of the rate.

    `copy_us`: microseconds that a gather takes longer for each rank, whose part is copied out by itself.
    """

    prefetch: bool
    collectives_per_layer: int = Field(ge=1)
    rate_share: float = Field(gt=0, le=1)
    copy_us: float = Field(ge=0)


class Practice(_Model):
    """What one generation of training software overlaps (data/practices.yaml says what each field means)."""

    id: str
    data_overlap: bool
    pipeline_overlap: bool
    context_overlap: bool
    expert_overlap: bool
    sharded_weights: ShardedWeights
    source: str


class _File(_Model):
    practices: tuple[Practice, ...]


@lru_cache(maxsize=1)
def practices() -> dict[str, Practice]:
    """The packaged practices by id; `current` is what planning takes."""
    return {p.id: p for p in validate(_File, read_document(_FILE)).practices}
