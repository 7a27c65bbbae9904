"""A network of one or more disjoint fabrics: all counts, and the link classes with both ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.geometry import CageSet, Demand, Geometry, Placed
from ibplan.fabric.request import FabricRequest, FabricSize, LeafLoad
from ibplan.parts.links import DeviceLoad, LinkClass, LinkEnd, LinkKind

Tier = Literal["leaf", "spine", "core"]


@dataclass(frozen=True, slots=True)
class HostEnd:
    """The far end of host links: its cage class and ports a cage gives; None where unknown."""

    cage_class: str | None
    ports_per_cage: int | None


@dataclass(frozen=True, slots=True)
class TierCount:
    """The switches of one tier over all fabrics; ports in use and free (at the downlink speed) over all of them."""

    tier: Tier
    count: int
    ports_used: int
    ports_free: int


@dataclass(frozen=True, slots=True)
class NetworkSize:
    """A sized network: one fabric's form, times `fabrics` (planes, times rails when rails are separate)."""

    request: FabricRequest
    fabric: FabricSize
    fabrics: int
    tiers: tuple[TierCount, ...]
    links: tuple[LinkClass, ...]

    @property
    def endpoints(self) -> int:
        """NIC ports of servers and attached hosts that have a switch port."""
        return sum(c.count for c in self.links if c.kind in ("server-leaf", "attached"))

    @property
    def switch_count(self) -> int:
        """All switches."""
        return sum(t.count for t in self.tiers)


def build_network(
    request: FabricRequest,
    fabric: FabricSize,
    fabrics: int,
    *,
    server: HostEnd,
    server_ports: int,
    attached: tuple[HostEnd, ...] = (),
    manager: HostEnd | None = None,
) -> NetworkSize:
    """All link classes and tier counts of `fabrics` equal fabrics.

    `server_ports` = network ports of one server over all fabrics (its cages serve several). Raises Unbuildable where a
    class cannot be told apart.
    """
    classes = _host_links(request, fabric, fabrics, server, server_ports, attached, manager)
    classes += _leaf_spine(request, fabric, fabrics)
    classes += _spine_core(request, fabric, fabrics)
    classes += _leaf_leaf(request, fabric, fabrics)
    return NetworkSize(request, fabric, fabrics, _tier_counts(request, fabric, fabrics), tuple(classes))


@dataclass(slots=True)
class _Bank:
    """Ports of one kind in one cage set over leaves: collects loads until the class is complete."""

    kind: LinkKind
    host: int | None
    gbps: int
    cage_set: int
    loads: list[DeviceLoad]


def _leaves(fabric: FabricSize) -> Iterable[tuple[int, LeafLoad]]:
    for pod in fabric.pods:
        for load in pod.leaves:
            yield pod.count * load.count, load


def _uplink_demand(request: FabricRequest, fabric: FabricSize, load: LeafLoad) -> Demand:
    return Demand(request.leaf.up_gbps, fabric.isl if fabric.isl else load.uplinks)


def _leaf_demands(request: FabricRequest, fabric: FabricSize, load: LeafLoad) -> list[Demand]:
    """Down demands by speed (servers, attached of that speed and reserved pooled), then the uplinks, last."""
    ports: dict[int, int] = {load.down_gbps: load.servers + load.reserved + request.leaf.reserved}
    for used, group in zip(load.attached, request.attached, strict=False):
        if used:
            ports[group.gbps] = ports.get(group.gbps, 0) + used
    demands = [Demand(gbps, count) for gbps, count in ports.items()]
    return [*demands, _uplink_demand(request, fabric, load)]


def _host_links(
    request: FabricRequest,
    fabric: FabricSize,
    fabrics: int,
    server: HostEnd,
    server_ports: int,
    attached: tuple[HostEnd, ...],
    manager: HostEnd | None,
) -> list[LinkClass]:
    banks: dict[tuple[LinkKind, int | None, int], _Bank] = {}
    for count, load in _leaves(fabric):
        placed = request.leaf.geometry.place(_leaf_demands(request, fabric, load))
        if placed is None:
            raise AssertionError("sizing placed these ports before")
        speeds = [d.gbps for d in _leaf_demands(request, fabric, load)[:-1]]
        for gbps, places in zip(speeds, placed, strict=False):
            _fill(banks, request, load, count * fabrics, gbps, places)
    result = []
    for (kind, host, _), bank in sorted(banks.items(), key=lambda item: (item[0][0] != "server-leaf", str(item[0]))):
        cages = request.leaf.geometry.sets[bank.cage_set]
        a = _end("leaf", cages, bank.gbps, bank.loads)
        result.append(_host_class(request, kind, host, bank.gbps, a, (server, server_ports, attached, manager)))
    _refuse_split_twins(result)
    return result


