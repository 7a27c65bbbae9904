"""Which units' leaves share spines: the pods of sizing with the numbers of their units. No numpy: `design` uses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ibplan.fabric.leaves import downlinks
from ibplan.fabric.request import FabricRequest, LeafLoad, Pod, UnitLoad
from ibplan.fabric.spines import pods_of_units
from ibplan.fabric.wiring_cages import WiringError


@dataclass(frozen=True, slots=True)
class Chunk:
    """The leaves of one pod: runs of units alike with the numbers of these units; `position` None = whole units."""

    runs: tuple[tuple[range, UnitLoad], ...]
    position: int | None
    order: tuple[int, int]

    @property
    def leaf_count(self) -> int:
        """Leaves of the pod."""
        return sum(load.count * load.leaf_count for _, load in self.runs)


def pods_with_units(
    request: FabricRequest, tiers: int, units: Sequence[UnitLoad], pods: Sequence[Pod]
) -> list[tuple[Chunk, Pod]]:
    """Pods in the order of their units (by rail: of the rails, for the first units, then for the next).

    Sizing lists the fullest first: a pod that fills up as the cluster grows would change its number. Raises WiringError
    where the units and the pods of sizing do not agree.
    """
    chunks = _chunks(request, tiers, units)
    fullest = sorted(chunks, key=lambda c: -c.leaf_count)
    sized = [pod for pod in pods for _ in range(pod.count)]
    if len(sized) != len(fullest):
        raise WiringError(f"{len(fullest)} pods of units, but {len(sized)} were sized")
    return sorted(zip(fullest, sized, strict=True), key=lambda pair: pair[0].order)


def _chunks(request: FabricRequest, tiers: int, units: Sequence[UnitLoad]) -> list[Chunk]:
    """The pods as sizing makes them: all units together, whole units up to the spines' downlinks, or rail by rail."""
    starts = [sum(u.count for u in units[:k]) for k in range(len(units))]
    everything = [(range(start, start + u.count), u) for start, u in zip(starts, units, strict=True)]
    if tiers == 2:
        return [Chunk(tuple(everything), None, (0, 0))]
    room = downlinks(request.spine)
    if request.second_tier == "pod":
        return list(_cut(everything, None, room, request.pod_units))
    chunks: list[Chunk] = []
    for position in range(max(u.leaf_count for u in units)):
        column = [
            (numbers, replace(u, leaves=(_leaf_at(u, position),)))
            for numbers, u in everything
            if position < u.leaf_count
        ]
        chunks += _cut(column, position, room, request.pod_units)
    return chunks


def _leaf_at(unit: UnitLoad, position: int) -> LeafLoad:
    loads = [x for x in unit.leaves for _ in range(x.count)]
    return replace(loads[position], count=1)


def _cut(runs: Sequence[tuple[range, UnitLoad]], position: int | None, room: int, most: int | None) -> Iterator[Chunk]:
    """Pods of `pods_of_units`: it deals the runs in order, so the numbers of the units follow."""
    left = list(runs)
    for index, loads in enumerate(pods_of_units([u for _, u in runs], room, most)):
        taken = []
        for load in loads:
            numbers, unit = left[0]
            taken.append((numbers[: load.count], load))
            left[0] = (numbers[load.count :], unit)
            if not left[0][0]:
                left.pop(0)
        yield Chunk(tuple(taken), position, (index, position or 0))
