"""Links between the switches of one fabric, as arrays: leaf to spine, spine to core, leaf to leaf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ibplan.fabric.geometry import Demand
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.wiring_cages import Bank, WiringError, lay_out
from ibplan.fabric.wiring_leaves import Ints, LeafTable, bank_table


@dataclass(frozen=True, slots=True)
class TierLinks:
    """Links between two tiers of one fabric, shape (links,): numbers of the lower and upper switch, and their ports."""

    lower: Ints
    lower_port: Ints
    upper: Ints
    upper_port: Ints


@dataclass(frozen=True, slots=True)
class SpineTable:
    """All spines of one fabric, in the order of their numbers: pod and position in it. `first`: first of each pod.

    `down` and `up`: ports of the spines of each pod in the order they are used, padded with -1.
    """

    pod: Ints
    position: Ints
    first: Ints
    down: Ints
    up: Ints


def spine_table(network: NetworkSize, table: LeafTable) -> SpineTable:
    """The spines pod by pod. Downlinks fill cages from the first, uplinks are in the last."""
    request = network.request
    banks: dict[tuple[int, int], tuple[Bank, ...]] = {}
    counts = np.array([p.spines for p in table.pods], np.int32)
    for pod in table.pods:
        if pod.spines and (pod.downlinks, pod.uplinks) not in banks:
            down = [Demand(request.leaf.up_gbps, pod.downlinks + request.spine.reserved)]
            up = Demand(request.spine.up_gbps, pod.uplinks) if network.fabric.tiers == 3 else None
            banks[pod.downlinks, pod.uplinks] = lay_out(request.spine.geometry, down, up)
    sized = [(p, banks.get((p.downlinks, p.uplinks), (Bank(),))) for p in table.pods]
    down_ports, _ = bank_table([found[0].part(0, p.downlinks if p.spines else 0) for p, found in sized])
    up_ports, _ = bank_table([found[1] if len(found) > 1 else Bank() for _, found in sized])
    first = (np.cumsum(counts) - counts).astype(np.int32)
    pods = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    position = np.arange(len(pods), dtype=np.int32) - first[pods]
    return SpineTable(pods, position, first, down_ports, up_ports)


def leaf_spine_links(table: LeafTable, spines: SpineTable) -> TierLinks:
    """Leaf by leaf, uplink by uplink: uplink x goes to spine x // (uplinks / spines), so parallel links are neighbors.

    A spine's downlinks stand in the order of the leaves.
    """
    uplinks = table.of_kind([k.uplinks for k in table.kinds])
    leaf, uplink = _each(uplinks)
    pod = table.pod[leaf]
    width = uplinks[leaf] // np.array([p.spines for p in table.pods], np.int32)[pod]
    ports, _ = bank_table([k.banks.up for k in table.kinds])
    down = table.spine_port[leaf] + uplink % width
    if down.size and int(down.max()) >= spines.down.shape[1]:
        raise WiringError("a spine has fewer downlinks than its leaves have links to it")
    return TierLinks(leaf, ports[table.kind[leaf], uplink], spines.first[pod] + uplink // width, spines.down[pod, down])


def _each(counts: Ints) -> tuple[Ints, Ints]:
    """(device, which of its ports) for devices with `counts` ports each."""
    device = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    start = np.repeat(np.cumsum(counts) - counts, counts)
    return device, (np.arange(len(device)) - start).astype(np.int32)


def spine_core_links(network: NetworkSize, spines: SpineTable, table: LeafTable) -> TierLinks:
    """Spine by spine: spine j of a pod belongs to core group j mod groups, over whose cores its uplinks are even.

    A core's ports stand in the order of the spines of its group.
    """
    core = network.fabric.core
    if core is None:
        return TierLinks(*(np.zeros(0, np.int32) for _ in range(4)))
    counts = np.array([p.uplinks for p in table.pods], np.int32)[spines.pod]
    spine, uplink = _each(counts)
    width = counts // core.per_group
    group = spines.position % core.groups
    before = np.zeros(len(group), np.int32)
    for g in range(core.groups):
        members = np.flatnonzero(group == g)
        before[members] = np.cumsum(width[members]) - width[members]
    (bank,) = lay_out(network.request.core, [Demand(network.request.spine.up_gbps, core.ports_used)], None)
    nth = before[spine] + uplink % width[spine]
    if nth.size and int(nth.max()) >= len(bank.ports):
        raise WiringError("a core has fewer ports than its spines have links to it")
    number = group[spine] * core.per_group + uplink // width[spine]
    return TierLinks(spine, spines.up[spines.pod[spine], uplink], number, np.asarray(bank.ports, np.int32)[nth])


def leaf_leaf_links(table: LeafTable) -> TierLinks:
    """The links between two leaves, uplink x of the one to uplink x of the other."""
    first, second = (np.asarray(table.kinds[k].banks.up.ports, np.int32) for k in (0, 1))
    zeros = np.zeros_like(first)
    return TierLinks(zeros, first, zeros + 1, second)
