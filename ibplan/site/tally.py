"""Runs between racks added up: by how far the racks are apart and how they are filled, and at last by length."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from ibplan.site.apart import Whole, apart_um
from ibplan.site.floor import Floor, Spots
from ibplan.site.ground import Point

# (length in metres, rounded up to 0.1 m; number of links), shortest first.
Histogram = tuple[tuple[float, int], ...]
# (rack unit, devices at it) of one rack; the unit is 1 where it is not known.
Heights = tuple[tuple[int, int], ...]
# Devices at one end of runs, by place.
Ends = Mapping[int, Heights]

_TENTH_UM: Final = 100_000
# From so many pairs on, arrays are faster than one by one.
_MANY: Final = 512


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
        run = floor.rules.run
        self._unit_um, self._slack_um = run.unit_um, 2 * run.slack_um
        # The way up and down between two racks, were both devices at unit 0.
        self._drops_um = 2 * ((floor.rules.rack_units + 1) * run.unit_um + run.tray_um) + self._slack_um
        self._alike: dict[tuple[Heights, Heights], Counter[int]] = defaultdict(Counter)
        self._tenths: Counter[int] = Counter()

    def add(self, near: Ends, far: Ends, links: int) -> None:
        """Add the runs from every end to every other, each as often as there are links."""
        ends = _by_heights(far)
        for heights, places in _by_heights(near).items():
            for others, there in ends.items():
                for _ in set(places).intersection(there):
                    self._add_within(heights, others, links)
                self._add_between(self._alike[heights, others], places, there, links)

    def _add_between(self, apart: Counter[int], places: Sequence[int], there: Sequence[int], links: int) -> None:
        ground = self.floor.ground
        if len(places) * len(there) > _MANY:
            pairs = np.meshgrid(places, there)
            _count(apart, apart_um(ground, *pairs)[pairs[0] != pairs[1]], links)
            return
        others = [(place, ground.point(place)) for place in there]
        for place in places:
            a = ground.point(place)
            for other, b in others:
                if place != other:
                    apart[_apart_um(a, b)] += links

    def _add_within(self, heights: Heights, others: Heights, links: int) -> None:
        for unit, count in heights:
            for other, number in others:
                run_um = abs(unit - other) * self._unit_um + self._slack_um
                self._tenths[-(-run_um // _TENTH_UM)] += count * number * links

    def add_each(self, near: Spots, far: Spots) -> None:
        """Add the runs of links one by one: from the first of `near` to the first of `far`, and so on."""
        (place_a, unit_a), (place_b, unit_b) = _arrays(near), _arrays(far)
        within_um = np.abs(unit_a - unit_b) * self._unit_um + self._slack_um
        path_um = apart_um(self.floor.ground, place_a, place_b)
        between_um = path_um + self._drops_um - (unit_a + unit_b) * self._unit_um
        _count(self._tenths, -(-np.where(place_a == place_b, within_um, between_um) // _TENTH_UM), 1)

    def histogram(self) -> Histogram:
        """Lengths rounded up to a tenth of a metre, and how often each occurs."""
        found = self._tenths.copy()
        for (heights, others), paths in self._alike.items():
            drops = [(self._drops_um - both * self._unit_um, count) for both, count in _height_sums(heights, others)]
            if len(drops) * len(paths) > _MANY:
                _count_sums(found, drops, list(paths.items()))
                continue
            for path_um, links in paths.items():
                for drop_um, count in drops:
                    found[-(-(drop_um + path_um) // _TENTH_UM)] += count * links
        return tuple((tenths / 10, count) for tenths, count in sorted(found.items()))


def _by_heights(ends: Ends) -> dict[Heights, list[int]]:
    found: dict[Heights, list[int]] = {}
    for place, heights in ends.items():
        found.setdefault(heights, []).append(place)
    return found


def _arrays(spots: Spots) -> tuple[Whole, Whole]:
    """Places, and rack units; a unit that is not known is taken for the lowest."""
    places, units = (np.array(column, np.int64) for column in spots.columns)
    return places, np.maximum(units, 1)


def _count(found: Counter[int], values: Whole, links: int) -> None:
    """Add how often each value occurs, `links` times."""
    each, counts = np.unique(values, return_counts=True)
    for value, count in zip(each.tolist(), counts.tolist(), strict=True):
        found[value] += count * links


def _count_sums(found: Counter[int], drops: Sequence[tuple[int, int]], paths: Sequence[tuple[int, int]]) -> None:
    """Add the tenths of a metre of all sums of one of each, as often as the two counts say."""
    (drop_um, drop_counts), (path_um, path_counts) = (np.array(pairs, np.int64).T for pairs in (drops, paths))
    tenths = (-(-np.add.outer(drop_um, path_um) // _TENTH_UM)).ravel()
    first = int(tenths.min())
    # Sums of whole numbers in floating point: exact up to 2^53 links.
    totals = np.bincount(tenths - first, np.multiply.outer(drop_counts, path_counts).ravel())
    for nth in np.flatnonzero(totals).tolist():
        found[first + nth] += int(totals[nth])


def _apart_um(a: Point, b: Point) -> int:
    """How far apart two racks are along the trays: within a row, else over the cross trays."""
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
