"""Graph algorithms that we did not write, on wirings, against the closed forms; and what the writers write."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from math import prod

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.fabric.graph import full_graph, graphml, max_flow_gbps, min_cut_links, node_link, switch_graph
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import Attached, FabricRequest
from ibplan.fabric.wiring import Wiring, wire
from ibplan.performance.bandwidth import bisection_gbps
from tests.fabric.shapes import QM8700, SN5600, built, network, plain, property_settings, request, requests
from tests.fabric.test_wiring import wired


def leaves(w: Wiring, fabric: int = 0) -> list[str]:
    return [w.device_name(int(i)) for i in w.of_kind("leaf") if w.devices.fabric[i] == fabric]


def halves(w: Wiring, fabric: int) -> tuple[list[str], list[str]] | None:
    """The leaves of a fabric in two halves that are alike, whole pods together; None if there are none."""
    sized, mine = w.network.fabric, leaves(w, fabric)
    loads = {replace(load, count=1) for pod in sized.pods for load in pod.leaves}
    pods = sum(pod.count for pod in sized.pods)
    if len(loads) > 1 or len({(p.spines, p.leaf_count) for p in sized.pods}) > 1 or not any(x.servers for x in loads):
        return None
    if sized.tiers == 3 and pods > 1:
        if pods % 2:
            return None
        of_pod = {w.device_name(int(i)): int(w.devices.pod[i]) for i in w.of_kind("leaf")}
        return [n for n in mine if of_pod[n] < pods // 2], [n for n in mine if of_pod[n] >= pods // 2]
    return None if len(mine) % 2 else (mine[::2], mine[1::2])


def flows(w: Wiring) -> int | None:
    """Maximum flow between the halves, summed over fabrics; None where there are no halves."""
    graph, total = switch_graph(w), 0
    for fabric in range(w.network.fabrics):
        found = halves(w, fabric)
        if found is None:
            return None
        total += max_flow_gbps(graph, *found)
    return total


PUBLISHED = [
    request(128),  # DGX H100, four units
    request(32, ratio=2, tiers=2),
    request(64, 8, SN5600, down=400, up=800, tiers=2),
    request(256, 8, tiers=3, pod_units=2),
    request(256, 8, tiers=3, pod_units=2, spine_ratio=3),
    request(140, 8, QM8700, down=200, tiers=3, second_tier="rail"),
    request(8, 2, plain(16), tiers=1, single_tier="two_leaves"),
    request(16, 4, rail_optimized=False, tiers=2),
]


@pytest.mark.parametrize("asked", PUBLISHED, ids=range(len(PUBLISHED)))
@pytest.mark.parametrize("fabrics", [1, 2])
def test_maximum_flow_is_the_bisection(asked: FabricRequest, fabrics: int) -> None:
    w = wire(network(asked, fabrics))
    assert flows(w) == bisection_gbps(w.network)


def test_halves_were_found_often_enough_for_the_property_below_to_say_something() -> None:
    assert all(halves(wire(network(asked)), 0) is not None for asked in PUBLISHED)


@given(asked=requests(extras=False), fabrics=st.sampled_from([1, 2]))
@property_settings
def test_maximum_flow_is_the_bisection_of_any_network(asked: FabricRequest, fabrics: int) -> None:
    net = built(asked)
    if net is None:
        return
    # Four full units can be halved where any number cannot.
    full = replace(asked, servers=4 * net.fabric.unit.servers) if net.fabric.tiers > 1 else asked
    w = wired((full, fabrics, fabrics, fabrics))
    if w is not None and len(w.of_kind("leaf")) <= 64 and w.network.fabric.leaf_count > 1:
        found = flows(w)
        assert found is None or found == bisection_gbps(w.network)


def pair_links(net: NetworkSize) -> int:
    (pod, *_), (load, *_) = net.fabric.pods, net.fabric.pods[0].leaves
    return load.uplinks // pod.spines


@pytest.mark.parametrize("asked", [PUBLISHED[0], PUBLISHED[1], PUBLISHED[2]], ids=["1to1", "2to1", "twins"])
def test_paths_in_two_tiers(asked: FabricRequest) -> None:
    w = wire(network(asked))
    graph, (pod,) = switch_graph(w), w.network.fabric.pods
    load = pod.leaves[0]
    a, b = leaves(w)[0], leaves(w)[-1]
    paths = list(nx.all_shortest_paths(graph, a, b))
    assert len(paths) == pod.spines
    assert {len(path) for path in paths} == {3}  # switches passed, as the latency counts them
    assert {graph.edges[a, path[1]]["links"] for path in paths} == {pair_links(w.network)}
    assert nx.diameter(graph) == 2
    assert min_cut_links(graph, a, b) == load.uplinks


@pytest.mark.parametrize("asked", [PUBLISHED[3], PUBLISHED[4]], ids=["1to1", "spines 3to1"])
def test_paths_in_three_tiers(asked: FabricRequest) -> None:
    w = wire(network(asked))
    graph, pod, core = switch_graph(w), w.network.fabric.pods[0], w.network.fabric.core
    assert core is not None
    a, b = leaves(w)[0], leaves(w)[-1]
    paths = list(nx.all_shortest_paths(graph, a, b))
    assert {len(path) for path in paths} == {5}
    # A spine has the cores of one group, and each of these the spines of the group in every pod.
    assert len(paths) == pod.spines * core.per_group * (pod.spines // core.groups)
    assert len(list(nx.all_shortest_paths(graph, a, leaves(w)[1]))) == pod.spines
    assert nx.diameter(graph) == 4
    assert min_cut_links(graph, a, b) == pod.leaves[0].uplinks


def test_cores_join_pods_evenly() -> None:
    w = wire(network(PUBLISHED[3]))
    graph, core = switch_graph(w), w.network.fabric.core
    assert core is not None
    spread = {data["links"] for a, b, data in graph.edges(data=True) if b.startswith("core") or a.startswith("core")}
    assert spread == {w.network.fabric.pods[0].uplinks // core.per_group}
    assert {sum(d["links"] for *_, d in graph.edges(n, data=True)) for n in graph if n.startswith("core")} == {
        core.ports_used
    }


def test_planes_and_rails_are_apart() -> None:
    w = wire(network(request(64, 1), fabrics=8), planes=2, ports_per_nic=2)
    assert nx.number_connected_components(switch_graph(w)) == 8
    assert nx.number_connected_components(full_graph(w)) == 1  # joined in the servers only


# --- The views and the writers ---------------------------------------------------------------------------------------


def small() -> Wiring:
    storage = (Attached("storage", 2, 2, 400),)
    return wire(network(request(24, 4, plain(16), attached=storage, reserved_total=1), fabrics=2))


def test_the_switch_view_counts_links() -> None:
    w = small()
    graph = switch_graph(w)
    assert sum(links for *_, links in graph.edges(data="links")) == sum(
        c.count for c in w.classes if c.kind == "leaf-spine"
    )
    assert sum(dict(graph.nodes(data="endpoint_gbps")).values()) == w.network.endpoints * 400
    assert all(d["capacity_gbps"] == prod((d["links"], d["gbps"])) for *_, d in graph.edges(data=True))


def test_the_full_view_has_every_link_with_both_ports() -> None:
    w = small()
    graph = full_graph(w)
    assert len(graph) == len(w.devices)
    assert graph.number_of_edges() == len(w.links)
    ends = [(d[side], d[f"port_{side}"]) for *_, d in graph.edges(data=True) for side in ("a", "b")]
    assert len(set(ends)) == 2 * len(w.links)
    assert graph.nodes["storage-001"] == {"kind": "attached"}
    assert graph.nodes["leaf-p2-001"] == {"kind": "leaf", "fabric": 2, "unit": 1, "pod": 1, "position": 1}


def test_what_is_written_can_be_read_back() -> None:
    for graph in (switch_graph(small()), full_graph(small())):
        read = nx.read_graphml(io.BytesIO(graphml(graph).encode()), force_multigraph=graph.is_multigraph())
        again = nx.node_link_graph(json.loads(node_link(graph)), edges="links")
        for other in (read, again):
            assert type(other) is type(graph)
            assert dict(other.nodes(data=True)) == dict(graph.nodes(data=True))
            assert sorted(map(str, other.edges(data="gbps"))) == sorted(map(str, graph.edges(data="gbps")))


_WRITE = """
from ibplan.fabric.graph import full_graph, graphml, node_link, switch_graph
from tests.fabric.test_graph import small
import hashlib
text = "".join(write(view(small())) for write in (graphml, node_link) for view in (switch_graph, full_graph))
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_same_wiring_gives_the_same_bytes_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", _WRITE], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
