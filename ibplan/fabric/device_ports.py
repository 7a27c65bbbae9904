"""The ports of one device of a wiring: what each is joined to, and which are free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from ibplan.errors import UsageError
from ibplan.fabric.free_ports import Direction, FreePorts, PortUse, Run, free_ranges, unused_ports
from ibplan.fabric.ports import PortName, class_port_names
from ibplan.fabric.wiring_cages import WiringError, uplinks_elsewhere
from ibplan.fabric.wiring_model import CORE, KINDS, LEAF, SERVER, SPINE, DeviceKind, Side, Wiring
from ibplan.parts.links import LinkKind

_LONGEST_SHOWN = 64
_BETWEEN = ("leaf-spine", "spine-core", "leaf-leaf")


@dataclass(frozen=True, slots=True)
class NicPort:
    """A port of a server: NIC and port of the NIC, rail and plane, all from 1."""

    nic: int
    port: int
    rail: int
    plane: int


@dataclass(frozen=True, slots=True)
class DevicePort:
    """A port in use: its name, speed, direction (of a switch) and kind of link, and the far end."""

    name: PortName
    gbps: int
    direction: Direction | None
    kind: LinkKind
    far_device: str
    far_port: PortName
    nic: NicPort | None = None


@dataclass(frozen=True, slots=True)
class DeviceView:
    """One device. Numbers are from 1, None where they do not apply; `use` is None for hosts."""

    name: str
    kind: DeviceKind
    label: str
    unit: int | None
    pod: int | None
    position: int | None
    ports: tuple[DevicePort, ...]
    free: tuple[FreePorts, ...]
    use: PortUse | None


def find_device(wiring: Wiring, name: str) -> int:
    """The device of a name. Raises UsageError with the nearest names."""
    heads: dict[str, tuple[int, int]] = {}
    d = wiring.devices
    starts = np.flatnonzero(np.diff(d.index, prepend=1) != 1).tolist()  # every run of names counts from 0
    for start, end in zip(starts, [*starts[1:], len(d)], strict=True):
        heads[wiring.device_name(start).rsplit("-", 1)[0]] = (start, end)
    head, _, number = name.rpartition("-")
    if head in heads and number.isascii() and number.isdecimal() and len(number) < 10:
        start, end = heads[head]
        device = start + int(number) - 1
        if start <= device < end and wiring.device_name(device) == name:
            return device
    shown = name if len(name) <= _LONGEST_SHOWN else name[:_LONGEST_SHOWN] + "..."
    raise UsageError(f"--device: there is no {shown!r}; {_nearest(wiring, heads, head or name, number)}")


def _nearest(wiring: Wiring, heads: Mapping[str, tuple[int, int]], head: str, number: str) -> str:
    near = get_close_matches(head[:100], heads, 3, 0.4) if head not in heads else [head]
    wanted = int(number) if number.isascii() and number.isdecimal() and len(number) < 10 else 1
    found = []
    for key in near:
        start, end = heads[key]
        found.append(wiring.device_name(min(max(start, start + wanted - 1), end - 1)))
    if found:
        return f"nearest: {', '.join(found)}"
    return "there are " + ", ".join(wiring.device_name(start) for start, _ in heads.values()) + " and so on"


def device_view(wiring: Wiring, device: int, system: str | None = None) -> DeviceView:
    """All ports of a device, in their order, and the free ones of a switch. `system`: whose port names."""
    d = wiring.devices
    unit, pod, position = (int(x[device]) + 1 if x[device] >= 0 else None for x in (d.unit, d.pod, d.position))
    found = sorted(_ends(wiring, device), key=lambda end: end[0])
    names = _Names(wiring, system)
    ports = tuple(_port(names, device, link, side) for _, link, side in found)
    fabric = int(d.fabric[device])
    free, use = _free_and_use(wiring, device, system) if d.kind[device] >= LEAF else ((), None)
    return DeviceView(
        wiring.device_name(device),
        KINDS[d.kind[device]],
        wiring.hosts.label(fabric) if fabric >= 0 else "",
        unit,
        pod,
        position,
        ports,
        free,
        use,
    )


def port_use(wiring: Wiring, device: int) -> PortUse:
    """The ports of one switch: in use, free, kept and spare."""
    return _free_and_use(wiring, device, None)[1]


def _ends(wiring: Wiring, device: int) -> Iterator[tuple[int, int, Side]]:
    """(port, link, side) of every link that ends at a device."""
    sides: tuple[Side, Side] = ("a", "b")
    for side in sides:
        devices, ports = wiring.links.end(side)
        at = np.flatnonzero(devices == device)
        for link, port in zip(at.tolist(), ports[at].tolist(), strict=True):
            yield port, link, side


class _Names:
    """Names of ports, those of a class of links made once."""

    def __init__(self, wiring: Wiring, system: str | None) -> None:
        self.wiring, self._system = wiring, system
        self._known: dict[tuple[int, Side], list[PortName | None]] = {}

    def __call__(self, link: int, side: Side) -> PortName:
        key = (int(self.wiring.links.link_class[link]), side)
        if key not in self._known:
            self._known[key] = class_port_names(self.wiring, *key, self._system)
        name = self._known[key][int(self.wiring.links.end(side)[1][link])]
        if name is None:
            raise WiringError(f"link {link} ends in a port that its device does not have")
        return name


def _port(names: _Names, device: int, link: int, side: Side) -> DevicePort:
    wiring = names.wiring
    far: Side = "b" if side == "a" else "a"
    link_class = wiring.classes[int(wiring.links.link_class[link])]
    return DevicePort(
        names(link, side),
        link_class.gbps,
        _direction(wiring, device, link_class.kind, side),
        link_class.kind,
        wiring.device_name(int(wiring.links.end(far)[0][link])),
        names(link, far),
        _nic(wiring, device, int(wiring.links.end(side)[1][link])),
    )


def _direction(wiring: Wiring, device: int, kind: LinkKind, side: Side) -> Direction | None:
    if wiring.devices.kind[device] < LEAF:
        return None
    return "up" if kind == "leaf-leaf" or (kind in _BETWEEN and side == "a") else "down"


def _nic(wiring: Wiring, device: int, port: int) -> NicPort | None:
    if wiring.devices.kind[device] != SERVER:
        return None
    hosts = wiring.hosts
    fabric, rail = (int(x[0]) for x in hosts.rail_of(np.array([port], np.int32)))
    plane, separate = divmod(fabric, hosts.rails)
    return NicPort(port // hosts.ports_per_nic + 1, port % hosts.ports_per_nic + 1, rail + separate + 1, plane + 1)


def _free_and_use(wiring: Wiring, device: int, system: str | None) -> tuple[tuple[FreePorts, ...], PortUse]:
    request = wiring.network.request
    kind = int(wiring.devices.kind[device])
    geometry, down, kept = {
        LEAF: (request.leaf.geometry, request.leaf.down_gbps, request.leaf.reserved),
        SPINE: (request.spine.geometry, request.leaf.up_gbps, request.spine.reserved),
        CORE: (request.core, request.spine.up_gbps, 0),
    }[kind]
    used: dict[int, Run] = {}
    for port, link, side in _ends(wiring, device):
        link_class = wiring.classes[int(wiring.links.link_class[link])]
        used[port] = Run(link_class.gbps, _direction(wiring, device, link_class.kind, side))
    empty = _kept(wiring, device)
    speeds = {lit.gbps for lit in (*used.values(), *empty.values()) if lit.direction == "down"}
    down = down if down in speeds or not speeds else max(speeds)  # a leaf of attached hosts alone runs at their speed
    kept_up = uplinks_elsewhere(request) if kind == LEAF and wiring.network.fabric.separate else ()
    unused = ((port, lit) for port, lit in unused_ports(geometry, used | empty, down) if port not in kept_up)
    found = sorted([*unused, *empty.items()], key=lambda item: item[0])
    free, kept = sum(lit == Run(down, "down") for _, lit in found), kept + len(empty)
    use = PortUse(len(used), free - min(free, kept), min(free, kept), len(found) - free)
    return tuple(free_ranges(geometry, found, system)), use


def _kept(wiring: Wiring, device: int) -> dict[int, Run]:
    """The reserved ports of a leaf that carry no link, run as their links would."""
    kept = wiring.kept
    if kept is None:
        return {}
    at = np.flatnonzero(kept.device == device)
    rows = zip(kept.port[at].tolist(), kept.link_class[at].tolist(), strict=True)
    return {port: Run(wiring.classes[number].gbps, "down") for port, number in rows}
