"""The leaves of one fabric one by one: unit, position, pod, and the ports of each kind of leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ibplan.fabric.extras import extras_start
from ibplan.fabric.leaves import UnitRule, build_units, unit_rule
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.pod_chunks import pods_with_units
from ibplan.fabric.request import FabricRequest, LeafLoad, Pod, UnitLoad
from ibplan.fabric.wiring_cages import Bank, LeafBanks, WiringError, leaf_banks

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class LeafKind:
    """Leaves alike: what they carry and where. `sharing` = rails on the leaf, if it takes servers."""

    load: LeafLoad
    uplinks: int
    sharing: int
    banks: LeafBanks


@dataclass(frozen=True, slots=True)
class LeafTable:
    """All leaves of one fabric, in the order of their numbers, shape (leaves,): unit, position in it, pod, kind.

    `first_leaf` and `servers_before`, shape (units + 1,): the first leaf and server of every unit. `pods` in the order
    of their numbers; `spine_port` = the first downlink of a leaf on each spine of its pod.
    """

    unit: Ints
    position: Ints
    pod: Ints
    kind: Ints
    spine_port: Ints
    first_leaf: Ints
    servers_before: Ints
    pods: tuple[Pod, ...]
    kinds: tuple[LeafKind, ...]

    def of_kind(self, counts: Sequence[int]) -> Ints:
        """A number of each kind, for every leaf."""
        return np.asarray(counts, np.int32)[self.kind]


def leaf_table(network: NetworkSize) -> LeafTable:
    """Every leaf of one fabric. Raises WiringError where the units and the pods of sizing do not agree."""
    request, fabric = network.request, network.fabric
    if fabric.tiers == 1:
        return _one_tier(network)
    rule = unit_rule(request)
    units, _ = build_units(replace(request, tiers=3 if fabric.tiers == 3 else 2), rule)
    first_leaf = _starts([(u.count, u.leaf_count) for u in units])
    count = int(first_leaf[-1])
    kinds: dict[tuple[LeafLoad, int, int], int] = {}
    table = {name: np.full(count, -1, np.int32) for name in ("unit", "position", "pod", "kind")}
    pods = pods_with_units(request, fabric.tiers, units, fabric.pods)
    for number, (chunk, pod) in enumerate(pods):
        loads = iter(pod.leaves)
        for numbers, unit in chunk.runs:
            members = np.arange(numbers.start, numbers.stop, dtype=np.int32)
            start = chunk.position or 0
            for x in unit.leaves:
                sized = next(loads, None)
                if sized is None or sized.count != x.count * unit.count:
                    raise WiringError(f"pod {number + 1}: {sized} does not hold {unit}")
                sharing = _sharing(request, rule, unit, chunk.position is not None)
                kind = kinds.setdefault((replace(x, count=1), sized.uplinks, sharing), len(kinds))
                positions = np.arange(start, start + x.count, dtype=np.int32)
                leaves = (first_leaf[members][:, None] + positions).ravel()
                table["unit"][leaves] = np.repeat(members, x.count)
                table["position"][leaves] = np.tile(positions, len(members))
                table["pod"][leaves], table["kind"][leaves] = number, kind
                start += x.count
    if (table["kind"] < 0).any():
        raise WiringError("some leaves of the units are in no pod")
    built = tuple(pod for _, pod in pods)
    done = tuple(_kind(request, rule, *key) for key in kinds)
    return LeafTable(
        **table,
        spine_port=_spine_ports(table["pod"], table["kind"], built, done),
        first_leaf=first_leaf,
        servers_before=_starts([(u.count, u.servers) for u in units]),
        pods=built,
        kinds=done,
    )


def _one_tier(network: NetworkSize) -> LeafTable:
    request, fabric = network.request, network.fabric
    loads = [replace(x, count=1) for x in fabric.pods[0].leaves for _ in range(x.count)]
    rails, halved = request.rails, len(loads) > 1 and request.rails > 1 and request.rail_optimized
    sharing = [-(-rails // 2), rails // 2] if halved else [rails] * len(loads)
    kinds = tuple(
        LeafKind(load, fabric.isl, share, leaf_banks(request, load, fabric.isl, load.servers))
        for load, share in zip(loads, sharing, strict=True)
    )
    numbers = np.arange(len(loads), dtype=np.int32)
    zeros = np.zeros_like(numbers)
    starts = np.array([0, len(loads)], np.int32), np.array([0, request.servers], np.int32)
    return LeafTable(zeros, numbers, zeros, numbers, zeros, *starts, fabric.pods, kinds)


def _starts(runs: Sequence[tuple[int, int]]) -> Ints:
    """Where each unit starts, and the total: runs of (units, things in each)."""
    each = np.repeat([size for _, size in runs], [count for count, _ in runs])
    return np.concatenate([[0], np.cumsum(each)]).astype(np.int32)


def _sharing(request: FabricRequest, rule: UnitRule, unit: UnitLoad, column: bool) -> int:
    """Rails on each leaf of a unit."""
    return rule.rails_per_leaf if column or unit.servers == 0 else request.rails // unit.leaf_count


def _kind(request: FabricRequest, rule: UnitRule, load: LeafLoad, uplinks: int, sharing: int) -> LeafKind:
    start = extras_start(request, rule, load, uplinks)
    return LeafKind(load, uplinks, sharing, leaf_banks(request, load, uplinks, start))


def _spine_ports(pod: Ints, kind: Ints, pods: Sequence[Pod], kinds: Sequence[LeafKind]) -> Ints:
    """The first downlink of every leaf on the spines of its pod: in the order of the leaves' numbers."""
    spines = np.array([p.spines for p in pods], np.int64)[pod]
    links = np.array([k.uplinks for k in kinds], np.int64)[kind] // spines
    order = np.argsort(pod, kind="stable")
    before = np.cumsum(links[order]) - links[order]
    first_of_pod = np.searchsorted(pod[order], np.arange(len(pods)))
    result = np.empty(len(pod), np.int32)
    result[order] = before - before[first_of_pod][pod[order]]
    return result


def bank_table(banks: Sequence[Bank]) -> tuple[Ints, Ints]:
    """Ports and cage sets of several banks, shape (banks, longest), padded with -1."""
    width = max((len(b.ports) for b in banks), default=0)
    ports, sets = (np.full((len(banks), max(1, width)), -1, np.int32) for _ in range(2))
    for row, bank in enumerate(banks):
        ports[row, : len(bank.ports)] = bank.ports
        sets[row, : len(bank.sets)] = bank.sets
    return ports, sets
