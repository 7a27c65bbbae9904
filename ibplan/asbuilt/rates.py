"""Rates of InfiniBand links as the programs print them. The table is data: data/link_rates.yaml."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate

_FILE: Final = Path(__file__).parent / "data" / "link_rates.yaml"
# Printed rates are rounded: 25.78 stands for 25.78125.
_TOLERANCE: Final = 0.01


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class _Lane(_Model):
    name: str
    gbps: float = Field(gt=0)
    printed_gbps: float = Field(gt=0)


class _File(_Model):
    lanes: tuple[_Lane, ...]
    sources: tuple[str, ...] = Field(min_length=1)
    notes: str | None = None


class Rate(NamedTuple):
    """What a link runs at: Gb/s in all, lanes of how many Gb/s each (None where the source does not state lanes)."""

    gbps: float
    lanes: int | None = None
    lane_gbps: float | None = None

    def __str__(self) -> str:
        if self.lanes is None or self.lane_gbps is None:
            return f"{self.gbps:g}G"
        return f"{self.gbps:g}G ({self.lanes} x {self.lane_gbps:g}G)"


@lru_cache(maxsize=1)
def _lanes() -> tuple[_Lane, ...]:
    return validate(_File, read_document(_FILE)).lanes


@lru_cache(maxsize=256)
def named_rate(lanes: int, name: str) -> Rate | None:
    """`4x`, `NDR`: 400 Gb/s. None for a name that is not known, such as `???`."""
    found = next((lane.gbps for lane in _lanes() if lane.name == name), None)
    return None if found is None else Rate(lanes * found, lanes, found)


@lru_cache(maxsize=256)
def printed_rate(lanes: int, printed_gbps: float) -> Rate:
    """`4X`, 106.25: 400 Gb/s. A number that is not in the table stands for itself."""
    known = (lane for lane in _lanes() if abs(lane.printed_gbps - printed_gbps) <= _TOLERANCE * lane.printed_gbps)
    lane = next(known, None)
    gbps = printed_gbps if lane is None else lane.gbps
    return Rate(lanes * gbps, lanes, gbps)
