"""How far racks are apart: many pairs at a time as one pair at a time, and by the formula of docs/site.md."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibplan.site.apart import apart_um
from ibplan.site.ground import Ground
from tests.site.sites import rules

_PLACES = st.lists(st.integers(-60, 5_000), min_size=1, max_size=12)


def one_by_one(ground: Ground, a: int, b: int) -> int:
    one, other = ground.point(a), ground.point(b)
    if a // ground.slots == b // ground.slots:
        return abs(one.x - other.x)
    over = abs(one.x - one.cross) + abs(one.cross - other.cross) + abs(other.cross - other.x)
    return over + abs(one.y - other.y)


@given(st.sampled_from(["end_of_row", "middle_of_row"]), _PLACES, _PLACES)
def test_arrays_give_the_way_of_every_pair(placement: str, near: list[int], far: list[int]) -> None:
    ground = Ground(rules(placement=placement))
    a, b = np.meshgrid(near, far)
    expected = [one_by_one(ground, x, y) for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)]
    assert apart_um(ground, a, b).ravel().tolist() == expected


def test_places_are_found_in_any_order() -> None:
    """What is kept of places is made longer on both sides."""
    ground = Ground(rules())
    for a, b in ((100, 140), (-20, 3), (0, 4_000), (100, 140)):
        assert apart_um(ground, np.array([a]), np.array([b])).tolist() == [one_by_one(ground, a, b)]


def test_neighbors_are_a_rack_apart_and_rows_are_reached_over_the_cross_tray() -> None:
    site = rules(placement="end_of_row")
    ground = Ground(site)
    within, between = np.array([1]), np.array([ground.slots])
    assert apart_um(ground, within - 1, within).tolist() == [site.width_um]
    assert apart_um(ground, between - between, between).tolist() == [site.pitch_um]  # both first racks are at the tray
