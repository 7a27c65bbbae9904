"""Injection, bisection and bandwidth of a GPU: by hand, and against the maximum flow of a graph."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import pytest

from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import NetworkSize, build_network
from ibplan.fabric.request import FabricRequest, TierRequest
from ibplan.fabric.sizing import size_fabric
from ibplan.performance.bandwidth import bisection_gbps, injection_gbps, per_gpu_gbps
from ibplan.plan.results import Bandwidth
from tests.plan.planning import compute


def bandwidth(servers: int, network: str, server: str = "nvidia-hgx-h100", fabric: str = "infiniband") -> Bandwidth:
    text = f"servers: {servers}\nserver: {server}\nfabrics: {fabric}\nnetwork: {{{network}}}\n"
    return compute(text).bandwidth


def figures(said: Bandwidth) -> tuple[float, ...]:
    """Injection, bisection, NIC bandwidth and share of a GPU, paths between rails."""
    return said.injection_gbps, said.bisection_gbps, said.nic_gbps_per_gpu, said.per_gpu_gbps, said.cross_rail


QM9700 = "switch: nvidia-qm9700"


def test_one_switch_does_not_block() -> None:
    # 8 servers x 8 NICs x 400 = 25,600; half of them to the other half.
    assert figures(bandwidth(8, QM9700)) == (25_600, 12_800.0, 400.0, 400.0, True)


@pytest.mark.parametrize(
    # 4 servers: 16 links on each of two leaves. 1:1: 16 links between them, 2 x 6,400 / 2. 2:1: 8 links, half of it.
    ("ratio", "bisection", "per_gpu"),
    [("1:1", 6_400.0, 400.0), ("2:1", 3_200.0, 200.0)],
)
def test_two_leaves_are_bound_by_the_links_between_them(ratio: str, bisection: float, per_gpu: float) -> None:
    said = bandwidth(4, f"{QM9700}, tiers: 1, single_tier: two_leaves, oversubscription: {ratio}")
    assert figures(said) == (12_800, bisection, 400.0, per_gpu, True)


def test_two_tiers_at_one_to_one_reach_half_of_the_injection() -> None:
    # 127 x 8 x 400; the ports reserved for the fabric manager are no endpoints.
    assert figures(bandwidth(127, f"{QM9700}, reserved_ports: 4")) == (406_400, 203_200.0, 400.0, 400.0, True)


def test_two_tiers_at_two_to_one_reach_half_of_that() -> None:
    # 32 leaves with 32 down and 16 up: 32 x 6,400 / 2.
    assert figures(bandwidth(128, f"{QM9700}, oversubscription: 2:1")) == (409_600, 102_400.0, 400.0, 200.0, True)


def test_leaves_of_a_partial_unit_bring_only_what_their_servers_send() -> None:
    # 33 servers at 2:1: 8 full leaves bring 16 x 400, 8 leaves with one server 400 each: (51,200 + 3,200) / 2.
    said = bandwidth(33, f"{QM9700}, oversubscription: 2:1")
    assert (said.injection_gbps, said.bisection_gbps) == (33 * 8 * 400, 27_200.0)
    # What is left of the 400 when all send: 2 x 27,200 of 105,600.
    assert said.per_gpu_gbps == pytest.approx(400 * 54_400 / 105_600)


def test_three_tiers_are_bound_by_the_narrower_tier() -> None:
    # 16 pods of 32 leaves and 32 spines; a spine has 32 down, at 2:1 16 up: 16 x 32 x 16 x 400 / 2.
    said = bandwidth(2048, f"{QM9700}, oversubscription: {{leaf: 1:1, spine: 2:1}}")
    assert figures(said) == (6_553_600, 1_638_400.0, 400.0, 200.0, True)
    # Leaves at 4:1 have 8 up, so a pod has 8 spines with 16 up: 16 x 8 x 16 x 400 / 2, a half of what its leaves bring.
    said = bandwidth(2048, f"{QM9700}, oversubscription: {{leaf: 4:1, spine: 2:1}}")
    assert figures(said) == (6_553_600, 409_600.0, 400.0, 50.0, True)


def test_planes_add_up() -> None:
    # A DGX B300 on Ethernet: 8 NICs x 2 x 400G, one port on each plane; 800 Gb/s for each of 8 GPUs.
    said = bandwidth(16, "switch: nvidia-sn5610, planes: 2", "nvidia-dgx-b300", "roce")
    assert figures(said) == (102_400, 51_200.0, 800.0, 800.0, True)


def test_separate_rails_add_up_and_do_not_cross() -> None:
    # 8 rails, each a switch with 64 ports: 8 x 64 x 400 / 2.
    assert figures(bandwidth(64, f"{QM9700}, rail_only: true")) == (204_800, 102_400.0, 400.0, 400.0, False)
    assert bandwidth(64, f"{QM9700}, rail_only: false").cross_rail


def test_attached_hosts_inject_but_a_gpu_gets_no_more_than_its_nics() -> None:
    text = """
