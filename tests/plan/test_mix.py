"""Load balancing and job mixes of whole designs."""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO

import pytest

from ibplan.performance.job_traffic import JobKind
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.interconnect import balancing_of
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.mix import design_mix_demand
from ibplan.spec.load import load_spec
from tests.plan.planning import catalog


def design(text: str) -> Evaluated:
    _, evaluated = make_evaluated_plan(load_spec("-", (), stdin=BytesIO(text.encode())), catalog())
    return next(iter(evaluated.values()))


POD = "servers: 128\nserver: nvidia-hgx-h100\n"


@pytest.mark.parametrize(
    ("fabric", "switch", "scheme"),
    [
        ("infiniband", "nvidia-qm9700", "adaptive"),
        ("roce", "nvidia-sn5610", "spray"),
        ("roce", "arista-7060x6-64pe", "ecmp"),
    ],
)
def test_the_figure_of_a_design(fabric: str, switch: str, scheme: str) -> None:
    found = balancing_of(design(f"{POD}fabrics: {fabric}\nnetwork: {{switch: {switch}}}\n"))
    assert found.scheme == scheme
    assert (found.mean < 1) == (scheme == "ecmp")
    if scheme == "ecmp":
        # 800G uplinks for ports of 400G, four flows of a pair: between the published bands of one and of 16 flows.
        assert (found.flows, found.basis) == (4, "interpolated")
        assert 0.6 < found.mean < 0.95


def test_a_job_mix_on_a_design() -> None:
    two_tiers = design(f"{POD}fabrics: infiniband\nnetwork: {{switch: nvidia-qm9700}}\n")
    jobs = (JobKind(1024, Fraction(1, 2)), JobKind(256, Fraction(1, 2)))
    found = design_mix_demand(two_tiers, jobs)
    assert found.leaf.bearable == Fraction(1023, 768)  # units of 32 servers hold the small jobs
    assert found.pod.bearable is None  # one pod
    assert design_mix_demand(two_tiers, jobs, "ring").leaf.bearable == 32
