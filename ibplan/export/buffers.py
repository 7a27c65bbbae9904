"""The headroom of every lossless port of a switch, and whether the buffer of the switch holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isnan
from typing import Final

from ibplan.export.cable_lengths import cable_lengths_m
from ibplan.export.headroom import Chip, Headroom, headroom, headroom_figures, least_headroom_bytes
from ibplan.export.scheme import Scheme
from ibplan.export.settings import Lossless, mtu_bytes
from ibplan.export.switch_models import model_of, port_mode
from ibplan.export.switch_ports import SwitchPort, tier_of

_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class PortBuffer:
    """A lossless port: whole metres of its cable (None = unknown), and its headroom (None = cannot be computed).

    `least_bytes`: what any switch needs; None where the length is unknown.
    """

    length_m: int | None
    headroom: Headroom | None
    least_bytes: float | None


@dataclass(frozen=True, slots=True)
class Total:
    """Headroom of a switch in bytes, None = unknown. `exact`: by the figures of its chip; else the least it can be."""

    size: int | None
    exact: bool


@dataclass(frozen=True)
class Buffers:
    """The lossless buffers of all switches of a network."""

    scheme: Scheme
    lossless: Lossless

    @cached_property
    def _lengths(self) -> list[float]:
        return [float(m) for m in cable_lengths_m(self.scheme).tolist()]

    def chip(self, device: int) -> Chip | None:
        """What is published of the chip of a switch."""
        entry = model_of(self.scheme, device).entry
        return None if entry is None else headroom_figures().chip(entry.asic)

    def port(self, device: int, port: SwitchPort) -> PortBuffer:
        """The buffer of one port."""
        length = self._lengths[port.link]
        if isnan(length):
            return PortBuffer(None, None, None)
        whole, mtu = max(1, ceil(length)), mtu_bytes(self.scheme)
        chip, lanes = self.chip(device), port_mode(self.scheme, device, port).lanes
        response = headroom_figures().response_bytes(port.gbps)
        computed = None
        if chip is not None and lanes is not None and response is not None:
            computed = headroom(chip, port.gbps, whole, lanes=lanes, mtu_bytes=mtu, response_bytes=response)
        return PortBuffer(whole, computed, least_headroom_bytes(port.gbps, whole, mtu))

    def total(self, found: Sequence[PortBuffer]) -> Total:
        """What the ports of a switch need together. Where headroom is shared, so many ports have the xoff of one."""
        share = self.lossless.sharing
        if all(port.headroom is not None for port in found):
            sizes = [port.headroom for port in found if port.headroom is not None]
            own = sum(h.size - h.xoff for h in sizes)
            return Total(own + ceil(sum(h.xoff for h in sizes) / share), exact=True)
        if any(port.least_bytes is None for port in found):
            return Total(None, exact=False)
        return Total(ceil(sum(port.least_bytes or 0 for port in found) / share), exact=False)

    def notes(self, totals: dict[int, Total]) -> Iterator[str]:
        """Tier by tier: the switch that needs most, of what it has."""
        for tier in ("leaf", "spine", "core"):
            devices = [device for device in totals if tier_of(self.scheme, device) == tier]
            if devices:
                yield self._note(tier, devices, totals)

    def _note(self, tier: str, devices: list[int], totals: dict[int, Total]) -> str:
        most = max(devices, key=lambda device: totals[device].size or 0)
        total, model = totals[most], model_of(self.scheme, most)
        what = f"{tier} switches ({model.id})"
        if any(totals[device].size is None for device in devices):
            return f"headroom of {what}: not known, for the lengths of cables or the speeds of ports are not"
        need = f"{'' if total.exact else 'at least '}{(total.size or 0) / _MB:.1f} MB in {self.scheme.names[most]}"
        text = f"headroom of {what}: {need}"
        if not total.exact:
            text += "; the delays of its chip are not published, so no profiles are written, only lengths of cables"
        buffer_mb = None if model.entry is None else model.entry.buffer_mb
        if buffer_mb is None:
            return f"{text}; how large its buffer is, is not known: check it"
        share = (total.size or 0) / (buffer_mb * _MB)
        if share <= 1:
            return f"{text}; {share:.0%} of its buffer of {buffer_mb:g} MB"
        return (
            f"{text}: MORE THAN ITS BUFFER of {buffer_mb:g} MB; packets would be lost. Shorten cables, "
            "use fewer ports, or let ports share headroom (ethernet.lossless.headroom_sharing)"
        )
