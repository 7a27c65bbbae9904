"""How a flow is shared out over all its paths: per-packet spray, and adaptive routing that sees the load.

Between two leaves everything runs over classes of switches that no traffic can tell apart, so a fabric without failures
has one path of classes from leaf to leaf, and each failure adds a few.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ibplan.performance.fairness import Floats, Indices, Uses
from ibplan.performance.flow_network import Bools, FlowNetwork
from ibplan.performance.reach import Reach
from ibplan.performance.routing import PortFlows

# Rounds in which adaptive routing moves traffic from fuller to emptier paths, at most; and the gain that is worth one.
_ROUNDS: Final = 30
_WORTH_A_ROUND: Final = 1e-3
MOST_PATHS: Final = 2_000_000


class TooManyPathsError(Exception):
    """Failures leave more different paths than can be followed; `count` of them at least."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


@dataclass(frozen=True, slots=True)
class Bundles:
    """All links from one class to another together: `key` = class x classes + class, sorted; Gb/s of each."""

    key: Indices
    gbps: Floats


@dataclass(frozen=True, slots=True)
class ClassPaths:
    """Paths of classes between pairs of leaves, sorted by pair: bundles passed, shape (paths, 4), -1 = none; share."""

    pair: Indices
    bundles: Indices
    share: Floats


