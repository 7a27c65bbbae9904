"""Which settings of a spec's keys give the switches and links that are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ibplan.asbuilt.candidates import Knobs, SwitchChoice, base_request, knobs_for
from ibplan.asbuilt.counts import Counts, counts_of_shape, counts_of_size
from ibplan.asbuilt.shape import Shape
from ibplan.errors import Unbuildable
from ibplan.fabric.sizing import size_fabric


def find_knobs(
    shape: Shape, choices: Sequence[SwitchChoice], domain_servers: int, wanted: Counts
) -> tuple[Knobs, list[SwitchChoice]]:
    """The knobs with the fewest changes that give the counts, and every switch that gives them so; else the nearest.

    Catalogue switches come before an inline one: of the radix that gives the counts first, all.
    """
    nearest: tuple[int, Knobs, SwitchChoice] | None = None
    best: tuple[Knobs, list[SwitchChoice]] | None = None
    tried: set[tuple[Any, ...]] = set()
    for switch in choices:
        if best is not None:
            alike = switch.in_catalog and _count(shape, switch, best[0], domain_servers) == wanted
            best[1].extend([switch] if alike else [])
            continue
        ports = (switch.leaf.sets, switch.spine.sets, switch.core.sets)
        if ports in tried:
            continue
        tried.add(ports)
        for knobs in knobs_for(shape, base_request(shape, switch, domain_servers)):
            found = _count(shape, switch, knobs, domain_servers)
            if found == wanted:
                best = knobs, [switch]
                break
            away = None if found is None else wanted.distance(found)
            if away is not None and (nearest is None or away < nearest[0]):
                nearest = away, knobs, switch
    if best is not None:
        return best
    if nearest is None:
        return Knobs(), list(choices[-1:])
    return nearest[1], [nearest[2]]


def _count(shape: Shape, switch: SwitchChoice, knobs: Knobs, domain_servers: int) -> Counts | None:
    """What sizing makes of the knobs; None where it cannot be built."""
    wanted = counts_of_shape(shape)
    try:
        size = size_fabric(knobs.apply(base_request(shape, switch, domain_servers)))
    except Unbuildable:
        return None
    return counts_of_size(size, shape.fabrics, (wanted.server_leaf, wanted.attached, wanted.reserved))
