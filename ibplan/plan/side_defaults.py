"""What published designs build their storage and management networks like: the defaults, each with its source."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.units import Ratio

_FILE = Path(__file__).parent / "data" / "side_networks.yaml"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)


class _Sourced(_Model):
    why: str
    sources: tuple[str, ...] = Field(min_length=1)
    date: str


class PublishedRatio(_Sourced):
    """An oversubscription, down:up."""

    value: Ratio


class PublishedCount(_Sourced):
    """A number of ports or links, or a speed in Gb/s."""

    value: int = Field(ge=1)


class StorageDefaults(_Model):
    """Oversubscription of leaves with servers, and of leaves with appliances alone."""

    oversubscription: PublishedRatio
    appliance_oversubscription: PublishedRatio


class InbandDefaults(_Model):
    """Port speed in Gb/s and oversubscription."""

    port_gbps: PublishedCount
    oversubscription: PublishedRatio


class OobDefaults(_Model):
    """Uplinks of one switch, and management ports of one switch of the other networks."""

    uplinks: PublishedCount
    ports_per_switch: PublishedCount


class HostDefaults(_Model):
    """Ports of one management server."""

    inband_ports: PublishedCount
    oob_ports: PublishedCount


class SideDefaults(_Model):
    """All of them."""

    storage: StorageDefaults
    inband: InbandDefaults
    oob: OobDefaults
    hosts: HostDefaults


@lru_cache(maxsize=1)
def side_defaults() -> SideDefaults:
    """The packaged defaults."""
    return validate(SideDefaults, read_document(_FILE))
