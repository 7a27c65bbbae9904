"""Cages: what fits together, and how many ports that gives."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.fabric.geometry import CageSet, Demand, Geometry, Mode
from tests.fabric.shapes import DS5000, QM9700, SN2010, SN2700, SN5600, plain, property_settings, switch


@pytest.mark.parametrize(
    ("geometry", "gbps", "ports"),
    [
        (QM9700, 400, 64),  # 32 cages x 2 (pain 21: a public definition had 62)
        (QM9700, 200, 128),
        (SN5600, 800, 64),
        (SN5600, 400, 128),
        (SN5600, 200, 256),
        (SN5600, 100, 256),  # 32 cages x 8: each costs its neighbor
        (DS5000, 200, 128),  # only every other cage splits in four
        (SN2700, 25, 64),  # 16 cages x 4, not 32 x 4
        (SN2010, 25, 34),  # 18 SFP28 + 4 QSFP28 x 4
        (SN2010, 100, 4),
        (plain(36), 400, 36),
    ],
)
def test_the_radix_follows_from_the_cages(geometry: Geometry, gbps: int, ports: int) -> None:
    assert geometry.ports(gbps) == ports


def test_a_speed_that_no_cage_has_gives_no_ports() -> None:
    assert QM9700.ports(800) == 0
    assert not QM9700.fits(Demand(800, 1))
    assert QM9700.most_beside(800) == 0


def test_whole_cage_speeds_are_those_of_one_port_a_cage() -> None:
    assert QM9700.whole_cage_gbps() == set()
    assert SN5600.whole_cage_gbps() == {800}
    assert SN2010.whole_cage_gbps() == {25, 100}


def test_a_cage_serves_one_demand() -> None:
    # 33 ports down light 17 twin cages, so 15 are left: 30 ports up, though 64 - 33 = 31.
    assert QM9700.most_beside(400, Demand(400, 33)) == 30
    assert QM9700.fits(Demand(400, 32), Demand(400, 32))
    assert not QM9700.fits(Demand(400, 33), Demand(400, 31))


def test_mixed_speeds_are_budgeted_in_cages() -> None:
    # 64 x 400G in 32 cages and 32 x 800G in the other 32, as the open OCP designs wire it.
    assert SN5600.fits(Demand(400, 64), Demand(800, 32))
    assert not SN5600.fits(Demand(400, 65), Demand(800, 32))


def test_a_breakout_that_costs_the_neighbor_takes_two_cages() -> None:
    # One port of 25G lights one cage and darkens one: 30 of 32 are left for 100G.
    assert SN2700.most_beside(100, Demand(25, 1)) == 30
    assert SN2700.most_beside(100, Demand(25, 4)) == 30
    assert SN2700.most_beside(100, Demand(25, 5)) == 28
    odd = switch("odd", CageSet(5, (Mode(100, 1), Mode(25, 4, 1))))
    assert odd.ports(25) == 8  # the fifth cage has no neighbor to darken


def test_a_cap_on_ports_counts_both_directions() -> None:
    # The DS5000 has 128 ports of 200G in all: 128 down leave none to go up.
    assert DS5000.most_beside(200, Demand(200, 64)) == 64
    assert DS5000.most_beside(200, Demand(200, 128)) == 0
    assert not DS5000.fits(Demand(200, 128), Demand(200, 1))


def test_a_cap_leaves_the_other_cages_to_other_speeds() -> None:
    assert DS5000.fits(Demand(200, 128), Demand(800, 32))
    assert not DS5000.fits(Demand(200, 128), Demand(800, 33))


def test_mixed_cages_keep_the_flexible_ones_for_who_needs_them() -> None:
    # 18 ports of 25G go to the SFP28 cages, so all four QSFP28 cages can run at 100G.
    assert SN2010.fits(Demand(25, 18), Demand(100, 4))
    assert SN2010.fits(Demand(25, 22), Demand(100, 3))
    assert not SN2010.fits(Demand(25, 23), Demand(100, 3))


def test_two_demands_of_one_speed_share_mixed_cages_as_well_as_they_can() -> None:
    # 15 + 1 x 4 = 19 and 3 + 3 x 4 = 15 ports: all cages are in use.
    assert SN2010.fits(Demand(25, 19), Demand(25, 13))
    assert SN2010.most_beside(25, Demand(25, 19)) == 15


def test_what_is_placed_says_where() -> None:
    placed = SN2010.place([Demand(25, 20), Demand(100, 2)])
    assert placed is not None
    down, up = placed
    assert [(p.cage_set, p.ports, p.cages, p.ports_per_cage) for p in down] == [(0, 18, 18, 1), (1, 2, 1, 4)]
    assert [(p.cage_set, p.ports, p.cages, p.ports_per_cage) for p in up] == [(1, 2, 2, 1)]


def test_nothing_asked_for_always_fits() -> None:
    assert QM9700.place([]) == ()
    assert QM9700.fits(Demand(800, 0))


# --- Against every way to deal cages out ----------------------------------------------------------------------------


def can_be_dealt(geometry: Geometry, demands: list[Demand]) -> bool:
    """Try every way to give each demand a number of cages of every kind."""
    return any(_enough(geometry, demands, shares) for shares in product(*(_shares(s, demands) for s in geometry.sets)))


def _shares(cages: CageSet, demands: list[Demand]) -> list[tuple[int, ...]]:
    return [x for x in product(range(cages.count + 1), repeat=len(demands)) if sum(x) <= cages.count]


def _enough(geometry: Geometry, demands: list[Demand], shares: tuple[tuple[int, ...], ...]) -> bool:
    """Whether demands get their ports, where a cap holds for the cages of a mode in a kind of cages together."""
    left = [demand.ports for demand in demands]
    for cages, share in zip(geometry.sets, shares, strict=True):
        under_cap: dict[int, int] = {}
        for index, (demand, number) in enumerate(zip(demands, share, strict=True)):
            mode = cages.mode(demand.gbps)
            if mode is None:
                continue
            ports = min(left[index], number // (1 + mode.cages_lost) * mode.ports)
            if mode.max_ports is not None:
                ports = min(ports, mode.max_ports - under_cap.get(demand.gbps, 0))
                under_cap[demand.gbps] = under_cap.get(demand.gbps, 0) + -(-ports // mode.ports) * mode.ports
            left[index] -= ports
    return not any(left)


_KINDS = [
    (Mode(100, 1), Mode(25, 4)),
    (Mode(25, 1),),
    (Mode(100, 1), Mode(25, 4, 1)),
    (Mode(100, 1), Mode(25, 2, 0, 6)),
]


@st.composite
def _small_switches(draw: st.DrawFn, kinds: int) -> Geometry:
    sets = [CageSet(draw(st.integers(1, 5)), draw(st.sampled_from(_KINDS))) for _ in range(kinds)]
    return switch("small", *sets)


_demands = st.lists(st.builds(Demand, st.sampled_from([25, 100]), st.integers(0, 14)), max_size=3)


@pytest.mark.parametrize("modes", _KINDS)
def test_one_kind_of_cages_fits_exactly_what_can_be_dealt(modes: tuple[Mode, ...]) -> None:
    single = [Demand(gbps, ports) for gbps in (25, 100) for ports in range(1, 11)]
    for count in range(1, 6):
        geometry = switch("small", CageSet(count, modes))
        for demands in combinations_with_replacement(single, 2):
            assert geometry.fits(*demands) == can_be_dealt(geometry, list(demands)), (count, demands)


@given(geometry=_small_switches(2), demands=_demands.filter(lambda ds: len({d.gbps for d in ds}) == len(ds)))
@property_settings
def test_two_kinds_of_cages_fit_exactly_what_can_be_dealt(geometry: Geometry, demands: list[Demand]) -> None:
    assert geometry.fits(*demands) == can_be_dealt(geometry, demands)


@given(geometry=_small_switches(2), demands=_demands)
@property_settings
def test_nothing_is_placed_that_cannot_be_dealt(geometry: Geometry, demands: list[Demand]) -> None:
    placed = geometry.place(demands)
    if placed is None:
        return
    assert [sum(p.ports for p in where) for where in placed] == [demand.ports for demand in demands]
    assert can_be_dealt(geometry, demands)


@given(geometry=_small_switches(2), fixed=st.builds(Demand, st.sampled_from([25, 100]), st.integers(0, 14)))
@property_settings
def test_the_most_beside_fits_and_one_more_does_not(geometry: Geometry, fixed: Demand) -> None:
    most = geometry.most_beside(25, fixed)
    if geometry.fits(fixed):
        assert geometry.fits(fixed, Demand(25, most))
        assert not geometry.fits(fixed, Demand(25, most + 1))