def bundles_of(network: FlowNetwork) -> Bundles:
    """Every bundle with its bandwidth."""
    ways, classes = network.ways, network.class_count
    block = np.repeat(np.arange(len(ways.key)), ways.count)
    key = network.switch_class[ways.key // max(1, classes)].astype(np.int64) * classes + ways.key % max(1, classes)
    found, number = np.unique(key[block], return_inverse=True)
    gbps = np.bincount(number, network.capacity[ways.resource], len(found)).astype(np.float64)
    return Bundles(found, gbps)


@dataclass(frozen=True, slots=True)
class _Growing:
    """Paths that have come to a class. `pair` = index of the pair of leaves, whose target is `leaf` (a class)."""

    pair: Indices
    leaf: Indices
    at: Indices
    passed: Indices
    share: Floats

    def step(self, network: FlowNetwork, column: int, classes: Indices, open_: Bools) -> _Growing:
        """On to every class that is open, shape (paths, classes), by an even split over links."""
        _, count = network.blocks(network.member[self.at][:, None], classes)
        count = np.where(open_, count, 0)
        row, chosen = np.nonzero(count)
        if len(row) > MOST_PATHS:
            raise TooManyPathsError(len(row))
        share = count[row, chosen] / count.sum(axis=1)[row]
        passed, far = self.passed[row], classes[row, chosen]
        passed[:, column] = self.at[row].astype(np.int64) * network.class_count + far
        return _Growing(self.pair[row], self.leaf[row], far, passed, self.share[row] * share)

    def part(self, at: Bools) -> _Growing:
        """Some of the paths."""
        return _Growing(self.pair[at], self.leaf[at], self.at[at], self.passed[at], self.share[at])


def class_paths(
    network: FlowNetwork, known: Reach | None, source: Indices, target: Indices, bundles: Bundles
) -> ClassPaths:
    """All shortest paths between classes of leaves that differ, shape (pairs,), each switch splitting evenly.

    A pair without a path has none. Raises TooManyPathsError.
    """
    pairs = np.arange(len(source), dtype=np.int32)
    start = _Growing(pairs, target, source, np.full((len(source), 4), -1, np.int64), np.ones(len(source)))
    if network.side:
        parts = [start.step(network, 0, target[:, None], np.ones((len(target), 1), bool))]
    else:
        parts = list(_climbing(network, known, start))
    pair = np.concatenate([p.pair for p in parts])
    passed = np.concatenate([p.passed for p in parts])
    order = np.argsort(pair, kind="stable")
    number = np.searchsorted(bundles.key, passed[order]).astype(np.int32)
    share = np.concatenate([p.share for p in parts])[order]
    return ClassPaths(pair[order], np.where(passed[order] < 0, -1, number), share)


def _climbing(network: FlowNetwork, known: Reach | None, start: _Growing) -> list[_Growing]:
    leaf = start.leaf[:, None]
    up = network.up[start.at]
    _, down = network.blocks(network.member[up], leaf)
    direct = (up >= 0) & (down > 0)
    near: Bools = np.logical_or.reduce(direct, axis=1)
    spines = start.part(near).step(network, 0, up[near], direct[near])
    done = [spines.step(network, 3, spines.leaf[:, None], np.ones((len(spines.leaf), 1), bool))]
    if known is None or near.all():
        return done
    far = ~near
    paths = start.part(far).step(network, 0, up[far], known.by_core(up[far], leaf[far]))
    cores = network.up[paths.at]
    paths = paths.step(network, 1, cores, known.from_core(cores, paths.leaf[:, None]))
    below = network.up[paths.leaf]
    paths = paths.step(network, 2, below, below >= 0)
    return [*done, paths.step(network, 3, paths.leaf[:, None], np.ones((len(paths.leaf), 1), bool))]


def balanced(paths: ClassPaths, demand_gbps: Floats, bundles: Bundles) -> ClassPaths:
    """The paths with shares that even out the load, shape of `demand_gbps` (pairs,): adaptive routing in the long run.

    Every round each pair moves traffic from paths whose fullest bundle is fuller to those where it is emptier; the
    shares with the least fullest bundle are kept. Where a pair has one path there is nothing to do.
    """
    if len(paths.pair) == len(np.unique(paths.pair)):
        return paths
    starts = np.flatnonzero(np.diff(paths.pair, prepend=-1))
    sizes = np.diff(starts, append=len(paths.pair))
    share, best, least, step, idle = paths.share, paths.share, np.inf, 1.0, 0
    for _ in range(_ROUNDS):
        load = _path_load(paths, share * demand_gbps[paths.pair], bundles)
        fullest = float(load.max())
        idle = 0 if fullest < least * (1 - _WORTH_A_ROUND) else idle + 1
        if fullest < least:
            best, least = share, fullest
        else:
            step /= 2
        if idle == 3:
            break
        share = share * (np.repeat(np.minimum.reduceat(load, starts), sizes) / load) ** step
        share = share / np.repeat(np.add.reduceat(share, starts), sizes)
    return replace(paths, share=best)


def _path_load(paths: ClassPaths, gbps: Floats, bundles: Bundles) -> Floats:
    """The fullest bundle of every path, as load over bandwidth."""
    used = paths.bundles >= 0
    load = np.bincount(paths.bundles[used], np.broadcast_to(gbps[:, None], used.shape)[used], len(bundles.gbps))
    full = np.append(load / bundles.gbps, 0.0)
    found: Floats = full[paths.bundles].max(axis=1)
    return found


def spread_uses(network: FlowNetwork, flows: PortFlows, pair: Indices, paths: ClassPaths) -> Uses:
    """What flows use that are shared out: both host links, and the bundles of their `pair` (-1 = same leaf).

    Bundle b is resource 2 x links + b. Flows must have a path.
    """
    pairs = int(pair.max(initial=-1)) + 1
    key = (paths.pair.astype(np.int64)[:, None] * (int(paths.bundles.max(initial=0)) + 1) + paths.bundles).ravel()
    used = paths.bundles.ravel() >= 0
    merged, number = np.unique(key[used], return_inverse=True)
    weight = np.bincount(number, np.repeat(paths.share, paths.bundles.shape[1])[used], len(merged))
    owner, bundle = np.divmod(merged, int(paths.bundles.max(initial=0)) + 1)
    first = np.searchsorted(owner, np.arange(pairs + 1))
    size = np.append(np.diff(first), 0)[pair]
    start = np.concatenate([[0], np.cumsum(size + 2)]).astype(np.int64)
    flow = np.repeat(np.arange(len(flows), dtype=np.int32), size + 2)
    resource, taken = np.empty(len(flow), np.int32), np.ones(len(flow))
    resource[start[:-1]] = flows.source_link + np.int32(network.link_count)
    resource[start[:-1] + 1] = flows.target_link
    within = np.arange(len(flow)) - start[flow] - 2
    inner = within >= 0
    at = first[pair[flow[inner]]] + within[inner]
    resource[inner] = bundle[at] + 2 * network.link_count
    taken[inner] = weight[at]
    return Uses(flow, resource, taken)
