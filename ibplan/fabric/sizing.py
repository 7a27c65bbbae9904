"""Sizing one fabric: every count from integers alone (design section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from ibplan.errors import Reason, Unbuildable, short
from ibplan.fabric.leaves import UnitRule, build_units, downlinks, unit_rule
from ibplan.fabric.pods import pod_loads, upper_tiers
from ibplan.fabric.request import (
    FabricRequest,
    FabricSize,
    LeafLoad,
    Pod,
    Tiers,
    Unit,
    UnitLoad,
)
from ibplan.fabric.single_tier import one_tier
from ibplan.fabric.spines import choose_spines, spine_downlinks
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
    pods, core = upper_tiers(request, pod_loads(request, units, room), room)
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
