"""From the run of a cable to the length that is ordered: lengths sold, or whole steps of what is made to order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil
from typing import Final

from ibplan.catalog.entries import Cable
from ibplan.parts.chosen import CableOrder, LinkParts
from ibplan.parts.offers import PartsBook

# Runs are known to 0.1 m at best: what floating point adds beyond a millionth of a metre is no length.
_NOISE_M: Final = 1e-6


def has_lengths(cable: Cable) -> bool:
    """Whether it is known in which lengths a cable can be had."""
    return bool(cable.lengths_m) or cable.order_step_m is not None


def ordered_m(cable: Cable, run_m: float) -> float | None:
    """The shortest length in metres that can be had and covers a run; None if none is long enough, or none is known."""
    if cable.order_step_m is not None:
        steps = max(1, ceil((run_m - _NOISE_M) / cable.order_step_m))
        return round(steps * cable.order_step_m, 6)
    return min((length for length in cable.lengths_m if length >= run_m - _NOISE_M), default=None)


def reaches(cable: Cable, run_m: float, reach_m: float | None) -> bool:
    """Whether a cable covers a run in a length that the signal still passes (`reach_m`, None = no source states it).

    A cable whose lengths are unknown covers what the signal passes.
    """
    if reach_m is not None and run_m > reach_m + _NOISE_M:
        return False
    if not has_lengths(cable):
        return True
    length = ordered_m(cable, run_m)
    return length is not None and (reach_m is None or length <= reach_m + _NOISE_M)


def longest_run_m(cable: Cable, reach_m: float | None) -> float | None:
    """The longest run in metres that `reaches` allows; None = no bound is known."""
    if cable.order_step_m is not None and reach_m is not None:
        return reach_m // cable.order_step_m * cable.order_step_m
    if cable.lengths_m:
        return max((length for length in cable.lengths_m if reach_m is None or length <= reach_m), default=0.0)
    return reach_m


def with_orders(parts: LinkParts, book: PartsBook, runs: Iterable[tuple[float | None, int]]) -> LinkParts:
    """The parts with their cables by length: `runs` = run in metres (None = unknown) and cables of it.

    Cables of one length are one order, shortest first, unknown ones last. Raises ValueError where the runs are not as
    many as the cables.
    """
    if parts.cable is None or parts.recipe is None:
        return parts
    cable = parts.cable.entry
    assert isinstance(cable, Cable)
    counts: dict[float | None, int] = {}
    shortest = parts.recipe.min_length_m or 0.0
    known = book.once(("ordered", cable.id, shortest), dict[float | None, float | None])
    known[None] = None
    for run_m, count in runs:
        if run_m not in known:
            known[run_m] = ordered_m(cable, max(run_m or 0.0, shortest))
        length = known[run_m]
        counts[length] = counts.get(length, 0) + count
    if sum(counts.values()) != parts.cables:
        raise ValueError(f"runs of {sum(counts.values())} cables for {parts.cables} of {cable.id}")
    lengths = sorted((length for length in counts if length is not None), key=float)
    found = [*lengths, *([None] if None in counts else [])]
    orders = tuple(CableOrder(book.at_length(parts.cable, m), m, counts[m]) for m in found if counts[m])
    return replace(parts, orders=orders)
