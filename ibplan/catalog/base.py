"""What all catalogue entries share: words, ids, identity and source, power."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

LinkLayer = Literal["infiniband", "ethernet"]
HeatSink = Literal["finned", "flat", "none"]
Medium = Literal["passive_copper", "active_copper", "aoc", "multimode", "single_mode"]
Status = Literal["active", "unclear", "retired", "prototype"]
Confidence = Literal["high", "medium", "low"]
PriceKind = Literal["list", "street", "estimate"]
Form = Literal[
    "OSFP",
    "QSFP-DD800",
    "QSFP112-DD",
    "QSFP112",
    "QSFP-DD",
    "QSFP56",
    "QSFP28",
    "SFP28",
    "RJ45",
    "MPO-12",
    "MMC-12",
]

_ID = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")


def _check_id(value: Any) -> Any:
    if isinstance(value, str) and (len(value) > 80 or not _ID.fullmatch(value)):
        raise ValueError("an id is lower-case letters, digits, dots and hyphens, such as nvidia-qm9700")
    return value


Id = Annotated[str, BeforeValidator(_check_id)]


class Entry(BaseModel):
    """Base of all catalogue models: frozen, no unknown keys, no silent conversion.

    Validators are built when they are first used: those of the parts of a file never are.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        defer_build=True,
    )


class Sourced(Entry):
    """An entry that can be bought: its identity and where its facts come from."""

    id: Id
    vendor: str
    model: str
    status: Status = "active"
    status_note: str | None = None
    confidence: Confidence
    sources: tuple[str, ...] = Field(min_length=1)
    notes: str | None = None


class Power(Entry):
    """Power in watts. `max_includes_modules`: the maximum already holds the modules in the device's own cages."""

    typical_w: float | None = Field(default=None, ge=0)
    max_w: float | None = Field(default=None, ge=0)
    max_includes_modules: bool = False
    note: str | None = None
