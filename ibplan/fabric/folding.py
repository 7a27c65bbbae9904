"""Which leaves, units and pods of a wiring are alike, read off its links: what a large fabric is folded by."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ibplan.fabric.wiring_model import LEAF, SERVER, SPINE, Ints, Wiring


@dataclass(frozen=True, slots=True)
class Folding:
    """Groups of things alike, each numbered in the order in which they first occur.

    row, shape (devices,): devices of one number have one kind and as many links of every class at either side.
    leaf_kind, shape (devices,): leaves that also reach as many spines; -1 for other devices.
    unit_group, shape (units,), and pod_group, shape (pods,): all fabrics are alike, so these are of any one.
    """

    row: Ints
    leaf_kind: Ints
    unit_group: Ints
    pod_group: Ints


def fold(wiring: Wiring) -> Folding:
    """Group what is alike."""
    row = _numbered(_link_counts(wiring))
    leaf_kind = _leaf_kinds(wiring, row)
    units = _unit_forms(wiring, leaf_kind)
    by_rail = pods_follow_rails(wiring)
    pods = _pod_forms(wiring, row, leaf_kind, None if by_rail else units)
    if not by_rail:
        pod_of_unit = unit_pods(wiring)
        units = _first_seen(zip(pods[pod_of_unit].tolist(), units.tolist(), strict=True))
    return Folding(row, leaf_kind, units, pods)


def pods_follow_rails(wiring: Wiring) -> bool:
    """Whether a pod holds the leaves of one rail of many units, rather than whole units."""
    network = wiring.network
    return network.fabric.tiers == 3 and network.request.second_tier == "rail"


def unit_pods(wiring: Wiring) -> Ints:
    """The pod of every unit, where pods hold whole units."""
    d, leaves = wiring.devices, first_fabric(wiring, LEAF)
    pods = np.zeros(int(d.unit[leaves].max(initial=-1)) + 1, np.int32)
    pods[d.unit[leaves]] = d.pod[leaves]
    return pods


def first_fabric(wiring: Wiring, kind: int) -> npt.NDArray[np.intp]:
    """The switches of a tier in the first fabric."""
    return np.flatnonzero((wiring.devices.kind == kind) & (wiring.devices.fabric == 0))


def _link_counts(wiring: Wiring) -> npt.NDArray[np.int64]:
    """Kind, and links of every class at either side, shape (devices, 1 + 2 x classes)."""
    links, devices, classes = wiring.links, len(wiring.devices), len(wiring.classes)
    counts = np.zeros((devices, 1 + 2 * classes), np.int64)
    counts[:, 0] = wiring.devices.kind
    for side, ends in enumerate((links.a_device, links.b_device)):
        keys = ends.astype(np.int64) * classes + links.link_class
        counts[:, 1 + side * classes : 1 + (side + 1) * classes] = np.bincount(
            keys, minlength=devices * classes
        ).reshape(devices, classes)
    return counts


def _numbered(rows: npt.NDArray[np.int64]) -> Ints:
    """A number for every distinct row, in the order in which they first occur."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse.reshape(-1)]


def _first_seen(keys: Iterable[Hashable]) -> Ints:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int32)


def _leaf_kinds(wiring: Wiring, row: Ints) -> Ints:
    """Leaves by their links and by how many switches they reach above."""
    links = wiring.links
    up = np.flatnonzero((wiring.devices.kind[links.a_device] == LEAF) & (wiring.devices.kind[links.b_device] == SPINE))
    pairs = np.unique(links.a_device[up].astype(np.int64) * len(row) + links.b_device[up])
    reached = np.bincount(pairs // len(row), minlength=len(row))
    kinds = np.full(len(row), -1, np.int32)
    leaves = wiring.of_kind("leaf")
    kinds[leaves] = _numbered(np.stack([row[leaves], reached[leaves]], axis=1))
    return kinds


def _unit_forms(wiring: Wiring, leaf_kind: Ints) -> Ints:
    """Units by their servers and their leaves in order."""
    d, leaves = wiring.devices, first_fabric(wiring, LEAF)
    kinds: list[list[int]] = [[] for _ in range(int(d.unit[leaves].max(initial=-1)) + 1)]
    for unit, kind in zip(d.unit[leaves].tolist(), leaf_kind[leaves].tolist(), strict=True):
        kinds[unit].append(kind)
    servers = np.bincount(d.unit[d.kind == SERVER], minlength=len(kinds)).tolist()
    return _first_seen((count, *found) for count, found in zip(servers, kinds, strict=True))


def _pod_forms(wiring: Wiring, row: Ints, leaf_kind: Ints, units: Ints | None) -> Ints:
    """Pods by their spines and what is below: units where they hold whole ones, else leaves."""
    d, leaves, spines = wiring.devices, first_fabric(wiring, LEAF), first_fabric(wiring, SPINE)
    count = int(d.pod[leaves].max(initial=-1)) + 1
    below: list[dict[int, int]] = [{} for _ in range(count)]
    above: list[dict[int, int]] = [{} for _ in range(count)]
    if units is None:
        members = zip(d.pod[leaves].tolist(), leaf_kind[leaves].tolist(), strict=True)
    else:
        members = zip(unit_pods(wiring).tolist(), units.tolist(), strict=True)
    for found, pairs in ((below, members), (above, zip(d.pod[spines].tolist(), row[spines].tolist(), strict=True))):
        for pod, kind in pairs:
            found[pod][kind] = found[pod].get(kind, 0) + 1
    return _first_seen((tuple(sorted(b.items())), tuple(sorted(a.items()))) for b, a in zip(below, above, strict=True))
