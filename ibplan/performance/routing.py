"""Which links a flow takes where each part of it keeps to one path: static routing, ECMP, flowlets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ibplan.performance.fairness import Indices, Uses
from ibplan.performance.flow_network import Bools, FlowNetwork, nth_way
from ibplan.performance.reach import Reach

# Hops between switches, in order: leaf up, spine up, core down, spine down.
Step = Literal[0, 1, 2, 3]
_STEPS: Final = 4


@dataclass(frozen=True, slots=True)
class PortFlows:
    """Flows between NIC ports, shape (flows,): the links of both ports, their leaves; index of the port at its leaf."""

    source_link: Indices
    target_link: Indices
    source_leaf: Indices
    target_leaf: Indices
    target_place: Indices

    def __len__(self) -> int:
        return len(self.source_link)

    def chosen(self, at: Bools | Indices) -> PortFlows:
        """Some of the flows, or all of them several times."""
        return PortFlows(
            self.source_link[at],
            self.target_link[at],
            self.source_leaf[at],
            self.target_leaf[at],
            self.target_place[at],
        )


@dataclass(frozen=True, slots=True)
class Hop:
    """Flows before one hop, and the ways that are open to each: blocks of neighbors, shape (flows, blocks).

    `switch`, shape (flows,), is where they are. Ways are numbered block after block; `total` of each flow.
    """

    step: Step
    flows: Indices
    switch: Indices
    start: Indices
    count: Indices

    @property
    def total(self) -> Indices:
        """Ways that are open to each flow."""
        found: Indices = self.count.sum(axis=1, dtype=np.int32)
        return found


# Which of the ways that are open each flow takes, from 0.
Pick = Callable[[Hop], Indices]


@dataclass(slots=True)
class _Walk:
    """Flows on their way: `at` = where each has come to; `taken` = resources, shape (flows, hops), -1 none."""

    network: FlowNetwork
    pick: Pick
    taken: Indices
    at: Indices

    def step(self, step: Step, flows: Indices, classes: Indices, open_: Bools | None = None) -> None:
        """Move flows on to one of the classes, shape (flows, classes), by one of the links that lead there."""
        ways = self.network.ways
        start, count = self.network.blocks(self.at[flows][:, None], classes)
        count = count if open_ is None else np.where(open_, count, 0)
        way = nth_way(start, count, self.pick(Hop(step, flows, self.at[flows], start, count)))
        self.taken[flows, step] = ways.resource[way]
        self.at[flows] = ways.far[way]


def single_paths(network: FlowNetwork, known: Reach | None, flows: PortFlows, pick: Pick) -> tuple[Indices, Bools]:
    """(resources, shape (flows, 6), -1 = none; whether there is a path), each hop chosen by `pick`.

    Only ways that still lead to the leaf are open: routing has converged. The shortest path is taken: over a spine of
    the pod where one joins both leaves, else over a core. `known` may be None below three tiers.
    """
    classes = network.switch_class
    taken = np.full((len(flows), _STEPS), -1, np.int32)
    works = network.works
    alive = works[flows.source_link] & works[flows.target_link]
    links = np.int32(network.link_count)
    walk = _Walk(network, pick, taken, flows.source_leaf.astype(np.int32).copy())
    away = np.flatnonzero(alive & (flows.source_leaf != flows.target_leaf)).astype(np.int32)
    if network.side:
        alive[away] = _across(walk, away, flows)
    else:
        alive[away] = _over_spines(walk, away, classes[flows.target_leaf[away]], known)
    # A host link runs from leaf (a) to host (b), so the way in is the way back.
    whole = np.concatenate([(flows.source_link + links)[:, None], taken, flows.target_link[:, None]], axis=1)
    whole[~alive] = -1
    return whole, alive


def _across(walk: _Walk, away: Indices, flows: PortFlows) -> Bools:
    """Two leaves that are joined to each other."""
    target = walk.network.switch_class[flows.target_leaf[away]][:, None]
    _, count = walk.network.blocks(walk.at[away][:, None], target)
    there = count[:, 0] > 0
    walk.step(0, away[there], target[there])
    return there


def _over_spines(walk: _Walk, away: Indices, leaf: Indices, known: Reach | None) -> Bools:
    """From leaf to leaf over a spine, or over spine, core and spine."""
    network = walk.network
    up = network.up[network.switch_class[walk.at[away]]]
    _, down = network.blocks(network.member[up], leaf[:, None])
    direct = (up >= 0) & (down > 0)
    near: Bools = np.logical_or.reduce(direct, axis=1)
    climbing = np.zeros_like(direct) if known is None else known.by_core(up, leaf[:, None]) & ~near[:, None]
    open_ = np.where(near[:, None], direct, climbing)
    found: Bools = np.logical_or.reduce(open_, axis=1)
    walk.step(0, away[found], up[found], open_[found])
    far = found & ~near
    if known is not None and far.any():
        flows, target = away[far], leaf[far]
        cores = network.up[network.switch_class[walk.at[flows]]]
        walk.step(1, flows, cores, known.from_core(cores, target[:, None]))
        walk.step(2, flows, network.up[target])
    walk.step(3, away[found], leaf[found][:, None])
    return found


def path_uses(taken: Indices) -> Uses:
    """Paths, shape (flows, hops), as the uses that fairness takes."""
    flow, hop = np.nonzero(taken >= 0)
    return Uses(flow.astype(np.int32), taken[flow, hop])


def random_pick(generator: np.random.Generator) -> Pick:
    """ECMP: every switch hashes every flow by itself, evenly over the ways that are open."""

    def pick(hop: Hop) -> Indices:
        return (generator.random(len(hop.flows)) * hop.total).astype(np.int32)

    return pick


def dealt_pick(generator: np.random.Generator, source_leaf: Indices) -> Pick:
    """Flowlets: a leaf sends the next one to its least loaded uplink, so uplinks are dealt round; spines hash."""
    hashed = random_pick(generator)

    def pick(hop: Hop) -> Indices:
        if hop.step:
            return hashed(hop)
        order = generator.permutation(len(hop.flows))
        order = order[np.argsort(source_leaf[hop.flows[order]], kind="stable")]
        leaf = source_leaf[hop.flows[order]]
        turn = np.empty(len(order), np.int32)
        turn[order] = np.arange(len(order)) - np.searchsorted(leaf, leaf)
        return turn % hop.total

    return pick