def _fill(
    banks: dict[tuple[LinkKind, int | None, int], _Bank],
    request: FabricRequest,
    load: LeafLoad,
    devices: int,
    gbps: int,
    places: tuple[Placed, ...],
) -> None:
    """Fill the cage sets of one speed with servers, then attached hosts, then reserved ports, in that order."""
    queue: list[tuple[LinkKind, int | None, int]] = []
    if gbps == load.down_gbps:
        queue.append(("server-leaf", None, load.servers))
    for index, used in enumerate(load.attached):
        if request.attached[index].gbps == gbps:
            queue.append(("attached", index, used))
    if gbps == load.down_gbps:
        queue.append(("reserved", None, load.reserved))
    for place in places:
        beside = 0
        while beside < place.ports and queue:
            kind, host, left = queue.pop(0)
            take = min(left, place.ports - beside)
            if take:
                bank = banks.setdefault((kind, host, place.cage_set), _Bank(kind, host, gbps, place.cage_set, []))
                bank.loads.append(DeviceLoad(devices, take, beside))
            beside += take
            if left > take:
                queue.insert(0, (kind, host, left - take))


def _end(tier: str, cages: CageSet, gbps: int, loads: Iterable[DeviceLoad]) -> LinkEnd:
    mode = cages.mode(gbps)
    return LinkEnd(tier, cages.cage_class, mode.ports if mode else None, tuple(loads))


def _host_class(
    request: FabricRequest,
    kind: LinkKind,
    host: int | None,
    gbps: int,
    a: LinkEnd,
    far: tuple[HostEnd, int, tuple[HostEnd, ...], HostEnd | None],
) -> LinkClass:
    server, server_ports, attached, manager = far
    if kind == "server-leaf":
        whole = a.ports == request.servers * server_ports
        loads = (DeviceLoad(request.servers, server_ports),) if whole else (DeviceLoad(a.ports, 1),)
        return LinkClass(kind, gbps, a, LinkEnd("server", server.cage_class, server.ports_per_cage, loads))
    if kind == "attached" and host is not None:
        group = request.attached[host]
        end = attached[host]
        per_host = a.ports // group.hosts
        whole = a.ports == group.hosts * per_host and per_host % group.ports == 0
        loads = (DeviceLoad(group.hosts, per_host),) if whole else (DeviceLoad(a.ports, 1),)
        b = LinkEnd("attached", end.cage_class, end.ports_per_cage, loads)
        return LinkClass(kind, gbps, a, b, host=group.name)
    end = manager or HostEnd(None, None)
    return LinkClass(kind, gbps, a, LinkEnd("reserved", end.cage_class, end.ports_per_cage, (DeviceLoad(a.ports, 1),)))


def _refuse_split_twins(classes: list[LinkClass]) -> None:
    """Server ports in two kinds of switch cages cannot be paired with server cages of several ports: refuse."""
    servers = [c for c in classes if c.kind == "server-leaf"]
    if len(servers) > 1 and any((c.b.ports_per_cage or 1) > 1 for c in servers):
        raise Unbuildable(
            Reason("mixed-cages", "leaf tier: server links would use two kinds of cages, but share server cages", 2, 1)
        )


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
                raise AssertionError("sizing placed these ports before")
            left = side.ports
            for place in placed[side.index]:
                if take := min(left, place.ports):
                    by_set.setdefault(place.cage_set, []).append(DeviceLoad(side.devices, take))
                    left -= take
        if len(by_set) > 1:
            raise Unbuildable(Reason("mixed-cages", f"{tier} tier: {kind} links would use two kinds of cages", 2, 1))
        found += [_end(tier, geometry.sets[index], gbps, loads) for index, loads in by_set.items()]
    return [LinkClass(kind, gbps, found[0], found[1], pair_links)] if len(found) == 2 else []


