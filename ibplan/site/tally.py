"""Runs between racks added up: by how far the racks are apart and how they are filled, and at last by length."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from ibplan.site.floor import Floor
from ibplan.site.ground import Point

# (length in metres, rounded up to 0.1 m; number of links), shortest first.
Histogram = tuple[tuple[float, int], ...]
# (rack unit, devices at it) of one rack; the unit is 1 where it is not known.
Heights = tuple[tuple[int, int], ...]
# Devices at one end of runs, by place.
Ends = Mapping[int, Heights]

_TENTH_UM: Final = 100_000


def ends_at(spots: Iterable[tuple[int, int | None]]) -> Ends:
    """Devices by place and rack unit."""
    found: dict[int, dict[int, int]] = {}
    for place, unit in spots:
        at = found.setdefault(place, {})
        at[unit or 1] = at.get(unit or 1, 0) + 1
    return {place: tuple(at.items()) for place, at in found.items()}


class Tally:
    """Runs between racks, added up rack by rack: racks filled alike and as far apart have the same lengths."""

    def __init__(self, floor: Floor) -> None:
        self.floor = floor
        self._alike: dict[tuple[Heights, Heights], Counter[int]] = defaultdict(Counter)
        self._within: Counter[int] = Counter()
        self._one_by_one: Counter[tuple[int, int]] = Counter()

    def add(self, near: Ends, far: Ends, links: int) -> None:
        """Add the runs from every end to every other, each as often as there are links."""
        ends = self._by_heights(far)
        for heights, points in self._by_heights(near).items():
            for others, there in ends.items():
                apart = self._alike[heights, others]
                for a in points:
                    for b in there:
                        if a == b:
                            self._add_within(heights, others, links)
                        else:
                            apart[_apart(a, b)] += links

    def _by_heights(self, ends: Ends) -> dict[Heights, list[Point]]:
        found: dict[Heights, list[Point]] = {}
        for place, heights in ends.items():
            found.setdefault(heights, []).append(self.floor.ground.point(place))
        return found

    def add_from(self, near: tuple[int, int | None], far: Mapping[tuple[int, int], int]) -> None:
        """Add the runs from one device to others, each by its place and rack unit, as often as there are links."""
        place, unit = near
        point, found = self.floor.ground.point, self._one_by_one
        a = point(place)
        for (other_place, other), links in far.items():
            if place == other_place:
                self._within[abs((unit or 1) - (other or 1))] += links
            else:
                found[_apart(a, point(other_place)), (unit or 1) + (other or 1)] += links

    def _add_within(self, heights: Heights, others: Heights, links: int) -> None:
        for unit, count in heights:
            for other, number in others:
                self._within[abs(unit - other)] += count * number * links

    def histogram(self) -> Histogram:
        """Lengths rounded up to a tenth of a metre, and how often each occurs."""
        rules, found = self.floor.rules, Counter[int]()
        unit_um, slack_um = rules.run.unit_um, 2 * rules.run.slack_um
        for apart, count in self._within.items():
            found[-(-(apart * unit_um + slack_um) // _TENTH_UM)] += count
        top = 2 * ((rules.rack_units + 1) * unit_um + rules.run.tray_um) + slack_um
        for (path, both), links in self._one_by_one.items():
            found[-((both * unit_um - top - path) // _TENTH_UM)] += links
        for (heights, others), paths in self._alike.items():
            sums = [(both * unit_um - top, count) for both, count in _height_sums(heights, others)]
            for path, links in paths.items():
                for above, count in sums:
                    found[-((above - path) // _TENTH_UM)] += count * links
        return tuple((tenths / 10, count) for tenths, count in sorted(found.items()))


def _apart(a: Point, b: Point) -> int:
    """How far apart two racks are along the trays, in micrometres: within a row, else over the cross trays."""
    if a.row == b.row:
        return abs(a.x - b.x)
    return abs(a.x - a.cross) + abs(a.cross - b.cross) + abs(b.x - b.cross) + abs(a.y - b.y)


@lru_cache(maxsize=4096)
def _height_sums(heights: Heights, others: Heights) -> tuple[tuple[int, int], ...]:
    """The sum of two rack units, and how many pairs of devices in two racks have it."""
    found: Counter[int] = Counter()
    for unit, count in heights:
        for other, number in others:
            found[unit + other] += count * number
    return tuple(found.items())
