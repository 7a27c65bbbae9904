"""How the Ethernet switches of a network are set up: what the spec says, and published values where it is silent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.errors import InputError
from ibplan.export.scheme import Scheme
from ibplan.spec.ethernet import EthernetSpec

_FILE: Final = Path(__file__).parent / "data" / "ethernet.yaml"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Figure(_Model):
    """A whole number, and where it comes from."""

    value: int = Field(ge=0)
    basis: Literal["published", "secondary", "assumption"]
    date: str | None = None
    source: str | None = None
    note: str


class LosslessFigures(_Model):
    """Marks, priorities and share of bandwidth of RoCE."""

    dscp: Figure
    priority: Figure
    cnp_dscp: Figure
    cnp_priority: Figure
    bandwidth_percent: Figure


class MarkingFigures(_Model):
    """Lengths of a queue between which more and more packets are marked, in bytes, and the share at the upper one."""

    least_bytes: Figure
    most_bytes: Figure
    percent: Figure


class WatchdogFigures(_Model):
    """The watchdog on paused queues: times in ms."""

    interval_ms: Figure
    most_interval_ms: Figure
    ports_an_interval: Figure


class EthernetFigures(_Model):
    """All figures of data/ethernet.yaml."""

    mtu_bytes: Figure
    hosts_vlan: Figure
    bfd_missed: Figure
    lossless: LosslessFigures
    marking: MarkingFigures
    watchdog: WatchdogFigures


@lru_cache(maxsize=1)
def ethernet_figures() -> EthernetFigures:
    """The figures of the packaged data."""
    return validate(EthernetFigures, read_document(_FILE))


@dataclass(frozen=True, slots=True)
class Lossless:
    """Marks (DSCP) and priorities of RoCE data and of congestion notifications; `sharing`: ports to one headroom."""

    dscp: int
    priority: int
    cnp_dscp: int
    cnp_priority: int
    sharing: int


def ethernet_spec(scheme: Scheme) -> EthernetSpec:
    """What the spec says of Ethernet switches."""
    return scheme.loaded.spec.ethernet or EthernetSpec()


def mtu_bytes(scheme: Scheme) -> int:
    """The largest packet on all ports."""
    return ethernet_spec(scheme).mtu or ethernet_figures().mtu_bytes.value


def lossless_of(scheme: Scheme) -> Lossless | None:
    """How RoCE is told apart; None where the network carries none.

    Raises InputError where what is stated and what is published give data and notifications the same mark or priority.
    """
    if scheme.wired.fabric != "roce":
        return None
    stated, known = ethernet_spec(scheme).lossless, ethernet_figures().lossless
    values = {
        key: getattr(known, key).value if getattr(stated, key) is None else getattr(stated, key)
        for key in ("dscp", "priority", "cnp_dscp", "cnp_priority")
    }
    for key, other in (("cnp_dscp", "dscp"), ("cnp_priority", "priority")):
        if values[key] == values[other]:
            raise _same(scheme, key if getattr(stated, key) is not None else other, values[key])
    return Lossless(**values, sharing=stated.headroom_sharing)


def _same(scheme: Scheme, key: str, value: int) -> InputError:
    message = f"ethernet.lossless.{key}: {value} would mark data and congestion notifications alike"
    remedy = "state both: dscp and cnp_dscp, priority and cnp_priority"
    return InputError([scheme.loaded.document.problem(("ethernet", "lossless", key), message, remedy)])
