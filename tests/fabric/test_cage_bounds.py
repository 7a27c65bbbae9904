"""The quick bound over cages of several kinds: never below what fits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from ibplan.fabric.cage_bounds import may_fit
from ibplan.fabric.geometry import CageSet, Demand, Geometry, Mode
from ibplan.fabric.leaves import downlinks
from ibplan.fabric.request import TierRequest
from tests.fabric.shapes import SN2010, property_settings

_modes = st.builds(
    Mode,
    st.sampled_from([100, 200, 400]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0, 0, 0, 1]),
    st.sampled_from([None, None, 3, 8, 20]),
)
_sets = st.builds(CageSet, st.integers(1, 12), st.lists(_modes, min_size=1, max_size=3).map(tuple))
_geometries = st.builds(lambda sets: Geometry("mixed", tuple(sets)), st.lists(_sets, min_size=1, max_size=3))
_speeds = st.sampled_from([100, 200, 400])


@given(_geometries, _speeds, _speeds, st.integers(0, 60), st.integers(0, 60))
@property_settings
def test_what_fits_may_fit(geometry: Geometry, down: int, up: int, low: int, high: int) -> None:
    demands = Demand(down, low), Demand(up, high)
    if geometry.fits(*demands):
        assert may_fit(geometry, *demands)
    if not may_fit(geometry, *demands):
        assert not may_fit(geometry, replace(demands[0], ports=low + 1), demands[1])
        assert not may_fit(geometry, demands[0], replace(demands[1], ports=high + 1))


def test_the_bound_counts_cages_once() -> None:
    # 18 ports of 25G and 4 cages that run one port of 100G or four of 25G: 26 ports of 25G leave two cages for 100G.
    assert may_fit(SN2010, Demand(25, 26), Demand(100, 2))
    assert not may_fit(SN2010, Demand(25, 27), Demand(100, 2))
    assert not may_fit(SN2010, Demand(25, 20), Demand(25, 15))


@given(
    _geometries,
    _speeds,
    _speeds,
    st.sampled_from([Fraction(1), Fraction(3), Fraction(2, 7), Fraction(1000), Fraction(1, 1000)]),
    st.sampled_from(["half", "all"]),
    st.sampled_from([0, 0, 1, 5]),
)
@property_settings
def test_downlinks_are_those_of_a_search_from_the_top(
    geometry: Geometry, down: int, up: int, ratio: Fraction, ports: str, reserved: int
) -> None:
    asked = TierRequest(geometry, down, up, ratio, "half" if ports == "half" else "all", reserved)
    radix = geometry.ports(down)
    start = radix // 2 if ports == "half" else radix - reserved
    fitting = (
        count
        for count in range(start, 0, -1)
        if geometry.fits(Demand(down, count + reserved), Demand(up, asked.uplinks_for(count)))
    )
    assert downlinks(asked) == next(fitting, 0)
