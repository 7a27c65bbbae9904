"""The designs that no other beats: which axis, who is compared, and the set against every pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from ibplan.plan.pareto import comparable, pareto_set
from ibplan.plan.results import Design
from tests.plan.planning import plan
from tests.plan.valued import design, performance, timed


def test_price_and_step_time_where_it_is_known() -> None:
    designs = [timed("slow", "100", 12.0), timed("fast", "300", 10.0), timed("beaten", "301", 10.5)]
    found = pareto_set(comparable(designs))
    assert (found.axes, found.designs, found.not_compared) == (("capex_usd", "step_s"), ("slow", "fast"), {})


def test_price_and_bandwidth_while_no_step_time_is_known() -> None:
    found = pareto_set(
        comparable([design("a", "100", gbps=200), design("b", "90", gbps=400), design("c", "80", gbps=50)])
    )
    assert (found.axes, found.designs) == (("capex_usd", "per_gpu_gbps"), ("c", "b"))


def test_tokens_a_second_where_the_job_answers_requests() -> None:
    found = pareto_set(
        comparable(
            [design(n, usd, None, {"tokens_per_s": rate}) for n, usd, rate in (("a", "9", 10.0), ("b", "8", 20))]
        )
    )
    assert (found.axes, found.designs) == (("capex_usd", "tokens_per_s"), ("b",))


def test_designs_without_prices_or_times_are_named_with_the_reason() -> None:
    designs = [timed("a", "100", 12.0), timed("free", "1", 1.0, priced=False), timed("unknown", "50", None)]
    found = pareto_set(comparable(designs))
    assert found.designs == ("a",)
    assert found.not_compared == {"free": "parts without a price", "unknown": "its step time is not known"}
    none = pareto_set(comparable([timed("free", "1", None, priced=False)]))
    assert (none.axes[1], none.designs) == ("per_gpu_gbps", ())
    assert pareto_set(comparable([])).designs == ()


def test_bandwidth_does_not_compare_separate_rails_with_joined_ones() -> None:
    apart, joined = design("apart", "50", cross_rail=False), design("joined", "100")
    found = pareto_set(comparable([apart, joined]))
    assert (found.designs, list(found.not_compared)) == (("joined",), ["apart"])
    assert pareto_set(comparable([apart, replace(apart, id="other")])).designs == ("apart", "other")
    timed_too = [replace(d, performance=performance({"step_s": 5.0})) for d in (apart, joined)]
    assert pareto_set(comparable(timed_too)).designs == ("apart",)  # a time knows of the rails


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=6))
def test_the_set_is_what_no_other_beats(points: list[tuple[int, int]]) -> None:
    designs = [timed(str(number), str(usd), float(time)) for number, (usd, time) in enumerate(points)]
    found = pareto_set(comparable(designs)).designs
    beaten = {
        str(a)
        for (a, (usd, time)), (_, (u, t)) in permutations(enumerate(points), 2)
        if u <= usd and t <= time and (u < usd or t < time)
    }
    assert set(found) == {d.id for d in designs} - beaten
    assert [points[int(i)] for i in found] == sorted(points[int(i)] for i in found)


def test_a_plan_carries_it() -> None:
    text = "gpus: 256\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, oversubscription: [1:1, 3:1]}\n"
    made = plan(text)
    cheap, dear = sorted(made.designs, key=lambda d: d.totals.capex_usd)
    assert made.pareto.designs == (cheap.id, dear.id)
    (step,) = made.marginal
    assert (step.design, step.against, step.verdict) == (dear.id, cheap.id, "gain")
    assert _bandwidth(dear) > _bandwidth(cheap)


def _bandwidth(found: Design) -> float:
    return found.networks.compute.bandwidth.per_gpu_gbps
