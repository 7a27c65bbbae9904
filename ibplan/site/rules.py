"""What a site is taken to be: the limits and measures of racks and rows, each with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.spec.models import Site

_FILE = Path(__file__).parent / "data" / "site.yaml"
_UM: Final = 1_000_000
RACK_UNIT_UM: Final = 44_450  # EIA-310: 1.75 inches

Basis = Literal["spec", "published", "assumption"]
Placement = Literal["middle_of_row", "end_of_row", "top_of_rack", "central_rows"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Default(_Model):
    """One measure that stands where the spec states none. `key`: of the spec, where it can be stated."""

    value: float = Field(ge=0)
    key: str | None = None
    basis: Literal["published", "assumption"]
    source: str | None = None
    note: str


class BoxFact(_Model):
    """Height and power of something that stands in a rack and is no catalogue entry."""

    rack_units: int = Field(ge=1)
    max_w: float | None = None
    basis: Literal["published", "assumption"]
    source: str | None = None


class _File(_Model):
    defaults: dict[str, Default]
    boxes: dict[str, BoxFact]


@dataclass(frozen=True, slots=True)
class RunRule:
    """Lengths in whole micrometres, so that a run is the same number however it is added up.

    tray_um: from the top of the rack to the tray above; slack_um: at each end; unit_um: one rack unit.
    """

    tray_um: int
    slack_um: int
    unit_um: int = RACK_UNIT_UM


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure in use: its name (with its unit), its value, whether the spec states it, and the key that does."""

    name: str
    value: float
    basis: Basis
    key: str | None
    note: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class SiteRules:
    """The measures of a site. `rows` None = no limit; power and weight limits None = none is known.

    `power_stated`: the spec states the power limit, so that what exceeds it cannot be built.
    """

    placement: Placement
    rack_units: int
    usable_units: int
    power_w: float
    power_stated: bool
    weight_kg: float | None
    racks_per_row: int
    rows: int | None
    rows_per_hall: int
    pitch_um: int
    width_um: int
    depth_um: int
    gap_um: int
    run: RunRule
    server_rack_pdus: int
    network_rack_pdus: int
    measures: tuple[Measure, ...]


@lru_cache(maxsize=1)
def _file() -> _File:
    return validate(_File, read_document(_FILE))


def boxes() -> dict[str, BoxFact]:
    """What stands in a rack besides servers and switches, by name."""
    return _file().boxes


def site_rules(site: Site) -> SiteRules:
    """The measures of a spec's site: what it states, else the defaults of site.yaml."""
    measures = tuple(_measure(name, default, site) for name, default in _file().defaults.items())
    value = {m.name: m.value for m in measures}
    return SiteRules(
        placement=site.placement,
        rack_units=int(value["rack_units"]),
        usable_units=max(0, int(value["rack_units"]) - int(value["reserved_units"])),
        power_w=value["rack_power_w"],
        power_stated=site.rack.power is not None,
        weight_kg=site.rack.weight_kg,
        racks_per_row=int(value["racks_per_row"]),
        rows=site.hall.rows,
        rows_per_hall=int(value["rows_per_hall"]),
        pitch_um=round(value["aisle_pitch_m"] * _UM / 2),
        width_um=round(value["rack_width_m"] * _UM),
        depth_um=round(value["rack_depth_m"] * _UM),
        gap_um=round(value["hall_gap_m"] * _UM),
        run=RunRule(round(value["tray_m"] * _UM), round(value["slack_m"] * _UM)),
        server_rack_pdus=int(value["server_rack_pdus"]),
        network_rack_pdus=int(value["network_rack_pdus"]),
        measures=measures,
    )


def _measure(name: str, default: Default, site: Site) -> Measure:
    here: object = site
    for part in default.key.split(".")[1:] if default.key else ():
        here = getattr(here, part)
    if isinstance(here, int | float | Decimal):
        return Measure(name, float(here), "spec", default.key, "")
    return Measure(name, default.value, default.basis, default.key, default.note, default.source)