servers: 32
server: nvidia-hgx-h100
fabrics: infiniband
attached: [{name: storage, servers: 8, ports: 1, port_gbps: 400, cage_class: nic-osfp-400}]
network: {switch: nvidia-qm9700}
"""
    said = compute(text).bandwidth
    assert said.injection_gbps == (256 + 8) * 400
    assert said.bisection_gbps == (256 + 8) * 400 / 2
    assert said.per_gpu_gbps == 400.0


def test_two_gpus_that_share_a_nic_share_its_bandwidth() -> None:
    # Pain 12: half the NICs, half the bandwidth for a GPU.
    text = """
servers: 8
server: {gpus: 8, nics: 4, port_gbps: 400, cage_class: nic-osfp-400}
fabrics: infiniband
network: {switch: nvidia-qm9700}
"""
    assert figures(compute(text).bandwidth) == (12_800, 6_400.0, 200.0, 200.0, True)


def plain(ports: int) -> Geometry:
    return Geometry(f"{ports} ports", (CageSet(ports, (Mode(100, 1),), "plain"),))


def fabric(servers: int, ports: int, tiers: int, leaf: Fraction, spine: Fraction) -> NetworkSize:
    """Servers with one port of 100G on switches with `ports` ports."""
    switch = plain(ports)
    request = FabricRequest(
        servers,
        1,
        TierRequest(switch, 100, 100, leaf),
        TierRequest(switch, 100, 100, spine),
        switch,
        tiers=tiers,  # type: ignore[arg-type]
        partial_units="packed",
    )
    end = HostEnd("plain", 1)
    return build_network(request, size_fabric(request), 1, server=end, server_ports=1)


def graph_of(network: NetworkSize) -> tuple[nx.Graph, list[list[str]]]:
    """Leaves with what they inject, spines and cores; the leaves of every pod."""
    graph, size, pods = nx.Graph(), network.fabric, []
    for load_of_pod in size.pods:
        for _ in range(load_of_pod.count):
            pod = len(pods)
            names: list[str] = []
            for load in load_of_pod.leaves:
                for _ in range(load.count):
                    leaf = f"leaf {pod} {len(names)}"
                    names.append(leaf)
                    graph.add_node(leaf, injects=load.servers * 100)
                    each, rest = divmod(load.uplinks, load_of_pod.spines)
                    assert rest == 0
                    for spine in range(load_of_pod.spines):
                        graph.add_edge(leaf, f"spine {pod} {spine}", capacity=each * 100)
            pods.append(names)
            if size.core is not None:
                each = load_of_pod.uplinks // size.core.per_group
                for spine in range(load_of_pod.spines):
                    for core in range(size.core.per_group):
                        far = f"core {spine % size.core.groups} {core}"
                        graph.add_edge(f"spine {pod} {spine}", far, capacity=each * 100)
    return graph, pods


def greatest_flow(network: NetworkSize) -> int:
    """The flow from one half of the pods (of the leaves, if there is one pod) to the other."""
    graph, pods = graph_of(network)
    groups = pods if len(pods) > 1 else [[leaf] for leaf in pods[0]]
    assert len(groups) % 2 == 0
    for side, chosen in (("from", groups[: len(groups) // 2]), ("to", groups[len(groups) // 2 :])):
        for leaf in (name for group in chosen for name in group):
            graph.add_edge(side, leaf, capacity=graph.nodes[leaf]["injects"])
    value, _ = nx.maximum_flow(graph, "from", "to")
    return int(value)


EVEN = [(8, 8), (16, 8), (32, 8), (36, 12), (72, 12), (32, 16)]


@pytest.mark.parametrize(
    ("servers", "ports", "ratio"),
    [*((n, p, r) for n, p in EVEN for r in ("1", "2", "3")), (8, 8, "1/2"), (16, 8, "1/2"), (30, 16, "1/2")],
)
def test_bisection_of_two_tiers_is_the_greatest_flow_between_halves(servers: int, ports: int, ratio: str) -> None:
    network = fabric(servers, ports, 2, Fraction(ratio), Fraction(1))
    assert bisection_gbps(network) == greatest_flow(network)
    assert injection_gbps(network) == servers * 100


@pytest.mark.parametrize("spine", ["1", "2", "4"])
@pytest.mark.parametrize("leaf", ["1", "2"])
@pytest.mark.parametrize(("servers", "ports"), [(64, 8), (32, 8), (128, 8), (144, 12)])
def test_bisection_of_three_tiers_is_the_greatest_flow_between_pods(
    servers: int, ports: int, leaf: str, spine: str
) -> None:
    network = fabric(servers, ports, 3, Fraction(leaf), Fraction(spine))
    assert sum(pod.count for pod in network.fabric.pods) % 2 == 0
    assert bisection_gbps(network) == greatest_flow(network)


def test_a_gpu_never_gets_more_than_its_nics_bring() -> None:
    # Twice as many uplinks as downlinks do not speed the NICs up.
    network = fabric(16, 8, 2, Fraction(1, 2), Fraction(1))
    assert per_gpu_gbps(network, Fraction(100)) == 100
    network = fabric(16, 8, 2, Fraction(2), Fraction(1))
    assert per_gpu_gbps(network, Fraction(100)) == 50
