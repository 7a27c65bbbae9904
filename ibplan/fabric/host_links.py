"""Links from leaves to servers, attached hosts and the fabric manager."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.demands import leaf_demands, leaf_runs, link_end, not_placed
from ibplan.fabric.extras import extras_start
from ibplan.fabric.geometry import Placed
from ibplan.fabric.leaves import unit_rule
from ibplan.fabric.request import FabricRequest, FabricSize, LeafLoad
from ibplan.parts.links import DeviceLoad, LinkClass, LinkEnd, LinkKind


@dataclass(frozen=True, slots=True)
class HostEnd:
    """The far end of host links: its cage class and ports a cage gives; None where unknown."""

    cage_class: str | None
    ports_per_cage: int | None


@dataclass(slots=True)
class _Bank:
    """Ports of one kind in one cage set over leaves: collects loads until the class is complete."""

    kind: LinkKind
    host: int | None
    gbps: int
    cage_set: int
    loads: list[DeviceLoad]


def host_links(
    request: FabricRequest,
    fabric: FabricSize,
    fabrics: int,
    server: HostEnd,
    server_ports: int,
    attached: tuple[HostEnd, ...],
    manager: HostEnd | None,
) -> list[LinkClass]:
    """The classes of links to hosts. Raises Unbuildable where server cages would meet two kinds of switch cages."""
    banks: dict[tuple[LinkKind, int | None, int], _Bank] = {}
    rule = unit_rule(request) if fabric.tiers > 1 else None
    for count, load in leaf_runs(fabric):
        placed = request.leaf.geometry.place(leaf_demands(request, fabric, load))
        if placed is None:
            raise not_placed("leaf", request.leaf.geometry)
        speeds = [d.gbps for d in leaf_demands(request, fabric, load)[:-1]]
        for gbps, places in zip(speeds, placed, strict=False):
            start = load.servers
            if rule is not None and gbps == load.down_gbps:
                start = extras_start(request, rule, load, load.uplinks)
            _fill(banks, _host_ports(request, load, gbps), load.servers, start, count * fabrics, gbps, places)
    result = []
    for (kind, host, _), bank in sorted(banks.items(), key=lambda item: (item[0][0] != "server-leaf", str(item[0]))):
        cages = request.leaf.geometry.sets[bank.cage_set]
        a = link_end("leaf", cages, bank.gbps, bank.loads)
        result.append(_host_class(request, kind, host, bank.gbps, a, (server, server_ports, attached, manager)))
    _refuse_split_twins(result)
    return result


def _fill(
    banks: dict[tuple[LinkKind, int | None, int], _Bank],
    queue: list[tuple[LinkKind, int | None, int]],
    servers: int,
    start: int,
    devices: int,
    gbps: int,
    places: tuple[Placed, ...],
) -> None:
    """Fill the cage sets of one speed with the ports of the queue: servers, attached hosts, reserved ports, in order.

    Where ports are kept for servers to come, the others start behind those; all are in one kind of cages then.
    """

    def add(kind: LinkKind, host: int | None, cage_set: int, ports: DeviceLoad) -> None:
        banks.setdefault((kind, host, cage_set), _Bank(kind, host, gbps, cage_set, [])).loads.append(ports)

    for place in places:
        at = lit = 0
        room = place.ports + start - servers
        while at < room and queue:
            kind, host, left = queue.pop(0)
            if kind != "server-leaf" and at == servers:
                at = max(at, start)
            take = min(left, room - at)
            if take:
                add(kind, host, place.cage_set, DeviceLoad(devices, take, at, lit))
                at += take
                lit = at
            if left > take:
                queue.insert(0, (kind, host, left - take))


def _host_ports(request: FabricRequest, load: LeafLoad, gbps: int) -> list[tuple[LinkKind, int | None, int]]:
    """(kind, attached group, ports) of a leaf's links to hosts at one speed, in the order of their ports."""
    own = gbps == load.down_gbps
    queue: list[tuple[LinkKind, int | None, int]] = [("server-leaf", None, load.servers)] if own else []
    for index, used in enumerate(load.attached):
        if request.attached[index].gbps == gbps:
            queue.append(("attached", index, used))
    return [*queue, ("reserved", None, load.reserved)] if own else queue


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
