"""The upper tiers: how many spines and cores, and links that spread evenly (design rules 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from ibplan.errors import Reason, Unbuildable, short
from ibplan.fabric.request import Core, LeafLoad, UnitLoad
from ibplan.integers import ceil_div, divisors


def choose_spines(loads: Sequence[LeafLoad], radix: int, least: int = 1) -> tuple[int, tuple[LeafLoad, ...]]:
    """The fewest spines, then the fewest uplinks, such that every leaf has the same number of links to each spine.

    Rule 5: s divides every leaf's uplinks u, needed <= u <= most, and s x radix >= sum of uplinks. Returns s and the
    loads with their uplinks. Raises Unbuildable naming the ports that are short.
    """
    leaves = sum(load.count for load in loads)
    if leaves > radix:
        raise short("spine", leaves, radix)
    limit = min(load.most for load in loads)
    needed = sum(load.count * load.needed for load in loads)
    for spines in range(max(least, ceil_div(needed, radix)), limit + 1):
        chosen = [max(spines, ceil_div(load.needed, spines) * spines) for load in loads]
        fits = all(u <= load.most for u, load in zip(chosen, loads, strict=True))
        if fits and sum(u * load.count for u, load in zip(chosen, loads, strict=True)) <= spines * radix:
            return spines, tuple(replace(load, uplinks=u) for u, load in zip(chosen, loads, strict=True))
    if least > limit:
        raise short("leaf", least, limit, "uplinks")
    if needed > limit * radix:
        raise short("spine", needed, limit * radix)
    text = "spine tier: no number of spines spreads the uplinks of every leaf evenly"
    raise Unbuildable(Reason("spine-spread", text))


def spine_downlinks(loads: Sequence[LeafLoad], spines: int) -> int:
    """Ports in use on each spine: the links of every leaf are dealt evenly."""
    return sum(load.count * load.uplinks for load in loads) // spines


def pods_of_units(units: Sequence[UnitLoad], leaf_room: int, most_units: int | None) -> list[list[UnitLoad]]:
    """Whole units dealt into pods, in order, each pod as full as its spines' downlinks allow.

    Returns one list of unit loads a pod; pods alike may be one and the same list.
    """
    pods: list[list[UnitLoad]] = [[]]
    for unit in units:
        if unit.leaf_count > leaf_room:
            raise short("spine", unit.leaf_count, leaf_room, "downlinks")
        left = unit.count
        while left:
            room = leaf_room - sum(u.count * u.leaf_count for u in pods[-1])
            take = min(left, room // unit.leaf_count)
            if most_units is not None:
                take = min(take, most_units - sum(u.count for u in pods[-1]))
            if take <= 0:
                pods.append([])
                continue
            alike = 1 if pods[-1] else left // take
            full = [*pods[-1], replace(unit, count=take)]
            pods[-1:] = [full] * alike
            left -= take * alike
            if alike > 1 and left:
                pods.append([])
    return pods


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
    for groups in divisors(gcd(*(spines for _, spines in pods))):
        ports_for_one = sum(count * (spines // groups) for count, spines in pods) * uplinks
        for per_group in divisors(uplinks):
            ports = ports_for_one // per_group
            if ports <= radix and (best is None or groups * per_group < best.count):
                best = Core(groups, per_group, ports)
    if best is None:
        groups = gcd(*(spines for _, spines in pods))
        raise short("core", sum(count * (spines // groups) for count, spines in pods), radix)
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
