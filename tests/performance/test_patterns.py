"""Who sends to whom."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.performance.patterns import (
    Members,
    Pairs,
    Places,
    all_to_all,
    cross_leaf,
    incast,
    members_of,
    permutation,
    random_pairs,
    ranked_gpus,
    ring,
    shift,
)
from tests.performance.nets import few

Make = Callable[[Members, np.random.Generator], Pairs]


def of(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))


def grouped(groups: list[int], domain_gpus: int = 2, leaf_gpus: int = 4) -> Members:
    gpu = np.arange(len(groups), dtype=np.int32)
    return members_of(gpu, Places(gpu // domain_gpus, gpu // leaf_gpus), np.array(groups, np.int32))


@st.composite
def any_groups(draw: st.DrawFn) -> list[int]:
    return draw(st.lists(st.integers(-1, 3), min_size=1, max_size=40))


@given(groups=any_groups(), seed=st.integers(0, 5))
@few
@pytest.mark.parametrize("make", [permutation, cross_leaf, random_pairs, shift, all_to_all, incast(3)])
def test_gpus_send_to_others_of_their_group(make: Make, groups: list[int], seed: int) -> None:
    found = of(make(grouped(groups), np.random.default_rng(seed)))
    assert all(a != b and groups[a] == groups[b] >= 0 for a, b in found)
    assert len(set(found)) == len(found)


@given(groups=any_groups(), seed=st.integers(0, 5))
@few
def test_who_takes_part(groups: list[int], seed: int) -> None:
    members, generator = grouped(groups), np.random.default_rng(seed)
    size = {g: groups.count(g) for g in groups if g >= 0}
    talking = sorted(i for i, g in enumerate(groups) if g >= 0 and size[g] > 1)
    for make in (permutation, shift):
        pairs = make(members, generator)
        assert sorted(pairs.source.tolist()) == sorted(pairs.target.tolist()) == talking
    assert len(of(random_pairs(members, generator))) == sum(n - n % 2 for n in size.values())
    assert all((b, a) in of(pairs) for pairs in [random_pairs(members, generator)] for a, b in of(pairs))
    assert len(of(all_to_all(members, generator))) == sum(n * (n - 1) for n in size.values())


def test_a_permutation_is_one_cycle() -> None:
    following = dict(of(permutation(grouped([0] * 50), np.random.default_rng(0))))
    at, seen = 0, 0
    while seen == 0 or at != 0:
        at, seen = following[at], seen + 1
    assert seen == 50


@given(groups=any_groups(), seed=st.integers(0, 5))
@few
def test_cross_leaf_leaves_the_leaf_and_every_port_sends_and_receives_once(groups: list[int], seed: int) -> None:
    pairs = cross_leaf(grouped(groups), np.random.default_rng(seed))
    assert (pairs.source // 4 != pairs.target // 4).all()
    assert len(set(pairs.source.tolist())) == len(set(pairs.target.tolist())) == len(pairs.source)
    if not len(groups) % 4 and set(groups) == {0} and len(groups) > 4:
        assert len(pairs.source) == len(groups)


def test_incast_has_so_many_senders_to_one() -> None:
    pairs = incast(4)(grouped([0] * 23), np.random.default_rng(0))
    counts = np.unique(pairs.target, return_counts=True)[1].tolist()
    assert sorted(counts) == [2, 4, 4, 4, 4]  # 23 GPUs: four sets of five, and one of three
    assert not set(pairs.source.tolist()) & set(pairs.target.tolist())


def test_a_ring_runs_over_domains_one_for_each_place() -> None:
    # Domains of two: 0 1 | 2 3 | 4 5. The i-th of a domain sends to the i-th of the next.
    assert of(ring(grouped([0] * 6), np.random.default_rng(0))) == [(0, 2), (1, 3), (2, 4), (3, 5), (4, 0), (5, 1)]
    # Two groups that stand across each other: GPU i of every server in group i.
    assert of(ring(grouped([0, 1] * 3), np.random.default_rng(0))) == [(0, 2), (2, 4), (4, 0), (1, 3), (3, 5), (5, 1)]
    # A group inside one domain sends nothing out; a smaller next domain is counted round.
    assert of(ring(grouped([0, 0, 1, 1, 1]), np.random.default_rng(0))) == [(0, 0), (1, 1), (2, 4), (3, 4), (4, 2)]


def test_placements() -> None:
    unit, generator = np.array([0, 0, 0, 1, 1], np.int32), np.random.default_rng(0)
    assert ranked_gpus("contiguous", 9, 2, unit, generator).tolist() == [*range(9)]
    assert ranked_gpus("spread", 9, 2, unit, generator).tolist() == [0, 1, 6, 7, 2, 3, 8, 4, 5]
    mixed = ranked_gpus("random", 9, 2, unit, generator).tolist()
    assert sorted(mixed) == [*range(9)]
    assert mixed != [*range(9)]
