"""How far apart racks are along the trays, many pairs at a time."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from ibplan.site.ground import Ground

Whole = npt.NDArray[np.int64]


def apart_um(ground: Ground, a: Whole, b: Whole) -> Whole:
    """The way between two places along the trays, in micrometres, for every pair of `a` and `b` (arrays of one shape).

    Within a row, else over the trays that cross the rows; the formula is in docs/site.md.
    """
    table, first = _points(ground, int(min(a.min(), b.min())), int(max(a.max(), b.max())))
    row_a, x_a, y_a, cross_a = table[:, a - first]
    row_b, x_b, y_b, cross_b = table[:, b - first]
    over = np.abs(x_a - cross_a) + np.abs(cross_a - cross_b) + np.abs(x_b - cross_b) + np.abs(y_a - y_b)
    return cast("Whole", np.where(row_a == row_b, np.abs(x_a - x_b), over))


def _points(ground: Ground, low: int, high: int) -> tuple[Whole, int]:
    """Row, x, y and cross of the places from the second result on, a column each; kept, and made longer when asked."""
    known = cast("tuple[Whole, int] | None", ground.known.get("points"))
    if known is not None:
        table, first = known
        last = first + table.shape[1] - 1
        if first <= low and high <= last:
            return known
        low, high = min(low, first), max(high, last)
    found = np.array([ground.point(place) for place in range(low, high + 1)], np.int64).T
    ground.known["points"] = found, low
    return found, low
