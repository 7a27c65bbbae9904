"""Who sends to whom: patterns over the GPUs of one or several jobs, and where the ranks of a job stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from ibplan.performance.fairness import Indices

Pattern = Literal["permutation", "cross-leaf", "pairs", "ring", "shift", "all-to-all", "incast", "job"]
PATTERNS: Final[tuple[Pattern, ...]] = get_args(Pattern)
Placement = Literal["contiguous", "random", "spread"]
PLACEMENTS: Final[tuple[Placement, ...]] = get_args(Placement)


@dataclass(frozen=True, slots=True)
class Members:
    """GPUs in groups that talk among themselves, group after group, in the order of their ranks: shape (members,).

    `gpu`, NVLink `domain` and `leaf` (of its first NIC port) of each; `start` and `size` of its group.
    """

    gpu: Indices
    domain: Indices
    leaf: Indices
    start: Indices
    size: Indices

    @property
    def position(self) -> Indices:
        """The place of each in its group, from 0."""
        return (np.arange(len(self.gpu)) - self.start).astype(np.int32)

    def at(self, position: Indices) -> Indices:
        """The GPU at a place of each one's group."""
        found: Indices = self.gpu[self.start + position]
        return found


@dataclass(frozen=True, slots=True)
class Places:
    """Where every GPU stands, shape (GPUs,): its NVLink domain, and the leaf of its first NIC port."""

    domain: Indices
    leaf: Indices


def members_of(gpu: Indices, places: Places, group: Indices) -> Members:
    """GPUs in rank order, shape (ranks,), by group; those of group -1 stay idle."""
    order = np.argsort(group, kind="stable")
    order = order[group[order] >= 0]
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    return Members(
        gpu[order],
        places.domain[gpu[order]],
        places.leaf[gpu[order]],
        np.repeat(starts, sizes).astype(np.int32),
        np.repeat(sizes, sizes).astype(np.int32),
    )


@dataclass(frozen=True, slots=True)
class Pairs:
    """Who sends to whom, shape (pairs,), as GPUs."""

    source: Indices
    target: Indices


def _shuffled(members: Members, generator: np.random.Generator) -> Members:
    """The members of every group in random order."""
    order = np.lexsort((generator.random(len(members.gpu)), members.start))
    return Members(members.gpu[order], members.domain[order], members.leaf[order], members.start, members.size)


def permutation(members: Members, generator: np.random.Generator) -> Pairs:
    """Every GPU sends to one other and receives from one: a random cycle through each group."""
    mixed = _shuffled(members, generator)
    pairs = Pairs(mixed.gpu, mixed.at((mixed.position + 1) % mixed.size))
    return _between_two(pairs)


def cross_leaf(members: Members, generator: np.random.Generator) -> Pairs:
    """Every GPU sends to one behind another leaf and receives from one; random, as far as the leaves are alike.

    One GPU of every leaf at a time, drawn at random, makes a cycle through the leaves. Where a leaf has more GPUs of
    the group than all others, the rest of them stays idle.
    """
    order = np.lexsort((generator.random(len(members.gpu)), members.leaf, members.start))
    gpu, leaf, start = members.gpu[order], members.leaf[order], members.start[order]
    run = np.flatnonzero((np.diff(leaf, prepend=-1) != 0) | (np.diff(start, prepend=-1) != 0))
    turn = np.arange(len(gpu)) - np.repeat(run, np.diff(run, append=len(gpu)))
    order = np.lexsort((generator.random(len(gpu)), turn, start))
    first = np.flatnonzero((np.diff(turn[order], prepend=-1) != 0) | (np.diff(start[order], prepend=-1) != 0))
    size = np.diff(first, append=len(gpu))
    following = np.arange(1, len(gpu) + 1)
    following[first + size - 1] = first
    return _between_two(Pairs(gpu[order], gpu[order][following]))


def random_pairs(members: Members, generator: np.random.Generator) -> Pairs:
    """GPUs in random pairs that send to each other; in a group of odd size one stays idle."""
    mixed = _shuffled(members, generator)
    other = mixed.position ^ 1
    paired = other < mixed.size
    return Pairs(mixed.gpu[paired], mixed.at(np.where(paired, other, 0))[paired])


def shift(members: Members, generator: np.random.Generator) -> Pairs:
    """One step of an all-to-all: every GPU sends to the one a random number of places on in its group."""
    step = 1 + (generator.random() * (members.size - 1)).astype(np.int32)
    return _between_two(Pairs(members.gpu, members.at((members.position + step) % members.size)))


def all_to_all(members: Members, _generator: np.random.Generator) -> Pairs:
    """Every GPU sends to all others of its group at once."""
    others = members.size - 1
    source = np.repeat(np.arange(len(members.gpu)), others)
    ends = np.cumsum(others)
    step = np.arange(len(source)) - np.repeat(ends - others, others) + 1
    far = members.start[source] + (members.position[source] + step) % members.size[source]
    return Pairs(members.gpu[source], members.gpu[far])


def ring(members: Members, _generator: np.random.Generator) -> Pairs:
    """Neighbors in rings over NVLink domains: the i-th GPU of a group in one domain sends to the i-th in the next.

    That is one ring a rail, as collectives on rails run it. Where the next domain has fewer GPUs of the group, they are
    counted round. A group within one domain sends nothing over the network: its GPUs send to themselves.
    """
    new_run = (np.diff(members.domain, prepend=-1) != 0) | (members.position == 0)
    run_start = np.flatnonzero(new_run)
    run = np.cumsum(new_run) - 1
    size = np.diff(run_start, append=len(members.gpu))
    first_run = run[members.start[run_start]]
    last = np.append(members.start[run_start][1:] != members.start[run_start][:-1], True)
    following = np.where(last, first_run, np.arange(len(run_start)) + 1)[run]
    place = (np.arange(len(members.gpu)) - run_start[run]) % size[following]
    return Pairs(members.gpu, members.gpu[run_start[following] + place])


def incast(fan_in: int) -> Callable[[Members, np.random.Generator], Pairs]:
    """Every `fan_in` GPUs send to one: a group in random order is cut in pieces, whose first is sent to by the rest."""

    def pattern(members: Members, generator: np.random.Generator) -> Pairs:
        mixed = _shuffled(members, generator)
        position = mixed.position
        sends = position % (fan_in + 1) > 0
        return Pairs(mixed.gpu[sends], mixed.at(position - position % (fan_in + 1))[sends])

    return pattern


def _between_two(pairs: Pairs) -> Pairs:
    """Without those that would send to themselves: the only member of a group."""
    apart = pairs.source != pairs.target
    return Pairs(pairs.source[apart], pairs.target[apart])


def ranked_gpus(
    placement: Placement, gpus: int, domain_gpus: int, domain_unit: Indices, generator: np.random.Generator
) -> Indices:
    """The GPU of every rank, shape (gpus,). `domain_unit`: the unit of every NVLink domain; the last may be smaller.

    contiguous: in the order of the servers. random: domains in random order. spread: domains dealt out one from each
    unit in turn, so that neighbors never share a leaf where there are several units.
    """
    domains: Indices = np.arange(len(domain_unit), dtype=np.int32)
    if placement == "random":
        domains = generator.permutation(domains)
    elif placement == "spread":
        starts = np.searchsorted(domain_unit, domain_unit)
        domains = domains[np.lexsort((domain_unit, domains - starts))]
    ranks = (domains[:, None] * domain_gpus + np.arange(domain_gpus)).ravel()
    return ranks[ranks < gpus].astype(np.int32)
