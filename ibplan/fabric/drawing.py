"""A wiring as boxes and lines: every switch on its own where there are few, else folded by what is alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ibplan.fabric.folding import Column, Folding, first_of_each, fold, numbered, pods_follow_rails, unit_pods
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
    keys = _folded_keys(wiring, folding) if folded else _single_keys(wiring)
    node_of = _rows_first(wiring, keys)
    clusters, frames = _clusters(wiring, folding) if folded else ((), {})
    nodes = []
    for n, first in enumerate(first_of_each(node_of).tolist()):
        frame = frames.get(_frame(wiring, folding, first)) if folded else None
        nodes.append(_node(wiring, np.flatnonzero(node_of == n), frame, clusters))
    return Drawing(folded, wiring.network.fabrics, tuple(nodes), clusters, tuple(_edges(wiring, node_of)))


def _rows_first(wiring: Wiring, keys: Sequence[Column]) -> Ints:
    """The box of every device: a number for every distinct kind and key, row by row, in a row as the devices stand."""
    row = _ROW[wiring.devices.kind]
    boxes = numbered([row, *keys])
    first = first_of_each(boxes)
    rank = np.empty(len(first), np.int32)
    rank[np.lexsort((first, row[first]))] = np.arange(len(first), dtype=np.int32)
    return rank[boxes]


# The row of each kind of device, from the top.
_ROW: Final = np.array([{CORE: 0, SPINE: 1, LEAF: 2, SERVER: 3, ATTACHED: 4, MANAGER: 5}[k] for k in range(len(KINDS))])


def _single_keys(wiring: Wiring) -> list[Column]:
    """A box for every switch; for every host, or where there are many for those of a unit or a name."""
    d = wiring.devices
    device = np.arange(len(d))
    alone = (d.kind >= LEAF) | (int((d.kind < LEAF).sum()) <= MOST_HOSTS)
    return [np.where(alone, device, np.where(d.kind == SERVER, d.unit, d.group + 1))]


def _folded_keys(wiring: Wiring, folding: Folding) -> list[Column]:
    """Leaves by kind and those of their units, servers by units, spines by pods, attached hosts by name."""
    d = wiring.devices
    group = (d.group + 1).astype(np.int64)
    for kinds, home, groups in (((LEAF, SERVER), d.unit, folding.unit_group), ((SPINE,), d.pod, folding.pod_group)):
        at = np.isin(d.kind, kinds)
        group[at] = groups[home[at]]
    return [group, folding.leaf_kind + 1]


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


def _frame(wiring: Wiring, folding: Folding, device: int) -> tuple[str, Hashable] | None:
    """What a device of a folded drawing stands in."""
    d, kind = wiring.devices, int(wiring.devices.kind[device])
    if kind in (LEAF, SERVER):
        return "unit", int(folding.unit_group[d.unit[device]])
    return ("pod", int(folding.pod_group[d.pod[device]])) if kind == SPINE else None


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
    found = [edge for number in range(len(wiring.classes)) for edge in _edges_of_class(wiring, node_of, number)]
    for _, edge in sorted(found, key=lambda item: item[0]):
        yield edge


def _edges_of_class(wiring: Wiring, node_of: Ints, number: int) -> Iterator[tuple[tuple[int, int, int], DrawnEdge]]:
    """The lines of one class of links, each with its place among all lines."""
    links, size, one = wiring.links, len(wiring.devices), wiring.classes[number]
    start, end = np.searchsorted(links.link_class, (number, number + 1)).tolist()  # links stand by class
    pair = links.a_device[start:end].astype(np.int64) * size + links.b_device[start:end]
    keys, counts = np.unique(pair, return_counts=True)
    a, b = node_of[keys // size], node_of[keys % size]
    line = numbered([a, b])
    total, pairs = np.bincount(line, counts).astype(np.int64), np.bincount(line)
    least, most = np.full(len(total), np.iinfo(np.int64).max), np.zeros(len(total), np.int64)
    np.minimum.at(least, line, counts)
    np.maximum.at(most, line, counts)
    between = one.kind in ("leaf-spine", "spine-core", "leaf-leaf")
    for row, first in enumerate(first_of_each(line).tolist()):
        ends = int(a[first]), int(b[first])
        lower, upper = ends if between else ends[::-1]
        sums = (int(x[row]) for x in (total, pairs, least, most))
        yield (*ends, number), DrawnEdge(lower, upper, one.kind, one.gbps, *sums)
