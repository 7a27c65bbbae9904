"""Which switches still lead down to a leaf, where links or switches have failed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ibplan.performance.fairness import Indices
from ibplan.performance.flow_network import Bools, FlowNetwork


@dataclass(frozen=True, slots=True)
class Reach:
    """Whether a class of cores, or of spines by way of a core, leads down to a leaf.

    Leaves with the same classes above them are alike: `kind`, shape (classes,), numbers those of leaves. `core` and
    `spine`, shape (classes, kinds).
    """

    kind: Indices
    core: Bools
    spine: Bools

    def by_core(self, spine_class: Indices, leaf_class: Indices) -> Bools:
        """Whether spines lead over a core to leaves, in the shape of both; not for class -1."""
        return self.spine[spine_class, self.kind[leaf_class]] & (spine_class >= 0)

    def from_core(self, core_class: Indices, leaf_class: Indices) -> Bools:
        """Whether cores lead down to leaves, in the shape of both; not for class -1."""
        return self.core[core_class, self.kind[leaf_class]] & (core_class >= 0)


def reach(network: FlowNetwork) -> Reach:
    """The classes of cores and of spines that lead over a core to each kind of leaf."""
    leaves = np.flatnonzero(network.level == 0)
    kinds, kind_of_leaf = np.unique(np.sort(network.up[leaves], axis=1), axis=0, return_inverse=True)
    kind = np.zeros(network.class_count, np.int32)
    kind[leaves] = kind_of_leaf.ravel()
    core = np.zeros((network.class_count, len(kinds)), bool)
    spine = np.zeros_like(core)
    spines = np.flatnonzero(network.level == 1)
    below = [[] for _ in range(network.class_count)]  # type: list[list[int]]
    for number, above in enumerate(kinds.tolist()):
        for spine_class in above:
            if spine_class >= 0:
                below[spine_class].append(number)
    for spine_class in spines.tolist():
        for core_class in network.up[spine_class].tolist():
            if core_class >= 0:
                core[core_class, below[spine_class]] = True
    for column in network.up[spines].T:
        spine[spines] |= core[column] & (column >= 0)[:, None]
    return Reach(kind, core, spine)
