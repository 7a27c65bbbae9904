"""The ports of every switch of an Ethernet network as its software calls them, and what is at the other end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from ibplan.export.interfaces import linux_name
from ibplan.export.scheme import Scheme
from ibplan.fabric.ports import class_port_names
from ibplan.fabric.wiring_model import KINDS, LEAF, DeviceKind, Side

Role = Literal["host", "up", "down", "peer"]
_SIDES: Final[tuple[Side, Side]] = ("a", "b")
_SWITCHES: Final = ("leaf", "spine", "core")


class SwitchPort(NamedTuple):
    """A port in use: its number in the wiring, its name, what it is for, the link, and the device and port there.

    `cage`, `leg` count from 0. `host`: to a server or another host; `up`, `down`: to a higher or lower tier; `peer`:
    to a switch of the same tier.
    """

    number: int
    name: str
    role: Role
    link: int
    far: int
    far_port: str
    gbps: int
    cage: int
    leg: int


@dataclass(frozen=True)
class SwitchPorts:
    """The ports of the switches of a scheme, named as a system does; `system` None = as in all other exports."""

    scheme: Scheme
    system: str | None = None

    @cached_property
    def of(self) -> dict[int, tuple[SwitchPort, ...]]:
        """The ports in use of every switch, by number. A UsageError where the system's names are not known."""
        w = self.scheme.wiring
        found: dict[int, list[SwitchPort]] = {i: [] for i in np.flatnonzero(w.devices.kind >= LEAF).tolist()}
        kind, classes = w.devices.kind.tolist(), w.links.link_class.tolist()
        names = {side: self._names(side) for side in _SIDES}
        for near, far in zip(_SIDES, reversed(_SIDES), strict=True):
            devices, ports = (column.tolist() for column in w.links.end(near))
            fars = w.links.end(far)[0].tolist()
            cages = (column.tolist() for column in w.cages(near))
            rows = zip(devices, ports, fars, names[near], names[far], *cages, classes, strict=True)
            for link, (device, port, other, name, there, cage, leg, number) in enumerate(rows):
                if kind[device] >= LEAF:
                    role = _role(kind[device], kind[other])
                    gbps = w.classes[number].gbps
                    found[device].append(SwitchPort(port, name, role, link, other, there, gbps, cage, leg))
        return {device: tuple(sorted(ports)) for device, ports in found.items()}

    def _names(self, side: Side) -> list[str]:
        """The name of the port at one end of every link."""
        switches = self.scheme.wiring.devices.kind[self.scheme.wiring.links.end(side)[0]] >= LEAF
        found = self.scheme.port_names(side, self.system)
        return [linux_name(name) if switch else name for name, switch in zip(found, switches.tolist(), strict=True)]

    def notes(self) -> Iterator[str]:
        """What is not known of the names, tier by tier."""
        ids = self.scheme.wired.switch_ids
        said: set[str] = set()
        for number, link_class in enumerate(self.scheme.wiring.classes):
            for side, end in zip(_SIDES, (link_class.a, link_class.b), strict=True):
                if end.tier not in _SWITCHES or not link_class.count:
                    continue
                named = class_port_names(self.scheme.wiring, number, side, self.system)
                names = [n for n in named if n is not None]
                plain = any(n.system == "plain" for n in names)
                text = _NAMES_UNKNOWN if plain else _NAMES_ASSUMED if any(n.assumed for n in names) else None
                if text is not None and (note := text.format(ids[end.tier])) not in said:
                    said.add(note)
                    yield note


_NAMES_UNKNOWN: Final = "the names of ports of {} are not known: p<cage>-<leg> stands for them; rename before use"
_NAMES_ASSUMED: Final = "the names of some ports of {} are assumed: compare a switch before use"


def _role(near: int, far: int) -> Role:
    if far < LEAF:
        return "host"
    if near == far:
        return "peer"
    return "up" if far > near else "down"


def tier_of(scheme: Scheme, device: int) -> DeviceKind:
    """What kind of device a device is."""
    return KINDS[int(scheme.wiring.devices.kind[device])]
