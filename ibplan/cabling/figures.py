"""What trunks and panels are taken to be, and what light loses in them: the figures of structured.yaml."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.units import Share

_FILE: Final = Path(__file__).parent / "data" / "structured.yaml"

GlassKind = Literal["multimode", "single_mode"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Stated(_Model):
    """Where a figure comes from."""

    basis: Literal["published", "secondary", "assumption"]
    date: str | None = None
    source: str | None = None
    note: str


class Whole(Stated):
    """A default that counts something, or whole metres."""

    value: int = Field(ge=1)


class Part(Stated):
    """A default that is a share."""

    value: Share


class Defaults(_Model):
    """What stands where the spec states nothing: trunks, panels, spare plugs, steps of lengths."""

    trunk_fibers: Whole
    panel_ports: Whole
    panel_units: Whole
    spare_fraction: Part
    trunk_step_m: Whole


class Connector(Stated):
    """A plug: fibres that it takes of a trunk, and the loss of a mated pair in dB."""

    fibers: int = Field(ge=1)
    loss_db: float = Field(gt=0)


class Attenuation(Stated):
    """dB per kilometre."""

    value: float = Field(gt=0)


class Limit(Stated):
    """The most that a channel may lose, in dB, between modules of a rate per fibre or wavelength."""

    fiber: GlassKind
    connector: str
    line_gbps: int = Field(ge=1)
    max_loss_db: float = Field(gt=0)
    application: str


class Figures(_Model):
    """All of them."""

    defaults: Defaults
    connectors: dict[str, Connector]
    attenuation_db_per_km: dict[GlassKind, Attenuation]
    limits: tuple[Limit, ...]

    def limit(self, fiber: GlassKind, connector: str, line_gbps: int) -> Limit | None:
        """The limit of a channel; None = no source states it."""
        key = (fiber, connector, line_gbps)
        return next((row for row in self.limits if (row.fiber, row.connector, row.line_gbps) == key), None)


@lru_cache(maxsize=1)
def figures() -> Figures:
    """The figures, read once."""
    return validate(Figures, read_document(_FILE))
