"""Max-min fair rates: known cases, the definition itself, and progressive filling done one resource at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.performance import fairness
from ibplan.performance.fairness import Floats, Uses, max_min_rates
from tests.performance.nets import few


def uses(*flows: dict[int, float] | list[int]) -> Uses:
    """Flows by the resources that each uses, with weights or without."""
    weighted = [flow if isinstance(flow, dict) else dict.fromkeys(flow, 1.0) for flow in flows]
    flow = np.repeat(np.arange(len(flows), dtype=np.int32), [len(f) for f in weighted])
    resource = np.array([r for f in weighted for r in f], np.int32)
    plain = all(isinstance(f, list) for f in flows)
    return Uses(flow, resource, None if plain else np.array([w for f in weighted for w in f.values()]))


def test_the_textbook_line_of_links() -> None:
    # Bertsekas and Gallager, Data Networks, figure 6.11: a flow over all links of a line, and one on each.
    assert max_min_rates(uses([0, 1, 2], [0], [1], [1], [2]), np.ones(3), 5) == pytest.approx(
        [1 / 3, 2 / 3, 1 / 3, 1 / 3, 2 / 3]
    )


def test_a_share_of_a_flow_counts_for_its_weight() -> None:
    # Half of the first flow on each of two links; the second has one of them alone: r / 2 + s = 1, r = s.
    assert max_min_rates(uses({0: 0.5, 1: 0.5}, {1: 1.0}), np.ones(2), 2) == pytest.approx([2 / 3, 2 / 3])


def test_a_flow_that_uses_nothing_is_not_limited_and_one_on_a_dead_link_gets_nothing() -> None:
    assert max_min_rates(uses([], [0], [1]), np.array([0.0, 2.0]), 3).tolist() == [np.inf, 0.0, 2.0]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Uses, Floats, int]:
    resources = draw(st.integers(1, 8))
    weights = st.sampled_from([0.25, 0.5, 1.0, 1.5]) if draw(st.booleans()) else st.just(1.0)
    flow = st.dictionaries(st.integers(0, resources - 1), weights, min_size=1, max_size=4)
    flows = draw(st.lists(flow, min_size=1, max_size=20))
    capacity = draw(st.lists(st.integers(1, 6), min_size=resources, max_size=resources))
    return uses(*flows), np.array(capacity, np.float64), len(flows)


def filled_one_by_one(case: tuple[Uses, Floats, int]) -> Floats:
    """Progressive filling as it is defined: the tightest resource of all stops its flows, again and again."""
    found, capacity, count = case
    table = np.zeros((count, len(capacity)))
    table[found.flow, found.resource] = 1.0 if found.weight is None else found.weight
    rates, left, running = np.full(count, np.nan), capacity.copy(), np.ones(count, bool)
    while running.any():
        wanted = table[running].sum(axis=0)
        share = [left[r] / wanted[r] if wanted[r] > 1e-12 else np.inf for r in range(len(left))]
        tightest = int(np.argmin(share))
        stops = running & (table[:, tightest] > 0)
        rates[stops] = share[tightest]
        left -= table[stops].sum(axis=0) * share[tightest]
        running &= ~stops
    return rates


@given(case=cases(), worth=st.sampled_from([0.0, 0.03, 2.0]))
@few
def test_rounds_give_what_filling_one_by_one_gives(case: tuple[Uses, Floats, int], worth: float) -> None:
    # worth 2: every round is followed by single steps; 0: never.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fairness, "_WORTH_A_ROUND", worth)
        assert max_min_rates(*case) == pytest.approx(filled_one_by_one(case), rel=1e-7)


@given(case=cases())
@few
def test_every_flow_has_a_bottleneck(case: tuple[Uses, Floats, int]) -> None:
    """The definition: no resource is overrun, and each flow is the fastest on some full one (so it cannot gain)."""
    found, capacity, count = case
    rates = max_min_rates(found, capacity, count)
    weight = np.ones(len(found.flow)) if found.weight is None else found.weight
    load = np.bincount(found.resource, weight * rates[found.flow], len(capacity))
    assert (load <= capacity * (1 + 1e-9)).all()
    fastest = np.zeros(len(capacity))
    np.maximum.at(fastest, found.resource, rates[found.flow])
    held = (load[found.resource] >= capacity[found.resource] * (1 - 1e-7)) & (
        rates[found.flow] >= fastest[found.resource] * (1 - 1e-7)
    )
    assert set(found.flow[held].tolist()) == set(range(count))
