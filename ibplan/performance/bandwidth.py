"""Bandwidth of a fabric in one direction (design section 2), from the sizes alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import FabricRequest, FabricSize, LeafLoad, east_west_hosts


@dataclass(frozen=True, slots=True)
class BandwidthGroup:
    """`count` leaves (or pods) alike, over all fabrics: what one's endpoints send and what its uplinks carry, Gb/s.

    `uplink_gbps` None = a single switch, which has no uplinks and blocks nothing.
    """

    count: int
    endpoint_gbps: int
    uplink_gbps: int | None

    @property
    def crossing_gbps(self) -> int:
        """What all of them together can send upward: the smaller of both bandwidths, Gb/s."""
        least = self.endpoint_gbps if self.uplink_gbps is None else min(self.endpoint_gbps, self.uplink_gbps)
        return self.count * least


def leaf_groups(network: NetworkSize) -> tuple[BandwidthGroup, ...]:
    """The leaves of all fabrics, those alike together."""
    request, fabric = network.request, network.fabric
    return _merged(
        BandwidthGroup(
            network.fabrics * pod.count * load.count,
            endpoint_gbps(request, load),
            _uplink_gbps(request, fabric, load),
        )
        for pod in fabric.pods
        for load in pod.leaves
    )


def pod_groups(network: NetworkSize) -> tuple[BandwidthGroup, ...]:
    """The pods of all fabrics, those alike together; empty where there are not several in a fabric."""
    request, fabric = network.request, network.fabric
    if fabric.tiers < 3 or sum(pod.count for pod in fabric.pods) == 1:
        return ()
    return _merged(
        BandwidthGroup(
            network.fabrics * pod.count,
            sum(load.count * endpoint_gbps(request, load) for load in pod.leaves),
            pod.spines * pod.uplinks * request.spine.up_gbps,
        )
        for pod in fabric.pods
    )


def _merged(groups: Iterable[BandwidthGroup]) -> tuple[BandwidthGroup, ...]:
    counts: dict[tuple[int, int | None], int] = {}
    for group in groups:
        alike = (group.endpoint_gbps, group.uplink_gbps)
        counts[alike] = counts.get(alike, 0) + group.count
    return tuple(BandwidthGroup(count, *alike) for alike, count in counts.items())


def injection_gbps(network: NetworkSize) -> int:
    """All endpoints sending, one direction, Gb/s, over all fabrics."""
    return sum(group.count * group.endpoint_gbps for group in leaf_groups(network))


def bisection_gbps(network: NetworkSize) -> Fraction:
    """Bisection bandwidth in Gb/s, one direction, summed over fabrics.

    Half the sum over leaves of min(endpoint bandwidth below, uplink bandwidth); with several pods the smaller of that
    and the same over pods. One switch is non-blocking: half the endpoint bandwidth.
    """
    sides = [groups for groups in (leaf_groups(network), pod_groups(network)) if groups]
    return Fraction(min(sum(group.crossing_gbps for group in groups) for groups in sides), 2)


def per_gpu_gbps(network: NetworkSize, nic_gbps_per_gpu: Fraction) -> Fraction:
    """What a GPU gets, Gb/s one direction, when all endpoints talk across the bisection.

    Its NIC bandwidth, times 2 x bisection / injection (at most 1: no fabric gives more than the NICs inject).
    """
    return nic_gbps_per_gpu * min(Fraction(1), 2 * bisection_gbps(network) / injection_gbps(network))


def endpoint_gbps(request: FabricRequest, load: LeafLoad) -> int:
    """What the servers and attached hosts below one leaf send, Gb/s; north-south ports are not counted."""
    return load.servers * load.down_gbps + sum(used * gbps for used, gbps in east_west_hosts(request, load))


def _uplink_gbps(request: FabricRequest, fabric: FabricSize, load: LeafLoad) -> int | None:
    if fabric.tiers == 1 and not fabric.isl and not fabric.separate:
        return None
    return (fabric.isl or load.uplinks) * request.leaf.up_gbps
