"""Which device of the plan a found one is, by how it is cabled: votes of neighbors over ports, then color refinement.

A link votes for what the plan has at its far end: strongly where the far device is known (the planned port there is
joined to one port only), weakly where only the ports and the tiers at both ends speak. So a few wrong cables do not
mislead it. Where ports are not told, devices are colored by their neighbors' colors until nothing changes; a color that
one device has on either side is a match, one that several have is ambiguous.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ibplan.asbuilt.found import FoundFabric
from ibplan.asbuilt.identity import UNKNOWN, AmbiguousGroup
from ibplan.asbuilt.layers import neighbors, tiers
from ibplan.asbuilt.planned import PlannedFabric
from ibplan.asbuilt.port_texts import SwitchPorts
from ibplan.fabric.wiring_model import CORE, LEAF, SPINE

_TIER_KINDS: Final = {1: LEAF, 2: SPINE, 3: CORE}
_MOST_ROUNDS: Final = 50
_FEWEST: Final = 2
_MOST_MEANT: Final = 64
# (tier kind and port here, tier kind and port there)
_Feature = tuple[int, int, int, int]
# Votes for planned devices, and how many links cast any.
_Cast = tuple[Counter[int], int]
_Votes = Callable[[int, Sequence[int]], _Cast]


@dataclass(frozen=True, slots=True)
class _Port:
    """A found link as a switch sees it: own port, the far device and its port; None = not told."""

    port: int | None
    far: int
    far_port: int | None


class StructureMatcher:
    """Matches devices that nothing names. `hosts`: whether each found device is a host, None = unknown."""

    def __init__(self, plan: PlannedFabric, found: FoundFabric, hosts: Sequence[bool | None]) -> None:
        self._plan, self._found = plan, found
        around = neighbors(found)
        self.tier = tiers(around, hosts)
        texts = SwitchPorts(plan)

        def port(device: int, text: str | None) -> int | None:
            kind = _TIER_KINDS.get(self.tier[device] or 0)
            meant = () if kind is None or text is None else texts.candidates(kind, text)
            return meant[0] if meant else None

        self._ports = [
            [_Port(port(device, text), far.device, port(far.device, far.port)) for text, far, _ in links]
            for device, links in enumerate(around)
        ]

    def match(self, known: Sequence[int]) -> list[int]:
        """The planned device of every found one, UNKNOWN where votes do not tell; what is `known` stays."""
        planned = list(known)
        self._vote(planned, self._strong)
        if not self._any_switch(planned):
            features = self._features()
            self._vote(planned, lambda device, now: self._weak(device, features))
            self._vote(planned, self._strong)
        return planned

    def _any_switch(self, planned: Sequence[int]) -> bool:
        return any(p != UNKNOWN and self._plan.is_switch(p) for p in planned)

    def _vote(self, planned: list[int], votes: _Votes) -> None:
        """Rounds of votes until nothing new is known. Of two that claim one device, the better; of equals, none."""
        for _ in range(_MOST_ROUNDS):
            claims: dict[int, tuple[int, list[int]]] = {}
            taken = {p for p in planned if p != UNKNOWN}
            for device, p in enumerate(planned):
                if p != UNKNOWN or not self._ports[device]:
                    continue
                best = _clear_winner(*votes(device, planned), len(self._ports[device]), taken)
                if best is not None:
                    count, claimants = claims.get(best[0], (0, []))
                    if best[1] > count:
                        claims[best[0]] = (best[1], [device])
                    elif best[1] == count:
                        claimants.append(device)
            new = {claimants[0]: p for p, (_, claimants) in claims.items() if len(claimants) == 1}
            for device, p in new.items():
                planned[device] = p
            if not new:
                return

    def _strong(self, device: int, planned: Sequence[int]) -> _Cast:
        """What the known neighbors of a device should be joined to, where they see it."""
        votes: Counter[int] = Counter()
        for link in self._ports[device]:
            far = planned[link.far]
            if far == UNKNOWN or link.far_port is None:
                continue
            number = self._plan.port_id(far, link.far_port)
            partner = -1 if number < 0 else self._plan.partner(number)
            if partner >= 0:
                votes[self._plan.at(partner)[0]] += 1
        return votes, votes.total()

    def _features(self) -> Mapping[_Feature, Sequence[int]]:
        """Switches of the plan by the ports at both ends of a link between switches."""
        found: dict[_Feature, list[int]] = defaultdict(list)
        wiring = self._plan.wiring
        kind, links = wiring.devices.kind.tolist(), wiring.links
        columns = (links.a_device, links.a_port, links.b_device, links.b_port)
        for a, a_port, b, b_port in zip(*(column.tolist() for column in columns), strict=True):
            if kind[a] >= LEAF and kind[b] >= LEAF:
                found[kind[a], a_port, kind[b], b_port].append(a)
                found[kind[b], b_port, kind[a], a_port].append(b)
        return found

    def _weak(self, device: int, features: Mapping[_Feature, Sequence[int]]) -> _Cast:
        votes: Counter[int] = Counter()
        cast = 0
        here = _TIER_KINDS.get(self.tier[device] or 0)
        for link in self._ports[device]:
            there = _TIER_KINDS.get(self.tier[link.far] or 0)
            if here is None or there is None or link.port is None or link.far_port is None:
                continue
            meant = features.get((here, link.port, there, link.far_port), ())
            if len(meant) <= _MOST_MEANT:  # a link that could be of any pod of many says nothing
                votes.update(meant)
                cast += 1
        return votes, cast

    def refine(self, planned: list[int]) -> tuple[AmbiguousGroup, ...]:
        """Match what is left by colors; fills in `planned`. What one color leaves open on both sides is ambiguous."""
        ours, theirs = _planned_graph(self._plan), [[link.far for link in links] for links in self._ports]
        colors: dict[object, int] = {}
        mine = [self._first_color(planned, device) for device in range(len(theirs))]
        fixed = {p: device for device, p in enumerate(planned) if p != UNKNOWN}
        yours = [
            ("known", p) if p in fixed else ("open", not self._plan.is_switch(p), len(ours[p]))
            for p in range(len(ours))
        ]
        left, right = _numbered(mine, colors), _numbered(yours, colors)
        classes = 0
        for _ in range(_MOST_ROUNDS):
            if len(colors) == classes:
                break
            classes, colors = len(colors), {}
            left, right = (
                _numbered([(color[n], *sorted(color[m] for m in graph[n])) for n in range(len(graph))], colors)
                for color, graph in ((left, theirs), (right, ours))
            )
        return tuple(_settle(left, right, planned, fixed))

    def _first_color(self, planned: Sequence[int], device: int) -> object:
        if planned[device] != UNKNOWN:
            return ("known", planned[device])
        return ("open", self.tier[device] == 0, len(self._ports[device]))


def _clear_winner(votes: Counter[int], cast: int, links: int, taken: set[int]) -> tuple[int, int] | None:
    """(device, votes) that more than half of the links that speak are for, and more than for any other; else None.

    One link that speaks of several is not enough.
    """
    best = votes.most_common(2)
    if not best or best[0][1] * 2 <= cast or best[0][1] < min(_FEWEST, links) or best[0][0] in taken:
        return None
    return None if len(best) > 1 and best[1][1] == best[0][1] else best[0]


def _numbered(keys: Iterable[object], colors: dict[object, int]) -> list[int]:
    return [colors.setdefault(key, len(colors)) for key in keys]


def _planned_graph(plan: PlannedFabric) -> list[list[int]]:
    graph: list[list[int]] = [[] for _ in plan.names]
    for a, b in zip(plan.links.a_device.tolist(), plan.links.b_device.tolist(), strict=True):
        graph[a].append(b)
        graph[b].append(a)
    return graph


def _settle(
    left: Sequence[int], right: Sequence[int], planned: list[int], fixed: Mapping[int, int]
) -> Iterator[AmbiguousGroup]:
    theirs: dict[int, list[int]] = defaultdict(list)
    ours: dict[int, list[int]] = defaultdict(list)
    for device, color in enumerate(left):
        if planned[device] == UNKNOWN:
            theirs[color].append(device)
    for device, color in enumerate(right):
        if device not in fixed:
            ours[color].append(device)
    for color, devices in theirs.items():
        meant = ours.get(color, [])
        if len(devices) == len(meant) == 1:
            planned[devices[0]] = meant[0]
        elif meant:
            yield AmbiguousGroup(tuple(devices), tuple(meant))
