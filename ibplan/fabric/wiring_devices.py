"""The devices of a network as arrays, and where each kind starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ibplan.fabric.network import NetworkSize
from ibplan.fabric.wiring_cages import port_stride
from ibplan.fabric.wiring_leaves import Ints, LeafTable
from ibplan.fabric.wiring_model import ATTACHED, CORE, LEAF, MANAGER, SERVER, SPINE, Devices
from ibplan.fabric.wiring_tiers import SpineTable

_Where = Sequence[Ints | int]


@dataclass(frozen=True, slots=True)
class FirstDevice:
    """The first device of each kind and of each group of attached hosts; switches and managers of one fabric."""

    kind: tuple[int, ...]
    group: tuple[int, ...]
    per_fabric: dict[int, int]

    def in_fabric(self, kind: int, fabric: int) -> int:
        """The first switch or manager of a fabric."""
        return self.kind[kind] + fabric * self.per_fabric[kind]


def all_devices(network: NetworkSize, leaves: LeafTable, spines: SpineTable) -> tuple[Devices, FirstDevice]:
    """All devices by kind: hosts, then managers and switches fabric by fabric."""
    request, core, fabrics = network.request, network.fabric.core, network.fabrics
    parts = [_servers(network, leaves)]
    for g, group in enumerate(request.attached):
        numbers = np.arange(group.hosts, dtype=np.int32)
        parts.append(_part(ATTACHED, numbers, g, -1, (-1, -1, -1), _host_stride(network, "attached", group.name)))
    managers = np.arange(int(leaves.of_kind([k.load.reserved for k in leaves.kinds]).sum()), dtype=np.int32)
    cores = np.arange(core.count if core else 0, dtype=np.int32)
    core_group = cores // core.per_group if core else cores
    leaf, spine = np.arange(len(leaves.unit), dtype=np.int32), np.arange(len(spines.pod), dtype=np.int32)
    tiers: list[tuple[int, Ints, _Where, int]] = [
        (MANAGER, managers, (-1, -1, -1), 1),
        (LEAF, leaf, (leaves.unit, leaves.pod, leaves.position), port_stride(request.leaf.geometry)),
        (SPINE, spine, (-1, spines.pod, spines.position), port_stride(request.spine.geometry)),
        (CORE, cores, (-1, -1, core_group), port_stride(request.core)),
    ]
    for kind, index, where, stride in tiers:
        parts += [_part(kind, index, -1, f, where, stride) for f in range(fabrics)]
    hosts = np.cumsum([request.servers, *(g.hosts for g in request.attached)]).tolist()
    per_fabric = {kind: len(index) for kind, index, _, _ in tiers}
    first = [0, request.servers, hosts[-1]]
    for kind in (MANAGER, LEAF, SPINE):
        first.append(first[-1] + per_fabric[kind] * fabrics)
    return _stacked(parts), FirstDevice(tuple(first), tuple(hosts[:-1]), per_fabric)


def _servers(network: NetworkSize, leaves: LeafTable) -> Devices:
    """A server's pod is that of its unit; where pods follow the rails it is in several, so in none."""
    server = np.arange(network.request.servers, dtype=np.int32)
    unit = (np.searchsorted(leaves.servers_before, server, side="right") - 1).astype(np.int32)
    by_rail = network.fabric.tiers == 3 and network.request.second_tier == "rail"
    pod: Ints | int = -1 if by_rail else leaves.pod[leaves.first_leaf[unit]]
    where = (unit, pod, server - leaves.servers_before[unit])
    return _part(SERVER, server, -1, -1, where, _host_stride(network, "server-leaf", None))


def _host_stride(network: NetworkSize, kind: str, host: str | None) -> int:
    """Ports of a host's cage; 1 where that is unknown, so that every port counts as a cage."""
    known = [c.b.ports_per_cage for c in network.links if c.kind == kind and c.host == host]
    return max((n for n in known if n is not None), default=1)


def _part(kind: int, index: Ints, group: int, fabric: int, where: _Where, stride: int) -> Devices:
    size = len(index)
    unit, pod, position = (np.broadcast_to(np.asarray(x, np.int32), size) for x in where)
    small = [np.full(size, n, np.int16) for n in (group, fabric, stride)]
    return Devices(np.full(size, kind, np.int8), index, small[0], small[1], unit, pod, position, small[2])


def _stacked(parts: Sequence[Devices]) -> Devices:
    names = ("kind", "index", "group", "fabric", "unit", "pod", "position", "stride")
    return Devices(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))
