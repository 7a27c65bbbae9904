"""Lengths ordered, by hand, and what reaches how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.catalog.entries import Cable
from ibplan.errors import Unbuildable
from ibplan.parts.chosen import LinkParts
from ibplan.parts.lengths import longest_run_m, ordered_m, reaches, with_orders
from ibplan.parts.links import DeviceLoad, LinkClass, LinkEnd, LinkKind
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import MediumChoice, choose_parts
from tests.plan.planning import catalog, with_prices


@cache
def book() -> PartsBook:
    return PartsBook.of(catalog(), "compatible")


def link(near: tuple[str, int], far: tuple[str, int], gbps: int = 400, kind: LinkKind = "server-leaf") -> LinkClass:
    ends = [LinkEnd(t, c, n, (DeviceLoad(4, 2),)) for t, (c, n) in zip(("leaf", "server"), (near, far), strict=True)]
    return LinkClass(kind, gbps, ends[0], ends[1], 2)


SWITCHES = link(("ndr-osfp", 2), ("ndr-osfp", 2), kind="leaf-spine")
SLOW = link(("eth-sfp28", 1), ("nic-sfp28", 1), 25)


def chosen(
    wanted: LinkClass, medium: MediumChoice, longest_m: float | None, using: PartsBook | None = None
) -> LinkParts:
    return choose_parts(using or book(), wanted, "infiniband", medium, None, longest_m)


def cable(name: str) -> Cable:
    return catalog().cables[name]


@pytest.mark.parametrize(
    ("name", "run_m", "length_m"),
    [
        ("nvidia-mfp7e10", 0.4, 3),  # NVIDIA sells 3, 5, 7, 10, 15, 20, 30 and 50 m
        ("nvidia-mfp7e10", 7, 7),
        ("nvidia-mfp7e10", 7.1, 10),
        ("nvidia-mfp7e10", 30.1, 50),
        ("nvidia-mfp7e10", 50.1, None),
        ("nvidia-mcp4y10", 1.2, 1.5),
        ("fs-mtp12-om4-trunk", 7.1, 8),  # made to order, in whole metres
        ("fs-mtp12-om4-trunk", 8, 8),
        ("fs-mtp12-om4-trunk", 0, 1),
        ("nvidia-mfp7e40", 7, None),  # nobody states its lengths
    ],
)
def test_the_shortest_length_that_covers_the_run(name: str, run_m: float, length_m: float | None) -> None:
    assert ordered_m(cable(name), run_m) == length_m


@given(st.integers(1, 1000), st.sampled_from(sorted(catalog().cables)))
def test_a_length_covers_its_run_and_none_shorter_does(tenths: int, name: str) -> None:
    run_m, entry = tenths / 10, cable(name)
    length = ordered_m(entry, run_m)
    if length is None:
        assert entry.order_step_m is None
        assert all(sold < run_m for sold in entry.lengths_m)
        return
    assert length >= run_m
    if entry.order_step_m is None:
        assert not [sold for sold in entry.lengths_m if run_m <= sold < length]
    else:
        assert length - entry.order_step_m < run_m


def test_what_reaches() -> None:
    assert reaches(cable("nvidia-mfp7e10"), 50, 50)
    assert not reaches(cable("nvidia-mfp7e10"), 31, 40)  # 50 m would be bought, and the signal ends at 40
    assert reaches(cable("nvidia-mfp7e40"), 50, 50)  # lengths unknown: what the signal passes
    assert not reaches(cable("nvidia-mfp7e40"), 50.1, 50)
    assert not reaches(cable("nvidia-mcp4y10"), 2.1, None)  # the longest sold is 2 m
    assert reaches(cable("fs-mtp12-om4-trunk"), 49.2, 50)
    assert not reaches(cable("fs-mtp12-om4-trunk"), 49.2, 49.5)  # whole metres
    assert [longest_run_m(cable(n), 40) for n in ("nvidia-mfp7e10", "fs-mtp12-om4-trunk", "nvidia-mfp7e40")] == [
        30,
        40,
        40,
    ]


@pytest.mark.parametrize(
    ("longest_m", "medium", "recipe"),
    [
        (None, "multimode", "ndr400-sw-sw-mmf"),
        (49, "multimode", "ndr400-sw-sw-mmf"),
        (None, "optical", "ndr400-sw-sw-smf100"),  # a compatible DR8 module costs less than the SR8 one
        (51, "optical", "ndr400-sw-sw-smf100"),
        (101, "optical", "ndr400-sw-sw-smf500"),
        (501, "optical", "ndr400-sw-sw-fr4"),
        (1, "copper", "ndr400-sw-sw-dac"),
        (2.1, "copper", "ndr400-sw-sw-lacc"),
        (5, "copper", "ndr400-sw-sw-lacc"),
        # Nobody prices NDR copper, so `auto` stays with what has a price.
        (1, "auto", "ndr400-sw-sw-smf100"),
    ],
)
def test_the_decision_table_of_the_optics_notes(longest_m: float | None, medium: MediumChoice, recipe: str) -> None:
    parts = chosen(SWITCHES, medium, longest_m)
    assert parts.recipe is not None
    assert parts.recipe.id == recipe
    assert parts.longest_m == longest_m


def test_auto_takes_copper_as_far_as_it_is_cheaper_and_reaches() -> None:
    priced = PartsBook.of(with_prices({"nvidia-mcp4y10": 300, "nvidia-mca4j80": 600}), "compatible")
    by_run = {m: chosen(SWITCHES, "auto", m, priced) for m in (1.0, 2.0, 2.1, 5.0, 5.1, 60.0)}
    assert [p.recipe.medium for p in by_run.values() if p.recipe] == [
        "passive_copper",
        "passive_copper",
        "active_copper",
        "active_copper",
        "single_mode",
        "single_mode",
    ]
    dear = PartsBook.of(with_prices({"nvidia-mcp4y10": 30000}), "compatible")
    assert chosen(SWITCHES, "auto", 1.0, dear).recipe == chosen(SWITCHES, "optical", 1.0).recipe


def test_auto_without_a_layout_does_not_take_what_may_be_too_short() -> None:
    priced = PartsBook.of(with_prices({"nvidia-mcp4y10": 300}), "compatible")
    assert chosen(SWITCHES, "auto", None, priced).recipe == chosen(SWITCHES, "optical", None).recipe


def test_auto_without_a_layout_still_joins_twisted_pair() -> None:
    parts = choose_parts(book(), link(("eth-rj45", 1), ("bmc-rj45", 1), 1), "ethernet", "auto")
    assert parts.cable is not None
    assert parts.cable.entry.id == "generic-cat6"


def test_a_run_that_nothing_covers_is_refused_with_both_lengths() -> None:
    with pytest.raises(Unbuildable) as caught:
        chosen(SWITCHES, "copper", 5.1)
    (reason,) = caught.value.reasons
    assert (reason.code, reason.need, reason.have) == ("run-too-long", 6, 5)
    assert reason.text == (
        "leaf-spine links of 400 Gb/s: the longest run is 5.1 m, but copper parts cover 5 m at most (ndr400-sw-sw-lacc)"
    )


def with_runs(parts: LinkParts, runs: Sequence[tuple[float | None, int]]) -> list[tuple[float | None, int]]:
    return [(order.length_m, order.count) for order in with_orders(parts, book(), runs).orders]


def test_cables_of_one_length_are_one_order() -> None:
    parts = chosen(SWITCHES, "multimode", 20.0)
    assert parts.cables == 8
    assert with_runs(parts, [(3.2, 2), (19.9, 1), (3.9, 3), (None, 2)]) == [(4, 5), (20, 1), (None, 2)]
    with pytest.raises(ValueError, match="runs of 7 cables for 8"):
        with_runs(parts, [(3.2, 7)])


def test_a_short_run_takes_the_least_length_that_the_link_allows() -> None:
    # ndr400-sw-sw-smf100: at least 2 m of fibre.
    parts = chosen(SWITCHES, "single_mode", 0.5)
    assert parts.recipe is not None
    assert parts.recipe.min_length_m == 2
    assert with_runs(parts, [(0.5, 8)]) == [(2, 8)]


def test_a_cable_has_the_price_of_its_length() -> None:
    # The book: 25G DAC of 1 m $33, of 5 m $71; both stand for shorter ones, too.
    parts = choose_parts(book(), SLOW, "ethernet", "copper", None, 5.0)
    orders = with_orders(parts, book(), [(0.9, 3), (1.5, 4), (5.0, 1)]).orders
    assert [(o.length_m, o.offer.usd) for o in orders] == [(1, Decimal(33)), (2, Decimal(71)), (5, Decimal(71))]


def test_parts_without_a_recipe_stay_as_they_are() -> None:
    unknown = LinkParts(replace(SWITCHES, a=replace(SWITCHES.a, cage_class=None)), None)
    assert with_orders(unknown, book(), [(1.0, 8)]) == unknown
