"""From what is right, missing and extra to a list that a technician can walk: one action a row, rack by rack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ibplan.asbuilt.compare import Comparison, Edge
from ibplan.asbuilt.differences import Action, Difference, DifferenceKind, End
from ibplan.asbuilt.exchanged import Exchange, Stranger
from ibplan.asbuilt.found import FoundFabric
from ibplan.asbuilt.identity import UNKNOWN, Identities
from ibplan.asbuilt.patterns import leaf_rails, wrong_rail
from ibplan.asbuilt.planned import PlannedFabric
from ibplan.asbuilt.rates import Rate
from ibplan.asbuilt.repair import Component, Move, Wanted, components
from ibplan.asbuilt.words import Words
from ibplan.findings import plural

_SHOWN = 3
_LANES = 4
_PAIR = 2
_STRANGER = "the plan has no such device"


class Listing:
    """The differences of one comparison. `expected`: which planned links should be there; None = all."""

    def __init__(
        self,
        plan: PlannedFabric,
        found: FoundFabric,
        comparison: Comparison,
        identities: Identities,
        expected: Sequence[bool] | None,
    ) -> None:
        self._plan, self._found, self._comparison = plan, found, comparison
        self._identities, self._expected = identities, expected
        self._words = Words(plan, found, comparison, identities.planned)
        self._rails = leaf_rails(plan)
        self._edges = {edge.found: edge for edge in comparison.extra}
        self._groups = 0
        self._renamed: frozenset[int] = frozenset()

    def exchanges(self, exchanges: Iterable[Exchange]) -> Iterator[Difference]:
        """Devices in each other's place."""
        for ring in exchanges:
            group = self._next_group()
            links = ring.links // len(ring.devices)
            for n, device in enumerate(ring.devices):
                to = ring.devices[(n + 1) % len(ring.devices)]
                note = f"all {links} links are as planned for {self._plan.names[to]}"
                ends = self._words.device(device), self._words.device(to)
                yield Difference("exchanged", "exchange", ends[0], to=ends[1], group=group, links=links, note=note)

    def strangers(self, strangers: Iterable[Stranger]) -> Iterator[Difference]:
        """Devices that have another name than planned, and all cables of the planned one."""
        self._renamed = frozenset(stranger.planned for stranger in strangers)
        for stranger in strangers:
            name = self._found.devices[stranger.found].name
            note = f"it stands there as {name}: rename it, or map its name"
            yield Difference(
                "unknown-device", "check", self._words.device(stranger.planned), links=stranger.links, note=note
            )

    def cables(self) -> Iterator[Difference]:
        """Cables that are missing, too many, or in a wrong port; devices with none at all."""
        yield from self._twice()
        unconnected = self._unconnected()
        there = self._identities.taken()
        for device, links in unconnected.items():
            note = "it is there, without a cable" if device in there else "it is not there, or has no cable"
            yield Difference("unconnected", "add", self._words.device(device), links=len(links), note=note)
        silent = {link for links in unconnected.values() for link in links}
        wanted = [Wanted(link, *self._plan.ends(link)) for link in self._comparison.missing]
        for component in components(wanted, self._comparison.extra, self._words.cost):
            if component.moves or component.added not in silent:
                yield from self._component(component)

    def _component(self, component: Component) -> Iterator[Difference]:
        several = len(component.moves) + (component.added is not None) + (component.removed is not None) > 1
        group = self._next_group() if several else None
        for move in component.moves:
            yield self._move(move, component, group)
        if component.added is not None:
            yield self._added(component.added, group)
        if component.removed is not None:
            yield self._removed(component.removed, group)

    def _move(self, move: Move, component: Component, group: int | None) -> Difference:
        words, ring = self._words, component.shape == "ring"
        action: Action = "swap" if ring and len(component.moves) == _PAIR else "move"
        partner = self._plan.partner(move.leaves) if move.leaves >= 0 else -1
        planned = None if partner < 0 else words.end(partner)
        kind, note = self._kind_of(move, ring)
        at, stays, to = (words.end(port) for port in (move.leaves, move.stays, move.enters))
        return Difference(kind, action, at, stays, planned, to, group, 1, note, words.source(move.found))

    def _kind_of(self, move: Move, ring: bool) -> tuple[DifferenceKind, str]:
        wrong = wrong_rail(self._plan, self._edges[move.found], self._rails)
        if wrong is not None:
            served = sorted(self._rails[wrong[2]])
            rails = "rail" if len(served) == 1 else "rails"
            return "wrong-rail", f"rail {wrong[1]} is on a leaf of {rails} {', '.join(map(str, served))}"
        if ring:
            return "swapped", ""
        device = self._words.device_of(move.leaves)
        if device < 0 and (elsewhere := self._elsewhere(move.found)):
            return "wrong-device", elsewhere
        if device < 0:
            return "unknown-device", self._stranger(move.found)
        return ("wrong-port" if device == self._words.device_of(move.enters) else "wrong-device"), ""

    def _stranger(self, number: int) -> str:
        """What is known of the device that the plan does not have."""
        link = self._found.links[number]
        for end in (link.a, link.b):
            like = self._identities.looks_like.get(end.device)
            if like is not None:
                return f"{_STRANGER}; it is cabled as {self._plan.names[like]} would be"
        return _STRANGER

    def _elsewhere(self, number: int) -> str:
        """Which device of a found link is of another network; nothing where none is."""
        link = self._found.links[number]
        for end in (link.a, link.b):
            network = self._identities.elsewhere.get(end.device)
            if network is not None:
                name = self._found.devices[end.device].name
                return f"the plan has {name} on the {network} network: check that one, too (--network {network})"
        return ""

    def _added(self, link: int, group: int | None) -> Difference:
        a, b = self._plan.ends(link)
        words = self._words
        states = [f"{words.end(port)} is {state}" for port in (a, b) if (state := words.down(port)) is not None]
        return Difference("missing", "add", words.end(a), planned=words.end(b), group=group, note="; ".join(states))

    def _removed(self, edge: Edge, group: int | None) -> Difference:
        first, second = sorted((edge.a, edge.b), key=self._order)
        at, far = self._words.end(first), self._words.end(second)
        source = self._words.source(edge.found)
        if elsewhere := self._elsewhere(edge.found):
            return Difference("unexpected", "remove", at, far, None, None, group, 1, elsewhere, source)
        if any(self._words.device_of(port) == UNKNOWN for port in (first, second)):
            return Difference(
                "unknown-device", "remove", at, far, None, None, group, 1, self._stranger(edge.found), source
            )
        wrong = wrong_rail(self._plan, edge, self._rails)
        note = "" if wrong is None else f"rail {wrong[1]} is on a leaf of other rails"
        return Difference("unexpected", "remove", at, far, None, None, group, 1, note, source)

    def _order(self, port: int) -> tuple[bool, int]:
        """Ports of the plan first, those of the higher tiers before."""
        device = self._words.device_of(port)
        return device < 0, -int(self._plan.wiring.devices.kind[device]) if device >= 0 else 0

    def _twice(self) -> Iterator[Difference]:
        for number, first in self._comparison.twice:
            link = self._found.links[number]
            at, far = (self._words.found_end(end) for end in (link.a, link.b))
            note = f"one of these ports has another cable, too: {self._words.source(first)}"
            yield Difference("port-twice", "check", at, far, note=note, source=self._words.source(number))

    def _unconnected(self) -> dict[int, list[int]]:
        """Devices of which every expected link is missing and that nothing else is plugged into: the links of each."""
        plan, comparison = self._plan, self._comparison
        links: dict[int, list[int]] = {}
        for link in comparison.missing:
            for port in plan.ends(link):
                links.setdefault(plan.at(port)[0], []).append(link)
        busy = {self._words.device_of(port) for edge in comparison.extra for port in (edge.a, edge.b)}
        busy |= plan.devices(comparison.right)
        expected = self._expected or [True] * len(plan.wiring.links)
        ends = (plan.links.a_device.tolist(), plan.links.b_device.tolist())
        whole = Counter(device for its in ends for device, wanted in zip(its, expected, strict=True) if wanted)
        return {d: its for d, its in sorted(links.items()) if len(its) == whole[d] and d not in busy | self._renamed}

    def states(self) -> Iterator[Difference]:
        """Cables that are right, but run at another rate than planned, or not at all."""
        for link, number in sorted(self._comparison.right.items()):
            found, gbps = self._found.links[number], self._plan.gbps(link)
            wrong_rate = found.rate is not None and found.rate.gbps != gbps
            if found.state is None and not wrong_rate:
                continue
            a, b = (self._words.end(port) for port in self._plan.ends(link))
            source = self._words.source(number)
            if found.state is not None:
                yield Difference("not-active", "check", a, b, b, note=found.state, source=source)
            if found.rate is not None and wrong_rate:
                note = f"runs at {found.rate}, planned is {gbps}G"
                yield Difference(_rate_kind(found.rate, gbps), "check", a, b, b, note=note, source=source)

    def ambiguous(self) -> Iterator[Difference]:
        """Devices that could each be one of several."""
        for group in self._identities.ambiguous:
            first = self._found.devices[group.found[0]].name
            could = ", ".join(self._plan.names[n] for n in group.planned[:_SHOWN])
            more = len(group.planned) - _SHOWN
            could += f" and {more:,} more" if more > 0 else ""
            note = f"{plural(len(group.found), 'device')} like this could each be any of {could}"
            yield Difference("ambiguous", "check", End(first, None, None, None), links=0, note=note)

    def in_order(self, differences: Iterable[Difference]) -> list[Difference]:
        """Rack by rack as one walks, groups numbered in that order; what has no known place last."""
        places = {place.columns[2]: place.columns[:2] for place in self._plan.places}

        def key(difference: Difference) -> tuple[object, ...]:
            at = difference.place
            hall, row = places.get(at.rack, (None, None))
            return (at.rack is None, hall or "", row or 0, at.rack or "", -(at.rack_unit or 0), at.device)

        ordered = sorted(differences, key=key)
        numbers: dict[int | None, int | None] = {None: None}
        for difference in ordered:
            numbers.setdefault(difference.group, len(numbers))
        return [replace(difference, group=numbers[difference.group]) for difference in ordered]

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups


def _rate_kind(rate: Rate, gbps: int) -> DifferenceKind:
    """`width` where lanes of the planned speed are missing, else `rate`."""
    if rate.lanes is None or not rate.lane_gbps:
        return "rate"
    wanted = gbps / rate.lane_gbps
    return "width" if rate.lanes < wanted <= _LANES and wanted == int(wanted) else "rate"
