"""How much a port must be able to take in after it has asked for a pause, so that nothing is lost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.export.settings import Figure

_FILE: Final = Path(__file__).parent / "data" / "headroom.yaml"
KIB: Final = 1024
# The shortest packet (IEEE 802.3), one pause quantum in bytes, lanes of a port with a doubled pipeline.
_SHORTEST_BYTES: Final = 64
_QUANTUM_BYTES: Final = 64
_WIDE_LANES: Final = 8


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Response(_Model):
    """Quanta at one speed."""

    gbps: int
    quanta: int


class ResponseQuanta(_Model):
    """Time to stop sending after a pause, in quanta of 512 bit times, by speed."""

    source: str
    second_source: str
    date: str
    by_gbps: tuple[Response, ...]


class Chip(_Model):
    """What is published of a kind of switch chip: cells in bytes, delays in KiB at port speed."""

    asics: tuple[str, ...] = Field(min_length=1)
    cell_bytes: int = Field(ge=1)
    pipeline_kib: int = Field(ge=0)
    interface_kib: float = Field(ge=0)
    extra_kib: int = Field(default=0, ge=0)
    source: str
    date: str

    @property
    def fill(self) -> float:
        """Bytes of cells taken by a byte of the worst traffic."""
        if self.cell_bytes > 2 * _SHORTEST_BYTES:
            return self.cell_bytes / _SHORTEST_BYTES
        return 2 * self.cell_bytes / (1 + self.cell_bytes)


class HeadroomFigures(_Model):
    """All figures of data/headroom.yaml."""

    propagation_m_per_s: Figure
    pause_frame_bytes: Figure
    lossless_packet_bytes: Figure
    response_quanta: ResponseQuanta
    chips: tuple[Chip, ...]

    def chip(self, asic: str | None) -> Chip | None:
        """The chip of a name as the catalogue has it; None = nothing is published of it."""
        return next((chip for chip in self.chips if asic in chip.asics), None)

    def response_bytes(self, gbps: int) -> int | None:
        """What a sender still sends after a pause has arrived; None for a speed that the standard does not state."""
        stated = (row.quanta * _QUANTUM_BYTES for row in self.response_quanta.by_gbps if row.gbps == gbps)
        return next(stated, None)


@lru_cache(maxsize=1)
def headroom_figures() -> HeadroomFigures:
    """The figures of the packaged data."""
    return validate(HeadroomFigures, read_document(_FILE))


@dataclass(frozen=True, slots=True)
class Headroom:
    """The buffer of one lossless class of a port in bytes: `xon` to go on, `xoff` behind the pause, `size` of both."""

    xon: int
    xoff: int
    size: int


def in_flight_bytes(gbps: int, length_m: float, mtu_bytes: int, response_bytes: int) -> float:
    """What arrives after a port has decided to pause, on an ideal switch: no delay of its own, no cells.

    The longest packet that is already being sent the other way (mtu), the pause frame, the cable there and back
    (2 x length x rate / speed of light), and the response of the sender. IEEE 802.1Qbb; response: 802.3 31B.3.7.
    """
    known = headroom_figures()
    cable = 2 * length_m / known.propagation_m_per_s.value * gbps * 1e9 / 8
    return mtu_bytes + known.pause_frame_bytes.value + cable + response_bytes


def least_headroom_bytes(gbps: int, length_m: float, mtu_bytes: int) -> float | None:
    """The least that any switch needs on a port; None for a speed without a stated response."""
    known = headroom_figures()
    response = known.response_bytes(gbps)
    if response is None:
        return None
    return known.lossless_packet_bytes.value + in_flight_bytes(gbps, length_m, mtu_bytes, response)


def headroom(
    chip: Chip,
    gbps: int,
    length_m: float,
    *,
    lanes: int,
    mtu_bytes: int,
    response_bytes: int,
    lossless_packet_bytes: int | None = None,
) -> Headroom:
    """The headroom of a port in whole KiB, on a chip that is known.

    xoff = lossless packet + fill x (in flight + interface delay) + extra; xon = pipeline; size = xoff + xon, and one
    more mtu at ports of eight lanes. As SONiC computes it for these chips, which leaves the pause frame out and counts
    2.3 % less cable; here bits are bits.
    """
    known = headroom_figures()
    packet = known.lossless_packet_bytes.value if lossless_packet_bytes is None else lossless_packet_bytes
    wide = lanes == _WIDE_LANES
    late = in_flight_bytes(gbps, length_m, mtu_bytes, response_bytes) + chip.interface_kib * KIB
    xoff = _kib(packet + late * chip.fill + chip.extra_kib * KIB)
    xon = (2 * chip.pipeline_kib - 1 if wide else chip.pipeline_kib) * KIB
    return Headroom(xon, xoff, _kib(xoff + xon + (mtu_bytes if wide else 0)))


def _kib(size_bytes: float) -> int:
    return ceil(size_bytes / KIB) * KIB
