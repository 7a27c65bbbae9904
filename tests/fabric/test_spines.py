"""The upper tiers: spines and cores, against every other number of them."""

from __future__ import annotations

from itertools import product
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.fabric.request import LeafLoad, UnitLoad
from ibplan.fabric.spines import Spread, choose_core, choose_spines, pods_of_units, spine_downlinks
from tests.fabric.shapes import property_settings


def load(count: int, needed: int, most: int | None = None) -> LeafLoad:
    """Leaves that need a number of uplinks and have room for at most another."""
    return LeafLoad(count, needed, (), 0, needed, needed, most or needed, down_gbps=400)


# --- Spines (rule 5) -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaf_count", "uplinks", "radix", "spines"),
    [
        # Published: 8, 16, 24 and 32 leaves of 32 uplinks on 64 ports. 24 leaves need 12 spines for their ports, but 12
        # does not divide 32: 16 are built.
        (8, 32, 64, 4),
        (16, 32, 64, 8),
        (24, 32, 64, 16),
        (32, 32, 64, 16),
        # Published: 40 x 20 on 40 ports; 8 x 72 on 144; 128 x 64 on 128; 16 x 256 on 512; 182 x 18 on 800.
        (40, 20, 40, 20),
        (8, 72, 144, 4),
        (128, 64, 128, 64),
        (16, 256, 512, 8),
        (182, 18, 800, 6),
        # One leaf and one spine.
        (1, 32, 64, 1),
        (1, 1, 1, 1),
    ],
)
def test_spines_of_leaves_without_spare_uplinks(leaf_count: int, uplinks: int, radix: int, spines: int) -> None:
    found, (chosen,) = choose_spines([load(leaf_count, uplinks)], radix)
    assert (found, chosen.uplinks) == (spines, uplinks)
    assert spine_downlinks([chosen], found) == leaf_count * uplinks // spines


def test_spare_uplinks_are_used_where_they_save_spines() -> None:
    # 24 leaves need 30 of at most 32 uplinks, 720 in all: 12 spines have the ports, but no multiple of 12, 13 or 14
    # lies between 30 and 32. 15 divides 30: one spine fewer than 32 uplinks would take.
    found, (chosen,) = choose_spines([load(24, 30, 32)], 64)
    assert (found, chosen.uplinks) == (15, 30)
    # 4 leaves need 27 and have 32: two spines take 28 each way (an NVL72 design of 2 racks), three would take 27.
    found, (chosen,) = choose_spines([load(4, 27, 37)], 64)
    assert (found, chosen.uplinks) == (2, 28)


def test_fifty_leaves_do_not_reach_spines_of_thirty_six_ports() -> None:
    """Pain 2: 200 cables were quoted on 4 x 36 = 144 ports. Every spine needs a port for every leaf."""
    with pytest.raises(Unbuildable) as refused:
        choose_spines([load(50, 4)], 36)
    (reason,) = refused.value.reasons
    assert (reason.need, reason.have) == (50, 36)
    # On four spines that is 56 ports missing, the number of the public report.
    assert 4 * (50 - 36) == 50 * 4 - 4 * 36 == 56


def test_ports_that_are_short_are_named() -> None:
    # 30 leaves x 8 uplinks = 240 on at most 8 spines of 29 ports = 232: refused for want of a port for every leaf.
    with pytest.raises(Unbuildable, match="30 ports needed, 29 available"):
        choose_spines([load(30, 8)], 29)
    # Two kinds of leaves: 10 with one uplink pin the number of spines to one, which has 36 ports for 10 + 26 x 2 = 62.
    with pytest.raises(Unbuildable) as refused:
        choose_spines([load(10, 1), load(26, 2)], 36)
    assert (refused.value.reasons[0].need, refused.value.reasons[0].have) == (62, 36)


def test_links_are_leaves_times_uplinks_whatever_the_spines() -> None:
    """Pain 4: 70 leaves with 4 uplinks have 280 cables, not 70 x 30."""
    found, (chosen,) = choose_spines([load(70, 4)], 128)
    assert 70 * chosen.uplinks == 280
    assert found == 4
    with pytest.raises(Unbuildable, match="30 uplinks needed, 4 available"):
        choose_spines([load(70, 4)], 128, least=30)


def test_a_pinned_minimum_is_kept() -> None:
    found, (chosen,) = choose_spines([load(8, 32)], 64, least=5)
    assert (found, chosen.uplinks) == (8, 32)


def least_by_search(loads: list[LeafLoad], radix: int, least: int) -> tuple[int, int] | None:
    """(spines, uplinks of all leaves): every number of spines, every choice of uplinks."""
    for spines in range(least, max(x.most for x in loads) + 1):
        choices = [[u for u in range(x.needed, x.most + 1) if u and u % spines == 0] for x in loads]
        sums = [
            sum(x.count * u for x, u in zip(loads, chosen, strict=True))
            for chosen in product(*choices)
            if sum(x.count * u for x, u in zip(loads, chosen, strict=True)) <= spines * radix
        ]
        if sums:
            return spines, min(sums)
    return None


_loads = st.lists(
    st.builds(lambda c, n, extra: load(c, n, n + extra), st.integers(1, 12), st.integers(1, 14), st.integers(0, 6)),
    min_size=1,
    max_size=3,
)


