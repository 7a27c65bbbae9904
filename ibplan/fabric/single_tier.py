"""Fabrics of one tier: one switch, two leaves joined by inter-switch links, or leaves that only others join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.geometry import Demand, Geometry
from ibplan.fabric.leaves import build_units, unit_rule
from ibplan.fabric.request import FabricRequest, FabricSize, LeafLoad, Pod, Unit, east_west_hosts
from ibplan.integers import ceil_div


def one_tier(request: FabricRequest) -> FabricSize:
    """One switch, two leaves joined by links, or separate leaves. Raises Unbuildable with what is short."""
    makers = {"one_switch": _one_switch, "two_leaves": _two_leaves, "separate": _separate_leaves}
    return makers[request.single_tier](request)


def _separate_leaves(request: FabricRequest) -> FabricSize:
    """Leaves with fixed uplinks to another network: the units of rule 2, without spines."""
    rule = unit_rule(request)
    units, added = build_units(request, rule)
    loads = tuple(replace(x, count=x.count * u.count, uplinks=x.needed) for u in units for x in u.leaves)
    built = max(Fraction(x.downlinks * x.down_gbps, x.uplinks * request.leaf.up_gbps) for x in loads)
    unit = Unit(rule.servers, rule.leaves, sum(u.count for u in units if u.servers), rule.rails_per_leaf)
    pods = (Pod(1, sum(u.count for u in units), loads, 0, 0),)
    return FabricSize(1, unit, pods, built, None, added_leaves=added, split_domain=rule.split_domain)


def _one_switch(request: FabricRequest) -> FabricSize:
    attached = tuple(a.total_ports for a in request.attached)
    used, reserved = request.servers * request.rails, request.reserved_total
    load = LeafLoad(1, used, attached, reserved, used + reserved, 0, 0, 0, request.leaf.down_gbps)
    demands = _host_demands(request, load)
    if not request.leaf.geometry.fits(*demands):
        raise _too_much("one-switch", "one switch", request.leaf.geometry, demands)
    unit = Unit(request.servers, 1, 1, request.rails)
    return FabricSize(1, unit, (Pod(1, 1, (load,), 0, 0),), None, None)


def _too_much(code: str, what: str, geometry: Geometry, demands: Sequence[Demand]) -> Unbuildable:
    """What is short where demands do not fit a switch: ports of one speed, else cages, else the sentence alone."""
    speeds = {d.gbps for d in demands if d.ports}
    need, have = sum(d.ports for d in demands), geometry.ports(max(speeds))
    if len(speeds) == 1 and need > have:
        return Unbuildable(Reason(code, f"{what}: {need:,} ports needed, {have:,} available", need, have))
    if len(geometry.sets) == 1:
        (cages,) = geometry.sets
        modes = [(d.ports, mode) for d in demands if (mode := cages.mode(d.gbps)) is not None]
        need = sum(ceil_div(ports, mode.ports) * (1 + mode.cages_lost) for ports, mode in modes)
        if need > cages.count:
            text = f"{what}: {need:,} cages needed, {cages.count:,} available"
            return Unbuildable(Reason(code, text, need, cages.count))
    wanted = " and ".join(f"{d.ports:,} ports of {d.gbps} Gb/s" for d in demands if d.ports)
    return Unbuildable(Reason(code, f"{what}: {wanted} do not fit {geometry.name} together"))


def _halves(request: FabricRequest) -> tuple[int, int]:
    """Server ports on each of two leaves: whole rails where rails are kept apart, else whole servers."""
    rails, servers = request.rails, request.servers
    if rails > 1 and request.rail_optimized:
        return servers * ceil_div(rails, 2), servers * (rails // 2)
    return ceil_div(servers, 2) * rails, servers // 2 * rails


def _two_leaves(request: FabricRequest) -> FabricSize:
    """Two leaves joined by inter-switch links: enough for all ports of the fuller leaf at the asked ratio.

    North-south ports need none: a server has them on both leaves.
    """
    tier = request.leaf
    loads = []
    for side, servers in enumerate(_halves(request)):
        share = tuple((a.total_ports + 1 - side) // 2 for a in request.attached)
        reserved = (request.reserved_total + 1 - side) // 2
        loads.append(LeafLoad(1, servers, share, reserved, servers + reserved, 0, 0, 0, tier.down_gbps))
    bandwidth = max(_host_gbps(request, load) for load in loads)
    ratio = Fraction(bandwidth) / (tier.ratio * tier.up_gbps)
    isl = max(request.min_isl, -(-ratio.numerator // ratio.denominator))
    for load in loads:
        demands = [*_host_demands(request, load), Demand(tier.up_gbps, isl)]
        if not tier.geometry.fits(*demands):
            raise _too_much("two-leaves", "each of two leaves", tier.geometry, demands)
    merged = (replace(loads[0], count=2),) if loads[0] == loads[1] else tuple(loads)
    unit = Unit(request.servers, 2, 1, ceil_div(request.rails, 2) if request.rail_optimized else request.rails)
    built = Fraction(bandwidth, isl * tier.up_gbps)
    return FabricSize(1, unit, (Pod(1, 1, merged, 0, 0),), built, None, isl=isl)


def _host_gbps(request: FabricRequest, load: LeafLoad) -> int:
    """Bandwidth of the servers and attached hosts of one leaf, Gb/s, without that of north-south ports."""
    return load.servers * load.down_gbps + sum(n * gbps for n, gbps in east_west_hosts(request, load))


def _host_demands(request: FabricRequest, load: LeafLoad) -> list[Demand]:
    """Ports of one leaf towards hosts, by speed; ports reserved on every leaf included."""
    ports = {load.down_gbps: load.servers + load.reserved + request.leaf.reserved}
    for used, group in zip(load.attached, request.attached, strict=True):
        ports[group.gbps] = ports.get(group.gbps, 0) + used
    return [Demand(gbps, count) for gbps, count in ports.items()]
