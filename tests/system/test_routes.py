"""The routes that OpenSM writes, beside those of `ibplan simulate`: the load on links, what traffic gets through."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from ibplan.export.subnet import Subnets
from ibplan.fabric.wiring_model import ATTACHED, LEAF, SERVER, SPINE, Wiring
from ibplan.performance.fairness import Floats
from ibplan.performance.flow_network import flow_network
from ibplan.performance.rates import Fabric, flow_rates, path_rates
from ibplan.units import format_ratio
from tests.golden import check_golden
from tests.system.fabrics import CASES, ROOT, Case, Found, design_of
from tests.system.routes import Ints, Routes, follow, modelled, port_flows, read_tables

REPORT = ROOT / "docs" / "routing.md"
DRAWS = 32
BringUp = Callable[[Case], list[Found]]


class Ways(NamedTuple):
    """The ways to the NIC ports of servers in the first subnet of a case, by OpenSM and by the simulator's model.

    `loads` are the most flows on a link of every shift; `least`, what no routes can be below.
    """

    fabric: Fabric
    opensm: Routes
    model: Routes
    loads: tuple[list[int], list[int]]
    least: list[int]


class Shares(NamedTuple):
    """What flows get of their NIC ports, by OpenSM's routes, by static and adaptive routing of the simulator.

    `slowest` under shifts, `mean` under random permutations: means over DRAWS of them.
    """

    slowest: tuple[float, float, float]
    mean: tuple[float, float, float]


@pytest.fixture(scope="module")
def ways_of(bring_up: BringUp) -> Callable[[Case], Ways]:
    @cache
    def found(case: Case) -> Ways:
        scheme, _ = design_of(case)
        w = scheme.wiring
        routes = follow(Subnets(scheme), 0, read_tables(bring_up(case)[0].tables))
        opensm = routes.part(np.flatnonzero(w.devices.kind[w.links.b_device[routes.ports]] == SERVER))
        fabric = Fabric(flow_network(w))
        model = modelled(fabric, opensm)
        return Ways(fabric, opensm, model, (opensm.shift_loads(), model.shift_loads()), _least_loads(w, opensm))

    return found


@pytest.fixture(scope="module")
def shares_of(ways_of: Callable[[Case], Ways]) -> Callable[[Case], Shares]:
    @cache
    def found(case: Case) -> Shares:
        ways, generator = ways_of(case), np.random.default_rng(0)
        count = len(ways.opensm.ports)
        own = np.arange(count)
        shifts = [(own + int(k)) % count for k in generator.integers(1, count, DRAWS)]
        slowest = np.mean([[share.min() for share in _shares(ways, to)] for to in shifts], axis=0)
        cycles = [_cycle(generator.permutation(count)) for _ in range(DRAWS)]
        mean = np.mean([[share.mean() for share in _shares(ways, to)] for to in cycles], axis=0)
        return Shares(tuple(slowest.tolist()), tuple(mean.tolist()))

    return found


def _cycle(order: Ints) -> Ints:
    """By port: the one that follows it in a random order of all."""
    to = np.empty_like(order)
    to[order] = np.roll(order, -1)
    return to


def _shares(ways: Ways, to: Ints) -> tuple[Floats, Floats, Floats]:
    """What every port gets through, of its speed, if it sends to the port `to`."""
    network, routes = ways.fabric.network, ways.opensm
    paths = routes.paths(to, network.link_count).astype(np.int32)
    flows = port_flows(network.wiring, routes.ports, routes.leaves[routes.leaf], routes.ports[to])
    generator = np.random.default_rng(0)  # nothing is drawn under these schemes
    opensm = path_rates(network, paths, np.ones(len(to), bool)).gbps
    static = flow_rates(ways.fabric, flows, "static", generator).gbps
    adaptive = flow_rates(ways.fabric, flows, "adaptive", generator).gbps
    speed = network.capacity[routes.ports]
    return opensm / speed, static / speed, adaptive / speed


def _least_loads(w: Wiring, routes: Routes) -> list[int]:
    """For every shift the flows that leave or enter a leaf, or a pod, over its links upward, rounded up: the worst."""
    leaf, d = routes.leaves[routes.leaf], w.devices
    groups = [(leaf, _ways_out(w, LEAF, np.arange(len(d))))]
    if w.network.fabric.tiers == 3:
        groups.append((d.pod[leaf].astype(np.int64), _ways_out(w, SPINE, d.pod)))
    found = []
    for shift in range(1, len(leaf)):
        worst = 0.0
        for group, out in groups:
            to = np.roll(group, -shift)
            away = group != to
            for side in (group[away], to[away]):
                count = np.bincount(side, minlength=len(out))
                worst = max(worst, float((count[count > 0] / out[count > 0]).max(initial=0)))
        found.append(math.ceil(worst))
    return found


def _ways_out(w: Wiring, kind: int, group: Ints) -> Ints:
    """Links of the first subnet to switches of a tier above, or to each other, by group of the switches of a kind."""
    links, d = w.links, w.devices
    between = (links.fabric == 0) & (d.kind[links.b_device] >= LEAF)
    ends = [end[between & (d.kind[end] == kind) & (d.kind[far] >= kind)] for end, far in _both_ends(w)]
    return np.bincount(group[np.concatenate(ends)])


def _both_ends(w: Wiring) -> list[tuple[Ints, Ints]]:
    a, b = w.links.a_device.astype(np.int64), w.links.b_device.astype(np.int64)
    return [(a, b), (b, a)]


@pytest.mark.parametrize("case", CASES)
def test_the_simulator_loads_links_as_the_routes_of_opensm_do(case: Case, ways_of: Callable[[Case], Ways]) -> None:
    """In every single shift the fullest link has as many flows; which spine it leads to may differ."""
    ways = ways_of(case)
    opensm, model = ways.loads
    assert (ways.model.length == ways.opensm.length).all()
    assert model == opensm
    assert all(least <= load for least, load in zip(ways.least, opensm, strict=True))
    if _is_even(ways.fabric.network.wiring):
        assert opensm == ways.least, "where all leaves are alike, no routes do better"


@pytest.mark.parametrize("case", CASES)
def test_flows_get_through_what_the_simulator_says(case: Case, shares_of: Callable[[Case], Shares]) -> None:
    shares = shares_of(case)
    opensm, static, adaptive = shares.slowest
    # By the loads of a shift: flows of one speed on links of one speed.
    assert static == pytest.approx(opensm)
    assert adaptive >= opensm - 1e-9
    # Where spines have one or two links of a leaf, OpenSM and D-mod-K need not give the second one to the same ports.
    assert shares.mean[1] == pytest.approx(shares.mean[0], abs=0.01)


def _is_even(w: Wiring) -> bool:
    """Whether all leaves are alike: as many links to servers below each, and nothing else."""
    d, links = w.devices, w.links
    below = links.a_device[d.kind[links.b_device] < LEAF]
    counts = np.bincount(below, minlength=len(d))[d.kind == LEAF]
    return w.network.fabric.tiers > 1 and len(set(counts.tolist())) == 1 and not (d.kind == ATTACHED).any()


def test_golden_loads_and_shares(ways_of: Callable[[Case], Ways], shares_of: Callable[[Case], Shares]) -> None:
    """docs/routing.md: how the routes of OpenSM bear shifts and random traffic, beside what the simulator says."""
    named = [(_names(str(param.id)), param.values[0]) for param in CASES]
    loads = "".join(_line([*names, *_load_cells(case, ways_of(case))]) for names, case in named)
    shares = "".join(_line([*names, *_share_cells(shares_of(case))]) for names, case in named)
    check_golden(REPORT, _HEAD + loads + _SHARES + shares + _TAIL)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _names(name: str) -> list[str]:
    spec, _, rest = name.partition(":")
    return [spec.removesuffix(".yaml"), rest.strip()]


def _load_cells(case: Case, ways: Ways) -> list[str]:
    _, design = design_of(case)
    network = design.networks.compute
    leaf, spine = network.oversubscription.leaf.built, network.oversubscription.spine.built
    ratios = [] if leaf is None else [format_ratio(leaf)]
    ratios += [] if spine is None or spine == 1 else [f"spines {format_ratio(spine)}"]
    counts = [_counts(loads) for loads in (ways.least, *ways.loads)]
    return [str(network.tiers), f"{len(ways.opensm.ports):,}", ", ".join(ratios), *counts]


def _counts(loads: list[int]) -> str:
    return ", ".join(f"{load}: {count:,}" for load, count in sorted(Counter(loads).items()))


def _share_cells(shares: Shares) -> list[str]:
    return [f"{share:.0%}".removesuffix("%") for share in (*shares.slowest, *shares.mean)]


_HEAD = """\
# How planned fabrics are routed

