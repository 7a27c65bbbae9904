"""Destination-based routing as a subnet manager of a fat tree does it: D-mod-K."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ibplan.fabric.wiring_model import LEAF
from ibplan.performance.fairness import Indices
from ibplan.performance.flow_network import FlowNetwork, Keys, nth_way
from ibplan.performance.routing import Hop, Pick, PortFlows


def static_pick(network: FlowNetwork, flows: PortFlows, columns: Columns) -> Pick:
    """The path depends on the destination alone: up by a digit of its number, down the same way for all (D-mod-K).

    Port `i` of a leaf with `u` uplinks comes down over that leaf's uplink i mod u; every leaf sends to it over its own
    uplink i mod u. A spine numbers the ports that come down over it, and sends to the n-th over its uplink n mod
    uplinks; a core sends to it over its link n to that spine, mod links. Where ways have failed, those that still lead
    there are numbered. Rodriguez and others, Oblivious routing schemes in extended generalized fat tree networks,
    CLUSTER 2009; with parallel links: Zahavi, D-Mod-K routing providing non-blocking traffic for shift permutations on
    real life fat trees, Technion CCIT report 776, 2010. tests/system holds it against the routes that OpenSM writes.
    """
    place, leaf = flows.target_place, flows.target_leaf
    if not len(network.ways.far):
        return lambda hop: _turn(place[hop.flows], hop.total)
    ways = _numbered(network)
    up = _uplinks(network, leaf)
    home = ways.uplink(leaf, place % up)
    spine: Indices = network.ways.far[home]
    column = place // up * columns.width[leaf] + ways.rank[home] + columns.first[leaf]

    def pick(hop: Hop) -> Indices:
        at = hop.flows
        if hop.step == 0:
            return _turn(place[at], hop.total)
        if hop.step == 1:
            return _turn(column[at], hop.total)
        if hop.step == 2:
            return ways.toward(hop, spine[at], column[at])
        rank = ways.rank[home[at]]
        return np.where((hop.switch == spine[at]) & (rank < hop.total), rank, _turn(place[at], hop.total))

    return pick


@dataclass(frozen=True, slots=True)
class Columns:
    """How spines number ports, by device (leaves): ports of a row of uplinks to one spine; number of the first port."""

    width: Indices
    first: Indices


def columns_of(network: FlowNetwork) -> Columns:
    """Spines number ports pod by pod and leaf by leaf. Leaves have whole rows of uplinks, whatever is plugged in."""
    wiring = network.wiring
    devices, links = wiring.devices, wiring.links
    leaves = np.flatnonzero(devices.kind == LEAF).astype(np.int32)
    leaves = leaves[np.lexsort((leaves, devices.pod[leaves], devices.fabric[leaves]))]
    hosts = np.bincount(links.a_device[devices.kind[links.b_device] < LEAF], minlength=len(devices))[leaves]
    width, first = np.ones((2, len(devices)), np.int32)
    ways = _numbered(network)
    near = network.ways.key[ways.block] // network.class_count
    np.maximum.at(width, near, ways.rank + np.int32(1))
    counts = -(-hosts // _uplinks(network, leaves)) * width[leaves]
    first[leaves] = np.cumsum(counts) - counts
    return Columns(width, first)


def _uplinks(network: FlowNetwork, switch: Indices) -> Indices:
    """Working uplinks of switches, 1 at least."""
    found: Indices = np.maximum(network.up_count[network.switch_class[switch]].sum(axis=1, dtype=np.int32), 1)
    return found


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

    def uplink(self, switch: Indices, number: Indices) -> Indices:
        """The way that is an uplink of a switch, by number; any way for a switch without one."""
        network = self.network
        start, count = network.blocks(switch[:, None], network.up[network.switch_class[switch]])
        return np.minimum(nth_way(start, count, number), len(network.ways.far) - 1)

    def toward(self, hop: Hop, spine: Indices, number: Indices) -> Indices:
        """The way to a spine, if one is open, by `number` of those there are; else one by `number` of all."""
        wanted = self.block[hop.start].astype(np.int64) * len(self.network.switch_class) + spine[:, None]
        first, end = np.searchsorted(self.key, wanted), np.searchsorted(self.key, wanted, side="right")
        links = np.where(hop.count > 0, end - first, 0)
        column, row = links.argmax(axis=1), np.arange(len(spine))
        before = np.cumsum(hop.count, axis=1) - hop.count + first - hop.start
        there = before[row, column] + number % np.maximum(links[row, column], 1)
        return np.where(links[row, column] > 0, there, number % hop.total).astype(np.int32)


def _numbered(network: FlowNetwork) -> _Numbered:
    ways = network.ways
    block = np.repeat(np.arange(len(ways.key), dtype=np.int32), ways.count)
    key = block.astype(np.int64) * len(network.switch_class) + ways.far
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    rank = np.arange(len(key)) - np.repeat(starts, np.diff(starts, append=len(key)))
    return _Numbered(network, block, rank.astype(np.int32), key)
