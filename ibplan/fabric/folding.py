"""Which leaves, units and pods of a wiring are alike, read off its links: what a large fabric is folded by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ibplan.fabric.wiring_model import LEAF, SERVER, SPINE, Ints, Wiring

Column = npt.NDArray[np.integer[Any]]


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
    row = _first_seen(_link_counts(wiring))
    leaf_kind = _leaf_kinds(wiring, row)
    units = _unit_forms(wiring, leaf_kind)
    by_rail = pods_follow_rails(wiring)
    pods = _pod_forms(wiring, row, leaf_kind, None if by_rail else units)
    if not by_rail:
        pod_of_unit = unit_pods(wiring)
        units = _first_seen([pods[pod_of_unit], units])
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


def numbered(columns: Iterable[Column]) -> Ints:
    """A number for every distinct row of columns of equal length (values of 0 and above).

    Numbers are from 0, without gaps, in ascending order of the rows. In linear time where few rows are distinct.
    """
    codes: npt.NDArray[np.int64] | None = None
    for column in columns:
        whole = column.astype(np.int64)
        codes = _compact(whole if codes is None else codes * (int(whole.max(initial=0)) + 1) + whole)
    if codes is None:
        raise ValueError("no columns")
    return codes.astype(np.int32)


def first_of_each(numbers: Ints) -> npt.NDArray[np.int64]:
    """Where each number first occurs; numbers from 0, without gaps."""
    first = np.full(int(numbers.max(initial=-1)) + 1, len(numbers), np.int64)
    np.minimum.at(first, numbers, np.arange(len(numbers)))
    return first


def _compact(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The codes, numbered from 0 without gaps, in their order."""
    size = int(codes.max(initial=-1)) + 1
    if size > 4 * len(codes) + 1024:
        return np.unique(codes, return_inverse=True)[1].reshape(-1)
    there = np.zeros(size, np.int64)
    there[codes] = 1
    return (np.cumsum(there) - 1)[codes]


def _first_seen(columns: Iterable[Column]) -> Ints:
    """A number for every distinct row, in the order in which they first occur."""
    numbers = numbered(columns)
    first = first_of_each(numbers)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[numbers]


def _link_counts(wiring: Wiring) -> Iterator[Column]:
    """Kind, links of every class at either side, and ports kept free: columns of shape (devices,)."""
    links, devices = wiring.links, len(wiring.devices)
    yield wiring.devices.kind
    bounds = np.searchsorted(links.link_class, np.arange(len(wiring.classes) + 1)).tolist()  # links stand by class
    for start, end in pairwise(bounds):
        for ends in (links.a_device, links.b_device):
            yield np.bincount(ends[start:end], minlength=devices)
    if wiring.kept is not None:
        yield np.bincount(wiring.kept.device, minlength=devices)


def _leaf_kinds(wiring: Wiring, row: Ints) -> Ints:
    """Leaves by their links and by how many switches they reach above."""
    links = wiring.links
    up = np.flatnonzero((wiring.devices.kind[links.a_device] == LEAF) & (wiring.devices.kind[links.b_device] == SPINE))
    pairs = np.sort(links.a_device[up].astype(np.int64) * len(row) + links.b_device[up])
    distinct = pairs[np.diff(pairs, prepend=-1) > 0]  # np.unique hashes: that takes ten times as long
    reached = np.bincount(distinct // len(row), minlength=len(row))
    kinds = np.full(len(row), -1, np.int32)
    leaves = wiring.of_kind("leaf")
    kinds[leaves] = _first_seen([row[leaves], reached[leaves]])
    return kinds


def _unit_forms(wiring: Wiring, leaf_kind: Ints) -> Ints:
    """Units by their servers and their leaves in order."""
    d, leaves = wiring.devices, first_fabric(wiring, LEAF)
    unit, kind = d.unit[leaves], leaf_kind[leaves]
    count = int(unit.max(initial=-1)) + 1
    servers: Column = np.bincount(d.unit[d.kind == SERVER], minlength=count)
    return _first_seen([servers, *_by_place(unit, kind, count)])


def _by_place(unit: Ints, kind: Ints, count: int) -> Iterator[Column]:
    """The kind of the first leaf of every unit, then of the second, and so on, from 1; 0 where a unit has fewer."""
    held = np.bincount(unit, minlength=count)
    by_unit = np.argsort(unit, kind="stable")
    place = np.arange(len(unit)) - (np.cumsum(held) - held)[unit[by_unit]]
    by_place = by_unit[np.argsort(place, kind="stable")]
    for members in np.split(by_place, np.cumsum(np.bincount(place))[:-1]):
        column = np.zeros(count, np.int32)
        column[unit[members]] = kind[members] + 1
        yield column


def _pod_forms(wiring: Wiring, row: Ints, leaf_kind: Ints, units: Ints | None) -> Ints:
    """Pods by their spines and what is below: units where they hold whole ones, else leaves."""
    d, leaves, spines = wiring.devices, first_fabric(wiring, LEAF), first_fabric(wiring, SPINE)
    count = int(d.pod[leaves].max(initial=-1)) + 1
    below = (d.pod[leaves], leaf_kind[leaves]) if units is None else (unit_pods(wiring), units)
    above = (d.pod[spines], row[spines])
    return _first_seen(column for members in (below, above) for column in _held(*members, count))


def _held(pod: Ints, kind: Ints, count: int) -> Iterator[Column]:
    """How many of each kind every pod holds."""
    for one in np.unique(kind).tolist():
        yield np.bincount(pod[kind == one], minlength=count)
