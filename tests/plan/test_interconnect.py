from __future__ import annotations

import pytest

from ibplan.performance.interconnect import Interconnect
from ibplan.plan.interconnect import balancing_of, interconnect_of
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.resolve import resolve
from tests.plan.planning import COMPUTE_ONLY, catalog, loaded


def _nets(text: str) -> dict[str, tuple[Interconnect, float]]:
    spec = loaded(text + COMPUTE_ONLY)
    server = resolve(spec, catalog()).server
    _, evaluated = make_evaluated_plan(spec, catalog())
    return {name: (interconnect_of(e, server), balancing_of(e).worst) for name, e in evaluated.items()}


def test_a_gpu_has_its_nic_its_domain_and_its_unit() -> None:
    nets = _nets("gpus: 1024\nnetwork: {switch: nvidia-qm9700}\nfabrics: infiniband\n")
    ((net, _),) = nets.values()
    assert (net.domain_gpus, net.domain_gbytes_per_s, net.domain_generation) == (8, 450, "nvlink4")
    assert net.nic_gbytes_per_s == 50
    assert net.leaf_gpus == 32 * 8  # a unit of 32 servers
    assert net.latency_us == pytest.approx(3.7)
    assert net.in_network_reduction


def test_what_crosses_spines_keeps_the_ratio_times_the_worst_flow() -> None:
    nets = _nets("gpus: 1024\nnetwork: {switch: nvidia-qm9700, oversubscription: 4:1}\nfabrics: infiniband\n")
    for net, worst in nets.values():
        assert net.spine_share == pytest.approx(worst / 4, rel=0.02)


def test_one_switch_has_no_spine() -> None:
    nets = _nets("gpus: 32\nnetwork: {switch: nvidia-qm9700}\nfabrics: infiniband\n")
    assert all(net.leaf_gpus == 32 and net.spine_share == 1 for net, _ in nets.values())


def test_rails_apart_are_joined_in_the_domain_only() -> None:
    nets = _nets("gpus: 512\nnetwork: {rail_only: true, switch: nvidia-qm9700}\nfabrics: infiniband\n")
    assert all(not net.cross_rail for net, _ in nets.values())


def test_ethernet_does_not_sum_in_its_switches() -> None:
    nets = _nets("gpus: 256\nfabrics: roce\n")
    assert nets
    assert not any(net.in_network_reduction for net, _ in nets.values())
