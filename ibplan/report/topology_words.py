"""The words of a topology: ranges, ports, neighbors and rails as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ibplan.document import printable
from ibplan.fabric.free_ports import PortUse
from ibplan.fabric.topology_model import HostGroup, NameRange, Neighbors, PodGroup, Topology, UnitGroup
from ibplan.findings import plural
from ibplan.host_groups import SERVER_PORTS

_MOST_RANGES: Final = 4
_PLURALS: Final = {"leaf": "leaves", "attached": "hosts"}


def many(count: int, noun: str) -> str:
    """`1 leaf`, `2,048 leaves`."""
    return f"{count:,} {noun if count == 1 else _PLURALS.get(noun, noun + 's')}"


def names(ranges: Sequence[NameRange]) -> str:
    """`leaf-001..leaf-008`; of many ranges the first, and how many more there are."""
    shown = [printable(r.first if r.count == 1 else f"{r.first}..{r.last}") for r in ranges[:_MOST_RANGES]]
    more = len(ranges) - _MOST_RANGES
    rest = f" and {plural(more, 'more range')} (in the JSON)" if more > 0 else ""
    return ", ".join(shown) + rest


def numbers(noun: str, ranges: Sequence[tuple[int, int]], count: int) -> str:
    """`unit 4`, `units 1..3 (3 alike)`."""
    shown = [str(a) if a == b else f"{a}..{b}" for a, b in ranges[:_MOST_RANGES]]
    more = len(ranges) - _MOST_RANGES
    listed = ", ".join(shown) + (f" and {plural(more, 'more range')}" if more > 0 else "")
    return f"{noun} {listed}" if count == 1 else f"{noun}s {listed} ({count:,} alike)"


def ports(use: PortUse) -> str:
    """Ports of one switch in use and free, of all."""
    more = f", {use.kept:,} kept free" if use.kept else ""
    more += f", {use.spare:,} in cages that run otherwise" if use.spare else ""
    return f"{use.used:,} of {plural(use.total, 'port')} used, {use.free:,} free{more}"


def neighbors(row: Neighbors) -> str:
    """`up: 32 x 400 Gb/s to 16 spines, 2 links each`."""
    to = many(row.devices, row.far if row.host is None else f"{printable(row.host)} host")
    each = f"{row.least:,}" if row.least == row.most else f"{row.least:,} to {row.most:,}"
    links = "" if row.devices == 1 else f", {each} link{'' if each == '1' else 's'} each"
    way = "across" if row.kind == "leaf-leaf" else row.direction
    return f"{way}: {row.links:,} x {row.gbps:,} Gb/s to {to}{links}"


def pod(group: PodGroup, by_rail: bool) -> str:
    """A pod, and what is in it."""
    below = f"{many(group.leaves, 'leaf')} of one rail" if by_rail else many(group.units, "unit")
    return (
        f"{numbers('pod', group.numbers, group.count)}: {below} under {many(group.spines, 'spine')}{_each(group.count)}"
    )


def unit(group: UnitGroup) -> str:
    """A unit, and what is in it."""
    leaves = sum(len(leaf.positions) for leaf in group.leaves)
    servers = many(group.servers, "server") if group.servers else "no servers"
    return f"{numbers('unit', group.numbers, group.count)}: {servers} on {many(leaves, 'leaf')}{_each(group.count)}"


def _each(count: int) -> str:
    return " each" if count > 1 else ""


def rails(group: UnitGroup, topology: Topology) -> str:
    """Which rail is on which leaf of a unit; nothing where there are no servers."""
    if topology.separate_rails:
        return "every rail is a fabric of its own" if group.servers else ""
    places = sorted(
        (position, found)
        for leaf in group.leaves
        for position, found in zip(leaf.positions, leaf.rails, strict=True)
        if found
    )
    if not places:
        return ""
    every = tuple(range(1, topology.rails + 1))
    if all(found == every for _, found in places):
        return f"{_rails(every)} on {'the leaf' if len(places) == 1 else 'every leaf'}"
    if len(places) > 1 and all(found == (position,) for position, found in places):
        return f"rail 1 on leaf 1 of the unit, and so on to rail {len(places)} on leaf {len(places)}"
    return ", ".join(f"{_rails(found)} on leaf {position}" for position, found in places) + " of the unit"


def _rails(found: Sequence[int]) -> str:
    return f"rail{'s' if len(found) > 1 else ''} {spans(found)}"


def spans(found: Sequence[int]) -> str:
    """`1..4, 7`: numbers in order, those that follow each other as a span."""
    starts = [n for k, n in enumerate(found) if k == 0 or found[k - 1] != n - 1]
    ends = [n for k, n in enumerate(found) if k + 1 == len(found) or found[k + 1] != n + 1]
    return ", ".join(str(a) if a == b else f"{a}..{b}" for a, b in zip(starts, ends, strict=True))


def hosts(group: HostGroup) -> str:
    """Attached hosts or managers, and where they are."""
    noun = "manager" if group.kind == "manager" else "host"
    speeds = "/".join(f"{gbps:,}" for gbps in group.gbps)
    each = " each" if group.count > 1 else ""
    own = f" ({SERVER_PORTS[group.name]}: {group.name}-001 is server-001)" if group.name in SERVER_PORTS else ""
    links = f"{plural(group.ports, 'port')}{each} at {speeds} Gb/s, on {names(group.leaves)}"
    return f"{many(group.count, noun)}{own}, {links}"


def head(topology: Topology) -> str:
    """Size and form of the network in one line."""
    parts = [
        many(topology.servers, "server"),
        many(topology.endpoints, "endpoint"),
        many(topology.tiers, "tier"),
        many(topology.rails, "rail") + (" as separate fabrics" if topology.separate_rails else ""),
        many(topology.planes, "plane"),
    ]
    return ", ".join(parts)


def one_of_many(topology: Topology) -> str:
    """That the drawing is of one fabric, where there are several."""
    if topology.fabrics == 1:
        return ""
    what = "plane" if not topology.separate_rails else "rail" if topology.planes == 1 else "rail of a plane"
    return f"One of {topology.fabrics:,} fabrics that are wired alike, one for each {what}."
