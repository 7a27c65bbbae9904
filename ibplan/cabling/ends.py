"""The ends of cables: where a device stands, what its ports are called, and what is plugged in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ibplan.cabling.runs import Places, device_groups
from ibplan.fabric.ports import class_port_names
from ibplan.fabric.wiring_model import ATTACHED, LEAF, Side, Wiring
from ibplan.parts.chosen import LinkParts


class HostPort(NamedTuple):
    """A port of a host: its cage from 1, and its name."""

    cage: int
    name: str


# By "server" or the name of attached hosts: the ports of one of them, by number.
HostPorts = Mapping[str, Sequence[HostPort]]
# (group of the floor, number in it) -> name.
Naming = Callable[[str, int], str]
_SWITCHED = ("leaf", "spine", "core")


@dataclass(frozen=True, slots=True)
class DevicePlace:
    """A device: (hall, row, rack, rack unit, name), None where unknown, and what labels call it."""

    columns: tuple[str | None, int | None, str | None, float | None, str]
    label: str


@dataclass(frozen=True, slots=True)
class ClassEnd:
    """One side of a class of links: names of ports by number, and the module with its part number (None: no module).

    `cages`: the cage of every port, from 1, where the wiring does not know it.
    """

    names: list[str]
    module: str | None
    module_part_number: str | None
    cages: list[int] | None = None


def device_places(
    wiring: Wiring,
    places: Places | None,
    network: str,
    naming: Naming | None = None,
    names: Sequence[str] | None = None,
) -> list[DevicePlace]:
    """Every device of a wiring, in its order. `naming` gives a device of a group its name on the floor.

    `names`: those of all devices, where the site has names of its own.
    """
    names = _floor_names(wiring, network, naming) if names is None else names
    found = [DevicePlace((None, None, None, None, name), name) for name in names]
    if places is None:
        return found
    d = wiring.devices
    for (kind, group), (label, first) in device_groups(wiring, network).items():
        if label not in places.rack_of:
            continue
        racks, units = places.rack_of[label].tolist(), places.unit_of[label].tolist()
        for device in np.flatnonzero((d.kind == kind) & (d.group == group)).tolist():
            found[device] = _place(places.racks[racks[device - first]], units[device - first], names[device])
    return found


def _floor_names(wiring: Wiring, network: str, naming: Naming | None) -> list[str]:
    """The names of all devices as they are on the floor, where several networks have a `leaf-001`.

    Switches of other networks than compute stand after its name; a host that is a switch of another network
    (`compute.leaf-003`) or a server has the name that it has there.
    """
    names = wiring.device_names()
    for device in np.flatnonzero(wiring.devices.kind >= LEAF).tolist() if network != "compute" else ():
        names[device] = f"{network}/{names[device]}"
    for number, hosts in enumerate(wiring.network.request.attached):
        group = hosts.device_group(network) or ""
        if group == "server" or (naming is not None and group.partition("/")[2] in _SWITCHED):
            at = np.flatnonzero((wiring.devices.kind == ATTACHED) & (wiring.devices.group == number))
            for index, device in enumerate(at.tolist()):
                names[device] = f"server-{index + 1:03d}" if naming is None else naming(group, index)
    return names


def _place(rack: Any, unit: float, name: str) -> DevicePlace:
    """`<rack>.U<unit>:<device>`, without the unit where it is not known."""
    known = unit == unit
    where = f"{rack.name}.U{int(unit):02d}" if known else rack.name
    return DevicePlace((rack.hall, rack.row, rack.name, int(unit) if known else None, name), f"{where}:{name}")


def class_end(wiring: Wiring, parts: LinkParts, side: Side, hosts: HostPorts | None = None) -> ClassEnd:
    """One side of the links that have these parts. `hosts`: what ports of hosts are called, where it is known."""
    link, cages = parts.link, None
    known = hosts.get("server" if link.kind == "server-leaf" else link.host or "", ()) if hosts and side == "b" else ()
    if known:
        names, cages = [port.name for port in known], [port.cage for port in known]
    else:
        names = ["" if name is None else name.name for name in class_port_names(wiring, parts.link_class, side)]
    offer = parts.module_a if side == "a" else parts.module_b
    if offer is None:
        return ClassEnd(names, None, None, cages)
    return ClassEnd(names, offer.entry.id, offer.entry.part_number, cages)
