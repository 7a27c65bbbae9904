"""Time of all-to-all, flat and along the rails, and of sends between neighbours; formulas in docs/collectives.md."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ibplan.performance.collective_algorithms import Times
from ibplan.performance.collective_group import FloatArray, Group


def flat(group: Group) -> Times:
    """Each GPU sends to every other one; over the network only where rails meet, or all members are on one rail."""
    if group.net.cross_rail:
        return {"flat": _flat_s(group)}
    return {"flat": np.where((group.k <= 1) | (group.g <= 1), _flat_s(group), np.inf)}


def rail_aligned(group: Group) -> Times:
    """Over NVLink to the GPU on the rail of the destination, then on that rail only (NCCL calls it PXN)."""
    return {"rail_aligned": _rail_s(group)}


def _flat_s(group: Group) -> FloatArray:
    inside_s = (group.g - 1) / group.n * group.size / _domain_rate(group)
    outside = group.n - group.g
    near = np.maximum(_below_leaf(group) - group.g, 0.0)
    if group.net.rail_optimized:
        near = near / group.g  # one of g rails has both ends on the same leaf
    return _start_s(group, outside) + np.maximum(inside_s, _network_s(group, outside, outside - near))


def _rail_s(group: Group) -> FloatArray:
    """NVLink carries what stays in the domain, and the share (g-1)/g of the rest to the GPU of the right rail."""
    outside = group.n - group.g
    forwarded = (group.g - 1) / group.g * outside
    inside_s = (group.g - 1 + forwarded) / group.n * group.size / _domain_rate(group)
    crossing = group.n - np.maximum(_below_leaf(group), group.g)
    hop_s = 1e-6 * group.known.protocols.ring_step_us.of(group.links.medium).simple
    seconds = _start_s(group, group.k - 1) + hop_s + np.maximum(inside_s, _network_s(group, outside, crossing))
    return np.where((group.k > 1) & (group.g > 1), seconds, np.inf)


def _domain_rate(group: Group) -> FloatArray:
    rate = group.net.domain_gbytes_per_s
    share = group.links.all_to_all_efficiency.value
    return np.where(group.g > 1, np.nan if rate is None else rate * 1e9 * share, np.inf)


def _below_leaf(group: Group) -> FloatArray:
    """Members of the group that one leaf (on rails: one unit) reaches."""
    return group.n * np.minimum(group.net.leaf_gpus / group.span, 1.0)


def _start_s(group: Group, messages: FloatArray) -> FloatArray:
    """Seconds before data flow: the kernel, the path, and each message that a NIC is handed."""
    known = group.known
    messages_us = known.protocols.message_us * messages
    network_us = known.all_to_all_us.value + group.links.launch_us.value + group.beyond_us + messages_us
    return 1e-6 * np.where(group.k > 1, network_us, known.all_to_all_inside_us.value)


def _network_s(group: Group, outside: FloatArray, crossing: FloatArray) -> FloatArray:
    """Seconds of the NICs: all bytes for other domains at the NIC's rate, those across spines at the spines' share."""
    through_nic = outside / group.n * group.size / group.exchange_nic_rate
    across = crossing / group.n * group.size / (group.exchange_nic_rate * group.net.spine_share)
    return np.where(group.k > 1, np.maximum(through_nic, across), 0.0)


def send(group: Group) -> Times:
    """Each member sends to the next one, all at once: the slowest of the hops, which is that between domains."""
    known = group.known
    inside_s = 1e-6 * known.send_us.value + group.size / np.where(group.g > 1, group.domain_rate, np.inf)
    step_us = group.network_step_us(known.protocols.ring_step_us.network.simple, "simple")
    start_us = known.protocols.ring_base_us.simple + group.links.launch_us.value + step_us
    across_s = 1e-6 * start_us + group.size / (group.nic_rate * group.neighbour_share)
    return {"send": np.where(group.k > 1, across_s, inside_s)}


EXCHANGE: dict[str, Callable[[Group], Times]] = {"flat": flat, "rail_aligned": rail_aligned}
SEND: dict[str, Callable[[Group], Times]] = {"send": send}