Made by `IBPLAN_GOLDEN=1 make test-system`, which brings every InfiniBand design of `specs/` with up to 2,100 endpoints,
and a few forms more, up in simulation: ibsim 0.10, opensm 3.3.23 and ibnetdiscover 44.0 of Debian 12, with the files of
`ibplan export` ([export.md](export.md)). The tests hold for each of them:

- opensm routes every tree with its fat-tree engine, and its log has no error;
- ibnetdiscover finds every link of the plan at the planned ports, and no other;
- by the routing tables, every NIC port is reached from every leaf over as many switches as the plan says;
- `ibplan simulate --routing static` ([simulate.md](simulate.md)) takes as many switches, and loads links as much.

Below, NIC ports are those of all servers, server by server and NIC by NIC, as ranks of a job are numbered. All of them
send, to ports of the same server over the network, too (`ibplan simulate` has NVLink for these). Of several planes or
separate rails, the first is shown. Attached hosts take up ports and routes, but do not send.

## Load of links under shifts

In a *shift* by *k* every NIC port sends to the port *k* places behind it, the last ones to the first. Rings and
all-to-all are made of such steps. In every shift (*k* from 1 to ports - 1) the flows on the fullest link between
switches are counted, each direction of a link by itself. `1: 281, 2: 734` says that in 281 shifts no link has more
than one flow, and that in 734 shifts the fullest has two; 0 is a shift in which every port sends to its own leaf.

