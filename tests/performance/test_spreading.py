"""Spray and adaptive routing against a walk in plain Python, and against the maximum flow of networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.fabric.graph import max_flow_gbps, switch_graph
from ibplan.fabric.wiring import Wiring, wire
from ibplan.fabric.wiring_model import LEAF
from ibplan.performance import spreading
from ibplan.performance.bandwidth import bisection_gbps
from ibplan.performance.fairness import Bools
from ibplan.performance.rates import ROUTINGS, Routing, flow_rates
from ibplan.performance.routing import PortFlows
from ibplan.performance.spreading import TooManyPathsError, class_paths, spread_uses
from tests.fabric.shapes import network, plain, request
from tests.performance.nets import any_network, fabric_of, failing, few, host_flows, three_tiers, two_tiers, walked


def graph_of(w: Wiring, works: Bools) -> nx.Graph:
    """The switches with the links that work."""
    graph, names = switch_graph(w), w.device_names()
    for k in np.flatnonzero(~works).tolist():
        edge = graph.edges[names[w.links.a_device[k]], names[w.links.b_device[k]]]
        edge["links"] -= 1
        edge["capacity_gbps"] -= edge["gbps"]
    return graph


@given(case=failing(), seed=st.integers(0, 9))
@few
def test_spray_loads_every_bundle_as_a_walk_from_switch_to_switch_does(case: tuple[Wiring, Bools], seed: int) -> None:
    w, works = case
    fabric, flows = fabric_of(w, works), host_flows(w, seed, works)
    away = np.flatnonzero(flows.source_leaf != flows.target_leaf)
    ends = [(int(flows.source_leaf[i]), int(flows.target_leaf[i])) for i in away]
    pairs = sorted(set(ends))
    classes = fabric.network.switch_class
    source, target = (classes[[pair[side] for pair in pairs]].astype(np.int32) for side in range(2))
    found = class_paths(fabric.network, fabric.reach, source, target, fabric.bundles)
    bundles = {int(key): number for number, key in enumerate(fabric.bundles.key)}
    for number, pair in enumerate(pairs):
        mine = found.pair == number
        load = np.zeros(len(bundles))
        for row, share in zip(found.bundles[mine], found.share[mine], strict=True):
            np.add.at(load, row[row >= 0], share)
        wanted = np.zeros(len(bundles))
        for resource, share in walked(w, works, *pair).items():
            link, up = resource % len(w.links), resource < len(w.links)
            near, far = w.links.a_device[link], w.links.b_device[link]
            a, b = (near, far) if up else (far, near)
            wanted[bundles[int(classes[a]) * fabric.network.class_count + int(classes[b])]] += share
        assert load == pytest.approx(wanted)


@given(case=failing(), seed=st.integers(0, 9))
@few
def test_uses_hold_both_ports_and_every_bundle_once(case: tuple[Wiring, Bools], seed: int) -> None:
    w, works = case
    fabric, flows = fabric_of(w, works), host_flows(w, seed, works)
    rates = flow_rates(fabric, flows, "spray", np.random.default_rng(0))
    for i in range(len(flows)):
        a, b = int(flows.source_leaf[i]), int(flows.target_leaf[i])
        assert rates.path[i] == (a == b or bool(walked(w, works, a, b)))
    assert (rates.gbps[rates.path] > 0).all()
    assert (rates.gbps[~rates.path] == 0).all()


def halves(w: Wiring) -> tuple[list[int], list[int]]:
    """The leaves of the first fabric in two halves, whole pods together where there are several."""
    leaves = [int(i) for i in w.of_kind("leaf") if w.devices.fabric[i] == 0]
    pods = sorted({int(w.devices.pod[i]) for i in leaves})
    if len(pods) > 1 and pods[0] >= 0:
        first = [i for i in leaves if int(w.devices.pod[i]) in pods[: len(pods) // 2]]
        return first, [i for i in leaves if i not in first]
    return leaves[::2], leaves[1::2]


def across(w: Wiring, sources: list[int], targets: list[int]) -> PortFlows:
    """From port i of the hosts below some leaves to port i below others."""
    hosts = np.flatnonzero(w.devices.kind[w.links.b_device] < LEAF)
    out, into = (hosts[np.isin(w.links.a_device[hosts], leaves)] for leaves in (sources, targets))
    count = min(len(out), len(into))
    out, into = out[:count].astype(np.int32), into[:count].astype(np.int32)
    leaf = w.links.a_device
    place = (np.arange(count) % 7).astype(np.int32)
    return PortFlows(out, into, leaf[out], leaf[into], place)


@given(case=st.one_of(failing(), any_network()), routing=st.sampled_from(ROUTINGS))
@few
def test_no_routing_beats_the_maximum_flow(case: tuple[Wiring, Bools] | None, routing: Routing) -> None:
    if case is None:
        return
    w, works = case
    sources, targets = halves(w)
    flows, names = across(w, sources, targets), w.device_names()
    if not len(flows):
        return
    rates = flow_rates(fabric_of(w, works), flows, routing, np.random.default_rng(0), parts=2, epochs=2)
    limit = max_flow_gbps(graph_of(w, works), [names[i] for i in sources], [names[i] for i in targets])
    assert rates.gbps.sum() <= limit * (1 + 1e-9)


@pytest.mark.parametrize("w", [two_tiers(8, 4, 4), two_tiers(6, 8, 4), two_tiers(4, 4, 2, 2), three_tiers(4, 4, 4, 2)])
@pytest.mark.parametrize("routing", ["adaptive", "spray"])
def test_spreading_reaches_the_bisection(w: Wiring, routing: Routing) -> None:
    """Even splitting carries any traffic as well as a fat tree can (Yuan and others, SIGMETRICS 2007)."""
    flows = across(w, *halves(w))
    rates = flow_rates(fabric_of(w), flows, routing, np.random.default_rng(0))
    assert rates.gbps.sum() == pytest.approx(float(bisection_gbps(w.network)))


def up_and_down(w: Wiring, works: Bools, a: int, b: int) -> float:
    """The maximum flow from the ports of one leaf to those of another over paths that go up, then down."""
    flow, kind = nx.DiGraph(), w.devices.kind
    gbps = [c.gbps for c in w.classes]
    hosts = np.flatnonzero((w.links.a_device == a) & (kind[w.links.b_device] < LEAF))
    ports = sum(gbps[c] for c in w.links.link_class[hosts])
    flow.add_edge("from", (a, "up"), capacity=ports)
    flow.add_edge((b, "down"), "to", capacity=ports)
    for k in np.flatnonzero(works & (kind[w.links.b_device] >= LEAF)).tolist():
        lower, upper, capacity = int(w.links.a_device[k]), int(w.links.b_device[k]), gbps[w.links.link_class[k]]
        for near, far in (((lower, "up"), (upper, "up")), ((upper, "down"), (lower, "down"))):
            before = flow.get_edge_data(near, far, {"capacity": 0})["capacity"]
            flow.add_edge(near, far, capacity=before + capacity)
        flow.add_edge((upper, "up"), (upper, "down"))  # without a limit
    return float(nx.maximum_flow_value(flow, "from", "to"))


@given(data=st.data())
@few
def test_adaptive_routing_reaches_the_maximum_flow_between_two_leaves(data: st.DataObject) -> None:
    """Whatever has failed, all ports of one leaf together get to another what a maximum flow gives."""
    w = data.draw(st.sampled_from([two_tiers(4, 6, 6), two_tiers(4, 4, 2, 2), three_tiers(2, 4, 4, 4)]))
    leaves = w.of_kind("leaf").tolist()
    between = np.flatnonzero(w.devices.kind[w.links.b_device] >= LEAF)
    works = np.ones(len(w.links), bool)
    works[data.draw(st.lists(st.sampled_from(between.tolist()), max_size=8))] = False
    a, b = leaves[0], leaves[-1]
    best = up_and_down(w, works, a, b)
    rates = flow_rates(fabric_of(w, works), across(w, [a], [b]), "adaptive", np.random.default_rng(0))
    assert rates.gbps.sum() <= best * (1 + 1e-9)
    if best and rates.path.any():
        assert rates.gbps.sum() >= 0.99 * best


def test_adaptive_routing_moves_away_from_a_lost_twin_link_and_spray_does_not() -> None:
    # Two leaves with eight hosts, two spines with four links to each; one of the links down from a spine is lost.
    # Evenly split, the three that are left bound both halves: 2 x 300. By load 300 + 400.
    w = wire(network(request(16, 1, plain(16, 100), down=100, tiers=2, min_spines=2)))
    a, b = w.of_kind("leaf").tolist()
    works = np.ones(len(w.links), bool)
    works[np.flatnonzero((w.links.a_device == b) & (w.links.b_device == w.of_kind("spine")[0]))[0]] = False
    fabric, flows = fabric_of(w, works), across(w, [a], [b])
    assert flow_rates(fabric, flows, "spray", np.random.default_rng(0)).gbps.sum() == pytest.approx(600.0)
    assert flow_rates(fabric, flows, "adaptive", np.random.default_rng(0)).gbps.sum() == pytest.approx(700.0)


def test_more_paths_than_can_be_followed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "MOST_PATHS", 3)
    w = two_tiers(4, 4, 4)
    with pytest.raises(TooManyPathsError):
        flow_rates(fabric_of(w), host_flows(w, 1), "spray", np.random.default_rng(0))


def test_weights_of_a_flow_over_its_bundles_add_up_by_hop() -> None:
    w = three_tiers(4, 4, 4, 4)
    works = np.ones(len(w.links), bool)
    works[np.flatnonzero(w.devices.kind[w.links.b_device] == 4)[:3]] = False
    fabric = fabric_of(w, works)
    source, target = (fabric.network.switch_class[w.of_kind("leaf")[[i]]].astype(np.int32) for i in (0, 15))
    found = class_paths(fabric.network, fabric.reach, source, target, fabric.bundles)
    flows = across(w, [int(w.of_kind("leaf")[0])], [int(w.of_kind("leaf")[15])])
    uses = spread_uses(fabric.network, flows, np.zeros(len(flows), np.int32), found)
    assert uses.weight is not None
    assert np.bincount(uses.flow, uses.weight) == pytest.approx(np.full(4, 6.0))  # two ports and four hops
