"""Where attached hosts of the servers' speed and the fabric manager's ports stand among the downlinks of a leaf."""

from __future__ import annotations

from ibplan.fabric.geometry import Demand
from ibplan.fabric.leaves import UnitRule
from ibplan.fabric.request import FabricRequest, LeafLoad


def extra_ports(request: FabricRequest, load: LeafLoad) -> int:
    """Ports of attached hosts at the servers' speed, and reserved ones."""
    same = (n for n, g in zip(load.attached, request.attached, strict=False) if g.gbps == load.down_gbps)
    return sum(same) + load.reserved


def extras_start(request: FabricRequest, rule: UnitRule, load: LeafLoad, uplinks: int) -> int:
    """The downlink of a leaf at which attached hosts of the servers' speed and managers start.

    In `whole` units they stand behind the ports that the unit's servers will have, or at the top of the downlinks, so
    that servers can be added without moving them. Elsewhere, where this would not fit, and where downlinks use two
    kinds of cages, they follow the servers that are there.
    """
    extras = extra_ports(request, load)
    alone = load.servers == 0 and load.reserved == 0
    if request.partial_units != "whole" or not extras or alone:
        return load.servers
    slots = rule.servers * rule.rails_per_leaf
    for top in (min(rule.downlinks, slots + extras), load.downlinks):
        start = min(slots, top - extras)
        if start <= load.servers:
            return load.servers
        if _same_cages(request, load, start + extras, uplinks):
            return start
    return load.servers


def _same_cages(request: FabricRequest, load: LeafLoad, downlinks: int, uplinks: int) -> bool:
    """Whether that many downlinks use the kinds of cages that those in use do: one for them, the same for others."""
    others: dict[int, int] = {}
    for used, group in zip(load.attached, request.attached, strict=False):
        if used and group.gbps != load.down_gbps:
            others[group.gbps] = others.get(group.gbps, 0) + used
    rest = [*(Demand(g, n) for g, n in others.items()), Demand(request.leaf.up_gbps, uplinks)]
    own = (load.servers + extra_ports(request, load), downlinks)
    sets = []
    for ports in own:
        placed = request.leaf.geometry.place([Demand(load.down_gbps, ports + request.leaf.reserved), *rest])
        if placed is None:
            return False
        sets.append([[p.cage_set for p in places] for places in placed])
    return sets[0] == sets[1] and len(sets[1][0]) == 1
