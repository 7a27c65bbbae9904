"""Links between tiers of switches."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.demands import leaf_demands, leaf_runs, link_end, not_placed, spine_demands
from ibplan.fabric.geometry import Demand, Geometry
from ibplan.fabric.request import FabricRequest, FabricSize
from ibplan.parts.links import DeviceLoad, LinkClass, LinkKind


@dataclass(frozen=True, slots=True)
class _Side:
    """Devices alike at one end of a class between tiers: all their demands, and `ports` of demand `index` in use."""

    devices: int
    demands: list[Demand]
    index: int
    ports: int


def _upward(
    kind: LinkKind,
    gbps: int,
    ends: tuple[tuple[str, Geometry, list[_Side]], tuple[str, Geometry, list[_Side]]],
    pair_links: int,
) -> list[LinkClass]:
    """Links between two tiers, each end (tier, geometry, devices). Several kinds of cages at one end are refused."""
    found = []
    for tier, geometry, sides in ends:
        by_set: dict[int, list[DeviceLoad]] = {}
        for side in sides:
            placed = geometry.place(side.demands)
            if placed is None:
                raise not_placed(tier, geometry)
            left = side.ports
            for place in placed[side.index]:
                if take := min(left, place.ports):
                    by_set.setdefault(place.cage_set, []).append(DeviceLoad(side.devices, take))
                    left -= take
        if len(by_set) > 1:
            raise Unbuildable(Reason("mixed-cages", f"{tier} tier: {kind} links would use two kinds of cages", 2, 1))
        found += [link_end(tier, geometry.sets[index], gbps, loads) for index, loads in by_set.items()]
    return [LinkClass(kind, gbps, found[0], found[1], pair_links)] if len(found) == 2 else []


def leaf_spine_links(request: FabricRequest, fabric: FabricSize, fabrics: int) -> list[LinkClass]:
    """Links of every leaf to the spines of its pod; none in one tier."""
    if fabric.tiers < 2:
        return []
    leaves = []
    for count, load in leaf_runs(fabric):
        demands = leaf_demands(request, fabric, load)
        leaves.append(_Side(count * fabrics, demands, len(demands) - 1, load.uplinks))
    spines = []
    for pod in fabric.pods:
        demands = spine_demands(request, fabric, pod.downlinks, pod.uplinks)
        spines.append(_Side(pod.count * pod.spines * fabrics, demands, 0, pod.downlinks))
    pair = min(load.uplinks // pod.spines for pod in fabric.pods for load in pod.leaves)
    odd = any((load.uplinks // pod.spines) % 2 for pod in fabric.pods for load in pod.leaves)
    ends = (("leaf", request.leaf.geometry, leaves), ("spine", request.spine.geometry, spines))
    return _upward("leaf-spine", request.leaf.up_gbps, ends, 1 if odd else pair)


def spine_core_links(request: FabricRequest, fabric: FabricSize, fabrics: int) -> list[LinkClass]:
    """Links of every spine to the cores of its group; none below three tiers."""
    core = fabric.core
    if core is None:
        return []
    spines = []
    for pod in fabric.pods:
        demands = spine_demands(request, fabric, pod.downlinks, pod.uplinks)
        spines.append(_Side(pod.count * pod.spines * fabrics, demands, 1, pod.uplinks))
    cores = [_Side(core.count * fabrics, [Demand(request.spine.up_gbps, core.ports_used)], 0, core.ports_used)]
    ends = (("spine", request.spine.geometry, spines), ("core", request.core, cores))
    return _upward("spine-core", request.spine.up_gbps, ends, fabric.pods[0].uplinks // core.per_group)


def leaf_leaf_links(request: FabricRequest, fabric: FabricSize, fabrics: int) -> list[LinkClass]:
    """Links between two leaves without a spine."""
    if not fabric.isl:
        return []
    ends = []
    for load in (fabric.pods[0].leaves[0], fabric.pods[0].leaves[-1]):
        demands = leaf_demands(request, fabric, load)
        ends.append(("leaf", request.leaf.geometry, [_Side(fabrics, demands, len(demands) - 1, fabric.isl)]))
    return _upward("leaf-leaf", request.leaf.up_gbps, (ends[0], ends[1]), fabric.isl)
