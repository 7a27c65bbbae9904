"""Which device of the plan a found device is: by the name map, by its name, and what nothing says of."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final, Literal

from ibplan.asbuilt.found import FoundDevice, FoundFabric, Problems
from ibplan.asbuilt.name_map import Named, NameMap
from ibplan.asbuilt.planned import PlannedFabric
from ibplan.economics.items import NetworkName

How = Literal["name", "map", "structure"]
UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True)
class AmbiguousGroup:
    """Found devices that could each be any of the planned ones, as far as their cables tell."""

    found: tuple[int, ...]
    planned: tuple[int, ...]


@dataclass(slots=True)
class Identities:
    """By found device: the planned one, UNKNOWN = not identified, and how it was found out.

    `adapters`: of devices whose GUID the map names, the adapter. `anonymous`: hosts of which nothing says which they
    are. `looks_like`: devices of unknown names that are cabled as a planned device would be. `elsewhere`: devices that
    the plan has on other networks alone, with the name of one.
    """

    planned: list[int]
    how: list[How | None]
    adapters: dict[int, str] = field(default_factory=dict)
    anonymous: frozenset[int] = frozenset()
    ambiguous: tuple[AmbiguousGroup, ...] = ()
    looks_like: Mapping[int, int] = field(default_factory=dict)
    elsewhere: Mapping[int, NetworkName] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def count(self, how: How) -> int:
        """How many devices were identified so."""
        return self.how.count(how)

    def unknown(self) -> list[int]:
        """Found devices that are none of the plan's on any network, anonymous hosts apart."""
        told = self.anonymous | self.elsewhere.keys()
        return [n for n, planned in enumerate(self.planned) if planned == UNKNOWN and n not in told]

    def taken(self) -> set[int]:
        """Planned devices that were found."""
        return {planned for planned in self.planned if planned != UNKNOWN}


def plain_name(name: str) -> str:
    """A name in small letters, with `-` for `_` and numbers without leading zeros: `Leaf_001` is `leaf-1`."""
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", name.strip().lower().replace("_", "-"))


class PlannedNames:
    """The devices of a network by their names: on the floor, in exports, and in the wiring but for `taken` ones.

    The wiring calls a leaf of the storage network `leaf-001`, as all others call one of the compute network.
    """

    def __init__(self, plan: PlannedFabric, taken: Container[str] = ()) -> None:
        body: list[int] = plan.body.tolist()
        self.names: dict[str, int] = {name.lower(): body[device] for device, name in enumerate(plan.names)}
        for device, name in enumerate(plan.site_names):
            self.names.setdefault(name.lower(), body[device])
        for device, name in enumerate(plan.wiring.device_names()):
            if name.lower() not in taken:
                self.names.setdefault(name.lower(), body[device])
        plain: dict[str, list[int]] = {}
        for name, device in self.names.items():
            plain.setdefault(plain_name(name), []).append(device)
        self._plain = {name: devices[0] for name, devices in plain.items() if len(set(devices)) == 1}

    def get(self, name: str) -> int | None:
        """The device of a name: as it stands, without a domain behind it, then as `plain_name` has it."""
        low = name.strip().lower()
        for form in (low, low.partition(".")[0]):
            if (found := self.names.get(form, self._plain.get(plain_name(form)))) is not None:
                return found
        return None

    def near(self, name: str) -> list[str]:
        """The nearest names."""
        return get_close_matches(name.lower()[:100], self.names, 3)


def identify(
    plan: PlannedFabric,
    found: FoundFabric,
    name_map: NameMap,
    names: PlannedNames,
    others: Sequence[PlannedNames] = (),
) -> Identities:
    """By map, then by name. `others`: the names of other networks, which a map may name, too.

    Raises InputError where the map names devices that the plan does not have.
    """
    mapped = _mapped(names, name_map, others)
    result = Identities([UNKNOWN] * len(found.devices), [None] * len(found.devices))
    taken: dict[int, int] = {}
    for number, device in enumerate(found.devices):
        entry = entry_of(device, name_map)
        if entry is not None and entry.device in mapped:
            result.planned[number], result.how[number] = mapped[entry.device], "map"
            if entry.adapter is not None:
                result.adapters[number] = entry.adapter
            taken.setdefault(mapped[entry.device], number)
    for number, device in enumerate(found.devices):
        told = result.how[number] is not None or entry_of(device, name_map) is not None
        planned = names.get(device.name) if device.named and not told else None
        if planned is None or not of_kind(device, plan, planned):
            continue
        if planned in taken:
            first = found.devices[taken[planned]].name
            result.notes.append(f"{device.name} and {first} both go by the name {plan.names[planned]}.")
            continue
        taken[planned] = number
        result.planned[number], result.how[number] = planned, "name"
    result.anonymous = frozenset(
        n for n, d in enumerate(found.devices) if d.kind == "host" and not d.named and result.how[n] is None
    )
    return result


def of_kind(device: FoundDevice, plan: PlannedFabric, planned: int) -> bool:
    """A switch is no server, whatever it is called."""
    return device.kind is None or (device.kind == "switch") == plan.is_switch(planned)


def _mapped(names: PlannedNames, name_map: NameMap, others: Sequence[PlannedNames]) -> dict[str, int]:
    """The planned device of every name in the map that is of the network."""
    problems = Problems(name_map.source)
    found: dict[str, int] = {}
    for entry in (*name_map.names.values(), *name_map.guids.values()):
        planned = names.get(entry.device)
        if planned is not None:
            found[entry.device] = planned
        elif all(other.get(entry.device) is None for other in others):
            near = names.near(entry.device)
            remedy = f"nearest: {', '.join(near)}" if near else ""
            problems.add(entry.line, f"the plan has no device {entry.device!r}", remedy)
    problems.check()
    return found


def entry_of(device: FoundDevice, name_map: NameMap) -> Named | None:
    """What a name map says of a device, by its name or by one of its GUIDs."""
    if (entry := name_map.names.get(device.name.lower())) is not None:
        return entry
    known: Sequence[Named] = [name_map.guids[guid] for guid in device.guids if guid in name_map.guids]
    return known[0] if known else None
