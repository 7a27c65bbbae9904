"""The groups that take part in a collective, and the rates and latencies that their links give them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibplan.performance.collective_constants import Constants, Generation, Protocol, constants, generation
from ibplan.performance.interconnect import Interconnect

FloatArray = NDArray[np.float64]
PROTOCOLS: tuple[Protocol, ...] = ("ll", "ll128", "simple")


@dataclass(frozen=True)
class Group:
    """Arrays of one shape: bytes `size`, GPUs `n`, members per domain `g`, domains `k` = n / g rounded up, `span` GPUs.

    Rates are bytes per second and one direction, NaN where the machine's links are not known.
    """

    size: FloatArray
    n: FloatArray
    g: FloatArray
    k: FloatArray
    span: FloatArray
    net: Interconnect
    links: Generation
    known: Constants

    @cached_property
    def domain_rate(self) -> float:
        """What a ring gets from the links of the domain, per GPU."""
        rate = self.net.domain_gbytes_per_s
        return np.nan if rate is None else rate * 1e9 * self.links.ring_efficiency.value

    @cached_property
    def nic_rate(self) -> float:
        """What a GPU's NICs carry, protocol overhead taken off."""
        return self.net.nic_gbytes_per_s * 1e9 * self._wire_share

    @cached_property
    def exchange_nic_rate(self) -> float:
        """The same when a GPU talks to many others at once."""
        rdma = self.net.link_layer != "ethernet" and self.net.wire_efficiency is None
        share = self.known.wire.rdma_all_to_all.value if rdma else self._wire_share
        return self.net.nic_gbytes_per_s * 1e9 * share

    @property
    def _wire_share(self) -> float:
        if self.net.wire_efficiency is not None:
            return self.net.wire_efficiency
        return self.known.wire.tcp.value if self.net.link_layer == "ethernet" else self.known.wire.rdma.value

    @cached_property
    def neighbour_share(self) -> FloatArray:
        """Share of the NIC rate kept by a flow to the next domain when the group's domains lie along the leaves.

        Of the domains of the group below one leaf only the last one sends across spines, so its flow has the uplink
        share of all of them to itself.
        """
        below_leaf = np.maximum(self.k * self.net.leaf_gpus / self.span, 1.0)
        return np.where(self.span > self.net.leaf_gpus, np.minimum(self.net.spine_share * below_leaf, 1.0), 1.0)

    @cached_property
    def ring_rate(self) -> FloatArray:
        """Bytes per second that pass every GPU of a ring: the domain's links, or the NICs of a domain together."""
        inside = np.where(self.g > 1, self.domain_rate, np.inf)
        across = np.where(self.k > 1, self.nic_rate * self.g * self.neighbour_share, np.inf)
        return np.minimum(inside, across)

    @cached_property
    def beyond_us(self) -> float:
        """Microseconds of path latency beyond what NCCL's network steps already hold."""
        held = self.known.network_latency_us.assumed_by_nccl.value
        return max(0.0, network_latency_us(self.net, self.known) - held)

    def network_step_us(self, step_us: float, protocol: Protocol) -> float:
        """Microseconds of a step through the network."""
        crossings: float = getattr(self.known.protocols.network_crossings, protocol)
        return step_us + crossings * self.beyond_us

    def ll_cap(self) -> FloatArray:
        """Bytes per second that an LL ring never passes, by the number of domains."""
        one, two, more = self.links.ll_gbytes_per_s
        return 1e9 * np.where(self.k <= 1, one, np.where(self.k <= 2, two, more))

    def protocols(self) -> tuple[Protocol, ...]:
        """The protocols that run: LL128 needs NVLink in the domain and RDMA between domains."""
        ordered = self.links.medium == "nvlink" and self.net.link_layer != "ethernet"
        return tuple(p for p in PROTOCOLS if ordered or p != "ll128")


def network_latency_us(net: Interconnect, known: Constants) -> float:
    """One way over the farthest path, us: as measured for the machine, else what is usual for its link layer."""
    if net.latency_us is not None:
        return net.latency_us
    usual = {"infiniband": known.network_latency_us.infiniband, "roce": known.network_latency_us.roce}
    return usual.get(net.link_layer, known.network_latency_us.ethernet).value


def group_of(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    span_gpus: ArrayLike | None,
) -> Group:
    """The groups as arrays of one shape; raises ValueError for those that cannot be."""
    size, n, g = (np.asarray(a, dtype=np.float64) for a in (size_bytes, gpus, gpus_in_domain))
    if np.any(size < 0) or np.any(n < 1) or np.any(g < 1) or np.any(g > n) or np.any(g > net.domain_gpus):
        raise ValueError("a group has members, some in a domain, no more than it holds, and sizes from 0 on")
    k = np.ceil(n / g)
    span = k * net.domain_gpus if span_gpus is None else np.asarray(span_gpus, dtype=np.float64)
    if np.any(span < n):
        raise ValueError("span_gpus counts at least the members of the group")
    size, n, g, k, span = np.broadcast_arrays(size, n, g, k, span)
    known = constants()
    return Group(size, n, g, k, span, net, generation(net, known), known)
