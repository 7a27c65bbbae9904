"""What economics rests on besides prices: failure rates, licences, the power swing, ranges; each with its source."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ibplan.document import read_document, validate

_FILE: Final = Path(__file__).parent / "data" / "economics.yaml"
Kind = Literal["published", "derived", "assumption"]


def _text(value: Any) -> Any:
    """A date without a day reads as a number."""
    return str(value) if isinstance(value, int) else value


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    date: Annotated[str, BeforeValidator(_text)]
    source: str


class FailureRate(_Part):
    """Share of installed parts that have to be replaced in a year."""

    per_year: float = Field(gt=0, le=1)
    kind: Kind
    note: str


class LicenceEntry(_Part):
    """A licence: what it is counted by, on which fabrics, and whether the fabric needs it (`unknown` = not found).

    `required_above_gpus`: from more GPUs on it is required, whatever `need` says.
    """

    key: Literal["fabric_manager", "network_os", "telemetry"]
    part: str
    description: str
    fabrics: tuple[Literal["infiniband", "roce", "ethernet"], ...]
    per: Literal["endpoint", "switch"]
    need: Literal["required", "recommended", "optional", "unknown"]
    required_above_gpus: int | None = None


class PowerSwing(_Part):
    """Share of the servers' maximum power by which it falls between computing and communicating."""

    fraction_of_maximum: float = Field(gt=0, lt=1)
    kind: Kind
    note: str


class InputRange(_Part):
    """How low and how high an input can be; `unit` in words."""

    low: float = Field(ge=0)
    high: float = Field(ge=0)
    unit: str
    kind: Kind


class InputRanges(BaseModel):
    """The ranges of all inputs of the sensitivity but the prices."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    electricity: InputRange
    pue: InputRange
    support: InputRange
    years: InputRange
    discount: InputRange
    spares: InputRange


class Assumptions(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    failure_rates: dict[Literal["switch", "nic"], FailureRate]
    licences: tuple[LicenceEntry, ...]
    power_swing: PowerSwing
    ranges: InputRanges


@lru_cache(maxsize=1)
def assumptions() -> Assumptions:
    """The packaged file, read once."""
    return validate(Assumptions, read_document(_FILE, "ibplan/economics/data/economics.yaml"))
