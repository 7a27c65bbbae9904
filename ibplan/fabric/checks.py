"""What must hold of any wiring: a flat list of small checks, none of which uses the rules by which links are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from ibplan.fabric.wiring_model import ATTACHED, CORE, KINDS, LEAF, MANAGER, SERVER, SPINE, Ints, Wiring
from ibplan.fabric.wiring_port_checks import (
    CheckFailure,
    cages_run_one_speed,
    cages_run_one_way,
    cages_suffice,
    downlinks_come_first,
    link_ends,
    no_link_to_itself,
    ports_are_kept,
    ports_exist,
    ports_of_hosts,
    ports_used_once,
)

__all__ = ["CHECKS", "CheckFailure", "check_wiring"]

_ENDS: Final = {
    "server-leaf": (LEAF, SERVER),
    "attached": (LEAF, ATTACHED),
    "reserved": (LEAF, MANAGER),
    "leaf-spine": (LEAF, SPINE),
    "spine-core": (SPINE, CORE),
    "leaf-leaf": (LEAF, LEAF),
}


def _links(w: Wiring, kind: str) -> Ints:
    """Which links are of a kind."""
    wanted = np.array([c.kind == kind for c in w.classes], bool)
    return np.flatnonzero(wanted[w.links.link_class]).astype(np.int32)


def names_are_unique(w: Wiring) -> Iterator[CheckFailure]:
    """No two devices have one name."""
    double = [name for name, count in Counter(w.device_names()).items() if count > 1]
    if double:
        yield CheckFailure("name-twice", f"{len(double):,} names stand for several devices, the first is {double[0]}")


def devices_are_counted(w: Wiring) -> Iterator[CheckFailure]:
    """As many devices of each kind as were sized."""
    sized = {row.tier: row.count for row in w.network.tiers} | {"server": w.network.request.servers}
    sized["attached"] = sum(g.hosts for g in w.network.request.attached)
    sized["manager"] = sum(c.count for c in w.classes if c.kind == "reserved")
    for kind in KINDS:
        count = len(w.of_kind(kind))
        if count != sized.get(kind, 0):
            yield CheckFailure("device-count", f"{count:,} devices are {kind}, but {sized.get(kind, 0):,} were sized")


def links_are_counted(w: Wiring) -> Iterator[CheckFailure]:
    """As many links of each class as were sized, and the same at its far end."""
    counts = np.bincount(w.links.link_class, minlength=len(w.classes)).tolist()
    for number, link in enumerate(w.classes):
        if not counts[number] == link.a.ports == link.b.ports:
            sized = f"{link.a.ports:,} and {link.b.ports:,} ends were sized"
            yield CheckFailure("class-count", f"{counts[number]:,} {link.kind} links, but {sized}")


def links_join_what_they_say(w: Wiring) -> Iterator[CheckFailure]:
    """Both ends of a link are devices of the kinds that its class joins."""
    kind = w.devices.kind
    wanted = np.array([_ENDS[c.kind] for c in w.classes], np.int8).reshape(-1, 2)[w.links.link_class]
    bad = np.flatnonzero((kind[w.links.a_device] != wanted[:, 0]) | (kind[w.links.b_device] != wanted[:, 1]))
    if len(bad):
        yield CheckFailure("class-ends", f"{_where(w, int(bad[0]))} is no {w.classes[w.links.link_class[bad[0]]].kind}")


def _where(w: Wiring, link: int) -> str:
    names = [w.device_name(int(device[link])) for device in (w.links.a_device, w.links.b_device)]
    return f"the link {names[0]} to {names[1]}"


def endpoints_are_linked(w: Wiring) -> Iterator[CheckFailure]:
    """Every port of a server, attached host or manager has a link."""
    hosts = w.devices.kind < LEAF
    linked = np.bincount(link_ends(w).device, minlength=len(w.devices))
    bad = np.flatnonzero(hosts & (linked != ports_of_hosts(w)))
    if len(bad):
        has, wants = int(linked[bad[0]]), int(ports_of_hosts(w)[bad[0]])
        text = f"{w.device_name(int(bad[0]))} has {has} links on {wants} ports"
        yield CheckFailure("endpoint-links", f"{len(bad):,} hosts are not linked as they should be: {text}")


def ports_are_counted(w: Wiring) -> Iterator[CheckFailure]:
    """As many ports of each tier carry a link as were sized."""
    kinds = w.devices.kind[link_ends(w).device]
    for row in w.network.tiers:
        used = int((kinds == KINDS.index(row.tier)).sum())
        if used != row.ports_used:
            yield CheckFailure("port-sum", f"{used:,} {row.tier} ports carry links, but {row.ports_used:,} were sized")


def fabrics_stay_apart(w: Wiring) -> Iterator[CheckFailure]:
    """Both switches of a link, and a manager, are in the fabric of the link."""
    for device in (w.links.a_device, w.links.b_device):
        fabric = w.devices.fabric[device]
        bad = np.flatnonzero((fabric >= 0) & (fabric != w.links.fabric))
        if len(bad):
            yield CheckFailure("fabric-joined", f"{_where(w, int(bad[0]))} leaves its fabric")
            return


def fabrics_hang_together(w: Wiring) -> Iterator[CheckFailure]:
    """Every switch reaches every other of its fabric over links between switches."""
    kind = w.devices.kind
    between = (kind[w.links.a_device] >= LEAF) & (kind[w.links.b_device] >= LEAF)
    a, b = w.links.a_device[between], w.links.b_device[between]
    label = np.arange(len(w.devices))
    while True:
        before = label.copy()
        lower = np.minimum(label[a], label[b])
        np.minimum.at(label, a, lower)
        np.minimum.at(label, b, lower)
        if (label == before).all():
            break
    switches = np.flatnonzero(kind >= LEAF)
    parts, fabric = len(np.unique(label[switches])), w.network.fabric
    wanted = w.network.fabrics * (fabric.leaf_count if fabric.separate else 1)
    if parts != wanted:
        yield CheckFailure("fabric-split", f"switches form {parts} networks, but {wanted} were sized")


def uplinks_are_even(w: Wiring) -> Iterator[CheckFailure]:
    """A leaf has the same number of links to every spine of its pod; a spine to every core of one group."""
    d, core = w.devices, w.network.fabric.core
    spines = np.bincount(d.pod[(d.kind == SPINE) & (d.fabric == 0)], minlength=int(d.pod.max()) + 1)
    wanted = np.zeros(len(d), np.int64)
    wanted[d.kind == LEAF] = spines[d.pod[d.kind == LEAF]]
    wanted[d.kind == SPINE] = core.per_group if core else 0
    for kind, code in (("leaf-spine", "uplinks-uneven"), ("spine-core", "cores-uneven")):
        at = _links(w, kind)
        pairs = w.links.a_device[at].astype(np.int64) * len(d) + w.links.b_device[at]
        keys, links = np.unique(pairs, return_counts=True)
        lower = keys // len(d)
        devices, first, peers = np.unique(lower, return_index=True, return_counts=True)
        bad = devices[(peers != wanted[devices])]
        uneven = lower[links != np.repeat(links[first], peers)] if len(keys) else lower
        if len(bad) or len(uneven):
            name = w.device_name(int((bad if len(bad) else uneven)[0]))
            yield CheckFailure(code, f"{name} does not spread its uplinks evenly over the switches above it")


def pods_keep_together(w: Wiring) -> Iterator[CheckFailure]:
    """A leaf's spines are those of its pod; a spine's cores are of one group."""
    at = _links(w, "leaf-spine")
    bad = at[w.devices.pod[w.links.a_device[at]] != w.devices.pod[w.links.b_device[at]]]
    core = w.network.fabric.core
    if core is not None:
        at = _links(w, "spine-core")
        group = w.devices.position[w.links.b_device[at]]
        away = at[group != w.devices.position[w.links.a_device[at]] % core.groups]
        bad = np.concatenate([bad, away])
    if len(bad):
        yield CheckFailure("pod-crossed", f"{_where(w, int(bad[0]))} leaves its pod or its group of cores")


def units_keep_together(w: Wiring) -> Iterator[CheckFailure]:
    """Servers stand in units in the order of their numbers, and are linked to the leaves of their unit."""
    d, at = w.devices, _links(w, "server-leaf")
    unit = d.index // max(1, w.network.fabric.unit.servers)
    leaf, server = w.links.a_device[at], w.links.b_device[at]
    bad = at[(unit[server] != d.unit[leaf]) | (unit[server] != d.unit[server])]
    if len(bad):
        yield CheckFailure("unit-crossed", f"{_where(w, int(bad[0]))} leaves its unit")


def rails_are_in_place(w: Wiring) -> Iterator[CheckFailure]:
    """Rail i of a server is on the leaf of its unit that is there for rail i."""
    d, at, request = w.devices, _links(w, "server-leaf"), w.network.request
    leaf, server = w.links.a_device[at], w.links.b_device[at]
    _, rail = w.hosts.rail_of(w.links.b_port[at])
    mine = (d.kind == LEAF) & (d.fabric == 0)
    leaves = np.bincount(d.unit[mine])[np.minimum(d.unit[server], d.unit[mine].max())]
    wanted = rail // -(-request.rails // leaves)
    if w.network.fabric.isl and (request.rails == 1 or not request.rail_optimized):
        wanted = d.index[server] % 2
    bad = at[wanted != d.position[leaf]]
    if len(bad):
        yield CheckFailure("rail-misplaced", f"{_where(w, int(bad[0]))} is on the leaf of another rail")


def planes_are_in_place(w: Wiring) -> Iterator[CheckFailure]:
    """The ports of a NIC are dealt over the planes; those of an attached host over the fabrics."""
    at = _links(w, "server-leaf")
    bad = at[w.hosts.rail_of(w.links.b_port[at])[0] != w.links.fabric[at]]
    at = _links(w, "attached")
    bad = np.concatenate([bad, at[w.links.b_port[at] % w.network.fabrics != w.links.fabric[at]]])
    if len(bad):
        yield CheckFailure("plane-misplaced", f"{_where(w, int(bad[0]))} is in the fabric of another port")


def leaves_carry_what_was_sized(w: Wiring) -> Iterator[CheckFailure]:
    """The leaves have, one by one, the links to servers, hosts, managers and upwards that sizing gave them."""
    groups = [g.name for g in w.network.request.attached]
    columns = [_per_leaf(w, kind, host) for kind, host in (("server-leaf", None), ("reserved", None))]
    columns += [_per_leaf(w, "attached", name) for name in groups]
    isl = w.network.fabric.isl
    columns.append(_per_leaf(w, "leaf-leaf" if isl else "leaf-spine", None))
    found = Counter(map(tuple, np.stack(columns, axis=1).tolist()))
    sized: Counter[tuple[int, ...]] = Counter()
    for pod in w.network.fabric.pods:
        for load in pod.leaves:
            attached = load.attached or (0,) * len(groups)
            own = 0 if w.network.fabric.separate else load.uplinks
            row = (load.servers, load.reserved, *attached, isl or own)
            sized[row] += pod.count * load.count * w.network.fabrics
    if found != sized:
        text = f"{dict(found - sized)} where {dict(sized - found)} were sized"
        yield CheckFailure("leaf-load", f"leaves carry (servers, reserved, attached ..., uplinks) {text}")


def _per_leaf(w: Wiring, kind: str, host: str | None) -> Ints:
    """Links of a kind (to one group of hosts) on every leaf."""
    wanted = np.array([c.kind == kind and host in (None, c.host) for c in w.classes], bool)[w.links.link_class]
    ends = [w.links.a_device[wanted], *([w.links.b_device[wanted]] if kind == "leaf-leaf" else [])]
    counts = np.bincount(np.concatenate(ends), minlength=len(w.devices))
    return np.asarray(counts[w.devices.kind == LEAF], np.int32)


def hosts_use_several_leaves(w: Wiring) -> Iterator[CheckFailure]:
    """No attached host has two ports of a fabric on one leaf, unless the leaf has more of them than there are hosts."""
    at, d = _links(w, "attached"), w.devices
    hosts = np.array([0, *(g.hosts for g in w.network.request.attached)])
    host, leaf = w.links.b_device[at].astype(np.int64), w.links.a_device[at].astype(np.int64)
    group = d.group[host].astype(np.int64)
    _, of_leaf, ports = np.unique(leaf * len(hosts) + group, return_inverse=True, return_counts=True)
    _, of_pair, links = np.unique(leaf * len(d) + host, return_inverse=True, return_counts=True)
    fair = -(-ports[of_leaf] // hosts[group + 1])
    bad = at[links[of_pair] > fair]
    if len(bad):
        yield CheckFailure("host-crowded", f"{_where(w, int(bad[0]))} doubles one that could go to another leaf")


Check = Callable[[Wiring], Iterator[CheckFailure]]
CHECKS: Final[tuple[Check, ...]] = (
    names_are_unique,
    devices_are_counted,
    links_are_counted,
    links_join_what_they_say,
    ports_used_once,
    no_link_to_itself,
    ports_exist,
    ports_are_counted,
    endpoints_are_linked,
    cages_run_one_speed,
    cages_run_one_way,
    downlinks_come_first,
    cages_suffice,
    ports_are_kept,
    fabrics_stay_apart,
    fabrics_hang_together,
    uplinks_are_even,
    pods_keep_together,
    units_keep_together,
    rails_are_in_place,
    planes_are_in_place,
    leaves_carry_what_was_sized,
    hosts_use_several_leaves,
)


def check_wiring(w: Wiring) -> list[CheckFailure]:
    """All failures of all checks, in their order; empty for a sound wiring."""
    return [found for check in CHECKS for found in check(w)]