def _leaf_spine(request: FabricRequest, fabric: FabricSize, fabrics: int) -> list[LinkClass]:
    if fabric.tiers < 2:
        return []
    leaves = []
    for count, load in _leaves(fabric):
        demands = _leaf_demands(request, fabric, load)
        leaves.append(_Side(count * fabrics, demands, len(demands) - 1, load.uplinks))
    spines = []
    for pod in fabric.pods:
        demands = _spine_demands(request, fabric, pod.downlinks, pod.uplinks)
        spines.append(_Side(pod.count * pod.spines * fabrics, demands, 0, pod.downlinks))
    pair = min(load.uplinks // pod.spines for pod in fabric.pods for load in pod.leaves)
    odd = any((load.uplinks // pod.spines) % 2 for pod in fabric.pods for load in pod.leaves)
    ends = (("leaf", request.leaf.geometry, leaves), ("spine", request.spine.geometry, spines))
    return _upward("leaf-spine", request.leaf.up_gbps, ends, 1 if odd else pair)


def _spine_demands(request: FabricRequest, fabric: FabricSize, down: int, up: int) -> list[Demand]:
    demands = [Demand(request.leaf.up_gbps, down + request.spine.reserved)]
    return [*demands, Demand(request.spine.up_gbps, up)] if fabric.tiers == 3 else demands


def _spine_core(request: FabricRequest, fabric: FabricSize, fabrics: int) -> list[LinkClass]:
    core = fabric.core
    if core is None:
        return []
    spines = []
    for pod in fabric.pods:
        demands = _spine_demands(request, fabric, pod.downlinks, pod.uplinks)
        spines.append(_Side(pod.count * pod.spines * fabrics, demands, 1, pod.uplinks))
    cores = [_Side(core.count * fabrics, [Demand(request.spine.up_gbps, core.ports_used)], 0, core.ports_used)]
    ends = (("spine", request.spine.geometry, spines), ("core", request.core, cores))
    return _upward("spine-core", request.spine.up_gbps, ends, fabric.pods[0].uplinks // core.per_group)


def _leaf_leaf(request: FabricRequest, fabric: FabricSize, fabrics: int) -> list[LinkClass]:
    if not fabric.isl:
        return []
    ends = []
    for load in (fabric.pods[0].leaves[0], fabric.pods[0].leaves[-1]):
        demands = _leaf_demands(request, fabric, load)
        ends.append(("leaf", request.leaf.geometry, [_Side(fabrics, demands, len(demands) - 1, fabric.isl)]))
    return _upward("leaf-leaf", request.leaf.up_gbps, (ends[0], ends[1]), fabric.isl)


def _tier_counts(request: FabricRequest, fabric: FabricSize, fabrics: int) -> tuple[TierCount, ...]:
    used = free = 0
    for count, load in _leaves(fabric):
        up = _uplink_demand(request, fabric, load)
        used += count * (load.ports_in_use + up.ports)
        others = [*_leaf_demands(request, fabric, load)[1:-1], up]
        spare = request.leaf.geometry.most_beside(load.down_gbps, *others)
        own = load.ports_in_use - sum(d.ports for d in others[:-1])
        free += count * max(0, spare - own - request.leaf.reserved)
    rows = [TierCount("leaf", fabric.leaf_count * fabrics, used * fabrics, free * fabrics)]
    if fabric.tiers > 1:
        used = free = 0
        for pod in fabric.pods:
            number = pod.count * pod.spines
            used += number * (pod.downlinks + pod.uplinks)
            up = Demand(request.spine.up_gbps, pod.uplinks)
            spare = request.spine.geometry.most_beside(request.leaf.up_gbps, *([up] if pod.uplinks else []))
            free += number * max(0, spare - pod.downlinks - request.spine.reserved)
        rows.append(TierCount("spine", fabric.spine_count * fabrics, used * fabrics, free * fabrics))
    if fabric.core is not None:
        core = fabric.core
        spare = request.core.ports(request.spine.up_gbps) - core.ports_used
        rows.append(
            TierCount(
                "core", core.count * fabrics, core.count * core.ports_used * fabrics, core.count * spare * fabrics
            )
        )
    return tuple(rows)
