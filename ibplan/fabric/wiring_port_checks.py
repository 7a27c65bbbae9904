"""Checks of ports and cages, device by device. The list of all checks is in checks.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ibplan.fabric.geometry import Demand, Geometry
from ibplan.fabric.wiring_model import CORE, LEAF, SPINE, Wiring

_KEY = np.int64(1) << 24  # more than the ports of any device


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """What is wrong with a wiring: a stable code and a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of all links one after the other, shape (2 x links,): device, port, cage, leg, class, and direction."""

    device: npt.NDArray[np.int64]
    port: npt.NDArray[np.int64]
    cage: npt.NDArray[np.int64]
    leg: npt.NDArray[np.int64]
    gbps: npt.NDArray[np.int64]
    up: npt.NDArray[np.bool_]


def link_ends(w: Wiring) -> Ends:
    """Both ends of all links. A port is an uplink where its device is the lower switch of a link between switches."""
    links = w.links
    device = np.concatenate([links.a_device, links.b_device]).astype(np.int64)
    port = np.concatenate([links.a_port, links.b_port]).astype(np.int64)
    stride = w.devices.stride[device]
    gbps = np.array([c.gbps for c in w.classes], np.int64)[links.link_class]
    between = np.array([c.kind in ("leaf-spine", "spine-core", "leaf-leaf") for c in w.classes])[links.link_class]
    both = np.array([c.kind == "leaf-leaf" for c in w.classes])[links.link_class]
    up = np.concatenate([between, both])
    return Ends(device, port, port // stride, port % stride, np.concatenate([gbps, gbps]), up)


def port_name(w: Wiring, device: int, port: int) -> str:
    """A port in a message: device, cage and leg from 1."""
    stride = int(w.devices.stride[device])
    return f"{w.device_name(device)} cage {port // stride + 1} leg {port % stride + 1}"


def ports_used_once(w: Wiring) -> Iterator[CheckFailure]:
    """No port carries two links."""
    ends = link_ends(w)
    keys, counts = np.unique(ends.device * _KEY + ends.port, return_counts=True)
    twice = keys[counts > 1]
    if len(twice):
        name = port_name(w, int(twice[0] // _KEY), int(twice[0] % _KEY))
        yield CheckFailure("port-twice", f"{len(twice):,} ports carry two links or more, the first is {name}")


def no_link_to_itself(w: Wiring) -> Iterator[CheckFailure]:
    """No link joins a device with itself."""
    own = np.flatnonzero(w.links.a_device == w.links.b_device)
    if len(own):
        name = w.device_name(int(w.links.a_device[own[0]]))
        yield CheckFailure("self-link", f"{len(own):,} links join a device with itself, the first is at {name}")


def tier_geometries(w: Wiring) -> list[tuple[int, Geometry]]:
    """The switch of each tier."""
    request = w.network.request
    return [(LEAF, request.leaf.geometry), (SPINE, request.spine.geometry), (CORE, request.core)]


def ports_exist(w: Wiring) -> Iterator[CheckFailure]:
    """Every port is one that the switch has at the speed of the link; hosts have as many ports as they were given."""
    ends = link_ends(w)
    for kind, geometry in tier_geometries(w):
        legs = {
            gbps: np.repeat(
                [m.ports if (m := s.mode(gbps)) else 0 for s in geometry.sets], [s.count for s in geometry.sets]
            )
            for gbps in {c.gbps for c in w.classes}
        }
        mine = w.devices.kind[ends.device] == kind
        for gbps, allowed in legs.items():
            at = np.flatnonzero(mine & (ends.gbps == gbps))
            inside = (ends.cage[at] >= 0) & (ends.cage[at] < len(allowed))
            bad = at[~inside | (ends.leg[at] >= allowed[np.where(inside, ends.cage[at], 0)])]
            if len(bad):
                name = port_name(w, int(ends.device[bad[0]]), int(ends.port[bad[0]]))
                yield CheckFailure("no-such-port", f"{geometry.name} has no {gbps} Gb/s port at {name}")
    beyond = np.flatnonzero((ends.port < 0) | (ends.port >= ports_of_hosts(w)[ends.device]))
    if len(beyond):
        name = port_name(w, int(ends.device[beyond[0]]), int(ends.port[beyond[0]]))
        yield CheckFailure("no-such-port", f"{name} is more than the ports of the host")


def ports_of_hosts(w: Wiring) -> npt.NDArray[np.int64]:
    """Ports that every host has on the network, shape (devices,); no bound for switches."""
    request, fabrics = w.network.request, w.network.fabrics
    attached = np.array([0, *(g.ports * fabrics for g in request.attached)], np.int64)
    by_kind = np.array([request.rails * fabrics, 0, 1, _KEY, _KEY, _KEY], np.int64)
    return by_kind[w.devices.kind] + attached[w.devices.group + 1]


def _of_switches(w: Wiring) -> tuple[Ends, npt.NDArray[np.int64]]:
    """Ends at switches, and a number for the cage of each."""
    ends = link_ends(w)
    at = np.flatnonzero(w.devices.kind[ends.device] >= LEAF)
    found = Ends(*(getattr(ends, name)[at] for name in ("device", "port", "cage", "leg", "gbps", "up")))
    return found, found.device * _KEY + found.cage


def _mixed(w: Wiring, cage: npt.NDArray[np.int64], what: npt.NDArray[np.int64]) -> str | None:
    """The first cage in which `what` differs between ports."""
    pairs = np.unique(np.stack([cage, what]), axis=1)[0] if len(cage) else cage
    double = pairs[1:][pairs[1:] == pairs[:-1]]
    return f"{w.device_name(int(double[0] // _KEY))} cage {int(double[0] % _KEY) + 1}" if len(double) else None


def cages_run_one_speed(w: Wiring) -> Iterator[CheckFailure]:
    """All ports of a cage run at one speed."""
    ends, cage = _of_switches(w)
    if (name := _mixed(w, cage, ends.gbps)) is not None:
        yield CheckFailure("cage-speeds", f"{name} would run at two speeds")


def cages_run_one_way(w: Wiring) -> Iterator[CheckFailure]:
    """No cage holds downlinks and uplinks."""
    ends, cage = _of_switches(w)
    if (name := _mixed(w, cage, ends.up.astype(np.int64))) is not None:
        yield CheckFailure("cage-directions", f"{name} would hold downlinks and uplinks")


def downlinks_come_first(w: Wiring) -> Iterator[CheckFailure]:
    """On every switch with one kind of cages that each run alone, all downlinks are in lower cages than all uplinks."""
    ends, _ = _of_switches(w)
    lowest = np.full(len(w.devices), _KEY, np.int64)
    highest = np.full(len(w.devices), -1, np.int64)
    np.minimum.at(lowest, ends.device[ends.up], ends.cage[ends.up])
    np.maximum.at(highest, ends.device[~ends.up], ends.cage[~ends.up])
    for kind, geometry in tier_geometries(w):
        plain = len(geometry.sets) == 1 and all(
            m.cages_lost == 0 and m.max_ports is None for m in geometry.sets[0].modes
        )
        bad = np.flatnonzero((w.devices.kind == kind) & (highest >= lowest) & plain)
        if len(bad):
            name = w.device_name(int(bad[0]))
            yield CheckFailure("cage-order", f"{name} has a downlink in or above a cage of uplinks")


def cages_suffice(w: Wiring) -> Iterator[CheckFailure]:
    """Lit cages, with the neighbors that they darken, are no more than the switch has; capped modes keep to the cap."""
    ends, cage = _of_switches(w)
    _, first, ports = np.unique(cage, return_index=True, return_counts=True)
    for kind, geometry in tier_geometries(w):
        bounds = np.cumsum([0, *(s.count for s in geometry.sets)])
        for number, cages in enumerate(geometry.sets):
            cost = np.zeros(len(w.devices), np.int64)
            inside = (ends.cage[first] >= bounds[number]) & (ends.cage[first] < bounds[number + 1])
            mine = first[inside & (w.devices.kind[ends.device[first]] == kind)]
            lit_ports = ports[inside & (w.devices.kind[ends.device[first]] == kind)]
            for gbps in {c.gbps for c in w.classes}:
                mode = cages.mode(gbps)
                at = ends.gbps[mine] == gbps
                if mode is None or not at.any():
                    continue
                np.add.at(cost, ends.device[mine[at]], 1 + mode.cages_lost)
                used = np.bincount(ends.device[mine[at]], lit_ports[at], len(w.devices))
                if mode.max_ports is not None and used.max() > mode.max_ports:
                    name = w.device_name(int(used.argmax()))
                    yield CheckFailure("cage-budget", f"{name} has more than {mode.max_ports} ports of {gbps} Gb/s")
            if len(cost) and cost.max() > cages.count:
                name = w.device_name(int(cost.argmax()))
                yield CheckFailure("cage-budget", f"{name} lights or darkens {cost.max()} of {cages.count} cages")


def ports_are_kept(w: Wiring) -> Iterator[CheckFailure]:
    """Beside its links every leaf and spine has room for the ports that are to stay free."""
    ends, _ = _of_switches(w)
    request = w.network.request
    for kind, tier in ((LEAF, request.leaf), (SPINE, request.spine)):
        at = w.devices.kind[ends.device] == kind
        speeds = sorted({c.gbps for c in w.classes})
        columns = [(gbps, up) for gbps in speeds for up in (False, True)]
        counts = np.stack(
            [
                np.bincount(ends.device[at & (ends.gbps == g) & (ends.up == up)], minlength=len(w.devices))
                for g, up in columns
            ]
        )
        for row in np.unique(counts[:, w.devices.kind == kind], axis=1).T.tolist():
            demands = {key: n for key, n in zip(columns, row, strict=True) if n}
            key = (tier.down_gbps, False)
            if key in demands or not demands:
                demands[key] = demands.get(key, 0) + tier.reserved
            if not tier.geometry.fits(*(Demand(gbps, n) for (gbps, _), n in demands.items())):
                yield CheckFailure("ports-kept", f"{tier.geometry.name} has no room for {demands} with those kept free")
