"""What the models of mappings need of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Multipliers of a 64-bit hash (odd, from the golden ratio).
_ODD = np.uint64(0x9E3779B97F4A7C15)


def distinct_columns(columns: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of columns that differ, and for each column which of those it equals; shape (rows, columns).

    Columns are told apart by a hash, far faster than by sorting rows; should two of them share one, all are kept.
    """
    bits = np.ascontiguousarray(columns).view(np.uint64)
    key = np.zeros(columns.shape[1], dtype=np.uint64)
    for row in bits:
        key = (key ^ row) * _ODD
        key ^= key >> np.uint64(29)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    if np.array_equal(columns[:, first][:, which], columns):
        return first, which
    everything = np.arange(columns.shape[1])
    return everything, everything
