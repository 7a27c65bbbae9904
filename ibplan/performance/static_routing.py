"""Destination-based routing as a subnet manager of a fat tree does it: D-mod-K."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ibplan.performance.fairness import Indices
from ibplan.performance.flow_network import FlowNetwork, Keys
from ibplan.performance.routing import Hop, Pick, PortFlows


def static_pick(network: FlowNetwork, flows: PortFlows, first_of_leaf: Indices) -> Pick:
    """The path depends on the destination alone: up by a digit of its number, down the same way for all (D-mod-K).

    Port `i` of a leaf with `u` uplinks is reached over that leaf's uplink i mod u; every leaf sends to it over its own
    uplink i mod u, and a spine over its uplink (`first_of_leaf` + i div u) mod uplinks. `first_of_leaf`: ports of the
    leaves before over their uplinks, rounded up each. Where ways have failed, those that still lead there are numbered.
    Rodriguez and others, Oblivious routing schemes in extended generalized fat tree networks, CLUSTER 2009.
    """
    place, leaf = flows.target_place, flows.target_leaf
    up = np.maximum(network.up_count[network.switch_class[leaf]].sum(axis=1), 1)
    column = place // up + first_of_leaf[leaf]
    ways = _numbered(network)
    home = ways.uplink(leaf, place % up)

    def pick(hop: Hop) -> Indices:
        mine: Indices = place[hop.flows]
        total = hop.total
        if hop.step == 0:
            return _turn(mine, total)
        if hop.step == 1:
            return _turn(column[hop.flows], total)
        spine: Indices = network.ways.far[home[hop.flows]]
        rank: Indices = ways.rank[home[hop.flows]]
        if hop.step == 2:
            return ways.toward(hop, spine, mine)
        return np.where((hop.switch == spine) & (rank < total), rank, _turn(mine, total))

    return pick


def _turn(number: Indices, count: Indices) -> Indices:
    """Numbers counted round."""
    found: Indices = number % count
    return found


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Ways with the number of their block and their rank among those of the block to the same switch."""

    network: FlowNetwork
    block: Indices
    rank: Indices
    key: Keys

    def uplink(self, leaf: Indices, number: Indices) -> Indices:
        """The way that is an uplink of a leaf, by number; any way for a leaf without one."""
        ways = self.network.ways
        if not len(ways.key):
            return np.zeros(len(leaf), np.int32)
        first = np.searchsorted(ways.key, leaf.astype(np.int64) * self.network.class_count)
        found: Indices = np.minimum(ways.start[np.minimum(first, len(ways.key) - 1)] + number, len(ways.far) - 1)
        return found

    def toward(self, hop: Hop, spine: Indices, place: Indices) -> Indices:
        """The way to a spine, if one is open; else one by `place`."""
        wanted = self.block[hop.start].astype(np.int64) * len(self.network.switch_class) + spine[:, None]
        first, end = np.searchsorted(self.key, wanted), np.searchsorted(self.key, wanted, side="right")
        links = np.where(hop.count > 0, end - first, 0)
        column, row = links.argmax(axis=1), np.arange(len(spine))
        before = np.cumsum(hop.count, axis=1) - hop.count + first - hop.start
        there = before[row, column] + place % np.maximum(links[row, column], 1)
        return np.where(links[row, column] > 0, there, place % hop.total).astype(np.int32)


def _numbered(network: FlowNetwork) -> _Numbered:
    ways = network.ways
    block = np.repeat(np.arange(len(ways.key), dtype=np.int32), ways.count)
    key = block.astype(np.int64) * len(network.switch_class) + ways.far
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    rank = np.arange(len(key)) - np.repeat(starts, np.diff(starts, append=len(key)))
    return _Numbered(network, block, rank.astype(np.int32), key)
