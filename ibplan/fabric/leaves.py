"""The first tier: downlinks of a leaf, units, and what every leaf carries (design rules 1 to 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter

from ibplan.errors import Reason, Unbuildable, short
from ibplan.fabric.cage_bounds import may_fit
from ibplan.fabric.geometry import Demand
from ibplan.fabric.request import Attached, FabricRequest, LeafLoad, TierRequest, UnitLoad
from ibplan.integers import ceil_div, divisors, largest

_BUT_COUNT = attrgetter(*(field.name for field in fields(LeafLoad) if field.name != "count"))


@dataclass(frozen=True, slots=True)
class UnitRule:
    """How servers meet leaves: `downlinks` a leaf may have, `configured` those its uplinks are sized for."""

    downlinks: int
    configured: int
    servers: int
    leaves: int
    rails_per_leaf: int
    split_domain: bool = False


@lru_cache(maxsize=1024)
def downlinks(tier: TierRequest) -> int:
    """Downlinks of a switch (rule 1): `half` of the radix or as many as fit, lowered until the uplinks fit too.

    0 if not even one downlink and its uplinks fit. In cages of one kind what fits still fits with fewer downlinks,
    because those need neither more cages nor more uplinks. Over cages of several kinds that is not known: every number
    is tried from the largest that may fit.
    """
    radix = tier.geometry.ports(tier.down_gbps)
    start = radix // 2 if tier.ports == "half" else radix - tier.reserved

    def demands(count: int) -> tuple[Demand, Demand]:
        return Demand(tier.down_gbps, count + tier.reserved), Demand(tier.up_gbps, tier.uplinks_for(count))

    if len(tier.geometry.sets) == 1:
        return largest(start, lambda count: tier.geometry.fits(*demands(count)))
    most = largest(start, lambda count: may_fit(tier.geometry, *demands(count)))
    return next((count for count in range(most, 0, -1) if tier.geometry.fits(*demands(count))), 0)


def most_uplinks(tier: TierRequest, used: int) -> int:
    """The most uplinks that fit beside a number of downlinks and the ports reserved on every switch."""
    return tier.geometry.most_beside(tier.up_gbps, Demand(tier.down_gbps, used + tier.reserved))


def _apart(request: FabricRequest, rails: int) -> int:
    """So many rails on one leaf, or fewer where a server's ports must be on several leaves."""
    return rails if request.most_rails_per_leaf is None else min(rails, request.most_rails_per_leaf)


def _largest_divisor(number: int, limit: int) -> int:
    return max((d for d in divisors(number) if d <= limit), default=1)


