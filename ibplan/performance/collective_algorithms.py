"""Time of each algorithm of a collective, as NCCL and its like run it; formulas in docs/collectives.md.

Each function takes a `Group` and returns seconds as an array of its shape: inf where the algorithm cannot run, NaN
where the machine's links are not known. `n = 1` is the caller's case.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ibplan.performance.collective_constants import Protocol
from ibplan.performance.collective_group import FloatArray, Group

Times = dict[str, FloatArray]


def rings(group: Group, passes: int) -> Times:
    """Rings by protocol: `passes` 1 = reduce-scatter or all-gather, 2 = all-reduce.

    base + steps + passes (n-1)/n S / rate; n (g times) rings run at once, so that every NIC of a domain is in use.
    """
    return {f"ring/{p}": _ring(group, passes, p) for p in group.protocols()}


def _ring(group: Group, passes: int, protocol: Protocol) -> FloatArray:
    p = group.known.protocols
    steps, crossing = passes * (group.n - 1), passes * (group.k - 1)
    inside_us: float = getattr(p.ring_step_us.of(group.links.medium), protocol)
    least_us: float = getattr(p.network_overhead_us, protocol)
    step_us = np.where(group.k > 1, max(inside_us, least_us), inside_us)
    network_us = group.network_step_us(getattr(p.ring_step_us.network, protocol), protocol)
    base_us = getattr(p.ring_base_us, protocol) + group.links.launch_us.value
    latency_us = base_us + (steps - crossing) * step_us + crossing * network_us
    rate = group.ring_rate * getattr(p.ring_share, protocol)
    if protocol == "ll":
        rate = np.minimum(rate, group.ll_cap())
    seconds: FloatArray = 1e-6 * latency_us + passes * (group.n - 1) / group.n * group.size / rate
    return seconds


def trees(group: Group) -> Times:
    """Double binary trees over domains, chains inside them, by protocol."""
    return {f"tree/{p}": _tree(group, p) for p in group.protocols()}


def _tree(group: Group, protocol: Protocol) -> FloatArray:
    p = group.known.protocols
    inside_us: float = getattr(p.tree_step_us.of(group.links.medium), protocol)
    network_us = group.network_step_us(getattr(p.tree_step_us.network, protocol), protocol)
    base_us = getattr(p.tree_base_us, protocol) + group.links.launch_us.value
    latency_us = base_us + 2 * ((group.g - 1) * inside_us + _levels(group) * network_us)
    share = getattr(p.tree_share, protocol) * p.tree_derate * _correction(group, protocol)
    inside_s = 2 * group.size / np.where(group.g > 1, group.domain_rate, np.inf)
    seconds: FloatArray = 1e-6 * latency_us + np.maximum(inside_s, _tree_network_s(group)) / share
    return seconds


def _correction(group: Group, protocol: Protocol) -> FloatArray:
    table: tuple[float, ...] = getattr(group.known.protocols.tree_correction, protocol)
    doublings = np.log2(np.maximum(group.size, 64) / 64)
    return np.interp(doublings, np.arange(len(table)), table)


def _levels(group: Group) -> FloatArray:
    levels: FloatArray = np.floor(np.log2(group.k))
    return levels


def _tree_network_s(group: Group) -> FloatArray:
    """Bytes into the busiest domain of a double tree, S min(k, 4) / 2 over its NICs: 1 S for two, 2 S from four on."""
    into = np.where(group.k > 1, group.size * np.minimum(group.k, 4) / 2, 0.0)
    share: FloatArray = into / (group.g * group.nic_rate * group.neighbour_share)
    return share


def nvls(group: Group) -> Times:
    """Sums made by the switches of one domain."""
    seconds = 1e-6 * (group.known.protocols.nvls_us + group.links.launch_us.value) + _nvls_s(group)
    return {"nvls": np.where(group.k <= 1, seconds, np.inf)}


def _nvls_s(group: Group) -> FloatArray:
    """The domain's share of a sum in its switches: S (g+1)/g a GPU, and the filling of the buffers.

    Beyond the largest group that was measured the gain over a ring, 2 (g-1)/(g+1), is held. Inf without such switches.
    """
    sums, rate = group.links.nvls, group.net.domain_gbytes_per_s
    if sums is None:
        return np.full(group.n.shape, np.inf)
    if rate is None:
        return np.full(group.n.shape, np.nan)
    measured = np.minimum(group.g, group.known.nvls_measured_gpus.value)
    gain = 2 * (measured - 1) / (measured + 1)
    bytes_as_ring = 2 * (group.g - 1) / group.g * group.size
    fill_s = np.minimum(group.size, group.known.nvls_fill_bytes.value) / (
        group.known.nvls_fill_gbytes_per_s.value * 1e9
    )
    kept = np.where(group.k > 1, group.known.nvls_network_share.value, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        moving_s = bytes_as_ring / (gain * rate * 1e9 * sums.efficiency.value * kept)
    return np.where(group.g >= sums.min_gpus, moving_s + fill_s, np.inf)


def nvls_tree(group: Group) -> Times:
    """Sums in the switches of each domain, a double tree between domains; the two overlap. RDMA networks only."""
    if group.net.link_layer == "ethernet":
        return {}
    p = group.known.protocols
    step_us = group.network_step_us(p.nvls_tree_step_us, "simple")
    latency_us = p.nvls_us + group.links.launch_us.value + 2 * _levels(group) * step_us
    between_s = _tree_network_s(group) / p.tree_derate
    seconds = 1e-6 * latency_us + np.maximum(_nvls_s(group), between_s)
    return {"nvls_tree": np.where(group.k > 1, seconds, np.inf)}


def sharp(group: Group) -> Times:
    """Sums made by the switches of the network: S / g over every NIC, once each way.

    Inside the domain its own switches, or chains where it has none; the two overlap.
    """
    if not group.net.in_network_reduction:
        return {}
    p = group.known.protocols
    beyond_us = 2 * group.beyond_us + group.links.launch_us.value
    between_s = group.size / (group.g * group.nic_rate * group.neighbour_share)
    by_switch_s = 1e-6 * (p.nvls_us + p.nvls_network_us + beyond_us) + np.maximum(_nvls_s(group), between_s)
    chain_s = 2 * group.size / np.where(group.g > 1, group.domain_rate, np.inf)
    chain_us = 2 * (group.g - 1) * p.sharp_chain_step_us + p.sharp_network_us + beyond_us
    by_chain_s = 1e-6 * chain_us + np.maximum(chain_s, between_s)
    return {"sharp": np.where(group.k > 1, np.fmin(by_switch_s, by_chain_s), np.inf)}


def pat(group: Group) -> Times:
    """Reduce-scatter or all-gather by a logarithmic number of steps; NCCL has it for one GPU per domain."""
    p = group.known.protocols
    step_us = p.pat_network_step_us + 2 * group.beyond_us
    latency_us = (
        p.pat_base_us + group.links.launch_us.value + np.ceil(np.log2(group.n)) * step_us + p.pat_gpu_us * group.n
    )
    moving_s = (group.n - 1) / group.n * group.size / (group.nic_rate * group.neighbour_share * p.pat_share)
    return {"pat": np.where((group.g == 1) & (group.k > 1), 1e-6 * latency_us + moving_s, np.inf)}


def hierarchical(group: Group) -> Times:
    """Reduce-scatter in the domain, all-reduce on the rails, all-gather in the domain, by chunks that overlap.

    With m chunks the time is sum / m + (m-1) / m of the longest phase: the sum of the phases for one chunk, the
    longest phase for many. NCCL has no such all-reduce; frameworks build it from its collectives.
    """
    p = group.known.protocols
    inside_s = (group.g - 1) / group.g * group.size / np.where(group.g > 1, group.domain_rate, np.inf)
    rail_s = 2 * (group.k - 1) / group.k * group.size / group.g / (group.nic_rate * group.neighbour_share)
    chunks = np.maximum(group.size / group.known.hierarchical_chunk_bytes.value, 1.0)
    total_s, longest_s = 2 * inside_s + rail_s, np.maximum(inside_s, rail_s)
    base_us = 3 * (p.ring_base_us.simple + group.links.launch_us.value)
    rail_us = 2 * (group.k - 1) * group.network_step_us(p.ring_step_us.network.simple, "simple")
    latency_us = base_us + 2 * (group.g - 1) * p.ring_step_us.of(group.links.medium).simple + rail_us
    seconds = 1e-6 * latency_us + total_s / chunks + (chunks - 1) / chunks * longest_s
    return {"hierarchical": np.where((group.k > 1) & (group.g > 1), seconds, np.inf)}


ALL_REDUCE: dict[str, Callable[[Group], Times]] = {
    "ring": lambda group: rings(group, 2),
    "tree": trees,
    "nvls": nvls,
    "nvls_tree": nvls_tree,
    "sharp": sharp,
    "hierarchical": hierarchical,
}
GATHER: dict[str, Callable[[Group], Times]] = {"ring": lambda group: rings(group, 1), "pat": pat}
