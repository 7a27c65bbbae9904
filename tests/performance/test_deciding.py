"""What decides the time of a collective: parts that add up, and the rules held against them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.performance.collective_group import group_of
from ibplan.performance.collectives import Collective, all_reduce_s, all_to_all_s, times
from ibplan.performance.deciding import Call, field_rules, half_speed_bytes, time_parts
from tests.performance.test_collectives import GIB, H100

CONGESTED = replace(H100, spine_share=0.25)
kinds: list[Collective] = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send"]


@given(st.sampled_from(kinds), st.floats(1, 1e11), st.sampled_from([(2, 1), (8, 8), (64, 8), (1024, 8), (128, 1)]))
def test_parts_add_up_to_the_time(kind: Collective, size: float, group: tuple[int, int]) -> None:
    call = Call(kind, size, *group, count=3)
    parts = time_parts([call], CONGESTED)
    whole = group_of(size, *group, CONGESTED, None)
    assert parts.total_s == pytest.approx(3 * min(float(t) for t in times(kind, whole).values()))
    assert min(parts.latency_s, parts.bandwidth_s, parts.congestion_s) >= -1e-15


def test_small_messages_are_decided_by_latency_large_ones_by_bandwidth_crowded_ones_by_congestion() -> None:
    assert time_parts([Call("all_reduce", 8192, 64, 8)], H100).decides == "latency"
    assert time_parts([Call("all_reduce", 8 * GIB, 64, 8)], H100).decides == "bandwidth"
    assert time_parts([Call("all_to_all", GIB, 2048, 8)], CONGESTED).decides == "congestion"
    assert time_parts([Call("all_to_all", GIB, 2048, 8)], H100).congestion_s == 0


def test_an_empty_message_is_all_latency_and_no_message_is_nothing() -> None:
    assert time_parts([Call("all_reduce", 0, 64, 8)], H100).share("latency") == 1
    alone = time_parts([Call("all_reduce", GIB, 1, 1)], H100)
    assert (alone.total_s, alone.decides, alone.share("latency")) == (0, None, None)
    assert time_parts([], H100).decides is None


def test_half_speed_is_where_a_straight_line_has_its_latency_twice() -> None:
    call = Call("all_reduce", 8 * GIB, 16, 1)
    half = half_speed_bytes(call, H100)
    assert half is not None
    latency_s = time_parts([replace(call, size_bytes=0)], H100)
    ring = all_reduce_s([0, half], 16, 1, H100, algorithms=("ring/simple",))
    assert ring[1] == pytest.approx(2 * ring[0])
    assert latency_s.total_s <= ring[0]
    assert half_speed_bytes(replace(call, size_bytes=0), H100) is None


def test_unknown_links_leave_it_unknown() -> None:
    unknown = replace(H100, domain_gbytes_per_s=None)
    parts = time_parts([Call("all_reduce", GIB, 64, 8)], unknown)
    assert np.isnan(parts.total_s)
    assert parts.decides is None
    rules = field_rules("training", [Call("all_reduce", GIB, 64, 8)], unknown)
    assert {rule.holds for rule in rules} == {None}
    assert "not known" in rules[0].numbers


def test_rules_are_held_against_the_job() -> None:
    rings, exchange = Call("all_reduce", 4 * GIB, 1024, 8), Call("all_to_all", GIB, 1024, 8, count=10)
    found = {rule.rule: rule for rule in field_rules("training", [rings, exchange], CONGESTED)}
    assert found["Training sends large messages, so bandwidth decides"].holds is False
    assert found["Rings, trees and neighbours do not feel oversubscribed spines"].holds is True
    crowded = found["All-to-all does not feel the spines"]
    assert crowded.holds is False
    free_s, taken_s = all_to_all_s(GIB, 1024, 8, H100), all_to_all_s(GIB, 1024, 8, CONGESTED)
    assert f"congestion {1 - free_s / taken_s:.0%}" in crowded.numbers
    decode = field_rules("inference", [Call("all_reduce", 65536, 8, 8, count=160)], H100)
    assert [rule.holds for rule in decode] == [True, True]
    assert field_rules("training", [], H100)[0].numbers == "nothing is sent"
