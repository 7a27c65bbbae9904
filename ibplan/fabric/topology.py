"""Reads the topology of a wiring off its devices and links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from ibplan.fabric.device_ports import port_use
from ibplan.fabric.folding import Folding, first_fabric, fold, pods_follow_rails, unit_pods
from ibplan.fabric.topology_model import (
    CoreGroups,
    HostGroup,
    LeafGroup,
    LinkCount,
    NameRange,
    Neighbors,
    PodGroup,
    Switches,
    Topology,
    UnitGroup,
)
from ibplan.fabric.wiring_model import ATTACHED, CORE, KINDS, LEAF, MANAGER, SERVER, SPINE, Wiring

Devices = npt.NDArray[np.intp]


def topology(wiring: Wiring) -> Topology:
    """Describe a wiring."""
    network, hosts, folding = wiring.network, wiring.hosts, fold(wiring)
    return Topology(
        network.fabric.tiers,
        hosts.planes,
        network.request.rails * hosts.rails,
        hosts.rails > 1,
        network.fabrics,
        pods_follow_rails(wiring),
        network.request.servers,
        network.endpoints,
        network.tiers,
        _core(wiring),
        tuple(_pods(wiring, folding)),
        tuple(_units(wiring, folding)),
        tuple(_hosts(wiring)),
        tuple(_links(wiring)),
    )


def name_ranges(wiring: Wiring, devices: Devices) -> tuple[NameRange, ...]:
    """The names of devices, in order, as ranges of those that follow each other."""
    if not len(devices):
        return ()
    d = wiring.devices
    breaks = (np.diff(devices) != 1) | (np.diff(d.index[devices]) != 1)
    starts = [0, *(np.flatnonzero(breaks) + 1).tolist()]
    return tuple(
        NameRange(wiring.device_name(int(devices[start])), wiring.device_name(int(devices[end - 1])), end - start)
        for start, end in zip(starts, [*starts[1:], len(devices)], strict=True)
    )


def number_ranges(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Numbers from 0 as ranges from 1."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number + 1, number + 1))
    return tuple(found)


def _switches(wiring: Wiring, devices: Devices) -> Switches:
    one = int(devices[0])
    return Switches(len(devices), name_ranges(wiring, devices), tuple(neighbors(wiring, one)), port_use(wiring, one))


def neighbors(wiring: Wiring, device: int) -> Iterator[Neighbors]:
    """The links of a device, downlinks first, by class."""
    links = wiring.links
    found = []
    for far, near, up in ((links.b_device, links.a_device, False), (links.a_device, links.b_device, True)):
        at = np.flatnonzero(near == device)
        for number in np.unique(links.link_class[at]).tolist():
            link_class = wiring.classes[number]
            others, counts = np.unique(far[at[links.link_class[at] == number]], return_counts=True)
            kind = KINDS[wiring.devices.kind[others[0]]]
            upward = link_class.kind == "leaf-leaf" or (not up and link_class.kind in ("leaf-spine", "spine-core"))
            found.append(
                Neighbors(
                    kind,
                    link_class.kind,
                    link_class.host,
                    "up" if upward else "down",
                    link_class.gbps,
                    int(counts.sum()),
                    len(others),
                    int(counts.min()),
                    int(counts.max()),
                )
            )
    yield from sorted(found, key=lambda n: n.direction == "up")


def _core(wiring: Wiring) -> CoreGroups | None:
    core = wiring.network.fabric.core
    if core is None:
        return None
    devices = first_fabric(wiring, CORE)
    first = devices[wiring.devices.position[devices] == 0]
    return CoreGroups(core.groups, core.per_group, name_ranges(wiring, first), _switches(wiring, devices))


def _pods(wiring: Wiring, folding: Folding) -> Iterator[PodGroup]:
    d, spines, leaves = wiring.devices, first_fabric(wiring, SPINE), first_fabric(wiring, LEAF)
    for group in range(int(folding.pod_group.max()) + 1):
        numbers = np.flatnonzero(folding.pod_group == group)
        mine = spines[np.isin(d.pod[spines], numbers)]
        below = leaves[d.pod[leaves] == numbers[0]]
        yield PodGroup(
            len(numbers),
            number_ranges(numbers.tolist()),
            len(np.unique(d.unit[below])),
            len(below),
            len(mine) // len(numbers),
            _switches(wiring, mine) if len(mine) else None,
        )


def _units(wiring: Wiring, folding: Folding) -> Iterator[UnitGroup]:
    d, leaves, servers = wiring.devices, first_fabric(wiring, LEAF), wiring.of_kind("server")
    by_rail = pods_follow_rails(wiring)
    for group in range(int(folding.unit_group.max()) + 1):
        numbers = np.flatnonzero(folding.unit_group == group)
        mine = servers[np.isin(d.unit[servers], numbers)]
        below = leaves[np.isin(d.unit[leaves], numbers)]
        yield UnitGroup(
            len(numbers),
            number_ranges(numbers.tolist()),
            None if by_rail else int(folding.pod_group[unit_pods(wiring)[numbers[0]]]),
            len(mine) // len(numbers),
            name_ranges(wiring, mine),
            tuple(_leaf_groups(wiring, folding, below)),
        )


def _leaf_groups(wiring: Wiring, folding: Folding, leaves: Devices) -> Iterator[LeafGroup]:
    """The leaves of some units alike, by kind; rails as they are in the first of the units."""
    d = wiring.devices
    first = leaves[d.unit[leaves] == d.unit[leaves[0]]]
    rails = _rails_of_leaves(wiring, first)
    for kind in dict.fromkeys(folding.leaf_kind[first].tolist()):
        ones = first[folding.leaf_kind[first] == kind].tolist()
        yield LeafGroup(
            tuple(int(d.position[leaf]) + 1 for leaf in ones),
            tuple(tuple(rails.get(leaf, ())) for leaf in ones),
            _switches(wiring, leaves[folding.leaf_kind[leaves] == kind]),
        )


def _rails_of_leaves(wiring: Wiring, leaves: Devices) -> dict[int, list[int]]:
    """The rails on some leaves of the first fabric, from 1."""
    links, d = wiring.links, wiring.devices
    there = np.zeros(len(d), bool)
    there[leaves] = True
    at = np.flatnonzero(there[links.a_device])
    at = at[d.kind[links.b_device[at]] == SERVER]
    _, rail = wiring.hosts.rail_of(links.b_port[at])
    size = int(rail.max(initial=0)) + 1
    found: dict[int, list[int]] = {}
    for key in np.unique(links.a_device[at].astype(np.int64) * size + rail).tolist():
        found.setdefault(key // size, []).append(key % size + 1)
    return found


def _hosts(wiring: Wiring) -> Iterator[HostGroup]:
    d, links = wiring.devices, wiring.links
    groups = [(g.name, ATTACHED, np.flatnonzero(d.group == k)) for k, g in enumerate(wiring.network.request.attached)]
    for name, kind, devices in [*groups, ("manager", MANAGER, wiring.of_kind("manager"))]:
        at = np.flatnonzero(np.isin(links.b_device, devices))
        if not len(at):
            continue
        speeds = sorted({wiring.classes[k].gbps for k in np.unique(links.link_class[at]).tolist()})
        leaves = np.unique(links.a_device[at[links.fabric[at] == 0]]).astype(np.intp)
        each = len(at) // len(devices)
        yield HostGroup(
            name,
            KINDS[kind],
            len(devices),
            name_ranges(wiring, devices),
            each,
            tuple(speeds),
            name_ranges(wiring, leaves),
        )


def _links(wiring: Wiring) -> Iterator[LinkCount]:
    """Every class, with the pairs of devices of all fabrics: those of the first, times the fabrics."""
    links, size = wiring.links, len(wiring.devices)
    for number, link_class in enumerate(wiring.classes):
        at = np.flatnonzero(links.link_class == number)
        if not len(at):  # reserved ports that are kept free
            continue
        keys = links.a_device[at].astype(np.int64) * size + links.b_device[at]
        _, counts = np.unique(keys, return_counts=True)
        least, most = int(counts.min()), int(counts.max())
        yield LinkCount(link_class.kind, link_class.host, link_class.gbps, len(at), len(counts), least, most)
