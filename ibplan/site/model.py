"""Racks and the places of devices in them, as arrays: made only for a design that someone cables or looks at.

`design` compares dozens of designs without it: the histograms of `ibplan.site.lengths` need no numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ibplan.site.rules import RunRule

Purpose = Literal["server", "network"]
Ints = npt.NDArray[np.int32]
_UM: float = 1e6
# Groups of a layout in which the n-th device is the panels of rack n, measured to their far side: for cords from
# devices below, and for trunks from the tray above.
PANEL_CORDS: Final = "panel"
PANEL_TRUNKS: Final = "panel/trunk"


@dataclass(frozen=True, slots=True)
class Rack:
    """One rack: hall, row and position in the row (both from 1), the middle of its footprint in metres.

    `cross_x_m`: where the trays between rows cross the rows of this hall.
    """

    name: str
    hall: str
    row: int
    position: int
    x_m: float
    y_m: float
    rack_units: int
    purpose: Purpose
    cross_x_m: float = 0.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Every device in its place. Groups are named `server` or `<network>/<tier>`: `compute/leaf`, `storage/spine`,
    `compute/manager`, `compute/attached:<name>`; devices stand in the order of that network's wiring.

    rack_of: index in `racks`, shape (devices,). unit_of: the lowest rack unit (1 = bottom), shape (devices,); NaN where
    the rack comes assembled and the unit is not known: its cables are measured from the bottom. A group whose
    place is unknown is missing.
    """

    racks: tuple[Rack, ...]
    rack_of: Mapping[str, Ints]
    unit_of: Mapping[str, npt.NDArray[np.float32]]
    rule: RunRule

    def run_m(
        self, group_a: str, index_a: npt.NDArray[np.integer], group_b: str, index_b: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.float64]:
        """Lengths in metres of the runs between devices, pair by pair (docs/site.md, "Length of a run").

        Raises KeyError for a group without places.
        """
        rack_a, rack_b = self.rack_of[group_a][index_a], self.rack_of[group_b][index_b]
        unit_a, unit_b = (
            np.nan_to_num(self.unit_of[group][index], nan=1.0).astype(np.int64)
            for group, index in ((group_a, index_a), (group_b, index_b))
        )
        x, y, cross = (self._um(name) for name in ("x_m", "y_m", "cross_x_m"))
        top = np.array([rack.rack_units for rack in self.racks], np.int64)
        rule, ax, bx, ac, bc = self.rule, x[rack_a], x[rack_b], cross[rack_a], cross[rack_b]
        apart = np.abs(y[rack_a] - y[rack_b])
        around = np.abs(ax - ac) + np.abs(ac - bc) + np.abs(bx - bc) + apart
        rows: dict[tuple[str, int], int] = {}
        row = np.array([rows.setdefault((rack.hall, rack.row), len(rows)) for rack in self.racks])
        same_row = row[rack_a] == row[rack_b]
        path = np.where(same_row, np.abs(ax - bx), around)
        drops = (top[rack_a] - unit_a + 1 + top[rack_b] - unit_b + 1) * rule.unit_um + 2 * rule.tray_um
        inside = np.abs(unit_a - unit_b) * rule.unit_um
        run = np.where(rack_a == rack_b, inside, drops + path) + 2 * rule.slack_um
        return np.asarray(run / _UM, np.float64)

    def _um(self, name: str) -> npt.NDArray[np.int64]:
        return np.rint(np.array([getattr(rack, name) for rack in self.racks], np.float64) * _UM).astype(np.int64)
