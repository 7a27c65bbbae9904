"""The port demands of switches, and the ends of links that meet them."""

from __future__ import annotations

from collections.abc import Iterable

from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.geometry import CageSet, Demand, Geometry
from ibplan.fabric.request import FabricRequest, FabricSize, LeafLoad
from ibplan.parts.links import DeviceLoad, LinkEnd


def leaf_runs(fabric: FabricSize) -> Iterable[tuple[int, LeafLoad]]:
    """Leaves alike of one fabric: how many, and their load."""
    for pod in fabric.pods:
        for load in pod.leaves:
            yield pod.count * load.count, load


def uplink_demand(request: FabricRequest, fabric: FabricSize, load: LeafLoad) -> Demand:
    """The uplinks of a leaf, or its links to the other of two leaves."""
    return Demand(request.leaf.up_gbps, fabric.isl if fabric.isl else load.uplinks)


def leaf_demands(request: FabricRequest, fabric: FabricSize, load: LeafLoad) -> list[Demand]:
    """Down demands by speed (servers, attached of that speed and reserved pooled), then the uplinks, last."""
    ports: dict[int, int] = {load.down_gbps: load.servers + load.reserved + request.leaf.reserved}
    for used, group in zip(load.attached, request.attached, strict=False):
        if used:
            ports[group.gbps] = ports.get(group.gbps, 0) + used
    demands = [Demand(gbps, count) for gbps, count in ports.items()]
    return [*demands, uplink_demand(request, fabric, load)]


def spine_demands(request: FabricRequest, fabric: FabricSize, down: int, up: int) -> list[Demand]:
    """Ports of a spine towards leaves, those reserved on every spine included, then towards cores."""
    demands = [Demand(request.leaf.up_gbps, down + request.spine.reserved)]
    return [*demands, Demand(request.spine.up_gbps, up)] if fabric.tiers == 3 else demands


def not_placed(tier: str, geometry: Geometry) -> Unbuildable:
    """The refusal where a switch with fewer ports in use than those that sizing placed finds no cages for them.

    Over cages of several kinds fewer ports may take another kind, and leave none for the others.
    """
    text = f"{tier} tier: the ports in use on some switches find no place in the kinds of cages of {geometry.name}"
    return Unbuildable(Reason("mixed-cages", text))


def link_end(tier: str, cages: CageSet, gbps: int, loads: Iterable[DeviceLoad]) -> LinkEnd:
    """One end of a class whose ports are in one kind of cages."""
    mode = cages.mode(gbps)
    return LinkEnd(tier, cages.cage_class, mode.ports if mode else None, tuple(loads))
