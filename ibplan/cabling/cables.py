"""Which links share a cable, and which a module: cables and cages one by one, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ibplan.cabling.runs import Metres, groups_of_links
from ibplan.fabric.wiring_model import Ints, Side, Wiring
from ibplan.parts.chosen import LinkParts

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Cables:
    """The cables of one choice of parts, in the order of their first links. `parts` = index of the choice.

    legs: the links of all cables, cable by cable; first: where each cable's links start, shape (cables,); strand: which
    of the fibres of a link a cable is, from 0; run_m: of the longest leg, NaN = unknown. `trunk`: the side of the links
    at which a cable has one connector.
    """

    parts: int
    legs: Indices
    first: Indices
    strand: Ints
    run_m: Metres
    trunk: Side

    def __len__(self) -> int:
        return len(self.first)

    def runs(self) -> list[tuple[float | None, int]]:
        """(run in metres, None = unknown; cables of it), shortest first."""
        unknown = int(np.isnan(self.run_m).sum())
        lengths, counts = np.unique(self.run_m[~np.isnan(self.run_m)], return_counts=True)
        known: list[tuple[float | None, int]] = list(zip(lengths.tolist(), counts.tolist(), strict=True))
        return [*known, *([(None, unknown)] if unknown else [])]


def choices_of(wiring: Wiring, parts: Sequence[LinkParts]) -> Ints:
    """Which parts each link has, shape (links,): index in `parts`; -1 where nothing is bought for it."""
    found = np.full(len(wiring.links), -1, np.int32)
    for number, chosen in enumerate(parts):
        at = np.flatnonzero(wiring.links.link_class == chosen.link_class)
        found[at if chosen.groups is None else at[np.isin(groups_of_links(wiring, at), chosen.groups)]] = number
    return found


def network_cables(wiring: Wiring, parts: Sequence[LinkParts], run_m: Metres) -> list[Cables]:
    """Every cable of a network, one entry for each of `parts`. `run_m` of every link, shape (links,), NaN = unknown.

    A link without a recipe counts as one cable. Where links of two classes end in one splitter, it is a cable of the
    first class.
    """
    choice = choices_of(wiring, parts)
    shared = _splitters(wiring, parts, choice)
    found = []
    for number, chosen in enumerate(parts):
        per_cable = Fraction(1) if chosen.recipe is None else chosen.recipe.links_per_cable
        if per_cable > 1:
            legs, first = shared[number]
            strand = np.zeros(len(first), np.int32)
        else:
            fibers = int(1 / per_cable)
            legs = np.repeat(np.flatnonzero(choice == number), fibers)
            first = np.arange(len(legs))
            strand = np.tile(np.arange(fibers, dtype=np.int32), len(legs) // fibers)
        longest = np.maximum.reduceat(run_m[legs], first) if len(first) else np.zeros(0)
        found.append(Cables(number, legs, first, strand, longest, "b" if chosen.swapped else "a"))
    return found


def _splitters(wiring: Wiring, parts: Sequence[LinkParts], choice: Ints) -> dict[int, tuple[Indices, Indices]]:
    """(legs, first) of the cables of several links, for each of `parts` that has them."""
    found: dict[int, tuple[Indices, Indices]] = {}
    sizes = {n: int(p.recipe.links_per_cable) for n, p in enumerate(parts) if p.recipe is not None}
    kinds = {(size, parts[n].swapped) for n, size in sizes.items() if size > 1}
    for size, swapped in sorted(kinds):
        members = [n for n, s in sizes.items() if (s, parts[n].swapped) == (size, swapped)]
        at = np.flatnonzero(np.isin(choice, members))
        trunk: Side = "b" if swapped else "a"
        cage, leg = (x[at].astype(np.int64) for x in wiring.cages(trunk))
        device = wiring.links.end(trunk)[0][at].astype(np.int64)
        key = (device * (int(cage.max(initial=0)) + 1) + cage) * (int(leg.max(initial=0)) + 1) + leg // size
        _, start, cable = np.unique(key, return_index=True, return_inverse=True)
        order = np.argsort(cable, kind="stable")
        legs, counts = at[order], np.bincount(cable)
        offset = np.cumsum(counts) - counts
        owner = choice[at[start]]
        for number in members:
            mine = np.flatnonzero(owner == number)
            mine = mine[np.argsort(start[mine], kind="stable")]
            found[number] = _gathered(legs, offset[mine], counts[mine])
    return found


def _gathered(legs: Indices, offset: Indices, counts: Indices) -> tuple[Indices, Indices]:
    """The legs of some cables, one after the other, and where each starts."""
    first = np.cumsum(counts) - counts
    within = np.arange(int(counts.sum())) - np.repeat(first, counts)
    return legs[np.repeat(offset, counts) + within], first


@dataclass(frozen=True, slots=True)
class Cages:
    """Cages at one end of every link, shape (links,): number from 0, and whether this link is the first in its cage."""

    cage: Ints
    opens: npt.NDArray[np.bool_]


def link_cages(wiring: Wiring, parts: Sequence[LinkParts], side: Side) -> Cages:
    """The cages at one end of every link. A module is bought for the first link in a cage, whoever else uses it.

    Where the cages of hosts are unknown, their ports are taken to fill the modules of the recipe one after the other.
    """
    cage = wiring.cages(side)[0].astype(np.int32)
    device = wiring.links.end(side)[0]
    choice = choices_of(wiring, parts)
    for number, chosen in enumerate(parts):
        links = _links_a_module(chosen, side)
        if links > 1:
            at = np.flatnonzero(choice == number)
            known = wiring.devices.stride[device[at]] > 1
            cage[at] = np.where(known, cage[at], wiring.links.end(side)[1][at] // links)
    used = np.flatnonzero(choice >= 0)
    key = device[used].astype(np.int64) * (int(cage.max(initial=0)) + 1) + cage[used]
    opens = np.zeros(len(cage), np.bool_)
    opens[used[np.unique(key, return_index=True)[1]]] = True
    return Cages(cage, opens)


def _links_a_module(chosen: LinkParts, side: Side) -> int:
    """Links of a module of hosts whose cages are unknown; 1 where a port is a cage of its own."""
    end = chosen.link.a if side == "a" else chosen.link.b
    if chosen.recipe is None or end.ports_per_cage is not None or all(load.ports == 1 for load in end.loads):
        return 1
    at_start = (side == "a") != chosen.swapped
    return (chosen.recipe.end_a if at_start else chosen.recipe.end_b).links_per_cage
