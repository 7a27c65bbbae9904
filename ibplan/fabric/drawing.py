"""A wiring as boxes and lines: every switch on its own where there are few, else folded by what is alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ibplan.fabric.folding import Folding, fold, pods_follow_rails, unit_pods
from ibplan.fabric.topology import Devices, name_ranges, number_ranges
from ibplan.fabric.topology_model import NameRange
from ibplan.fabric.wiring_model import ATTACHED, CORE, KINDS, LEAF, MANAGER, SERVER, SPINE, DeviceKind, Ints, Wiring
from ibplan.parts.links import LinkKind

MOST_SWITCHES: Final = 60
MOST_HOSTS: Final = 64


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A box: `count` devices of a kind over all fabrics, `each` in every one of `homes` units or pods of a fabric.

    `group`: the name of attached hosts. `cluster`: index of the frame around it.
    """

    kind: DeviceKind
    group: str | None
    names: tuple[NameRange, ...]
    count: int
    each: int
    homes: int
    cluster: int | None


@dataclass(frozen=True, slots=True)
class DrawnCluster:
    """A frame: pods or units alike, by number from 1. `parent`: the frame around it."""

    kind: Literal["pod", "unit"]
    numbers: tuple[tuple[int, int], ...]
    count: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """All links of one class between the devices of two boxes; `lower` and `upper` index the boxes.

    `pairs` = pairs of devices that are joined, each by `least` to `most` links.
    """

    lower: int
    upper: int
    kind: LinkKind
    gbps: int
    links: int
    pairs: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes from the top tier down, frames, and lines."""

    folded: bool
    fabrics: int
    nodes: tuple[DrawnNode, ...]
    clusters: tuple[DrawnCluster, ...]
    edges: tuple[DrawnEdge, ...]


def draw(wiring: Wiring, folded: bool | None = None) -> Drawing:
    """Boxes and lines of a wiring. `folded` None: more than MOST_SWITCHES switches are folded."""
    if folded is None:
        folded = wiring.network.switch_count > MOST_SWITCHES
    folding = fold(wiring)
    keys = list(_folded_keys(wiring, folding) if folded else _single_keys(wiring))
    order = sorted(dict.fromkeys(keys), key=lambda key: _ROW[key[0]])  # stable: in a row as the devices stand
    number = {key: n for n, key in enumerate(order)}
    node_of = np.array([number[key] for key in keys], np.int32)
    clusters, frames = _clusters(wiring, folding) if folded else ((), {})
    nodes = []
    for n, key in enumerate(order):
        devices = np.flatnonzero(node_of == n)
        nodes.append(_node(wiring, devices, frames.get(_frame(wiring, key)), clusters))
    return Drawing(folded, wiring.network.fabrics, tuple(nodes), clusters, tuple(_edges(wiring, node_of)))


_Key = tuple[int, Hashable]
_ROW: Final = {CORE: 0, SPINE: 1, LEAF: 2, SERVER: 3, ATTACHED: 4, MANAGER: 5}


def _single_keys(wiring: Wiring) -> Iterator[_Key]:
    """A box for every switch; for every host, or where there are many for those of a unit or a name."""
    d = wiring.devices
    few = int((d.kind < LEAF).sum()) <= MOST_HOSTS
    rows = zip(d.kind.tolist(), d.unit.tolist(), d.group.tolist(), strict=True)
    for device, (kind, unit, group) in enumerate(rows):
        if kind >= LEAF or few:
            yield kind, device
        else:
            yield kind, (unit if kind == SERVER else group)


def _folded_keys(wiring: Wiring, folding: Folding) -> Iterator[_Key]:
    d = wiring.devices
    rows = zip(d.kind.tolist(), d.unit.tolist(), d.pod.tolist(), d.group.tolist(), strict=True)
    units, pods = folding.unit_group.tolist(), folding.pod_group.tolist()
    for device, (kind, unit, pod, group) in enumerate(rows):
        if kind == LEAF:
            yield kind, (units[unit], int(folding.leaf_kind[device]))
        elif kind == SERVER:
            yield kind, units[unit]
        else:
            yield kind, pods[pod] if kind == SPINE else group


def _clusters(
    wiring: Wiring, folding: Folding
) -> tuple[tuple[DrawnCluster, ...], dict[tuple[str, Hashable] | None, int]]:
    """Frames for pods and units, and the index of each by kind and group. Pods by rail have no frame: units cross."""
    found: list[DrawnCluster] = []
    frames: dict[tuple[str, Hashable] | None, int] = {}
    nested = wiring.network.fabric.tiers > 1 and not pods_follow_rails(wiring)
    for group in range(int(folding.pod_group.max()) + 1 if nested else 0):
        frames["pod", group] = len(found)
        found.append(_cluster("pod", folding.pod_group, group, None))
    for group in range(int(folding.unit_group.max()) + 1):
        first = int(np.flatnonzero(folding.unit_group == group)[0])
        parent = frames["pod", int(folding.pod_group[unit_pods(wiring)[first]])] if nested else None
        frames["unit", group] = len(found)
        found.append(_cluster("unit", folding.unit_group, group, parent))
    return tuple(found), frames


def _cluster(kind: Literal["pod", "unit"], groups: Ints, group: int, parent: int | None) -> DrawnCluster:
    numbers = np.flatnonzero(groups == group).tolist()
    return DrawnCluster(kind, number_ranges(numbers), len(numbers), parent)


def _frame(wiring: Wiring, key: _Key) -> tuple[str, Hashable] | None:
    kind, group = key
    if kind == LEAF and isinstance(group, tuple):
        return "unit", group[0]
    if kind == SERVER:
        return "unit", group
    return ("pod", group) if kind == SPINE else None


def _node(wiring: Wiring, devices: Devices, cluster: int | None, clusters: Iterable[DrawnCluster]) -> DrawnNode:
    d = wiring.devices
    first = int(devices[0])
    kind, fabric = KINDS[d.kind[first]], d.fabric[devices]
    own = d.unit if kind in ("leaf", "server") else d.pod if kind == "spine" else d.position
    homes = len(np.unique(own[devices]))
    fabrics = len(np.unique(fabric)) if kind in ("leaf", "spine", "core") else 1
    group = wiring.network.request.attached[d.group[first]].name if kind == "attached" else None
    each = len(devices) // (homes * fabrics)
    return DrawnNode(kind, group, name_ranges(wiring, devices), len(devices), each, homes, cluster)


def _edges(wiring: Wiring, node_of: Ints) -> Iterator[DrawnEdge]:
    """All links, by the boxes at their ends and by class."""
    links, size, classes = wiring.links, len(wiring.devices), len(wiring.classes)
    pair = (links.a_device.astype(np.int64) * size + links.b_device) * classes + links.link_class
    keys, counts = np.unique(pair, return_counts=True)
    ends, link_class = keys // classes, keys % classes
    rows = np.stack([node_of[ends // size], node_of[ends % size], link_class.astype(np.int32)])
    found, inverse = np.unique(rows, axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    total = np.bincount(inverse, counts).astype(np.int64)
    pairs = np.bincount(inverse)
    least, most = np.full(len(total), np.iinfo(np.int64).max), np.zeros(len(total), np.int64)
    np.minimum.at(least, inverse, counts)
    np.maximum.at(most, inverse, counts)
    for row, (a, b, number) in enumerate(found.T.tolist()):
        one = wiring.classes[number]
        between = one.kind in ("leaf-spine", "spine-core", "leaf-leaf")
        lower, upper = (a, b) if between else (b, a)
        yield DrawnEdge(
            lower, upper, one.kind, one.gbps, int(total[row]), int(pairs[row]), int(least[row]), int(most[row])
        )
