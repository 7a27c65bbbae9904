"""Devices that stand in each other's place: every cable of one is where another one's should be, and so on round."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ibplan.asbuilt.compare import Comparison, Edge
from ibplan.asbuilt.planned import PlannedFabric

_FEWEST_CABLES = 2


@dataclass(frozen=True, slots=True)
class Exchange:
    """A ring of devices: `devices[n]` is cabled as `devices[n + 1]` should be. `cables` of all of them together."""

    devices: tuple[int, ...]
    cables: int


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
    proper = {plan.at(port)[0] for link in comparison.right for port in plan.ends(link)}
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
    links = {
        int(plan.link_at[number])
        for device in taken
        for number in range(int(plan.first[device]), int(plan.first[device + 1]))
    }
    comparison.extra = [edge for edge in comparison.extra if edge not in edges]
    comparison.missing = [link for link in comparison.missing if link not in links]
    return tuple(Exchange(ring, sum(len(around[device]) for device in ring)) for ring in rings)


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
    return int((plan.link_at[int(plan.first[device]) : int(plan.first[device + 1])] >= 0).sum())


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
