"""Links that must be of one medium, because they share modules: a class of links dealt into its groups. No numpy.

Wiring spreads the links of a switch over all cages of that side, so all links of a unit's servers are one group, all
between the leaves and the spines of a pod, and all of any other kind in a fabric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ibplan.fabric.leaves import build_units, unit_rule
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.pod_chunks import pods_with_units
from ibplan.fabric.request import UnitLoad
from ibplan.fabric.wiring_cages import WiringError
from ibplan.parts.links import DeviceLoad, LinkClass


@dataclass(frozen=True, slots=True)
class LinkGroup:
    """The devices of one group at both ends of its links: how many, with how many links each."""

    a: tuple[DeviceLoad, ...]
    b: tuple[DeviceLoad, ...]


def link_groups(network: NetworkSize, link: LinkClass) -> list[LinkGroup]:
    """The groups of a class that is the only one of its kind: units with servers, in order; pods or fabrics.

    Pods are listed fabric by fabric, in the order of their numbers. Raises WiringError where the groups do not add up
    to the class.
    """
    if link.kind == "server-leaf":
        groups = [_servers(network, link, unit) for unit in _units(network) if unit.servers for _ in range(unit.count)]
    elif link.kind == "leaf-spine":
        groups = _pods(network) * network.fabrics
    else:
        share = [tuple(replace(x, devices=x.devices // network.fabrics) for x in e.loads) for e in (link.a, link.b)]
        groups = [LinkGroup(share[0], share[1])] * network.fabrics
    if sum(load.devices * load.ports for group in groups for load in group.a) != link.count:
        raise WiringError(f"the groups of {link.kind} links do not add up to {link.count:,}")
    return groups


def part_of_class(link: LinkClass, groups: Iterable[LinkGroup]) -> LinkClass:
    """Some groups of a class, as a class of its own."""
    chosen = list(groups)
    near, far = _added(x for group in chosen for x in group.a), _added(x for group in chosen for x in group.b)
    return replace(link, a=replace(link.a, loads=near), b=replace(link.b, loads=far))


def _units(network: NetworkSize) -> Sequence[UnitLoad]:
    request, fabric = network.request, network.fabric
    if fabric.tiers == 1 and not fabric.separate:
        return [UnitLoad(1, request.servers, fabric.pods[0].leaves)]
    return build_units(replace(request, tiers=3 if fabric.tiers == 3 else 2), unit_rule(request))[0]


def _servers(network: NetworkSize, link: LinkClass, unit: UnitLoad) -> LinkGroup:
    """A unit, over all fabrics. Where the far ends are counted port by port, they stay so."""
    leaves = tuple(DeviceLoad(x.count * network.fabrics, x.servers) for x in unit.leaves if x.servers)
    ports = link.b.loads[0].ports
    return LinkGroup(leaves, (DeviceLoad(sum(x.devices * x.ports for x in leaves) // ports, ports),))


def _pods(network: NetworkSize) -> list[LinkGroup]:
    request, fabric = network.request, network.fabric
    found = pods_with_units(request, fabric.tiers, _units(network), fabric.pods)
    return [
        LinkGroup(
            tuple(DeviceLoad(load.count, load.uplinks) for load in pod.leaves),
            (DeviceLoad(pod.spines, pod.downlinks),),
        )
        for _, pod in found
    ]


def _added(loads: Iterable[DeviceLoad]) -> tuple[DeviceLoad, ...]:
    counts: Counter[int] = Counter()
    for load in loads:
        counts[load.ports] += load.devices
    return tuple(DeviceLoad(devices, ports) for ports, devices in sorted(counts.items()))
