"""A wiring as traffic sees it: directed links with their capacity, and which ways lead on from a switch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ibplan.fabric.wiring_model import LEAF, SERVER, Wiring
from ibplan.performance.fairness import Floats, Indices
from ibplan.performance.switch_classes import switch_classes

Bools = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ways:
    """The links between switches that work, both ways, sorted by (switch, class of the far one, far one, link).

    `far`, `resource`, shape (ways,). `key` = switch x classes + class, shape (blocks,), sorted; the ways of a block
    start at `start` and are `count`.
    """

    far: Indices
    resource: Indices
    key: Keys
    start: Indices
    count: Indices


@dataclass(frozen=True, slots=True)
class FlowNetwork:
    """What flows run over. Resource k is link k from end a to end b, resource k + links the way back.

    `capacity`: Gb/s of every resource. `works`: whether a link does. `switch_class`: class of every device, `level` of
    every class (0 leaf, 1 spine, 2 core, -1 host), `member` one device of it. `up`, `up_count`, shape (classes, most):
    the classes above (-1 = none) and links of one member to each.
    """

    wiring: Wiring
    capacity: Floats
    works: Bools
    switch_class: Indices
    level: npt.NDArray[np.int8]
    member: Indices
    ways: Ways
    up: Indices
    up_count: Indices
    side: bool

    @property
    def link_count(self) -> int:
        """Links, working or not."""
        return len(self.works)

    @property
    def class_count(self) -> int:
        """Classes of devices."""
        return len(self.level)

    def blocks(self, switch: Indices, far_class: Indices) -> tuple[Indices, Indices]:
        """(first way, number of ways) from switches to a class, in the shape of both; no way for class -1."""
        ways = self.ways
        wanted = switch.astype(np.int64) * self.class_count + far_class
        if not len(ways.key):
            return np.zeros(wanted.shape, np.int32), np.zeros(wanted.shape, np.int32)
        at = np.minimum(np.searchsorted(ways.key, wanted), len(ways.key) - 1)
        found = (ways.key[at] == wanted) & (far_class >= 0)
        return ways.start[at], np.where(found, ways.count[at], 0).astype(np.int32)


def nth_way(start: Indices, count: Indices, number: Indices) -> Indices:
    """The way by its number, from 0, over blocks of neighbors of shape (rows, blocks), block after block.

    `number` has to be less than the ways of its row: else what comes back is no way of it.
    """
    ends = np.cumsum(count, axis=1, dtype=np.int32)
    block = np.minimum((ends <= number[:, None]).sum(axis=1), count.shape[1] - 1)
    row = np.arange(len(number))
    found: Indices = start[row, block] + number - (ends[row, block] - count[row, block])
    return found


def flow_network(wiring: Wiring, works: Bools | None = None) -> FlowNetwork:
    """The links of a wiring that work (default: all) for traffic both ways. About 0.3 s for a million links."""
    links, devices = wiring.links, wiring.devices
    works = np.ones(len(links), bool) if works is None else works
    gbps = np.array([c.gbps for c in wiring.classes], np.float64)[links.link_class]
    between = np.flatnonzero(works & (devices.kind[links.b_device] >= LEAF)).astype(np.int32)
    a, b = links.a_device[between], links.b_device[between]
    found = switch_classes(devices.kind == LEAF, [(a, b)])
    member = np.zeros(int(found.max(initial=-1)) + 1, np.int32)
    member[found] = np.arange(len(devices), dtype=np.int32)
    level = np.where(devices.kind >= LEAF, devices.kind - LEAF, -1)[member].astype(np.int8)
    side = bool(len(a)) and bool((devices.kind[b] == LEAF).any())
    ways = _ways(a, b, between, len(links), found)
    up, up_count = _above(ways, found, level, member)
    return FlowNetwork(wiring, np.concatenate([gbps, gbps]), works, found, level, member, ways, up, up_count, side)


def _ways(a: Indices, b: Indices, link: Indices, links: int, switch_class: Indices) -> Ways:
    near, far = np.concatenate([a, b]), np.concatenate([b, a])
    resource = np.concatenate([link, link + np.int32(links)])
    key = near.astype(np.int64) * (int(switch_class.max(initial=-1)) + 1) + switch_class[far]
    order = np.lexsort((resource, far, key))
    blocks, start, count = np.unique(key[order], return_index=True, return_counts=True)
    return Ways(far[order], resource[order], blocks, start.astype(np.int32), count.astype(np.int32))


def _above(ways: Ways, switch_class: Indices, level: npt.NDArray[np.int8], member: Indices) -> tuple[Indices, Indices]:
    """For every class the classes above it, and the links of one member to each, padded with -1 and 0."""
    classes = len(level)
    switch, far = ways.key // max(1, classes), ways.key % max(1, classes)
    own = switch_class[switch]
    chosen = (member[own] == switch) & (level[far] > level[own]) & (level[own] >= 0)
    own, far, count = own[chosen], far[chosen], ways.count[chosen]
    order = np.argsort(own, kind="stable")
    own, far, count = own[order], far[order], count[order]
    width = int(np.bincount(own, minlength=1).max(initial=0))
    up, up_count = np.full((classes, max(1, width)), -1, np.int32), np.zeros((classes, max(1, width)), np.int32)
    column = np.arange(len(own)) - np.searchsorted(own, own)
    up[own, column], up_count[own, column] = far, count
    return up, up_count


@dataclass(frozen=True, slots=True)
class Ports:
    """The NIC ports of all servers, shape (servers, ports): link, leaf, fabric, and whether the link works.

    `place`: the port's number among the host ports of its leaf, from 0.
    """

    link: Indices
    leaf: Indices
    fabric: Indices
    works: Bools
    place: Indices


def server_ports(wiring: Wiring, works: Bools | None = None) -> Ports:
    """Where every NIC port of the servers goes."""
    links, devices = wiring.links, wiring.devices
    hosts = np.flatnonzero(devices.kind[links.b_device] < LEAF)
    order = hosts[np.lexsort((links.a_port[hosts], links.a_device[hosts]))]
    place = np.zeros(len(links), np.int32)
    leaf = links.a_device[order]
    place[order] = np.arange(len(order)) - np.searchsorted(leaf, leaf)
    mine = hosts[devices.kind[links.b_device[hosts]] == SERVER]
    servers, ports = wiring.network.request.servers, int(links.b_port[mine].max(initial=-1)) + 1
    table = np.full((servers, ports), -1, np.int32)
    table[devices.index[links.b_device[mine]], links.b_port[mine]] = mine
    alive = np.ones(table.shape, bool) if works is None else works[table]
    return Ports(table, links.a_device[table], links.fabric[table].astype(np.int32), alive, place[table])
