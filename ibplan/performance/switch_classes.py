"""Switches that no traffic can tell apart: the coarsest equitable partition in which every leaf stands by itself."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int32]

# Odd 64-bit constants of the SplitMix64 finalizer (Steele, Lea and Flood, OOPSLA 2014): they spread every bit.
_SPREAD = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def switch_classes(apart: npt.NDArray[np.bool_], ends: Iterable[tuple[Ints, Ints]]) -> Ints:
    """The class of every node, shape (nodes,), numbered from 0.

    `apart`: nodes that are a class each (leaves). `ends`: both ends of all links that work, in parts. Two nodes are of
    one class if they have as many links to every class (color refinement, by sums of hashes). So traffic that each
    switch splits evenly is spread evenly over the members of a class, and over the links between two classes.
    """
    count, links = len(apart), list(ends)
    numbers = np.arange(1, count + 1, dtype=np.uint64)
    color = np.where(apart, numbers, np.uint64(count + 1))
    classes = 0
    while True:
        hashed = _mixed(color)
        total = hashed.copy()
        for a, b in links:
            np.add.at(total, a, _mixed(hashed[b]))
            np.add.at(total, b, _mixed(hashed[a]))
        _, found = np.unique(np.where(apart, numbers, _mixed(total)), return_inverse=True)
        now = int(found.max(initial=-1)) + 1
        if now == classes:
            return found.astype(np.int32)
        color, classes = found.astype(np.uint64) + np.uint64(1), now  # 0 would be no sum at all


def _mixed(values: Hashes) -> Hashes:
    mixed = (values ^ (values >> np.uint64(30))) * _SPREAD[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SPREAD[1]
    return mixed ^ (mixed >> np.uint64(31))
