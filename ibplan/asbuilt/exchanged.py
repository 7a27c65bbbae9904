"""Devices in another's place, cable by cable: those that changed places, and strangers that stand for a planned one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ibplan.asbuilt.compare import Comparison, Edge
from ibplan.asbuilt.found import FoundFabric
from ibplan.asbuilt.planned import PlannedFabric

_FEWEST_CABLES = 2


@dataclass(frozen=True, slots=True)
class Exchange:
    """A ring of devices: `devices[n]` is cabled as `devices[n + 1]` should be. `links` of all of them together."""

    devices: tuple[int, ...]
    links: int


def find_exchanges(plan: PlannedFabric, comparison: Comparison) -> tuple[Exchange, ...]:
    """Rings of devices in each other's place; takes their links out of what is missing and extra.

    A device counts if none of its cables is right, if it has two at least, and if all of them would be right for one
    and the same other device, port by port.
    """
    around: dict[int, list[tuple[Edge, int, int]]] = defaultdict(list)
    for edge in comparison.extra:
        for here, there in ((edge.a, edge.b), (edge.b, edge.a)):
            if here >= 0 and there >= 0:
                around[plan.at(here)[0]].append((edge, here, there))
    proper = plan.devices(comparison.right)
    meant = {}
    for device, cables in around.items():
        other = _cabled_as(plan, device, cables) if device not in proper and len(cables) >= _FEWEST_CABLES else None
        if other is not None:
            meant[device] = other
    rings = list(_rings(meant))
    taken = {device for ring in rings for device in ring}
    if not rings:
        return ()
    edges = {edge for device in taken for edge, _, _ in around[device]}
    links = {link for device in taken for link in _link_numbers(plan, device)}
    comparison.extra = [edge for edge in comparison.extra if edge not in edges]
    comparison.missing = [link for link in comparison.missing if link not in links]
    return tuple(Exchange(ring, sum(len(around[device]) for device in ring)) for ring in rings)


@dataclass(frozen=True, slots=True)
class Stranger:
    """A found device that the plan does not have, cabled in every port as the planned one that is not there."""

    found: int
    planned: int
    links: int


def find_strangers(
    plan: PlannedFabric, found: FoundFabric, looks_like: Mapping[int, int], comparison: Comparison
) -> tuple[Stranger, ...]:
    """Devices that have but another name than planned; takes their links out of what is missing and extra."""
    edges: dict[int, list[Edge]] = defaultdict(list)
    for edge in comparison.extra:
        link = found.links[edge.found]
        for end in (link.a, link.b):
            if end.device in looks_like:
                edges[end.device].append(edge)
    links = Counter(end.device for link in found.links for end in (link.a, link.b) if end.device in looks_like)
    strangers = []
    for device, planned in looks_like.items():
        partners = [plan.partner(port) for edge in edges[device] for port in (edge.a, edge.b) if port >= 0]
        right = sum(partner >= 0 and plan.at(partner)[0] == planned for partner in partners)
        if right == links[device] == _links_of(plan, planned):
            strangers.append(Stranger(device, planned, right))
    gone = {edge for stranger in strangers for edge in edges[stranger.found]}
    missing = {link for stranger in strangers for link in _link_numbers(plan, stranger.planned)}
    if strangers:
        comparison.extra = [edge for edge in comparison.extra if edge not in gone]
        comparison.missing = [link for link in comparison.missing if link not in missing]
    return tuple(strangers)


def _link_numbers(plan: PlannedFabric, device: int) -> list[int]:
    """The planned links of a device."""
    links = plan.link_at[int(plan.first[device]) : int(plan.first[device + 1])]
    return [link for link in links.tolist() if link >= 0]


def _cabled_as(plan: PlannedFabric, device: int, cables: Iterable[tuple[Edge, int, int]]) -> int | None:
    """The one device for which all cables of a device would be right, each in the port of the same number."""
    votes: Counter[int] = Counter()
    for _, here, there in cables:
        partner = plan.partner(there)
        other, port = plan.at(partner) if partner >= 0 else (-1, -1)
        if other < 0 or port != plan.at(here)[1] or plan.kind(other) != plan.kind(device):
            return None
        votes[other] += 1
    (other, count), *more = votes.most_common()
    complete = count == _links_of(plan, other) == _links_of(plan, device)
    return other if not more and complete and other != device else None


def _links_of(plan: PlannedFabric, device: int) -> int:
    return len(_link_numbers(plan, device))


def _rings(meant: Mapping[int, int]) -> Iterator[tuple[int, ...]]:
    """The rings of a map from device to device."""
    done: set[int] = set()
    for start in meant:
        ring: Sequence[int] = (start,)
        seen = {start}
        while (following := meant.get(ring[-1])) is not None and following not in seen:
            ring = (*ring, following)
            seen.add(following)
        if meant.get(ring[-1]) == start and start not in done:
            yield tuple(ring)
        done |= seen if meant.get(ring[-1]) == start else set()
