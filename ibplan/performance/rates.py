"""The rate of every flow under a routing scheme."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np

from ibplan.performance.fairness import Floats, Indices, max_min_rates
from ibplan.performance.flow_network import Bools, FlowNetwork
from ibplan.performance.reach import Reach, reach
from ibplan.performance.routing import Pick, PortFlows, dealt_pick, path_uses, random_pick, single_paths
from ibplan.performance.spreading import Bundles, balanced, bundles_of, class_paths, spread_uses
from ibplan.performance.static_routing import Columns, columns_of, static_pick

Routing = Literal["adaptive", "static", "ecmp", "flowlet", "spray"]
ROUTINGS: Final[tuple[Routing, ...]] = get_args(Routing)
# Schemes in which a pair's flows go different ways, so that their number matters.
HASHED: Final[tuple[Routing, ...]] = ("ecmp", "flowlet")


class Fabric:
    """A flow network with what the schemes need of it, made once: `uses` Gb/s of links and, after them, of bundles."""

    def __init__(self, network: FlowNetwork) -> None:
        self.network = network

    @cached_property
    def reach(self) -> Reach | None:
        """What leads where over cores; None where there are none."""
        return reach(self.network) if (self.network.level == 2).any() else None

    @cached_property
    def bundles(self) -> Bundles:
        """All links between two classes together."""
        return bundles_of(self.network)

    @cached_property
    def capacity(self) -> Floats:
        """Gb/s of every resource: links in both directions, then bundles."""
        return np.concatenate([self.network.capacity, self.bundles.gbps])

    @cached_property
    def columns(self) -> Columns:
        """How spines number ports under static routing."""
        return columns_of(self.network)


@dataclass(frozen=True, slots=True)
class Rates:
    """Gb/s of every flow (0 without a path), and whether it has one, shape (flows,)."""

    gbps: Floats
    path: Bools


def flow_rates(
    fabric: Fabric,
    flows: PortFlows,
    routing: Routing,
    generator: np.random.Generator,
    *,
    parts: int = 1,
    epochs: int = 1,
) -> Rates:
    """Max-min fair rates of flows between NIC ports.

    `parts`: flows of a pair of ports that are hashed apart (ecmp, flowlet); their rates add up. `epochs`: times that a
    flowlet is sent another way; a flow has the mean rate. Raises TooManyPathsError (adaptive, spray).
    """
    if routing in ("adaptive", "spray"):
        return _spread(fabric, flows, adaptive=routing == "adaptive")
    if routing == "static":
        return path_rates(fabric.network, *static_paths(fabric, flows))
    each = np.repeat(np.arange(len(flows), dtype=np.int32), parts)
    every = flows.chosen(each)
    if routing == "ecmp":
        found = [_single(fabric, every, random_pick(generator))]
    else:
        found = [_single(fabric, every, dealt_pick(generator, every.source_leaf)) for _ in range(epochs)]
    rates = np.mean([rates.gbps for rates in found], axis=0)
    return Rates(rates.reshape(-1, parts).sum(axis=1), found[0].path[::parts])


def static_paths(fabric: Fabric, flows: PortFlows) -> tuple[Indices, Bools]:
    """(resources, shape (flows, 6), -1 = none; whether there is a path) of flows under static routing."""
    return single_paths(fabric.network, fabric.reach, flows, static_pick(fabric.network, flows, fabric.columns))


def path_rates(network: FlowNetwork, taken: Indices, path: Bools) -> Rates:
    """Max-min fair rates of flows that each take one path: resources, shape (flows, hops), -1 = none."""
    rates = max_min_rates(path_uses(taken), network.capacity, len(path))
    return Rates(np.where(path, rates, 0.0), path)


def _single(fabric: Fabric, flows: PortFlows, pick: Pick) -> Rates:
    return path_rates(fabric.network, *single_paths(fabric.network, fabric.reach, flows, pick))


def _spread(fabric: Fabric, flows: PortFlows, *, adaptive: bool) -> Rates:
    network = fabric.network
    path = network.works[flows.source_link] & network.works[flows.target_link]
    away = path & (flows.source_leaf != flows.target_leaf)
    ends = network.switch_class[np.stack([flows.source_leaf[away], flows.target_leaf[away]])].astype(np.int64)
    pairs, number = np.unique(ends[0] * network.class_count + ends[1], return_inverse=True)
    source, target = (side.astype(np.int32) for side in np.divmod(pairs, network.class_count))
    paths = class_paths(network, fabric.reach, source, target, fabric.bundles)
    there = np.zeros(len(pairs), bool)
    there[paths.pair] = True
    path[away] = there[number]
    pair = np.full(len(flows), -1, np.int32)
    pair[away] = number
    if adaptive:
        paths = balanced(paths, _demand(fabric, flows, path, pair, len(pairs)), fabric.bundles)
    uses = spread_uses(network, flows.chosen(path), pair[path], paths)
    rates = np.zeros(len(flows))
    rates[path] = max_min_rates(uses, fabric.capacity, int(path.sum()))
    return Rates(rates, path)


def _demand(fabric: Fabric, flows: PortFlows, path: Bools, pair: Indices, pairs: int) -> Floats:
    """What each pair of leaves would send if only the NIC ports were shared, Gb/s."""
    links, capacity = fabric.network.link_count, fabric.network.capacity
    crowd = np.maximum(
        np.bincount(flows.source_link[path], minlength=links)[flows.source_link],
        np.bincount(flows.target_link[path], minlength=links)[flows.target_link],
    )
    away = path & (pair >= 0)
    sent: Floats = (capacity[flows.source_link] / np.maximum(crowd, 1))[away]
    return np.bincount(pair[away], sent, pairs).astype(np.float64)
