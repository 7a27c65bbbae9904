"""What of a network matters for where its devices stand: units, pods and their numbers, as whole numbers. No numpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ibplan.fabric.leaves import build_units, unit_rule
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.pod_chunks import Chunk, pods_with_units
from ibplan.fabric.request import LeafLoad, Pod, UnitLoad


@dataclass(frozen=True, slots=True)
class UnitRun:
    """`count` units alike, one after the other: number, first server, first leaf of the first; what each holds."""

    first: int
    count: int
    first_server: int
    servers: int
    first_leaf: int
    leaves: int
    loads: tuple[LeafLoad, ...]

    def unit(self, number: int) -> tuple[range, range]:
        """The servers and the leaves of the unit with a number."""
        nth = number - self.first
        server, leaf = self.first_server + nth * self.servers, self.first_leaf + nth * self.leaves
        return range(server, server + self.servers), range(leaf, leaf + self.leaves)


@dataclass(frozen=True, slots=True)
class LeafRun:
    """Leaves of one pod with as many links to each of its spines."""

    leaves: range
    links: int


@dataclass(frozen=True, slots=True)
class PodShape:
    """One pod: its leaves and its spines by their numbers in the fabric, and uplinks of a spine."""

    leaves: tuple[LeafRun, ...]
    spines: range
    uplinks: int


@dataclass(frozen=True, slots=True)
class Shape:
    """One fabric of a network. `unit_servers` = servers of a full unit, None where there can be only one unit."""

    runs: tuple[UnitRun, ...]
    unit_servers: int | None
    unit_leaves: int
    pods: tuple[PodShape, ...]

    @property
    def leaf_count(self) -> int:
        """Leaves of the fabric."""
        return sum(run.count * run.leaves for run in self.runs)

    def leaf_loads(self) -> Iterator[tuple[int, LeafLoad]]:
        """Every leaf that has something else than servers below it: its number and its load."""
        for run in self.runs:
            if not any(load.reserved or any(load.attached) for load in run.loads):
                continue
            each = [load for load in run.loads for _ in range(load.count)]
            for number in range(run.first, run.first + run.count):
                yield from zip(run.unit(number)[1], each, strict=True)


def network_shape(network: NetworkSize) -> Shape:
    """The units and pods of one fabric of a network. Raises WiringError where they do not agree with what was sized."""
    request, fabric = network.request, network.fabric
    if fabric.tiers == 1 and not fabric.separate:
        loads = fabric.pods[0].leaves
        leaves = sum(load.count for load in loads)
        return Shape((UnitRun(0, 1, 0, request.servers, 0, leaves, loads),), None, leaves, ())
    rule = unit_rule(request)
    units, _ = build_units(replace(request, tiers=3 if fabric.tiers == 3 else 2), rule)
    runs = tuple(_runs(units))
    if fabric.separate:  # units as in the wiring, and nothing that joins them
        return Shape(runs, rule.servers, rule.leaves, ())
    pods, first_spine = [], 0
    for chunk, pod in pods_with_units(request, fabric.tiers, units, fabric.pods):
        spines = range(first_spine, first_spine + pod.spines)
        pods.append(PodShape(tuple(_leaf_runs(runs, chunk, pod)), spines, pod.uplinks))
        first_spine += pod.spines
    return Shape(runs, rule.servers, rule.leaves, tuple(pods))


def _runs(units: list[UnitLoad]) -> Iterator[UnitRun]:
    first = server = leaf = 0
    for unit in units:
        yield UnitRun(first, unit.count, server, unit.servers, leaf, unit.leaf_count, unit.leaves)
        first += unit.count
        server += unit.count * unit.servers
        leaf += unit.count * unit.leaf_count


def _leaf_runs(runs: tuple[UnitRun, ...], chunk: Chunk, pod: Pod) -> Iterator[LeafRun]:
    """The leaves of a pod. Its loads stand in the order of the units, and of the leaves in them."""
    loads = iter(pod.leaves)
    for numbers, unit in chunk.runs:
        run = next(r for r in runs if r.first <= numbers.start < r.first + r.count)
        position = chunk.position or 0
        for load in unit.leaves:
            links = next(loads).uplinks // pod.spines
            for at in range(position, position + load.count):
                first = run.unit(numbers.start)[1].start + at
                yield LeafRun(range(first, first + len(numbers) * run.leaves, run.leaves), links)
            position += load.count
