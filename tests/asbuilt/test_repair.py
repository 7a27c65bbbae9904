"""The fewest moves, against an oracle that tries all of them."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.asbuilt.compare import Edge
from ibplan.asbuilt.repair import Component, Wanted, components
from tests.examples import share

Cables = frozenset[frozenset[int]]


def mended(found: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> tuple[list[Component], Cables]:
    """The components of two matchings, and what is plugged in after their moves."""
    common = {frozenset(pair) for pair in found} & {frozenset(pair) for pair in wanted}
    extra = [Edge(n, a, b) for n, (a, b) in enumerate(found) if frozenset((a, b)) not in common]
    missing = [Wanted(n, a, b) for n, (a, b) in enumerate(wanted) if frozenset((a, b)) not in common]
    result = list(components(missing, extra, lambda a, b: abs(a - b)))
    there = {n: set(pair) for n, pair in enumerate(found)}
    for component in result:
        for move in component.moves:
            assert there[move.found] == {move.stays, move.leaves}  # each is moved once, from where it is
            there[move.found] = {move.stays, move.enters}
        if component.removed is not None:
            del there[component.removed.found]
    added = [set(wanted[c.added]) for c in result if c.added is not None]
    return result, frozenset(frozenset(pair) for pair in [*there.values(), *added])


def fewest(found: list[tuple[int, int]], wanted: list[tuple[int, int]], ports: int) -> int:
    """The least steps: to move one end of a cable, to add or to remove one. Breadth first over all that can be plugged.

    Cables may share a port for a while, as they do while two change places.
    """
    goal = frozenset(frozenset(pair) for pair in wanted)
    start = frozenset(frozenset(pair) for pair in found)
    seen = {start}
    line = deque([(start, 0)])
    while True:
        state, steps = line.popleft()
        if state == goal:
            return steps
        nexts = [state | {cable} for cable in goal - state]
        for cable in state - goal:
            nexts.append(state - {cable})
            nexts += [
                (state - {cable}) | {frozenset({other, port})}
                for end in cable
                for other in cable - {end}
                for port in set(range(ports)) - {other}
            ]
        for following in nexts:
            if following not in seen:
                seen.add(following)
                line.append((following, steps + 1))


@st.composite
def matchings(draw: st.DrawFn, ports: int, most: int) -> list[tuple[int, int]]:
    order = draw(st.permutations(range(ports)))
    count = draw(st.integers(0, most))
    return [(order[2 * n], order[2 * n + 1]) for n in range(count)]


@settings(max_examples=share(40))
@given(matchings(6, 3), matchings(6, 3))
def test_no_fewer_moves_will_do(found: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    result, after = mended(found, wanted)
    assert after == frozenset(frozenset(pair) for pair in wanted)
    steps = sum(len(c.moves) + (c.added is not None) + (c.removed is not None) for c in result)
    assert steps == fewest(found, wanted, 6)


@given(matchings(40, 20), matchings(40, 20))
def test_moves_always_mend(found: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    result, after = mended(found, wanted)
    assert after == frozenset(frozenset(pair) for pair in wanted)
    kept = {frozenset(pair) for pair in found} - {frozenset(pair) for pair in wanted}
    removed = sum(c.removed is not None for c in result)
    assert sum(len(c.moves) for c in result) == len(kept) - removed


@pytest.mark.parametrize(
    ("found", "wanted", "shape", "moves", "added", "removed"),
    [
        ([(0, 3), (2, 1)], [(0, 1), (2, 3)], "ring", 2, False, False),  # two swapped cables
        ([(0, 9)], [(0, 1)], "path", 1, False, False),  # one end in a wrong port
        ([], [(0, 1)], "path", 0, True, False),
        ([(0, 1)], [], "path", 0, False, True),
        ([(1, 2)], [(0, 1), (2, 3)], "path", 1, True, False),
        ([(0, 1), (2, 3)], [(1, 2)], "path", 1, False, True),
    ],
)
def test_shapes(
    found: list[tuple[int, int]], wanted: list[tuple[int, int]], shape: str, moves: int, added: bool, removed: bool
) -> None:
    (component,), _ = mended(found, wanted)
    assert (component.shape, len(component.moves)) == (shape, moves)
    assert (component.added is not None, component.removed is not None) == (added, removed)


def test_ends_are_carried_the_shorter_way() -> None:
    # Ports 0 and 1 are near each other, 10 and 90 far: the ends at 0 and 1 change places.
    (component,), _ = mended([(0, 90), (1, 10)], [(0, 10), (1, 90)])
    assert {(move.leaves, move.enters) for move in component.moves} == {(0, 1), (1, 0)}
