"""What of a found fabric is of the network that is checked, and what of the other networks of the same plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ibplan.asbuilt.found import FoundDevice, FoundEnd, FoundFabric, FoundLink
from ibplan.asbuilt.identity import PlannedNames, entry_of, of_kind
from ibplan.asbuilt.name_map import NameMap
from ibplan.asbuilt.planned import PlannedFabric
from ibplan.asbuilt.port_texts import SwitchPorts
from ibplan.asbuilt.resolve import own_port_names
from ibplan.economics.items import NetworkName

# How surely an end is of a network: the device alone, a port of its switch without a link, the port of a link.
_NOT, _DEVICE, _FREE, _PLANNED = range(4)
Networks = frozenset[NetworkName]


@dataclass(frozen=True, slots=True)
class Apart:
    """found: without the links and devices that other networks alone have. names: by which its devices are told.

    elsewhere: devices that are left of other networks, because their cables end in this one, with their network.
    foreign: ends at ports that hosts have for other networks. other_names: of the devices of other networks.
    """

    found: FoundFabric
    names: PlannedNames
    elsewhere: Mapping[int, NetworkName] = field(default_factory=dict)
    foreign: frozenset[FoundEnd] = frozenset()
    other_names: tuple[PlannedNames, ...] = ()


def set_apart(plan: PlannedFabric, found: FoundFabric, name_map: NameMap) -> Apart:
    """Leave out, and count, the cables of other networks by the names that the plan gives devices and ports.

    A cable is of a network where both ends are, and a switch of the network is one of them; one that has an end in a
    port of the network that is checked stays, because it should not be there.
    """
    names = PlannedNames(plan)
    wiring_names = frozenset(name.lower() for name in plan.wiring.device_names())
    strict = PlannedNames(plan, wiring_names)
    if _all_of(plan, found, name_map, names, strict):
        return Apart(found, names)
    others = [_Network(other, _floor_names(other)) for other in plan.others()]
    if not others:
        return Apart(found, names)
    elsewhere = frozenset(name for other in others for name in other.names.names)
    telling = {name for other in others for name in other.switch_names()} - wiring_names

    def tells(name: str) -> bool:
        planned = strict.get(name)
        return name.lower() in telling or (planned is not None and plan.is_switch(planned))

    if not any(tells(device.name) for device in found.devices):
        # No switch goes by a name that tells the networks apart: those of the wiring are of this one.
        return Apart(found, names, other_names=tuple(other.names for other in others))
    names = PlannedNames(plan, wiring_names & elsewhere)
    return _Sorter(found, name_map, _Network(plan, names), others).sorted()


def _floor_names(plan: PlannedFabric) -> PlannedNames:
    """The names of devices on the floor and in exports."""
    return PlannedNames(plan, frozenset(name.lower() for name in plan.wiring.device_names()))


def _all_of(
    plan: PlannedFabric, found: FoundFabric, name_map: NameMap, names: PlannedNames, strict: PlannedNames
) -> bool:
    """Whether all that is there is of the network by its names, so that nobody needs to know the others."""
    entries = (*name_map.names.values(), *name_map.guids.values())
    if any(names.get(entry.device) is None for entry in entries):
        return False
    switch: list[bool] = []
    for device in found.devices:
        entry = entry_of(device, name_map)
        planned = names.get(entry.device) if entry is not None else strict.get(device.name) if device.named else None
        if planned is None and device.named:
            return False
        switch.append(planned is not None and plan.is_switch(planned))
    return all(switch[link.a.device] or switch[link.b.device] for link in found.links)


class _Network:
    """One network, and what of a found end is of it."""

    def __init__(self, plan: PlannedFabric, names: PlannedNames) -> None:
        self.plan, self.names, self.name = plan, names, plan.network
        self._switches = SwitchPorts(plan)
        self._hosts: dict[int, Mapping[str, int]] = {}

    def device(self, device: FoundDevice, name: str) -> int | None:
        """The planned device of a found one that goes by a name."""
        planned = self.names.get(name)
        return planned if planned is not None and of_kind(device, self.plan, planned) else None

    def switch_names(self) -> Iterator[str]:
        """The names of its switches."""
        return (name for name, device in self.names.names.items() if self.plan.is_switch(device))

    def says(self, planned: int, port: str | None) -> int:
        """How surely a port of a device is of this network."""
        if port is None:
            return _DEVICE
        if not self.plan.is_switch(planned):
            if planned not in self._hosts:
                self._hosts[planned] = own_port_names(self.plan, planned)
            return _PLANNED if port.strip().lower() in self._hosts[planned] else _DEVICE
        number = self._switches.port(planned, port)
        at = -1 if number is None else self.plan.port_id(planned, number)
        return _DEVICE if at < 0 else _PLANNED if self.plan.link_at[at] >= 0 else _FREE


class _Sorter:
    """Sorts the cables of a found fabric by networks, `own` first."""

    def __init__(self, found: FoundFabric, name_map: NameMap, own: _Network, others: Sequence[_Network]) -> None:
        self._found, self._own, self._others = found, own, others
        self._ends: dict[FoundEnd, Networks] = {}
        # By found device the planned one of every network that has it.
        self._on = [self._devices(device, name_map) for device in found.devices]

    def _devices(self, device: FoundDevice, name_map: NameMap) -> list[tuple[_Network, int]]:
        entry = entry_of(device, name_map)
        if entry is None and not device.named:
            return []
        name = device.name if entry is None else entry.device
        planned = ((network, network.device(device, name)) for network in (self._own, *self._others))
        return [(network, found) for network, found in planned if found is not None]

    def _networks(self, end: FoundEnd) -> Networks:
        """The networks that an end is of most surely; none = a stranger."""
        if end not in self._ends:
            says = {network.name: network.says(planned, end.port) for network, planned in self._on[end.device]}
            most = max(says.values(), default=_NOT)
            self._ends[end] = frozenset(name for name, sure in says.items() if sure == most)
        return self._ends[end]

    def _elsewhere(self, link: FoundLink) -> NetworkName | None:
        """The other network that a cable is of; None where it is of the one that is checked, or of no network."""
        a, b = self._networks(link.a), self._networks(link.b)
        own = self._own.name
        switched = {
            network.name
            for end in (link.a, link.b)
            for network, planned in self._on[end.device]
            if network.plan.is_switch(planned)
        }
        common = (a & b & switched) if a and b else a | b
        if own in common or (not common and own in a | b) or not a | b:
            return None
        return min(common or a | b)

    def sorted(self) -> Apart:
        """What is left, and what it is."""
        kept: list[FoundLink] = []
        left_out = Counter(self._found.left_out)
        for link in self._found.links:
            network = self._elsewhere(link)
            if network is None:
                kept.append(link)
            else:
                left_out[network] += 1
        found = self._found
        new = self._renumbered(kept)
        links = tuple(link._replace(a=_moved(link.a, new), b=_moved(link.b, new)) for link in kept)
        down = {_moved(end, new): state for end, state in found.down.items() if end.device in new}
        devices = tuple(found.devices[device] for device in new)
        elsewhere = {
            number: self._home(device)
            for device, number in new.items()
            if (its := self._on[device]) and its[0][0] is not self._own
        }
        return Apart(
            replace(found, devices=devices, links=links, down=down, left_out=left_out),
            self._own.names,
            elsewhere,
            frozenset(_moved(end, new) for end in self._foreign(kept)),
            tuple(other.names for other in self._others),
        )

    def _home(self, device: int) -> NetworkName:
        """The network whose switch a device is, else the first that has it."""
        its = self._on[device]
        return next((network.name for network, planned in its if network.plan.is_switch(planned)), its[0][0].name)

    def _renumbered(self, kept: Sequence[FoundLink]) -> dict[int, int]:
        """New numbers of the devices that stay: those of the network, with a cable left, or strangers without any."""
        linked = {end.device for link in kept for end in (link.a, link.b)}
        before = {end.device for link in self._found.links for end in (link.a, link.b)}
        stay = [
            device
            for device, its in enumerate(self._on)
            if device in linked or (its[0][0] is self._own if its else device not in before)
        ]
        return {device: number for number, device in enumerate(stay)}

    def _foreign(self, kept: Sequence[FoundLink]) -> Iterator[FoundEnd]:
        """Ends of devices of the network at ports that they have for others."""
        for end in {end for link in kept for end in (link.a, link.b)}:
            networks = self._networks(end)
            if networks and self._own.name not in networks and self._on[end.device][0][0] is self._own:
                yield end


def _moved(end: FoundEnd, new: Mapping[int, int]) -> FoundEnd:
    return FoundEnd(new[end.device], end.port)