- *at least*: what no routing can be below. The flows that leave or enter a leaf (a pod) over its uplinks, rounded up.
- *OpenSM*: by the tables that opensm wrote.
- *simulated*: by the static routing of `ibplan simulate`.

| spec | design | tiers | NIC ports | oversubscription | at least | OpenSM | simulated |
|---|---|---:|---:|---:|---|---|---|
"""
_SHARES = f"""
OpenSM and the simulator agree in every single shift (tested). Where all leaves are alike, with as many NIC ports each
and no attached hosts, both are as low as can be (tested). Where leaves differ they are not. Such routes depend on the
destination alone: every leaf sends to port *i* of another leaf over its own uplink *i* (counted round where there are
fewer). Under a shift a leaf sends to ports that follow each other, which are on different uplinks while they are on
one leaf.

- A last unit that is not full (h100-pod-127, 1,000 GPUs, storage-attached): where the row of ports comes to the end of
  a leaf that is not full it goes on at the first port of another, and uplinks of the first ports are taken twice.
- A packed last unit (storage-attached, packed): there four NICs of a server are on one leaf. They send to ports of one
  number on four leaves, all over one uplink.

## What flows get through

What a flow gets of the speed of its NIC port, in %, max-min fair as `ibplan simulate` has it. *Shifts*: the slowest
flow under a random shift. *Random*: the mean flow under a random permutation, in which every port sends to one other
and receives from one. All are means over the same {DRAWS} draws. *OpenSM*: by the tables that opensm wrote. *static*,
*adaptive*: by `ibplan simulate` with this `--routing`; `adaptive` is its default for InfiniBand.

| spec | design | shifts: OpenSM | shifts: static | shifts: adaptive \
| random: OpenSM | random: static | random: adaptive |
|---|---|---:|---:|---:|---:|---:|---:|
"""
_TAIL = """
What the simulator says of `static` holds for OpenSM's routes: the slowest flow of a shift gets the same, the mean flow
of random traffic the same within one hundredth (tested). What it says of `adaptive` does not hold for these tables: it
takes adaptive routing that is switched on in the switches and in the subnet manager.
"""
