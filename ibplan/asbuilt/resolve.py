"""Found links in the words of the plan: both ends as ports of planned devices, as far as they can be told."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ibplan.asbuilt.found import FoundEnd, FoundFabric
from ibplan.asbuilt.identity import UNKNOWN, Identities
from ibplan.asbuilt.planned import PlannedFabric
from ibplan.asbuilt.port_texts import SwitchPorts

ANONYMOUS: Final = -2
NO_PORT: Final = -1
# Ports of switches that lead to no fabric, as LLDP shows them.
MANAGEMENT: Final = re.compile(r"(?:eth0|mgmt\d*|management\S*|ma\d+|oob\S*|bmc\d*)", re.IGNORECASE)
_INDEXED: Final = re.compile(r"(.*?)([0-9]+)")
_FROM_ONE: Final = "hca-"
# Of fewer names of switch ports than this share, the plan knows none: then ports are not compared.
_FEW: Final = 0.1


class Spot(NamedTuple):
    """One end: planned device (UNKNOWN, ANONYMOUS), and the number of its port over the fabric.

    `port` NO_PORT: `loose` = it may be any port of the device; else the device has no port that is called so.
    """

    device: int
    port: int
    loose: bool = False


class ResolvedLink(NamedTuple):
    """A found link by its number, with both ends."""

    number: int
    a: Spot
    b: Spot


@dataclass(frozen=True, slots=True)
class Resolved:
    """All links but those of management ports. `notes`: what could not be told."""

    links: tuple[ResolvedLink, ...]
    notes: tuple[str, ...]


def resolve_links(
    plan: PlannedFabric, found: FoundFabric, identities: Identities, foreign: Container[FoundEnd] = ()
) -> Resolved:
    """Every found link in the words of the plan. `foreign`: ends at ports that hosts have for other networks."""
    switches = SwitchPorts(plan)
    hosts = _HostPorts(plan, found, identities, foreign)
    texts = {end for link in found.links for end in (link.a, link.b)}
    ports = {end: _switch_port(end, plan, identities, switches) for end in texts}
    told = [port for port in ports.values() if port is not None]
    blind = bool(told) and sum(port >= 0 for port in told) < _FEW * len(told)
    notes = [*hosts.notes]
    if blind:
        notes.append("The plan knows none of the names of switch ports: cables are compared by their devices alone.")
    links, management = [], 0
    for index, link in enumerate(found.links):
        if any(ports[end] == NO_PORT and MANAGEMENT.fullmatch(end.port or "") for end in (link.a, link.b)):
            management += 1
            continue
        a, b = (_spot(end, ports[end], plan, identities, hosts, blind) for end in (link.a, link.b))
        links.append(ResolvedLink(index, a, b))
    if management:
        notes.append(f"Left out: {management:,} cables of management ports.")
    return Resolved(tuple(links), tuple(notes))


def _switch_port(end: FoundEnd, plan: PlannedFabric, identities: Identities, switches: SwitchPorts) -> int | None:
    """The number over the fabric of a port of a planned switch; None = no port of one, or none is stated."""
    device = identities.planned[end.device]
    if device == UNKNOWN or not plan.is_switch(device) or end.port is None:
        return None
    port = switches.port(device, end.port)
    return NO_PORT if port is None else plan.port_id(device, port)


def _spot(
    end: FoundEnd, port: int | None, plan: PlannedFabric, identities: Identities, hosts: _HostPorts, blind: bool
) -> Spot:
    device = identities.planned[end.device]
    if device == UNKNOWN:
        return Spot(ANONYMOUS if end.device in identities.anonymous else UNKNOWN, NO_PORT)
    if plan.is_switch(device):
        return Spot(device, NO_PORT, True) if port is None or blind else Spot(device, port)
    if hosts.is_foreign(end):
        return Spot(device, NO_PORT)
    number = hosts.port(end, device)
    return Spot(device, NO_PORT, True) if number is None else Spot(device, plan.port_id(device, number))


class _HostPorts:
    """The ports of hosts by what they are called: adapters have other names on every make of server.

    Names that the plan has itself are taken at their word. Else the names over all hosts of a group are put in order:
    if they are as many as a host has ports, the n-th is port n.
    """

    def __init__(
        self, plan: PlannedFabric, found: FoundFabric, identities: Identities, foreign: Container[FoundEnd]
    ) -> None:
        self._adapters, self._foreign, self.notes = identities.adapters, foreign, list[str]()
        self._group = [
            (int(kind), int(group))
            for kind, group in zip(plan.wiring.devices.kind, plan.wiring.devices.group, strict=True)
        ]
        texts: dict[tuple[int, int], set[str]] = defaultdict(set)
        for end in (end for link in found.links for end in (link.a, link.b)):
            device = identities.planned[end.device]
            if device == UNKNOWN or self.is_foreign(end):
                continue
            if not plan.is_switch(device) and (text := self._text(end)) is not None:
                texts[self._group[device]].add(text.lower())
        self._tables = {group: self._table(plan, group, sorted(names)) for group, names in texts.items()}

    def _text(self, end: FoundEnd) -> str | None:
        return self._adapters.get(end.device, end.port)

    def is_foreign(self, end: FoundEnd) -> bool:
        """Whether an end is in a port that its host has for another network."""
        return end in self._foreign and end.device not in self._adapters

    def port(self, end: FoundEnd, device: int) -> int | None:
        """The port of a host, from 0; None where it cannot be told."""
        text, table = self._text(end), self._tables.get(self._group[device])
        return None if text is None or table is None else table.get(text.lower())

    def _table(self, plan: PlannedFabric, group: tuple[int, int], texts: Sequence[str]) -> Mapping[str, int] | None:
        device = self._group.index(group)
        count = int(plan.first[device + 1] - plan.first[device])
        own = own_port_names(plan, device)
        if set(texts) <= set(own):
            return own
        ordered = sorted(texts, key=_natural)
        if len(ordered) == count:
            return {text: port for port, text in enumerate(ordered)}
        indexed = _indexed(ordered, count) if len(ordered) < count else None
        if indexed is None:
            shown = ", ".join(ordered[:4]) + (" ..." if len(ordered) > 4 else "")
            hosts = plan.names[device].rpartition("-")[0]
            self.notes.append(
                f"Ports of hosts called {hosts} have {len(ordered)} names ({shown}); such a host has {count} ports: "
                "which of them a cable is in is not compared."
            )
        return indexed


def own_port_names(plan: PlannedFabric, device: int) -> Mapping[str, int]:
    """Ports of a host by what exports call them, and else by what the schedule does (number, or cage and leg)."""
    numbers = range(int(plan.first[device]), int(plan.first[device + 1]))
    own: dict[str, int] = {}
    for number in numbers:
        called = plan.site_port(number)
        if called is not None:
            own.setdefault(called.lower(), number - numbers.start)
    for number in numbers:
        name = plan.port_name(number)
        if name is not None:
            own.setdefault(name.name.lower(), number - numbers.start)
    return own


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that puts mlx5_10 behind mlx5_9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", text) if part]


def _indexed(texts: Sequence[str], count: int) -> Mapping[str, int] | None:
    """Ports by the number at the end of names that are alike but for it: adapters count from 0, `HCA-` from 1."""
    parts = [_INDEXED.fullmatch(text) for text in texts]
    heads = {part[1] if part is not None else None for part in parts}
    if len(heads) != 1 or None in heads:
        return None
    start = 1 if heads == {_FROM_ONE} else 0
    numbers = [int(part[2]) - start for part in parts if part is not None]
    return dict(zip(texts, numbers, strict=True)) if all(0 <= n < count for n in numbers) else None
