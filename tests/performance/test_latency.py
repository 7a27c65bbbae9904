"""Latency against the published points, and paths that a fabric does not have."""

from __future__ import annotations

import pytest

from ibplan.performance.latency import PathSwitches
from ibplan.plan.results import Latency
from tests.plan.planning import compute, plan

INFINIBAND = "nvidia-qm9700"
ROCE = "nvidia-sn5610"


def latency(fabric: str, switch: str, servers: int, network: str = "", server: str = "nvidia-hgx-h100") -> Latency:
    text = f"servers: {servers}\nserver: {server}\nfabrics: {fabric}\nnetwork: {{switch: {switch}{network}}}\n"
    return compute(text).latency_us


# arXiv 2505.09343, Table 5: same leaf and cross leaf, 400 Gb/s InfiniBand NDR and RoCE, in microseconds.
@pytest.mark.parametrize(
    ("fabric", "switch", "same_leaf", "cross_leaf"),
    [("infiniband", INFINIBAND, 2.8, 3.7), ("roce", ROCE, 3.6, 5.6)],
)
def test_the_published_points_are_met(fabric: str, switch: str, same_leaf: float, cross_leaf: float) -> None:
    said = latency(fabric, switch, 32, ", tiers: 2")
    assert said.same_leaf == pytest.approx(same_leaf, rel=1e-12)
    assert said.cross_leaf == pytest.approx(cross_leaf, rel=1e-12)
    assert said.cross_pod is None
    assert said.extrapolated == ()


@pytest.mark.parametrize(
    ("fabric", "switch", "cross_pod"),
    # The line through both points at five switches: 2.8 + 4 x 0.45 and 3.6 + 4 x 1.0.
    [("infiniband", INFINIBAND, 4.6), ("roce", ROCE, 7.6)],
)
def test_between_pods_the_line_is_extrapolated_and_says_so(fabric: str, switch: str, cross_pod: float) -> None:
    said = latency(fabric, switch, 1024, ", tiers: 3, uplink_gbps: 400, pod_units: 1")
    assert said.cross_pod == pytest.approx(cross_pod, rel=1e-12)
    assert said.extrapolated == ("cross_pod",)


def test_two_leaves_pass_two_switches_which_nobody_measured() -> None:
    said = latency("infiniband", INFINIBAND, 4, ", tiers: 1, single_tier: two_leaves")
    assert said.cross_leaf == pytest.approx(2.8 + 0.45, rel=1e-12)
    assert said.extrapolated == ("cross_leaf",)


def test_one_switch_has_no_second_leaf() -> None:
    said = latency("infiniband", INFINIBAND, 8)
    assert said.same_leaf == pytest.approx(2.8, rel=1e-12)
    assert (said.cross_leaf, said.cross_pod) == (None, None)


def test_one_server_has_no_path_to_another() -> None:
    said = latency("infiniband", INFINIBAND, 1)
    assert (said.same_leaf, said.cross_leaf, said.cross_pod) == (None, None, None)
    assert said.extrapolated == ()


def test_rails_apart_have_no_second_leaf() -> None:
    said = latency("infiniband", INFINIBAND, 64, ", rail_only: true")
    assert said.same_leaf == pytest.approx(2.8, rel=1e-12)
    assert said.cross_leaf is None


def test_another_port_speed_is_extrapolated_throughout() -> None:
    said = latency("infiniband", "nvidia-q3400-ra", 72, ", tiers: 2", server="nvidia-dgx-b300")
    assert said.extrapolated == ("same_leaf", "cross_leaf")


def test_plain_ethernet_has_no_measurement() -> None:
    result = plan("servers: 4\nserver: nvidia-hgx-h100\nfabrics: ethernet\nnetwork: {switch: nvidia-sn2010}\n")
    assert result.designs
    for design in result.designs:
        said = design.networks.compute.latency_us
        assert said == Latency(None, None, None, (), None, None, PathSwitches(1, None, None))
