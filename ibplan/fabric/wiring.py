"""Every link of a network with both ports, as arrays: made only for a design that someone cables, exports or simulates.

Sizing says how many links there are; wiring says which. The rules are in docs/wiring.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ibplan.errors import InputError, Problem
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.wiring_cages import Bank, WiringError
from ibplan.fabric.wiring_devices import FirstDevice, all_devices
from ibplan.fabric.wiring_hosts import HostLinks, attached_links, manager_links, server_links
from ibplan.fabric.wiring_leaves import LeafTable, leaf_table
from ibplan.fabric.wiring_model import (
    CORE,
    KINDS,
    LEAF,
    MANAGER,
    SERVER,
    SPINE,
    DeviceKind,
    Devices,
    HostPorts,
    Ints,
    Links,
    Side,
    Wiring,
)
from ibplan.fabric.wiring_tiers import TierLinks, leaf_leaf_links, leaf_spine_links, spine_core_links, spine_table
from ibplan.parts.links import LinkKind

__all__ = ["KINDS", "DeviceKind", "Devices", "HostPorts", "Links", "Side", "Wiring", "WiringError", "wire"]

_HOST_KINDS: tuple[LinkKind, ...] = ("server-leaf", "attached", "reserved")


def wire(network: NetworkSize, *, planes: int | None = None, ports_per_nic: int | None = None) -> Wiring:
    """All devices and links of a network.

    `planes`: disjoint fabrics that a NIC's ports are dealt over; the default takes all fabrics for planes. Where rails
    are separate there are more fabrics than planes. `ports_per_nic`: network ports of one NIC, default one a plane.
    Raises WiringError where the links do not come out as they were sized, InputError for a name that would be double.
    """
    hosts = _host_ports(network, planes, ports_per_nic)
    _check_names(network, hosts)
    leaves = leaf_table(network)
    spines = spine_table(network, leaves)
    devices, first = all_devices(network, leaves, spines)
    classes = _host_classes(network, leaves)
    blocks = [*_servers(network, hosts, leaves, first, classes)]
    for group in range(len(network.request.attached)):
        links = attached_links(network, leaves, group)
        blocks += _others(network, links, first, classes, ("attached", group, first.group[group]))
    blocks += _others(network, manager_links(leaves), first, classes, ("reserved", None, -1))
    if network.fabric.tiers > 1:
        blocks += _tier(network, "leaf-spine", leaf_spine_links(leaves, spines), (LEAF, SPINE), first)
    blocks += _tier(network, "spine-core", spine_core_links(network, spines, leaves), (SPINE, CORE), first)
    if network.fabric.isl:
        blocks += _tier(network, "leaf-leaf", leaf_leaf_links(leaves), (LEAF, LEAF), first)
    wiring = Wiring(network, hosts, devices, _joined(blocks))
    _check_counts(wiring)
    return wiring


def _host_ports(network: NetworkSize, planes: int | None, ports_per_nic: int | None) -> HostPorts:
    planes = planes or network.fabrics
    per_nic = ports_per_nic or planes
    separate, total = network.fabrics // planes, network.request.rails * network.fabrics
    odd = network.fabrics % planes or per_nic % planes or total % per_nic
    if odd or (separate > 1 and network.request.rails > 1):
        raise WiringError(f"{total} ports of a server, {per_nic} a NIC, are not dealt over {planes} planes")
    return HostPorts(planes, separate, per_nic)


def _check_names(network: NetworkSize, hosts: HostPorts) -> None:
    """Refuse groups of attached hosts whose names would be those of other devices."""
    labels = [label for f in range(network.fabrics) if (label := hosts.label(f))]
    taken = {*KINDS, *(f"{kind}-{label}" for kind in KINDS for label in labels)}
    for group in network.request.attached:
        if group.name in taken:
            message = f"{group.name!r} would name other devices too"
            raise InputError([Problem("attached", 0, 0, message, "give the hosts another name")])
        taken.add(group.name)


@dataclass(frozen=True, slots=True)
class _Block:
    """Links of one kind in one fabric; `link_class` for each of them."""

    link_class: npt.NDArray[np.int16]
    a_device: Ints
    a_port: Ints
    b_device: Ints
    b_port: Ints
    fabric: int


_Classes = dict[tuple[LinkKind, int | None, int], int]


def _host_classes(network: NetworkSize, leaves: LeafTable) -> _Classes:
    """Index in the network's links of each class of host links: by kind, group and cage set.

    Sizing lists them in the order of these keys as texts, servers first.
    """

    def used(bank: Bank) -> set[int]:
        return set(bank.sets)

    keys: set[tuple[LinkKind, int | None, int]] = set()
    for kind in leaves.kinds:
        keys |= {("server-leaf", None, s) for s in used(kind.banks.servers)}
        keys |= {("reserved", None, s) for s in used(kind.banks.reserved)}
        keys |= {("attached", g, s) for g, bank in enumerate(kind.banks.attached) for s in used(bank)}
    ordered = sorted(keys, key=lambda key: (key[0] != "server-leaf", str(key)))
    listed = [i for i, c in enumerate(network.links) if c.kind in _HOST_KINDS]
    if len(ordered) != len(listed):
        raise WiringError(f"host links are of {len(ordered)} classes, but {len(listed)} were sized")
    return dict(zip(ordered, listed, strict=True))


def _of_class(classes: _Classes, kind: LinkKind, group: int | None, cage_set: Ints) -> npt.NDArray[np.int16]:
    known = {s: index for (k, g, s), index in classes.items() if (k, g) == (kind, group)}
    lookup = np.zeros(max(known, default=0) + 1, np.int16)
    for s, index in known.items():
        lookup[s] = index
    return lookup[cage_set]


def _servers(
    network: NetworkSize, hosts: HostPorts, leaves: LeafTable, first: FirstDevice, classes: _Classes
) -> Iterator[_Block]:
    links = server_links(network, leaves)
    link_class = _of_class(classes, "server-leaf", None, links.cage_set)
    for f in range(network.fabrics):
        port = hosts.server_port(f, links.host_port)
        leaf = links.leaf + np.int32(first.in_fabric(LEAF, f))
        yield _Block(link_class, leaf, links.leaf_port, links.host + np.int32(first.kind[SERVER]), port, f)


def _others(
    network: NetworkSize,
    links: HostLinks,
    first: FirstDevice,
    classes: _Classes,
    key: tuple[LinkKind, int | None, int],
) -> Iterator[_Block]:
    """Attached hosts (`key`: kind, group, first device), whose ports are dealt over the fabrics; or managers."""
    kind, group, start = key
    link_class = _of_class(classes, kind, group, links.cage_set)
    for f in range(network.fabrics):
        leaf = links.leaf + np.int32(first.in_fabric(LEAF, f))
        port = links.host_port if group is None else links.host_port * np.int32(network.fabrics) + np.int32(f)
        host = links.host + np.int32(first.in_fabric(MANAGER, f) if group is None else start)
        yield _Block(link_class, leaf, links.leaf_port, host, port, f)


def _tier(
    network: NetworkSize, kind: LinkKind, links: TierLinks, ends: tuple[int, int], first: FirstDevice
) -> Iterator[_Block]:
    found = [i for i, c in enumerate(network.links) if c.kind == kind]
    if len(found) != (1 if len(links.lower) else 0):
        raise WiringError(f"{len(links.lower)} {kind} links, but {len(found)} classes of them were sized")
    for f in range(network.fabrics if found else 0):
        lower = links.lower + np.int32(first.in_fabric(ends[0], f))
        upper = links.upper + np.int32(first.in_fabric(ends[1], f))
        link_class = np.full(len(lower), found[0], np.int16)
        yield _Block(link_class, lower, links.lower_port, upper, links.upper_port, f)


def _joined(blocks: Sequence[_Block]) -> Links:
    """All blocks, by class, then as they stand (by fabric)."""
    link_class = np.concatenate([b.link_class for b in blocks])
    order = None if bool((np.diff(link_class) >= 0).all()) else np.argsort(link_class, kind="stable")

    def column(parts: list[Ints]) -> Ints:
        whole = np.concatenate(parts)
        return whole if order is None else whole[order]

    fabric = np.repeat(np.array([b.fabric for b in blocks], np.int16), [len(b.link_class) for b in blocks])
    return Links(
        link_class if order is None else link_class[order],
        column([b.a_device for b in blocks]),
        column([b.a_port for b in blocks]),
        column([b.b_device for b in blocks]),
        column([b.b_port for b in blocks]),
        fabric if order is None else fabric[order],
    )


def _check_counts(wiring: Wiring) -> None:
    """The last look: as many links of each class as were sized, and every port that was wanted exists."""
    counts = np.bincount(wiring.links.link_class, minlength=len(wiring.classes))
    for link, count in zip(wiring.classes, counts.tolist(), strict=True):
        if link.count != count:
            raise WiringError(f"{count} {link.kind} links, but {link.count} were sized")
    for ports in (wiring.links.a_port, wiring.links.b_port):
        if len(ports) and int(ports.min()) < 0:
            raise WiringError("a link has no port")
