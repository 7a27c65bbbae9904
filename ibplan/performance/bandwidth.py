"""Bandwidth of a fabric in one direction (design section 2), from the sizes alone."""

from __future__ import annotations

from fractions import Fraction

from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import FabricRequest, FabricSize, LeafLoad, Pod


def injection_gbps(network: NetworkSize) -> int:
    """All endpoints sending, one direction, Gb/s, over all fabrics."""
    request, fabric = network.request, network.fabric
    return network.fabrics * sum(
        pod.count * load.count * _endpoint_gbps(request, load) for pod in fabric.pods for load in pod.leaves
    )


def bisection_gbps(network: NetworkSize) -> Fraction:
    """Bisection bandwidth in Gb/s, one direction, summed over fabrics.

    Half the sum over leaves of min(endpoint bandwidth below, uplink bandwidth); with several pods the smaller of that
    and the same over pods. One switch is non-blocking: half the endpoint bandwidth.
    """
    request, fabric = network.request, network.fabric
    leaves = sum(
        pod.count * load.count * min(_endpoint_gbps(request, load), _uplink_gbps(request, fabric, load))
        for pod in fabric.pods
        for load in pod.leaves
    )
    if fabric.tiers == 3 and sum(pod.count for pod in fabric.pods) > 1:
        leaves = min(leaves, sum(pod.count * _pod_gbps(request, pod) for pod in fabric.pods))
    return Fraction(network.fabrics * leaves, 2)


def per_gpu_gbps(network: NetworkSize, nic_gbps_per_gpu: Fraction) -> Fraction:
    """What a GPU gets, Gb/s one direction, when all endpoints talk across the bisection.

    Its NIC bandwidth, times 2 x bisection / injection (at most 1: no fabric gives more than the NICs inject).
    """
    return nic_gbps_per_gpu * min(Fraction(1), 2 * bisection_gbps(network) / injection_gbps(network))


def _endpoint_gbps(request: FabricRequest, load: LeafLoad) -> int:
    attached = sum(used * group.gbps for used, group in zip(load.attached, request.attached, strict=False))
    return load.servers * load.down_gbps + attached


def _uplink_gbps(request: FabricRequest, fabric: FabricSize, load: LeafLoad) -> int:
    if fabric.tiers == 1 and not fabric.isl:
        return _endpoint_gbps(request, load)
    return (fabric.isl or load.uplinks) * request.leaf.up_gbps


def _pod_gbps(request: FabricRequest, pod: Pod) -> int:
    endpoints = sum(load.count * _endpoint_gbps(request, load) for load in pod.leaves)
    return min(endpoints, pod.spines * pod.uplinks * request.spine.up_gbps)
