"""Where a place on the floor is: rows, halls and coordinates from one whole number. No numpy.

A place is `row * racks_per_row + slot`: server rows count from 0, rows of the network area (spines, cores, managers)
from -1 downwards, slots from 0. So nothing moves when a row is added.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isqrt
from typing import NamedTuple

from ibplan.site.rules import SiteRules

NETWORK_HALL = "N"


class Point(NamedTuple):
    """Row, and in whole micrometres: the middle of a place, and the tray that crosses the rows of its hall."""

    row: int
    x: int
    y: int
    cross: int


@dataclass(frozen=True)
class Ground:
    """The floor of a site. All designs of a plan stand on one.

    `known`: shapes of networks and lengths of their links, by all that they depend on: designs often differ elsewhere.
    """

    rules: SiteRules
    known: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def slots(self) -> int:
        """Places of a row."""
        return self.rules.racks_per_row

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Slots of a row in the order in which they are filled: from the network racks outwards."""
        if self.rules.placement == "end_of_row":
            return tuple(range(self.slots))
        middle = (self.slots - 1) // 2
        return tuple(sorted(range(self.slots), key=lambda slot: (abs(slot - middle), slot < middle)))

    @cached_property
    def _rows_per_hall(self) -> int:
        return self.rules.rows or self.rules.rows_per_hall

    def hall_of(self, place: int) -> tuple[str, int, int]:
        """Hall, row in it and position in the row, as people count: from 1. The network area is a hall of its own."""
        row, slot = divmod(place, self.slots)
        if row < 0:
            return NETWORK_HALL, -row, slot + 1
        hall, row = divmod(row, self._rows_per_hall)
        return str(hall + 1), row + 1, slot + 1

    def name(self, place: int) -> str:
        """`R03-12`: row and position; `N01-12` in the network area; `H2-R03-12` in further halls."""
        hall, row, position = self.hall_of(place)
        if hall == NETWORK_HALL:
            return f"N{row:02d}-{position:02d}"
        return f"{'' if hall == '1' else f'H{hall}-'}R{row:02d}-{position:02d}"

    @cached_property
    def _points(self) -> dict[int, Point]:
        return {}

    def point(self, place: int) -> Point:
        """Where a place is. Halls stand in a square: the next ones around a corner of those before."""
        found = self._points.get(place)
        if found is None:
            found = self._points[place] = self._point(place)
        return found

    def _point(self, place: int) -> Point:
        row, slot = divmod(place, self.slots)
        rules = self.rules
        hall, in_hall = (0, row) if row < 0 else divmod(row, self._rows_per_hall)
        side = isqrt(hall)
        rest = hall - side * side
        across, along = (side, rest) if rest <= side else (2 * side - rest, side)
        left = across * (self.slots * rules.width_um + rules.gap_um)
        front = along * (self._rows_per_hall * rules.pitch_um + rules.gap_um)
        return Point(
            row,
            left + (2 * slot + 1) * rules.width_um // 2,
            front + in_hall * rules.pitch_um,
            left + (2 * self.order[0] + 1) * rules.width_um // 2,
        )

    def crosses_hall(self, first_row: int, last_row: int) -> bool:
        """Whether two server rows stand in different halls."""
        return first_row // self._rows_per_hall != last_row // self._rows_per_hall