def unit_rule(request: FabricRequest) -> UnitRule:
    """Units and rails (rule 2). Raises Unbuildable if a leaf cannot take what it must."""
    ports = downlinks(request.leaf)
    rails = request.rails
    per_server = 1 if request.rail_optimized else rails
    smallest = (request.unit_servers or 1) * per_server
    if ports < smallest:
        raise short("leaf", smallest, ports, "downlinks")
    if not request.rail_optimized:
        servers, sharing = ports // rails, rails
    else:
        room = max(1, ports // min(request.unit_for, request.unit_servers or request.unit_for))
        sharing = _largest_divisor(rails, _apart(request, room))
        servers = ports // sharing
    split = False
    if request.unit_servers:
        servers = request.unit_servers
    elif request.domain_servers > 1:
        whole = servers // request.domain_servers * request.domain_servers
        split = whole == 0 and request.unit_for > servers
        servers = whole or servers
    pinned = request.unit_servers is not None or (request.domain_servers > 1 and not split)
    configured = servers * sharing if pinned else ports
    return UnitRule(ports, configured, servers, rails // sharing, sharing, split)


def leaf_load(request: FabricRequest, rule: UnitRule, servers: int, sharing: int, count: int) -> LeafLoad:
    """The load of `count` leaves that each take `sharing` rails of `servers` servers."""
    used = servers * sharing
    keep = request.partial_units == "whole"
    configured = rule.configured if keep else used
    return _bounded(request.leaf, LeafLoad(count, used, (), 0, configured, 0, 0, down_gbps=request.leaf.down_gbps))


def _bounded(tier: TierRequest, load: LeafLoad) -> LeafLoad:
    configured = max(load.downlinks, load.ports_in_use)
    needed, most = tier.uplinks_for(configured), most_uplinks(tier, configured)
    return LeafLoad(
        load.count,
        load.servers,
        load.attached,
        load.reserved,
        configured,
        needed,
        most,
        load.uplinks,
        load.down_gbps,
    )


def build_units(request: FabricRequest, rule: UnitRule) -> tuple[list[UnitLoad], int]:
    """All units in order, with reserved and attached ports placed; and how many leaves the reserved ports added."""
    count = ceil_div(request.servers, rule.servers)
    last_servers = request.servers - (count - 1) * rule.servers
    sharing, leaves = rule.rails_per_leaf, rule.leaves
    if request.partial_units == "packed" and request.rail_optimized and request.second_tier == "pod":
        sharing = _largest_divisor(request.rails, _apart(request, max(1, rule.downlinks // last_servers)))
        leaves = request.rails // sharing
    units = []
    if count > 1:
        full = leaf_load(request, rule, rule.servers, rule.rails_per_leaf, rule.leaves)
        units.append(UnitLoad(count - 1, rule.servers, (full,)))
    last = UnitLoad(1, last_servers, (leaf_load(request, rule, last_servers, sharing, leaves),))
    last, added = _place_reserved(request, rule, last)
    units = [*units, last, *added]
    return _place_attached(request, rule, units), sum(u.count * u.leaf_count for u in added)


def _place_reserved(request: FabricRequest, rule: UnitRule, last: UnitLoad) -> tuple[UnitLoad, list[UnitLoad]]:
    """Reserved ports (rule 4): free downlinks of the last unit, one a leaf; the rest on an added leaf or unit."""
    (load,) = last.leaves
    free = load.count if load.ports_in_use < rule.downlinks else 0
    here = min(free, request.reserved_total)
    left = request.reserved_total - here
    if here:
        taken = _bounded(request.leaf, replace(load, count=here, reserved=1))
        rest = replace(load, count=load.count - here)
        last = replace(last, leaves=(taken, rest) if rest.count else (taken,))
    return last, _reserved_units(request, rule, left)


def _reserved_units(request: FabricRequest, rule: UnitRule, left: int) -> list[UnitLoad]:
    """Units for reserved ports alone: full ones, and one for the rest, dealt evenly over its leaves."""
    leaves = rule.leaves if request.partial_units == "whole" else 1
    empty = leaf_load(request, rule, 0, rule.rails_per_leaf, 1)
    full = leaves * rule.downlinks
    units = []
    for count, ports in ((left // full, full), (1, left % full)):
        if count and ports:
            fuller = ports % leaves
            loads = [
                replace(empty, count=fuller, reserved=ports // leaves + 1),
                replace(empty, count=leaves - fuller, reserved=ports // leaves),
            ]
            units.append(UnitLoad(count, 0, tuple(_bounded(request.leaf, x) for x in loads if x.count)))
    return units


def _place_attached(request: FabricRequest, rule: UnitRule, units: list[UnitLoad]) -> list[UnitLoad]:
    """Attached hosts: free downlinks of the last unit, then of the others, dealt over its leaves; then own leaves.

    Hosts of another speed always get leaves of their own, because a cage runs at one speed. Where leaves are separate,
    nobody asks for two ports on two of them, and the groups share the further ones.
    """
    if not request.attached:
        return units
    if request.second_tier == "rail" and request.tiers in ("auto", 3):
        reason = "attached hosts need leaves that reach every spine: they do not go with second_tier: rail"
        raise Unbuildable(Reason("attached-rail", reason))
    shares = [group.gbps == request.leaf.down_gbps and not group.own_leaves for group in request.attached]
    left = [group.total_ports if share else 0 for group, share in zip(request.attached, shares, strict=True)]
    filled: list[UnitLoad] = []
    for unit in reversed(units):
        filled += _filled(request.leaf, unit, left, rule.downlinks)
    own: list[UnitLoad] = []
    if request.single_tier == "separate":
        return [*_runs(filled[::-1]), *_shared_leaves(request.leaf, left, rule.downlinks)]
    for index, group in enumerate(request.attached):
        ports = left[index] if shares[index] else group.total_ports
        if group.own_leaves:
            own += _dedicated_leaves(request, group, index, ports)
        else:
            own += _own_leaves(request, rule, group, index, ports)
    return [*_runs(filled[::-1]), *own]


def _filled(tier: TierRequest, unit: UnitLoad, left: list[int], capacity: int) -> list[UnitLoad]:
    """Units alike from the last one on, with as many of the ports left (a number a group) as they have room.

    Units that one group fills are alike again, so there are at most twice as many kinds of units as groups.
    """
    empty = replace(unit, leaves=tuple(replace(x, attached=(0,) * len(left)) for x in unit.leaves))
    room = sum(x.count * max(0, capacity - x.ports_in_use) for x in unit.leaves)
    result: list[UnitLoad] = []
    todo = unit.count
    while todo and room and any(left):
        leaves = empty.leaves
        first = next(index for index, ports in enumerate(left) if ports)
        alike = min(todo, max(1, left[first] // room))
        if alike > 1:
            leaves, _ = _deal(leaves, first, room, capacity)
            left[first] -= alike * room
        else:
            for index in range(first, len(left)):
                leaves, left[index] = _deal(leaves, index, left[index], capacity)
                if left[index]:
                    break
        result.append(UnitLoad(alike, unit.servers, _merged(_bounded(tier, x) for x in leaves)))
        todo -= alike
    return [*result, replace(empty, count=todo)] if todo else result


def _deal(leaves: tuple[LeafLoad, ...], index: int, left: int, capacity: int) -> tuple[tuple[LeafLoad, ...], int]:
    """Deal ports one by one over the leaves that have room; returns the leaves and the ports left over.

    All leaves get as many as fit below a level, and the first of those with more room one more.
    """
    rooms = [max(0, capacity - x.ports_in_use) for x in leaves]
    if not left or not any(rooms):
        return leaves, left

    def dealt(level: int) -> int:
        return sum(x.count * min(room, level) for x, room in zip(leaves, rooms, strict=True))

    level = largest(max(rooms), lambda ports: dealt(ports) <= left)
    left -= dealt(level)
    result: list[LeafLoad] = []
    for leaf, room in zip(leaves, rooms, strict=True):
        more = min(left, leaf.count) if room > level else 0
        left -= more
        for count, ports in ((more, level + 1), (leaf.count - more, min(room, level))):
            if count:
                attached = tuple(a + (ports if i == index else 0) for i, a in enumerate(leaf.attached))
                result.append(replace(leaf, count=count, attached=attached))
    return tuple(result), left


def _shared_leaves(tier: TierRequest, left: list[int], capacity: int) -> list[UnitLoad]:
    """Further leaves without servers, each filled before the next, the groups one after the other."""
    units = []
    while any(left):
        attached, room = [0] * len(left), capacity
        alike = max(1, next(ports for ports in left if ports) // capacity)
        for index, ports in enumerate(left):
            attached[index] = min(ports, room)
            left[index] -= alike * attached[index]
            room -= attached[index]
        load = _bounded(tier, LeafLoad(1, 0, tuple(attached), 0, capacity, 0, 0, down_gbps=tier.down_gbps))
        units.append(UnitLoad(alike, 0, (load,)))
    return _runs(units)


def _dedicated_leaves(request: FabricRequest, group: Attached, index: int, ports: int) -> list[UnitLoad]:
    """Leaves for one group alone, its ports dealt evenly over them, their uplinks sized for the ports in use."""
    tier = replace(request.leaf, down_gbps=group.gbps, ratio=group.ratio or request.leaf.ratio)
    most = downlinks(tier)
    leaves = group.leaves or min(ports, max(2, ceil_div(ports, max(1, most))))
    if most == 0 or ceil_div(ports, leaves) > most:
        text = f"leaf tier: {ports:,} ports of {group.name} on {leaves:,} leaves of their own"
        raise Unbuildable(Reason("leaf-attached", text, ceil_div(ports, leaves), most))
    fuller = ports % leaves
    units = []
    for used, count in ((ports // leaves + 1, fuller), (ports // leaves, leaves - fuller)):
        if used and count:
            attached = tuple(used if i == index else 0 for i in range(len(request.attached)))
            load = _bounded(tier, LeafLoad(1, 0, attached, 0, used, 0, 0, down_gbps=group.gbps))
            units.append(UnitLoad(count, 0, (load,)))
    return units


def _own_leaves(request: FabricRequest, rule: UnitRule, group: Attached, index: int, ports: int) -> list[UnitLoad]:
    if ports == 0:
        return []
    tier, most = request.leaf, rule.downlinks
    if group.gbps != tier.down_gbps:
        tier = replace(tier, down_gbps=group.gbps)
        most = downlinks(tier)
    if most == 0:
        text = f"leaf tier: no downlink of {group.gbps} Gb/s for {group.name} fits beside its uplinks"
        raise Unbuildable(Reason("leaf-attached", text, 1, 0))
    loads = []
    for used, count in ((most, ports // most), (ports % most, 1)):
        if used and count:
            attached = tuple(used if i == index else 0 for i in range(len(request.attached)))
            configured = most if request.partial_units == "whole" else used
            loads.append(_bounded(tier, LeafLoad(count, 0, attached, 0, configured, 0, 0, down_gbps=group.gbps)))
    return [UnitLoad(load.count, 0, (replace(load, count=1),)) for load in loads]


def _merged(leaves: Iterable[LeafLoad]) -> tuple[LeafLoad, ...]:
    """Neighbouring leaves that are alike become one load."""
    runs = [list(run) for _, run in groupby(leaves, key=_BUT_COUNT)]
    return tuple(run[0] if len(run) == 1 else replace(run[0], count=sum(x.count for x in run)) for run in runs)


def _runs(units: list[UnitLoad]) -> list[UnitLoad]:
    """Neighbouring units that are alike become one load."""
    runs = [list(run) for _, run in groupby(units, key=lambda unit: (unit.servers, unit.leaves))]
    return [run[0] if len(run) == 1 else replace(run[0], count=sum(u.count for u in run)) for run in runs]
