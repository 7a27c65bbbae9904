"""What is usual among counts and sets of which a few are odd."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

_MOST_TRIED: Final = 64


def usual_count(counts: Iterable[int]) -> int:
    """The number that most have, the larger one of equals."""
    found = Counter(counts)
    return max(found, key=lambda count: (found[count], count)) if found else 0


def merged_sets(sets: Counter[frozenset[int]]) -> dict[frozenset[int], int]:
    """Sets with how many have them; one that shares most of its members with a more usual one counts as that one.

    A server that lacks a cable, or has one in a wrong place, is so of the unit of its other cables.
    """
    found: dict[frozenset[int], int] = {}
    having: dict[int, list[frozenset[int]]] = defaultdict(list)
    for members, count in sorted(sets.items(), key=lambda item: (-item[1], -len(item[0]), sorted(item[0]))):
        known = (other for member in members for other in having[member][:_MOST_TRIED])
        near = next((other for other in known if 2 * len(members & other) > len(members)), members)
        if near not in found:
            for member in members:
                having[member].append(members)
        found[near] = found.get(near, 0) + count
    return found


def nearest_set(members: frozenset[int], sets: Sequence[frozenset[int]]) -> int:
    """Which of the sets has the most members in common."""
    return max(range(len(sets)), key=lambda number: len(members & sets[number]))


def top_count(counts: Iterable[int]) -> int:
    """The largest number that one in twenty has, and two at least, or else the largest: a few may be wrong cables."""
    found = Counter(counts)
    enough = max(2, found.total() // 20)
    return max((count for count, times in found.items() if times >= enough), default=max(found, default=0))