@given(loads=_loads, radix=st.integers(1, 40), least=st.sampled_from([1, 1, 2, 4]))
@property_settings
def test_no_fewer_spines_would_do(loads: list[LeafLoad], radix: int, least: int) -> None:
    expected = least_by_search(loads, radix, least)
    try:
        spines, chosen = choose_spines(loads, radix, least)
    except Unbuildable:
        assert expected is None
    else:
        assert (spines, sum(x.count * x.uplinks for x in chosen)) == expected
        assert spine_downlinks(chosen, spines) * spines == sum(x.count * x.uplinks for x in chosen)


@given(
    kinds=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=3),
    radix=st.integers(27, 60),
    least=st.integers(1, 320),
)
@property_settings
def test_the_next_number_of_spines_is_that_of_trying_each(
    kinds: list[tuple[int, int, int]], radix: int, least: int
) -> None:
    loads = [load(count, needed, needed + spare) for count, needed, spare in kinds]
    spread = Spread.of(loads, radix)

    def even(spines: int) -> bool:
        uplinks = [max(spines, -(-x.needed // spines) * spines) for x in loads]
        used = sum(x.count * u for x, u in zip(loads, uplinks, strict=True))
        return used <= spines * radix and all(u <= x.most for x, u in zip(loads, uplinks, strict=True))

    limit = min(x.most for x in loads)
    assert spread.at_least(least) == next((s for s in range(least, limit + 1) if even(s)), None)


# --- Pods ------------------------------------------------------------------------------------------------------------


def unit(count: int, leaf_count: int) -> UnitLoad:
    return UnitLoad(count, 1, (load(leaf_count, 4),))


def units_in(pods: list[tuple[int, list[UnitLoad]]]) -> list[int]:
    return [sum(u.count for u in pod) for count, pod in pods for _ in range(count)]


def test_pods_take_as_many_whole_units_as_their_spines_have_ports_for() -> None:
    # 32 spine downlinks take 4 units of 8 leaves: 10 units are pods of 4, 4 and 2.
    assert units_in(pods_of_units([unit(9, 8), unit(1, 8)], 32, None)) == [4, 4, 2]
    # Units of 12 leaves: two a pod, 8 downlinks stay free.
    assert units_in(pods_of_units([unit(4, 12)], 32, None)) == [2, 2]
    assert units_in(pods_of_units([unit(10, 8)], 32, 3)) == [3, 3, 3, 1]


def test_a_unit_that_no_pod_holds_is_refused() -> None:
    with pytest.raises(Unbuildable, match="12 downlinks needed, 8 available"):
        pods_of_units([unit(1, 12)], 8, None)


# --- Cores (rule 6) --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pods", "uplinks", "radix", "cores"),
    [
        # Published: 128 spines of 32 uplinks on 64 ports have 64 cores, 512 have 256.
        ([(4, 32)], 32, 64, 64),
        ([(16, 32)], 32, 64, 256),
        # Published: 80 spines of 14 uplinks on 40 ports have 28 cores in 2 groups of 14.
        ([(8, 10)], 14, 40, 28),
        # k-ary fat tree, k = 48: 48 pods of 24 spines, 576 cores.
        ([(48, 24)], 24, 48, 576),
        # 24 units are 6 pods: 192 spines x 32 uplinks fill 96 cores, but 128 spread evenly (rule 6 of the designs).
        ([(6, 32)], 32, 64, 128),
        ([(1, 1)], 1, 64, 1),
    ],
)
def test_cores(pods: list[tuple[int, int]], uplinks: int, radix: int, cores: int) -> None:
    found = choose_core(pods, uplinks, radix)
    assert found.count == cores
    assert found.count * found.ports_used == sum(count * spines for count, spines in pods) * uplinks


def test_core_groups_of_a_published_design() -> None:
    found = choose_core([(8, 10)], 14, 40)
    assert (found.groups, found.per_group, found.ports_used) == (2, 14, 40)


def test_more_pods_than_core_ports_are_refused() -> None:
    # Every core has a port for every pod: 65 pods do not meet on 64 ports.
    with pytest.raises(Unbuildable, match="65 ports needed, 64 available"):
        choose_core([(65, 32)], 32, 64)


@given(
    pods=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 12)), min_size=1, max_size=2),
    uplinks=st.integers(1, 12),
    radix=st.integers(1, 40),
)
@property_settings
def test_no_fewer_cores_would_do(pods: list[tuple[int, int]], uplinks: int, radix: int) -> None:
    """Deal every spine's uplinks out to the cores of its group, and count the ports of the fullest core."""
    numbers = [
        groups * each
        for groups in range(1, gcd(*(spines for _, spines in pods)) + 1)
        for each in range(1, uplinks + 1)
        if fullest_core(pods, uplinks, groups, each) <= radix
    ]
    try:
        found = choose_core(pods, uplinks, radix)
    except Unbuildable:
        assert not numbers
    else:
        assert found.count == min(numbers)


def fullest_core(pods: list[tuple[int, int]], uplinks: int, groups: int, each: int) -> int:
    """Ports of the fullest core, or more than any switch has where the spread is not even."""
    if uplinks % each or any(spines % groups for _, spines in pods):
        return 10**9
    ports = dict.fromkeys(product(range(groups), range(each)), 0)
    for count, spines in pods:
        for spine in range(count * spines):
            for link in range(uplinks):
                ports[spine % groups, link % each] += 1
    assert len(set(ports.values())) == 1
    return max(ports.values())
