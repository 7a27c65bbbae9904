"""Found links against planned ones: which are right, and what is left over on either side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ibplan.asbuilt.planned import PlannedFabric
from ibplan.asbuilt.resolve import ANONYMOUS, NO_PORT, ResolvedLink, Spot


class Edge(NamedTuple):
    """A found link that is not as planned: its ends as numbers of ports; below 0 = one that the plan does not have."""

    found: int
    a: int
    b: int


@dataclass(slots=True)
class Comparison:
    """right: planned link -> found link. missing: planned links without one. extra: found links that are not planned.

    spots: what is known of the ports below 0. twice: found links at ports that have one already: (found, the first).
    anonymous: planned links that lead to some host that does not say which it is.
    """

    right: dict[int, int] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)
    extra: list[Edge] = field(default_factory=list)
    spots: dict[int, Spot] = field(default_factory=dict)
    twice: list[tuple[int, int]] = field(default_factory=list)
    anonymous: set[int] = field(default_factory=set)


def compare(plan: PlannedFabric, links: Sequence[ResolvedLink], expected: Sequence[bool] | None = None) -> Comparison:
    """Match found links to planned ones. `expected`: which planned links should be there; None = all."""
    result = Comparison()
    used: dict[int, int] = {}
    left = _exact(plan, links, result, used)
    left = _loose(plan, left, result, used)
    for link in left:
        ends = [_number(spot, result) for spot in (link.a, link.b)]
        first = next((used[end] for end in ends if end >= 0 and end in used), None)
        if first is not None:
            result.twice.append((link.number, first))
            continue
        used |= {end: link.number for end in ends if end >= 0}
        result.extra.append(Edge(link.number, *ends))
    count = len(plan.wiring.links)
    result.missing = [n for n in range(count) if n not in result.right and (expected is None or expected[n])]
    _settle_loose(plan, result, used)
    return result


def _settle_loose(plan: PlannedFabric, result: Comparison, used: dict[int, int]) -> None:
    """Take ends that may be in any port of a device for plugged into one that lacks its cable: as good as any other."""
    if not any(spot.loose for spot in result.spots.values()):
        return
    empty: dict[int, list[int]] = defaultdict(list)
    for link in result.missing:
        for port in plan.ends(link):
            if port not in used:
                empty[plan.at(port)[0]].append(port)

    def settled(end: int) -> int:
        spot = result.spots.get(end)
        ports = empty.get(spot.device) if spot is not None and spot.loose else None
        return ports.pop(0) if ports else end

    result.extra = [Edge(edge.found, settled(edge.a), settled(edge.b)) for edge in result.extra]


def _number(spot: Spot, result: Comparison) -> int:
    """The number of an end; one below 0 of its own where the plan has no such port, or any would do."""
    if spot.port >= 0:
        return spot.port
    number = -len(result.spots) - 1
    result.spots[number] = spot
    return number


def _take(link: int, found: ResolvedLink, plan: PlannedFabric, result: Comparison, used: dict[int, int]) -> None:
    result.right[link] = found.number
    used |= dict.fromkeys(plan.ends(link), found.number)
    if ANONYMOUS in (found.a.device, found.b.device):
        result.anonymous.add(link)


def _exact(
    plan: PlannedFabric, links: Iterable[ResolvedLink], result: Comparison, used: dict[int, int]
) -> list[ResolvedLink]:
    """Take the links whose ends are both where they should be, or lead to a host that nobody can name; the others."""
    left = []
    link_at = plan.link_at
    for found in links:
        a, b = found.a, found.b
        number = -1
        if a.port >= 0 and b.port >= 0:
            number = int(link_at[a.port])
            number = number if number == int(link_at[b.port]) and a.port != b.port else -1
        elif ANONYMOUS in (a.device, b.device):
            number = _to_any_host(plan, max(a.port, b.port))
        if number >= 0 and number not in result.right:
            _take(number, found, plan, result, used)
        else:
            left.append(found)
    return left


def _to_any_host(plan: PlannedFabric, port: int) -> int:
    """The planned link of a port, if it leads to a host."""
    partner = -1 if port < 0 else plan.partner(port)
    return int(plan.link_at[port]) if partner >= 0 and not plan.is_switch(plan.at(partner)[0]) else -1


def _loose(
    plan: PlannedFabric, links: Sequence[ResolvedLink], result: Comparison, used: dict[int, int]
) -> list[ResolvedLink]:
    """Take the links of which a port is not told, if the plan has one between the same devices that is still free.

    Those with one port told stand before those with none: for each of them one planned link alone is possible.
    """
    loose = [link for link in links if link.a.loose or link.b.loose]
    if not loose:
        return list(links)
    between: dict[tuple[int, int], list[int]] = defaultdict(list)
    ends = (plan.links.a_device.tolist(), plan.links.b_device.tolist())
    for number, (a, b) in enumerate(zip(*ends, strict=True)):
        if number not in result.right:
            between[min(a, b), max(a, b)].append(number)
    taken: set[int] = set()
    for found in sorted(loose, key=lambda link: link.a.loose and link.b.loose):
        number = _free_link(plan, found, between, result)
        if number >= 0:
            _take(number, found, plan, result, used)
            taken.add(found.number)
    return [link for link in links if link.number not in taken]


def _free_link(
    plan: PlannedFabric, found: ResolvedLink, between: dict[tuple[int, int], list[int]], result: Comparison
) -> int:
    known = max(found.a.port, found.b.port)
    devices = (min(found.a.device, found.b.device), max(found.a.device, found.b.device))
    if known != NO_PORT:
        number = int(plan.link_at[known])
        fits = number in between.get(devices, ())
        return number if fits and number not in result.right else -1
    return next((number for number in between.get(devices, ()) if number not in result.right), -1)
