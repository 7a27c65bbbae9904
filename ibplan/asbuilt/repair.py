"""The fewest moves that turn the cables that are there into those that are planned.

Planned links and found links are both matchings of ports. What they do not share falls into paths and rings in which
planned and found links alternate. A found link that is not planned has to be moved at one end at least, and in a path
or a ring moving one end is enough: each found link becomes a planned one beside it. So the fewest moves are one for
every found link that is kept; a path with a planned link more takes a new cable, one with a found link more loses one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ibplan.asbuilt.compare import Edge

Shape = Literal["ring", "path"]


class Wanted(NamedTuple):
    """A planned link by its index, with the numbers of its ports."""

    link: int
    a: int
    b: int


class Move(NamedTuple):
    """Pull the end of a found link out of one port and plug it into another; the other end stays where it is."""

    found: int
    stays: int
    leaves: int
    enters: int
    link: int


@dataclass(frozen=True, slots=True)
class Component:
    """One path or ring with what mends it. `moves` as many as found links but the removed one.

    `added`: the planned link that takes a new cable. `removed`: the found link that is one too many.
    """

    shape: Shape
    moves: tuple[Move, ...]
    added: int | None = None
    removed: Edge | None = None


# What it takes to carry an end from one port to another: 0 in the same device, more the farther it is.
Cost = Callable[[int, int], int]


def components(missing: Sequence[Wanted], extra: Sequence[Edge], cost: Cost) -> Iterator[Component]:
    """Every path, then every ring, with the moves that cost the least of those that are fewest."""
    wanted = {port: link for link in missing for port in (link.a, link.b)}
    there = {port: edge for edge in extra for port in (edge.a, edge.b)}
    ports = dict.fromkeys((*wanted, *there))
    done: set[int] = set()
    for start in ports:
        if start not in done and (start in wanted) != (start in there):
            chain = _walk(start, wanted, there, done)
            yield _path(chain, start in wanted, wanted, there, cost)
    for start in ports:
        if start not in done:
            chain = _walk(start, wanted, there, done)
            yield _ring(chain, wanted, there, cost)


def _walk(start: int, wanted: dict[int, Wanted], there: dict[int, Edge], done: set[int]) -> list[int]:
    """The ports of a path or ring in order; a ring starts with a planned link and ends before its first port."""
    chain, port, planned = [start], start, start in wanted
    while port not in done:
        done.add(port)
        edge: Wanted | Edge | None = wanted.get(port) if planned else there.get(port)
        if edge is None:
            break
        port = edge.b if edge.a == port else edge.a
        planned = not planned
        if port in done:
            break
        chain.append(port)
    return chain


def _left(chain: Sequence[int], at: int, wanted: dict[int, Wanted], there: dict[int, Edge]) -> Move:
    """The found link from chain[at] to chain[at + 1] becomes the planned one before it."""
    stays, leaves, enters = chain[at], chain[(at + 1) % len(chain)], chain[at - 1]
    return Move(there[stays].found, stays, leaves, enters, wanted[stays].link)


def _right(chain: Sequence[int], at: int, wanted: dict[int, Wanted], there: dict[int, Edge]) -> Move:
    """The found link from chain[at] to chain[at + 1] becomes the planned one after it."""
    size = len(chain)
    stays, leaves, enters = chain[(at + 1) % size], chain[at], chain[(at + 2) % size]
    return Move(there[stays].found, stays, leaves, enters, wanted[stays].link)


def _costs(moves: Sequence[Move], cost: Cost) -> int:
    return sum(cost(move.leaves, move.enters) for move in moves)


def _ring(chain: Sequence[int], wanted: dict[int, Wanted], there: dict[int, Edge], cost: Cost) -> Component:
    """chain[0] to chain[1] is planned, chain[1] to chain[2] found, and so on round."""
    starts = range(1, len(chain), 2)
    left = tuple(_left(chain, at, wanted, there) for at in starts)
    right = tuple(_right(chain, at, wanted, there) for at in starts)
    return Component("ring", left if _costs(left, cost) <= _costs(right, cost) else right)


def _path(
    chain: Sequence[int], planned_first: bool, wanted: dict[int, Wanted], there: dict[int, Edge], cost: Cost
) -> Component:
    """The found links start at every other port, from the second one where a planned link is first."""
    edges = len(chain) - 1
    starts = range(1 if planned_first else 0, edges, 2)
    planned_last = edges % 2 == (1 if planned_first else 0)
    turns = (chain, wanted, there)
    if planned_first and planned_last:
        at, moves = _best_gap(turns, starts, cost)
        return Component("path", moves, added=wanted[chain[2 * at]].link)
    if not planned_first and not planned_last:
        at, moves = _best_surplus(turns, starts, cost)
        return Component("path", moves, removed=there[chain[2 * at]])
    turn = _left if planned_first else _right
    return Component("path", tuple(turn(chain, at, wanted, there) for at in starts))


_Turns = tuple[Sequence[int], dict[int, Wanted], dict[int, Edge]]


def _best_gap(turns: _Turns, starts: Sequence[int], cost: Cost) -> tuple[int, tuple[Move, ...]]:
    """Which planned link of the path is left to a new cable: links before it turn left, those after it right."""
    chain, wanted, there = turns
    left = [_left(chain, at, wanted, there) for at in starts]
    right = [_right(chain, at, wanted, there) for at in starts]
    return _cheapest(left, right, len(left) + 1, cost)


def _best_surplus(turns: _Turns, starts: Sequence[int], cost: Cost) -> tuple[int, tuple[Move, ...]]:
    """Which found link, counted in the path, is taken out: links before it turn right, those after, left."""
    chain, wanted, there = turns
    right = [_right(chain, at, wanted, there) for at in starts[:-1]]
    left = [_left(chain, at, wanted, there) for at in starts[1:]]
    return _cheapest(right, left, len(starts), cost)


def _cheapest(before: Sequence[Move], after: Sequence[Move], gaps: int, cost: Cost) -> tuple[int, tuple[Move, ...]]:
    """(gap, moves) of the least cost: `before[:gap]`, then `after[gap:]`. In linear time, because paths may be long."""
    ahead = [cost(move.leaves, move.enters) for move in before]
    behind = [cost(move.leaves, move.enters) for move in after]
    total = sum(behind)
    best, best_cost = 0, total
    for gap in range(1, gaps):
        total += ahead[gap - 1] - behind[gap - 1]
        if total < best_cost:
            best, best_cost = gap, total
    return best, (*before[:best], *after[best:])
