"""Sizing one fabric: every count from integers alone (design section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

from ibplan.errors import Reason, Unbuildable, short
from ibplan.fabric.leaves import UnitRule, build_units, downlinks, unit_rule
from ibplan.fabric.request import (
    Core,
    FabricRequest,
    FabricSize,
    LeafLoad,
    Pod,
    Tiers,
    Unit,
    UnitLoad,
)
from ibplan.fabric.single_tier import one_tier
from ibplan.fabric.spines import choose_core, choose_spines, pods_of_units, spine_downlinks
from ibplan.integers import ceil_div


def size_fabric(request: FabricRequest) -> FabricSize:
    """Size a fabric with the tiers asked for, or with the fewest that fit. Raises Unbuildable with what is short."""
    check_speeds(request)
    ladder: dict[Tiers, Callable[[FabricRequest], FabricSize]] = {1: one_tier, 2: _two_tiers, 3: _three_tiers}
    wanted: tuple[Tiers, ...] = (1, 2, 3) if request.tiers == "auto" else (request.tiers,)
    for tiers in wanted:
        try:
            return ladder[tiers](replace(request, tiers=tiers))
        except Unbuildable as refusal:
            if tiers == wanted[-1]:
                raise
            if tiers != 1 and any(r.code.startswith("leaf-") for r in refusal.reasons):
                raise
    raise AssertionError("the last tier either returns or raises")


def check_speeds(request: FabricRequest) -> None:
    """Refuse switches that do not have the speeds at all. Raises Unbuildable."""
    reasons = []
    wanted = [("leaf", request.leaf.geometry, request.leaf.down_gbps)]
    wanted += [("leaf", request.leaf.geometry, a.gbps) for a in request.attached]
    if request.tiers != 1:
        wanted += [("leaf", request.leaf.geometry, request.leaf.up_gbps)]
        wanted += [("spine", request.spine.geometry, request.leaf.up_gbps)]
    if request.tiers == 3:
        wanted += [
            ("spine", request.spine.geometry, request.spine.up_gbps),
            ("core", request.core, request.spine.up_gbps),
        ]
    for tier, geometry, gbps in wanted:
        if geometry.ports(gbps) == 0:
            reasons.append(Reason(f"{tier}-speed", f"{tier} tier: {geometry.name} has no {gbps} Gb/s ports", 1, 0))
    if reasons:
        raise Unbuildable(*dict.fromkeys(reasons))


def _two_tiers(request: FabricRequest) -> FabricSize:
    rule = unit_rule(request)
    units, added = build_units(request, rule)
    loads = [replace(x, count=x.count * u.count) for u in units for x in u.leaves]
    radix = request.spine.geometry.ports(request.leaf.up_gbps) - request.spine.reserved
    spines, chosen = choose_spines(loads, radix, request.min_spines)
    used = spine_downlinks(chosen, spines)
    pod = Pod(1, sum(u.count for u in units), chosen, spines, used)
    minimum = ceil_div(sum(x.count * x.needed for x in chosen), radix)
    return FabricSize(
        2,
        _unit(rule, units),
        (pod,),
        _leaf_ratio(request, chosen),
        None,
        spine_minimum=minimum,
        added_leaves=added,
        split_domain=rule.split_domain,
    )


def _unit(rule: UnitRule, units: Sequence[UnitLoad]) -> Unit:
    return Unit(
        rule.servers,
        rule.leaves,
        sum(u.count for u in units if u.servers or any(x.reserved for x in u.leaves)),
        rule.rails_per_leaf,
    )


def _leaf_ratio(request: FabricRequest, loads: Sequence[LeafLoad]) -> Fraction:
    """The worst built ratio over all leaves: configured downlink bandwidth over uplink bandwidth."""
    return max(Fraction(x.downlinks * x.down_gbps, x.uplinks * request.leaf.up_gbps) for x in loads)


def _three_tiers(request: FabricRequest) -> FabricSize:
    rule = unit_rule(request)
    units, added = build_units(request, rule)
    room = downlinks(request.spine)
    if room == 0:
        raise short("spine", 1, 0, "downlinks")
    groups = _pod_loads(request, units, room)
    spines_of_first, _ = choose_spines(groups[0][1], room, request.min_spines)
    pods, core = _upper_tiers(request, groups, room, spines_of_first)
    uplinks, in_use = pods[0].uplinks, max(pod.downlinks for pod in pods)
    chosen = [load for pod in pods for load in pod.leaves]
    spine_minimum = ceil_div(sum(p.count * x.count * x.needed for p in pods for x in p.leaves), room)
    up_total = sum(p.count * p.spines * uplinks for p in pods)
    return FabricSize(
        3,
        _unit(rule, units),
        pods,
        _leaf_ratio(request, chosen),
        Fraction(in_use * request.leaf.up_gbps, uplinks * request.spine.up_gbps),
        core,
        spine_minimum=spine_minimum,
        core_minimum=ceil_div(up_total, request.core.ports(request.spine.up_gbps)),
        added_leaves=added,
        split_domain=rule.split_domain,
    )


def _pod_loads(request: FabricRequest, units: list[UnitLoad], room: int) -> list[tuple[int, list[LeafLoad]]]:
    """(units, leaf loads) of every pod, fullest first. `rail`: the leaves of one position in the unit share spines."""
    if request.second_tier == "pod":
        pods = pods_of_units(units, room, request.pod_units)
    else:
        pods = []
        for position in range(max(u.leaf_count for u in units)):
            found = [(u, _leaf_at(u, position)) for u in units]
            column = [replace(u, leaves=(leaf,)) for u, leaf in found if leaf is not None]
            pods += pods_of_units(column, room, request.pod_units)
    loads = {
        id(pod): (sum(u.count for u in pod), [replace(x, count=x.count * u.count) for u in pod for x in u.leaves])
        for pod in pods
    }
    return sorted((loads[id(pod)] for pod in pods), key=lambda p: -sum(x.count for x in p[1]))


def _leaf_at(unit: UnitLoad, position: int) -> LeafLoad | None:
    """The leaf at a position of a unit; None where an added unit has fewer leaves."""
    for load in unit.leaves:
        if position < load.count:
            return replace(load, count=1)
        position -= load.count
    return None


def _size_pods(
    request: FabricRequest, groups: list[tuple[int, list[LeafLoad]]], room: int, full: int, least: int
) -> tuple[Pod, ...]:
    """Every pod with its spines: at least `full` in pods as full as the first, at least `least` in the others.

    All spines have the uplinks that the busiest of them needs.
    """
    pods = []
    fullest = sum(x.count for x in groups[0][1])
    for (units, loads), run in groupby(groups):
        alike = sum(x.count for x in loads) == fullest
        chosen_spines, chosen = choose_spines(loads, room, full if alike else least)
        used = spine_downlinks(chosen, chosen_spines)
        pods.append(Pod(len(list(run)), units, chosen, chosen_spines, used))
    uplinks = request.spine.uplinks_for(max(pod.downlinks for pod in pods))
    if request.core_pin is not None:
        uplinks = max(uplinks, request.core_pin.uplinks)
    return tuple(replace(pod, uplinks=uplinks) for pod in pods)


def _upper_tiers(
    request: FabricRequest, groups: list[tuple[int, list[LeafLoad]]], room: int, spines: int
) -> tuple[tuple[Pod, ...], Core]:
    """Pods and cores together, with the spines of a full pod in every pod, or more where the cores need it.

    `packed` gives a smaller last pod the spine count that needs fewest switches in all.
    """
    most = max(load.most for _, loads in groups for load in loads)
    found: list[tuple[tuple[int, int], tuple[Pod, ...], Core]] = []
    refusal: Unbuildable | None = None
    if request.partial_units == "packed":
        for least in range(min(spines, request.min_spines), spines):
            with suppress(Unbuildable):
                found.append(_with_cores(request, _size_pods(request, groups, room, spines, least)))
    for same in range(spines, most + 1):
        try:
            found.append(_with_cores(request, _size_pods(request, groups, room, same, same)))
        except Unbuildable as no:
            refusal = refusal or no
        if found:
            break
    if not found:
        raise refusal or short("core", 1, 0)
    _, pods, core = min(found, key=lambda f: f[0])
    return pods, core


def _with_cores(request: FabricRequest, pods: tuple[Pod, ...]) -> tuple[tuple[int, int], tuple[Pod, ...], Core]:
    """Pods with their cores, and their rank: fewest switches, then fewest links. Raises Unbuildable."""
    groups, radix = [(p.count, p.spines) for p in pods], request.core.ports(request.spine.up_gbps)
    pin = request.core_pin
    core = choose_core(groups, pods[0].uplinks, radix, None if pin is None else (pin.groups, pin.per_group))
    spines = sum(p.count * p.spines for p in pods)
    return (spines + core.count, spines * pods[0].uplinks), pods, core
