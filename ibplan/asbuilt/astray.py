"""Servers whose cables are on other leaves than those of the servers beside them: rails exchanged, ends astray."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ibplan.asbuilt.graph import Tiered
from ibplan.findings import plural


class Cable(NamedTuple):
    """A port of a server, as the source calls it, the leaf that it is on, and the one of its unit's others."""

    port: str
    leaf: int
    usual: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """Servers on one set of leaves: by server the leaf of every port that the source names."""

    ports: Mapping[int, Mapping[str, int]]

    def usual(self) -> dict[str, int | None]:
        """By port the leaf that most servers have it on; None where no leaf is that of more than any other."""
        leaves: dict[str, Counter[int]] = defaultdict(Counter)
        for its in self.ports.values():
            for port, leaf in its.items():
                leaves[port][leaf] += 1
        found: dict[str, int | None] = {}
        for port, counts in leaves.items():
            (leaf, most), *others = counts.most_common(2)
            found[port] = None if others and others[0][1] == most else leaf
        return found


def astray_servers(graph: Tiered, servers: Sequence[int]) -> Iterator[str]:
    """Sentences on all servers with a port on another leaf than that port of the servers of their unit.

    Those that differ alike are in one sentence. A cable whose port is not named cannot be compared.
    """
    for unit in _units(graph, servers):
        usual = unit.usual()
        alike: dict[tuple[Cable, ...], list[int]] = defaultdict(list)
        for server, its in sorted(unit.ports.items()):
            odd = [
                Cable(port, leaf, wanted)
                for port, leaf in its.items()
                if (wanted := usual[port]) is not None and leaf != wanted
            ]
            if odd:
                alike[tuple(sorted(odd))].append(server)
        for cables, odd_servers in alike.items():
            yield _sentence(graph, cables, odd_servers)
        yield from _open(graph, unit, usual)


def unnamed_ports(graph: Tiered, servers: Sequence[int]) -> Iterator[str]:
    """What cannot be seen where cables do not name their ports of servers."""
    inside = set(servers)
    count = sum(end.port is None for link in graph.found.links for end in (link.a, link.b) if end.device in inside)
    if count:
        yield f"The port of the server is not stated of {plural(count, 'cable')}: exchanged rails cannot be seen there."


def _units(graph: Tiered, servers: Sequence[int]) -> Iterator[_Unit]:
    """Servers by their leaves: sets that share none, the most usual first; others belong where most ports are."""
    leaves: dict[int, Counter[int]] = {server: Counter(end.device for end in graph.up[server]) for server in servers}
    sets = Counter(frozenset(its) for its in leaves.values())
    unit_of: dict[int, int] = {}
    for number, (members, _) in enumerate(sorted(sets.items(), key=lambda item: (-item[1], sorted(item[0])))):
        if unit_of.keys().isdisjoint(members):
            unit_of |= dict.fromkeys(members, number)
    ports: dict[int, dict[int, dict[str, int]]] = defaultdict(dict)
    named = _named_ports(graph, set(servers))
    for server, its in leaves.items():
        votes: Counter[int] = Counter()
        for leaf, count in its.items():
            if leaf in unit_of:
                votes[unit_of[leaf]] += count
        if votes:
            ports[votes.most_common(1)[0][0]][server] = named[server]
    for unit in ports.values():
        yield _Unit(unit)


def _named_ports(graph: Tiered, servers: set[int]) -> dict[int, dict[str, int]]:
    """By server the leaf of every port that has a name."""
    found: dict[int, dict[str, int]] = {server: {} for server in servers}
    for link in graph.found.links:
        for here, there in ((link.a, link.b), (link.b, link.a)):
            if here.device in servers and here.port is not None and graph.tier[there.device] == 1:
                found[here.device][here.port] = there.device
    return found


def _sentence(graph: Tiered, cables: Sequence[Cable], servers: Sequence[int]) -> str:
    devices = graph.found.devices
    names = ", ".join(sorted(devices[server].name for server in servers))
    where = ", ".join(
        f"{cable.port} on {devices[cable.leaf].name} (usual: {devices[cable.usual].name})" for cable in cables
    )
    which = "Cables" if len(cables) * len(servers) > 1 else "Cable"
    of = f"{plural(len(servers), 'server')} ({names})" if len(servers) > 1 else names
    return f"{which} of {of} on other leaves than of the rest of the unit: {where}."


def _open(graph: Tiered, unit: _Unit, usual: Mapping[str, int | None]) -> Iterator[str]:
    """Ports of which half of the servers have one leaf, half another."""
    devices = graph.found.devices
    for port in [port for port, leaf in usual.items() if leaf is None]:
        where = ", ".join(
            f"{devices[server].name} on {devices[its[port]].name}"
            for server, its in sorted(unit.ports.items())
            if port in its
        )
        yield f"Port {port} of the servers of a unit is on several leaves, none of them usual: {where}."
