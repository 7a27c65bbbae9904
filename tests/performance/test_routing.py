"""Paths against a walk in plain Python, balls in bins, and what destination-based routing is known for."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.fabric.request import FabricRequest
from ibplan.fabric.wiring import Wiring
from ibplan.performance.fairness import Bools
from ibplan.performance.flow_network import server_ports
from ibplan.performance.rates import flow_rates, static_paths
from ibplan.performance.routing import Pick, PortFlows, dealt_pick, random_pick, single_paths
from ibplan.performance.static_routing import static_pick
from tests.fabric.shapes import plain, request
from tests.fabric.test_wiring import wired
from tests.performance.nets import fabric_of, failing, few, host_flows, three_tiers, two_tiers, walked


def paths(w: Wiring, works: Bools, flows: PortFlows, scheme: str) -> tuple[list[list[int]], list[bool]]:
    """Resources between switches of every flow, and whether it has a path."""
    fabric = fabric_of(w, works)
    generator = np.random.default_rng(0)
    picks: dict[str, Pick] = {
        "ecmp": random_pick(generator),
        "flowlet": dealt_pick(generator, flows.source_leaf),
        "static": static_pick(fabric.network, flows, fabric.columns),
    }
    taken, path = single_paths(fabric.network, fabric.reach, flows, picks[scheme])
    assert (taken[path, 0] == flows.source_link[path] + len(w.links)).all()
    assert (taken[path, -1] == flows.target_link[path]).all()
    assert (taken[~path] == -1).all()
    return [[r for r in row if r >= 0] for row in taken[:, 1:-1].tolist()], path.tolist()


@given(case=failing(), scheme=st.sampled_from(["ecmp", "flowlet", "static"]), seed=st.integers(0, 9))
@few
def test_every_flow_walks_over_working_links_that_lead_there(
    case: tuple[Wiring, Bools], scheme: str, seed: int
) -> None:
    w, works = case
    flows = host_flows(w, seed, works)
    a, b, count = w.links.a_device, w.links.b_device, len(w.links)
    for i, (path, there) in enumerate(zip(*paths(w, works, flows, scheme), strict=True)):
        leaf, target = int(flows.source_leaf[i]), int(flows.target_leaf[i])
        open_ = walked(w, works, leaf, target)
        assert there == (leaf == target or bool(open_))
        assert set(path) <= set(open_)
        for resource in path:
            near, far = (a, b) if resource < count else (b, a)
            assert leaf == near[resource % count]
            leaf = int(far[resource % count])
        assert leaf == target or not there


@given(case=failing(), seed=st.integers(0, 9))
@few
def test_static_routing_asks_for_the_destination_alone(case: tuple[Wiring, Bools], seed: int) -> None:
    """At every switch all flows to a port leave over the same link, whoever sends them, on the way up and down."""
    w, works = case
    flows = host_flows(w, seed, works)
    chosen: dict[tuple[int, int, bool], set[int]] = defaultdict(set)
    for i, path in enumerate(paths(w, works, flows, "static")[0]):
        for resource in path:
            link, up = resource % len(w.links), resource < len(w.links)
            near = int((w.links.a_device if up else w.links.b_device)[link])
            chosen[int(flows.target_link[i]), near, up].add(resource)
    assert all(len(links) == 1 for links in chosen.values())


# Balls in bins by Monte Carlo: n flows hashed on m links; mean over the fullest link is what all get that wait for it.
# (n, m, fullest over mean, mean over fullest).
BALLS = [
    (8, 8, 2.598, 0.41),
    (16, 16, 3.073, 0.345),
    (32, 32, 3.541, 0.295),
    (64, 64, 3.961, 0.262),
    (128, 128, 4.376, 0.235),
    (32, 16, 2.42, 0.428),
    (64, 16, 1.972, 0.519),
    (128, 16, 1.669, 0.607),
    (256, 16, 1.465, 0.688),
    (1000, 16, 1.228, 0.816),  # Meta, SIGCOMM 2024, section 5.2: "more than 1.2"
    (128, 32, 2.162, 0.471),
    (512, 32, 1.553, 0.648),
    (1024, 32, 1.385, 0.725),
    (512, 64, 1.915, 0.527),
    (1024, 64, 1.629, 0.617),
    (4096, 64, 1.305, 0.768),
]


def between_two_leaves(w: Wiring, flows: int) -> PortFlows:
    """Flow i from port i of the first leaf to port i of the second."""
    first = np.arange(flows, dtype=np.int32)
    leaf = w.of_kind("leaf")[:2].astype(np.int32)
    return PortFlows(first, first + np.int32(flows), np.repeat(leaf[0], flows), np.repeat(leaf[1], flows), first)


@pytest.mark.parametrize(("flows", "links", "fullest", "share"), BALLS)
def test_hashing_is_balls_in_bins(flows: int, links: int, fullest: float, share: float) -> None:
    w = two_tiers(2, flows, links)
    fabric, generator = fabric_of(w), np.random.default_rng(0)
    sent = between_two_leaves(w, flows)
    found = []
    for _ in range(max(120, 8_000 // flows)):
        taken, _ = single_paths(fabric.network, None, sent, random_pick(generator))
        found.append(np.bincount(taken[:, 1]).max() * links / flows)
    assert np.mean(found) == pytest.approx(fullest, rel=0.03)
    assert np.mean(1 / np.array(found)) == pytest.approx(share, abs=0.03 * share + 0.01)


def test_as_many_flows_as_links_leave_one_in_e_idle() -> None:
    # Closed form: mean rate 1 - (1 - 1/n)^n, near 1 - 1/e.
    n = 128
    w = two_tiers(2, n, n)
    fabric, generator = fabric_of(w), np.random.default_rng(1)
    rates = [flow_rates(fabric, between_two_leaves(w, n), "ecmp", generator).gbps.mean() / 100 for _ in range(120)]
    assert np.mean(rates) == pytest.approx(1 - (1 - 1 / n) ** n, abs=0.004)
    assert np.mean(rates) == pytest.approx(1 - np.exp(-1), abs=0.006)


@pytest.mark.parametrize("shape", [(8, 4, 4), (5, 6, 6)])
def test_static_routing_is_free_of_contention_under_shifts_two_tiers(shape: tuple[int, int, int]) -> None:
    """D-mod-K carries every shift at full rate on a full fat tree (Zahavi and others, CCPE 22, 2010)."""
    w = two_tiers(*shape)
    assert max(most_flows_under_shifts(w)) == 1


# Trees of three tiers whose leaves are alike and full: with one link between two switches, two from leaf to spine, two
# from spine to core; and pods by rail, in which leaves that follow each other are in different pods.
FULL_TREES = {
    "single links": lambda: three_tiers(4, 4, 4, 4),
    "parallel links to spines": lambda: sized(request(64, 2, plain(16), tiers=3, pod_units=2)),
    "pods by rail": lambda: sized(request(64, 2, plain(16), tiers=3, second_tier="rail")),
    "parallel links to cores": lambda: sized(request(32, 1, plain(8), tiers=3, pod_units=4, core=plain(16))),
}


def sized(asked: FabricRequest) -> Wiring:
    found = wired((asked, 1, 1, 1))
    assert found is not None
    return found


@pytest.mark.parametrize("tree", FULL_TREES)
def test_static_routing_is_free_of_contention_under_shifts_three_tiers(tree: str) -> None:
    w = FULL_TREES[tree]()
    assert len(w.of_kind("core"))
    assert set(most_flows_under_shifts(w)) == {1}


def test_oversubscribed_leaves_share_uplinks_evenly_under_shifts() -> None:
    # 2:1, leaves alike and full: two flows of a leaf on an uplink as soon as all of them leave it, never three.
    loads = most_flows_under_shifts(two_tiers(4, 8, 4))
    assert set(loads) == {1, 2}
    assert loads[8 - 1] == 2


def most_flows_under_shifts(w: Wiring) -> list[int]:
    """Every NIC port sends to the one k places behind, server by server; most on one direction of a link, by k - 1."""
    fabric, ports = fabric_of(w), server_ports(w)
    link, leaf, place = ports.link.ravel(), ports.leaf.ravel(), ports.place.ravel()
    found = []
    for step in range(1, len(link)):
        to = np.roll(np.arange(len(link)), -step)
        taken, path = static_paths(fabric, PortFlows(link, link[to], leaf, leaf[to], place[to]))
        assert path.all()
        between = taken[:, 1:-1]
        found.append(int(np.bincount(between[between >= 0]).max()))
    return found


def test_a_leaf_deals_flowlets_round_its_uplinks() -> None:
    w = two_tiers(4, 8, 4)
    flows = host_flows(w, 3)
    away = flows.source_leaf != flows.target_leaf
    taken, _ = paths(w, np.ones(len(w.links), bool), flows, "flowlet")
    for leaf in w.of_kind("leaf").tolist():
        mine = [
            path[0] for path, start, out in zip(taken, flows.source_leaf, away, strict=True) if out and start == leaf
        ]
        counts = np.bincount(mine, minlength=len(w.links))[w.links.a_device == leaf][8:]
        assert counts.max() - counts.min() <= 1
