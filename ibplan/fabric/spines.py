"""The upper tiers: how many spines and cores, and links that spread evenly (design rules 5 and 6)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from ibplan.errors import Reason, Unbuildable, short
from ibplan.fabric.request import Core, LeafLoad, UnitLoad
from ibplan.integers import ceil_div, divisors, largest


@dataclass(frozen=True, slots=True)
class Spread:
    """Which numbers of spines spread the uplinks of some leaves evenly (rule 5).

    `kinds`: (leaves, needed, most) of leaves with equal bounds. `enough` = the fewest spines that have the ports, and
    all above it do: the more spines, the fewer ports of each are in use. `limit` = what the leaves can reach at most.
    """

    kinds: tuple[tuple[int, int, int], ...]
    enough: int
    limit: int

    @classmethod
    def of(cls, loads: Iterable[LeafLoad], radix: int) -> Spread:
        """The spread of leaves over spines of a radix; there are no more leaves than that."""
        counts: dict[tuple[int, int], int] = {}
        for load in loads:
            counts[load.needed, load.most] = counts.get((load.needed, load.most), 0) + load.count
        kinds = tuple((count, needed, most) for (needed, most), count in counts.items())
        limit = min(most for _, _, most in kinds)
        return cls(kinds, 1 + largest(limit, lambda spines: _ports(kinds, spines) > radix), limit)

    def ports(self, spines: int) -> int:
        """Ports in use on each of a number of spines."""
        return _ports(self.kinds, spines)

    def at_least(self, least: int) -> int | None:
        """The smallest number of spines from `least` on that every leaf can spread over; None if there is none."""
        spines = max(least, self.enough)
        while spines <= self.limit:
            asked = max(_multiple_at_least(needed, most, spines) for _, needed, most in self.kinds)
            if asked == spines:
                return spines
            spines = asked
        return None


def _ports(kinds: Sequence[tuple[int, int, int]], spines: int) -> int:
    return sum(count * max(1, ceil_div(needed, spines)) for count, needed, _ in kinds)


def _multiple_at_least(needed: int, most: int, spines: int) -> int:
    """The smallest number from `spines` on with a multiple from `needed` to `most`; more than `most` if there is none.

    Of all numbers that go `times` into `most`, the largest has the largest multiple: a step skips them all.
    """
    while spines <= most:
        times = most // spines
        if times * spines >= needed:
            return spines
        lowest = ceil_div(needed, times)
        if lowest * times <= most:
            return lowest
        spines = most // times + 1
    return spines


def choose_spines(loads: Sequence[LeafLoad], radix: int, least: int = 1) -> tuple[int, tuple[LeafLoad, ...]]:
    """The fewest spines, then the fewest uplinks, such that every leaf has the same number of links to each spine.

    Rule 5: s divides every leaf's uplinks u, needed <= u <= most, and s x radix >= sum of uplinks. Returns s and the
    loads with their uplinks. Raises Unbuildable naming the ports that are short.
    """
    leaves = sum(load.count for load in loads)
    if leaves > radix:
        raise short("spine", leaves, radix)
    spread = Spread.of(loads, radix)
    spines = spread.at_least(least)
    if spines is not None:
        return spines, tuple(replace(x, uplinks=max(1, ceil_div(x.needed, spines)) * spines) for x in loads)
    needed = sum(load.count * load.needed for load in loads)
    if least > spread.limit:
        raise short("leaf", least, spread.limit, "uplinks")
    if needed > spread.limit * radix:
        raise short("spine", needed, spread.limit * radix)
    text = "spine tier: no number of spines spreads the uplinks of every leaf evenly"
    raise Unbuildable(Reason("spine-spread", text))


def spine_downlinks(loads: Sequence[LeafLoad], spines: int) -> int:
    """Ports in use on each spine: the links of every leaf are dealt evenly."""
    return sum(load.count * load.uplinks for load in loads) // spines


def pods_of_units(
    units: Sequence[UnitLoad], leaf_room: int, most_units: int | None
) -> list[tuple[int, list[UnitLoad]]]:
    """Whole units dealt into pods, in order, each pod as full as its spines' downlinks allow.

    Returns (pods alike, the unit loads of each), in order.
    """
    pods: list[tuple[int, list[UnitLoad]]] = []
    last: list[UnitLoad] = []
    for unit in units:
        if unit.leaf_count > leaf_room:
            raise short("spine", unit.leaf_count, leaf_room, "downlinks")
        left = unit.count
        while left:
            room = (leaf_room - sum(u.count * u.leaf_count for u in last)) // unit.leaf_count
            if most_units is not None:
                room = min(room, most_units - sum(u.count for u in last))
            take = min(left, room)
            if take <= 0:
                pods.append((1, last))
                last = []
                continue
            # The last of full pods alike stays open: smaller units may follow.
            if not last and left // take > 1:
                pods.append((left // take - 1, [replace(unit, count=take)]))
                left -= (left // take - 1) * take
            last = [*last, replace(unit, count=take)]
            left -= take
    return [*pods, (1, last)] if last or not pods else pods


def choose_core(
    pods: Sequence[tuple[int, int]], uplinks: int, radix: int, pinned: tuple[int, int] | None = None
) -> Core:
    """The fewest cores over which every spine spreads its uplinks evenly within one group (rule 6).

    `pods` gives (pods alike, spines in each). Cores = groups x per_group: groups divides the spines of every pod,
    per_group divides a spine's uplinks, and no core needs more than `radix` ports. Ties go to the fewest groups, which
    gives a spine the most cores. `pinned` = (groups, per_group) where they are given, as for a stage that others
    follow. Raises Unbuildable naming the ports that are short.
    """
    if pinned is not None:
        return _pinned_core(pods, uplinks, radix, *pinned)
    best: Core | None = None
    common = gcd(*(spines for _, spines in pods))
    spines = sum(count * spines for count, spines in pods)
    dealt = divisors(uplinks)
    for groups in divisors(common) if radix > 0 else ():
        ports_for_one = spines // groups * uplinks
        fewest = bisect_left(dealt, ceil_div(ports_for_one, radix))
        if fewest < len(dealt) and (best is None or groups * dealt[fewest] < best.count):
            best = Core(groups, dealt[fewest], ports_for_one // dealt[fewest])
    if best is None:
        raise short("core", spines // common, radix)
    return best


def _pinned_core(pods: Sequence[tuple[int, int]], uplinks: int, radix: int, groups: int, per_group: int) -> Core:
    """The cores that are given, if every spine of these pods spreads evenly over them. Raises Unbuildable."""
    if uplinks % per_group or any(spines % groups for _, spines in pods):
        raise Unbuildable(
            Reason("core-spread", "core tier: the uplinks do not spread evenly over the cores of the last stage")
        )
    ports = sum(count * (spines // groups) for count, spines in pods) * uplinks // per_group
    if ports > radix:
        raise short("core", ports, radix)
    return Core(groups, per_group, ports)
