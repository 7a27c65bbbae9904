"""Three tiers: the pods of a fabric, those alike together, with their spines, and the cores over them (rule 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import gcd

from ibplan.fabric.request import Core, FabricRequest, LeafLoad, Pod, UnitLoad
from ibplan.fabric.spines import Spread, choose_core, choose_spines, pods_of_units, spine_downlinks
from ibplan.integers import ceil_div, divisors


@dataclass(frozen=True, slots=True)
class PodLoad:
    """`count` pods alike: `units` units in each, and their leaves."""

    count: int
    units: int
    leaves: tuple[LeafLoad, ...]

    @property
    def leaf_count(self) -> int:
        """Leaves of one pod."""
        return sum(load.count for load in self.leaves)


def pod_of_units(units: Sequence[UnitLoad], count: int = 1) -> PodLoad:
    """Pods that hold some units each."""
    leaves = tuple(replace(x, count=x.count * u.count) for u in units for x in u.leaves)
    return PodLoad(count, sum(u.count for u in units), leaves)


def pod_loads(request: FabricRequest, units: Sequence[UnitLoad], room: int) -> list[PodLoad]:
    """All pods, fullest first, each kind once. `rail`: the leaves of one position in the unit share spines."""
    columns = [(1, list(units))] if request.second_tier == "pod" else _columns(units)
    found: dict[PodLoad, int] = {}
    for copies, column in columns:
        for count, members in pods_of_units(column, room, request.pod_units):
            kind = pod_of_units(members)
            found[kind] = found.get(kind, 0) + copies * count
    return sorted((replace(kind, count=count) for kind, count in found.items()), key=lambda pod: -pod.leaf_count)


def _columns(units: Sequence[UnitLoad]) -> Iterator[tuple[int, list[UnitLoad]]]:
    """(positions alike, the units with their leaf there alone): leaves of one position in the unit, in order."""
    ends = {0}
    for unit in units:
        end = 0
        for load in unit.leaves:
            end += load.count
            ends.add(end)
    bounds = sorted(ends)
    for start, end in pairwise(bounds):
        found = [(u, _leaf_at(u, start)) for u in units]
        yield end - start, [replace(u, leaves=(leaf,)) for u, leaf in found if leaf is not None]


def _leaf_at(unit: UnitLoad, position: int) -> LeafLoad | None:
    """The leaf at a position of a unit; None where an added unit has fewer leaves."""
    for load in unit.leaves:
        if position < load.count:
            return replace(load, count=1)
        position -= load.count
    return None


class _Tiers:
    """What the search over numbers of spines needs to know of every kind of pod, without building one."""

    def __init__(self, request: FabricRequest, groups: Sequence[PodLoad], room: int) -> None:
        self._groups = groups
        self._full = [pod.leaf_count == groups[0].leaf_count for pod in groups]
        self._spreads = [Spread.of(pod.leaves, room) for pod in groups]
        self._radix = request.core.ports(request.spine.up_gbps)
        self._uplinks = cache(request.spine.uplinks_for)
        # However many spines there are, a core needs a port for every pod.
        self._reachable = sum(pod.count for pod in groups) <= self._radix

    def spines(self, full: int, least: int) -> list[int] | None:
        """Spines of each kind of pod: at least `full` in pods as full as the first, at least `least` in the others."""
        chosen = []
        for spread, alike in zip(self._spreads, self._full, strict=True):
            found = spread.at_least(full if alike else least)
            if found is None:
                return None
            chosen.append(found)
        return chosen

    def meet(self, chosen: Sequence[int]) -> bool:
        """Whether there are cores for these numbers of spines: each has a port for every spine of its group."""
        return self._all(chosen) // gcd(*chosen) <= self._radix

    def rank(self, chosen: Sequence[int]) -> tuple[int, int]:
        """Fewest switches, then fewest links. `chosen` do `meet`."""
        uplinks = self._uplinks(max(s.ports(n) for s, n in zip(self._spreads, chosen, strict=True)))
        pods = [(pod.count, spines) for pod, spines in zip(self._groups, chosen, strict=True)]
        spines = self._all(chosen)
        return spines + choose_core(pods, uplinks, self._radix).count, spines * uplinks

    def fewest(self, chosen: Sequence[int]) -> int:
        """No more switches than there are with these spines, or with more in the pods that are not full."""
        spines = self._all(chosen)
        uplinks = self._uplinks(self._spreads[0].ports(chosen[0]))
        return spines + ceil_div(spines * uplinks, max(1, self._radix))

    def packed(self, full: int, least: int) -> Iterator[tuple[list[int], int]]:
        """Numbers of spines that may meet, with fewer than `full` in the pods that are not; and the `least` for each.

        The groups of cores divide all of them and are at least as many as a core's ports ask for. So the pods that are
        not full have a multiple of such a divisor; numbers between one that is found and the next give the same.
        """
        always = [s.at_least(full) for s, alike in zip(self._spreads, self._full, strict=True) if alike]
        spines = [n for n in always if n is not None]
        if len(spines) < len(always) or not self._reachable:
            return
        shared = divisors(gcd(*spines))
        while True:
            groups = ceil_div(self._all([full if alike else least for alike in self._full]), self._radix)
            least = min(ceil_div(least, d) * d for d in (*shared, full) if d >= groups or d == full)
            if least >= full or (chosen := self.spines(full, least)) is None:
                return
            yield chosen, least
            least = 1 + min((n for n, alike in zip(chosen, self._full, strict=True) if not alike), default=full)

    def alike(self, least: int) -> int | None:
        """The least number of spines from `least` on, the same floor for all pods, for which there are cores."""
        while self._reachable and (chosen := self.spines(least, least)) is not None:
            if self.meet(chosen):
                return least
            least = 1 + min(chosen)
        return None

    def _all(self, chosen: Sequence[int]) -> int:
        return sum(pod.count * spines for pod, spines in zip(self._groups, chosen, strict=True))


def upper_tiers(request: FabricRequest, groups: Sequence[PodLoad], room: int) -> tuple[tuple[Pod, ...], Core]:
    """Pods and cores together, with the spines of a full pod in every pod, or more where the cores need it.

    `packed` gives a smaller last pod the spine count that needs fewest switches in all. Raises Unbuildable.
    """
    spines, _ = choose_spines(groups[0].leaves, room, request.min_spines)
    if request.core_pin is not None:
        return _built(request, groups, room, spines, spines)
    tiers = _Tiers(request, groups, room)
    best: tuple[tuple[int, int], int] | None = None
    if request.partial_units == "packed":
        for chosen, least in tiers.packed(spines, min(spines, request.min_spines)):
            if best is not None and tiers.fewest(chosen) > best[0][0]:
                break
            if tiers.meet(chosen):
                found = tiers.rank(chosen), least
                best = found if best is None else min(best, found)
    if best is None:
        same = tiers.alike(spines) or spines
        return _built(request, groups, room, same, same)
    same_everywhere = tiers.spines(spines, spines)
    if same_everywhere is not None and tiers.meet(same_everywhere) and tiers.rank(same_everywhere) < best[0]:
        return _built(request, groups, room, spines, spines)
    return _built(request, groups, room, spines, best[1])


def _built(
    request: FabricRequest, groups: Sequence[PodLoad], room: int, full: int, least: int
) -> tuple[tuple[Pod, ...], Core]:
    """Every pod with its spines, and the cores. All spines have the uplinks that the busiest of them needs.

    Raises Unbuildable with what is short.
    """
    pods = []
    for group in groups:
        alike = group.leaf_count == groups[0].leaf_count
        spines, leaves = choose_spines(group.leaves, room, full if alike else least)
        pods.append(Pod(group.count, group.units, leaves, spines, spine_downlinks(leaves, spines)))
    uplinks = request.spine.uplinks_for(max(pod.downlinks for pod in pods))
    radix, pin = request.core.ports(request.spine.up_gbps), request.core_pin
    given = None
    if pin is not None:
        uplinks, given = max(uplinks, pin.uplinks), (pin.groups, pin.per_group)
    core = choose_core([(p.count, p.spines) for p in pods], uplinks, radix, given)
    return tuple(replace(pod, uplinks=uplinks) for pod in pods), core
