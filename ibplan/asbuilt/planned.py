"""The fabric that is planned, as a comparison asks for it: names, places, and what every port should be joined to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ibplan.cabling.ends import DevicePlace, HostPort, device_places
from ibplan.catalog.store import Catalog
from ibplan.economics.items import NetworkName
from ibplan.export.port_names import PortNames
from ibplan.export.scheme import Scheme, all_schemes, scheme_of
from ibplan.fabric.ports import PortName, class_port_names, port_names
from ibplan.fabric.wiring_model import KINDS, LEAF, SERVER, DeviceKind, Side, Wiring
from ibplan.parts.links import LinkKind
from ibplan.plan.cabled import host_ports
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.runs import layout_of
from ibplan.plan.sited import device_naming
from ibplan.plan.wired import chosen_design, wire_chosen
from ibplan.spec.load import LoadedSpec

PortIds = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int64]
_SIDES: tuple[Side, Side] = ("a", "b")


class Ends(NamedTuple):
    """Both ends of all links, shape (links,)."""

    a_device: Indices
    a_port: Indices
    b_device: Indices
    b_port: Indices


@dataclass(frozen=True, slots=True)
class PlannedFabric:
    """One network of a design. A port has a number over the whole fabric: `first[device] + port`.

    first: shape (devices + 1,). link_at: by that number the link of a port, -1 = none is planned. names, places: of all
    devices, as they are called on the floor. Where a server stands in the wiring twice (with the ports of its GPUs, and
    with in-band ports), `body` of both is the first, and the ports of the second come after `own_ports` of it; `links`
    are in terms of bodies. host_ports: what ports of hosts are called, by "server" or group, where the plan says so.
    site_names, site_ports: what devices and ports of hosts are called in exports, which machines may go by.
    """

    spec: str
    design: str
    fabric: str
    network: NetworkName
    wiring: Wiring
    names: tuple[str, ...]
    places: tuple[DevicePlace, ...]
    body: Indices
    own_ports: Indices
    links: Ends
    first: PortIds
    link_at: PortIds
    host_ports: Mapping[str, Sequence[HostPort]]
    site_names: tuple[str, ...]
    site_ports: PortNames
    _starts: list[int] = field(repr=False)
    _others: Callable[[], tuple[PlannedFabric, ...]] = field(default=tuple, repr=False)
    _port_names: dict[tuple[int, Side], Sequence[PortName | None]] = field(default_factory=dict, repr=False)

    def others(self) -> tuple[PlannedFabric, ...]:
        """The other networks of the design: wired when they are first asked for."""
        return self._others()

    def port_id(self, device: int, port: int) -> int:
        """The number of a port over the whole fabric; -1 where the device has no such port."""
        number = int(self.first[device]) + port
        return number if port >= 0 and number < int(self.first[device + 1]) else -1

    def at(self, port_id: int) -> tuple[int, int]:
        """(device, port) of a number."""
        device = bisect_right(self._starts, port_id) - 1
        return device, port_id - self._starts[device]

    def devices(self, links: Iterable[int]) -> set[int]:
        """The devices at both ends of some links."""
        at = np.fromiter(links, np.int64)
        return set(np.unique(np.concatenate([self.links.a_device[at], self.links.b_device[at]])).tolist())

    def ends(self, link: int) -> tuple[int, int]:
        """The numbers of both ports of a link: `a` is the lower tier, or the leaf of a host's link."""
        links = self.links
        a, b = int(links.a_device[link]), int(links.b_device[link])
        return self._starts[a] + int(links.a_port[link]), self._starts[b] + int(links.b_port[link])

    def partner(self, port_id: int) -> int:
        """The port that a port should be joined to; -1 = none."""
        link = int(self.link_at[port_id])
        if link < 0:
            return -1
        a, b = self.ends(link)
        return b if a == port_id else a

    def kind(self, device: int) -> DeviceKind:
        """What a device is."""
        return KINDS[int(self.wiring.devices.kind[device])]

    def is_switch(self, device: int) -> bool:
        """Whether a device is a leaf, a spine or a core."""
        return bool(self.wiring.devices.kind[device] >= LEAF)

    def link_kind(self, link: int) -> LinkKind:
        """Which class of links a link is of."""
        return self.wiring.classes[int(self.wiring.links.link_class[link])].kind

    def gbps(self, link: int) -> int:
        """The speed of a link in Gb/s."""
        return self.wiring.classes[int(self.wiring.links.link_class[link])].gbps

    def port_name(self, port_id: int) -> PortName | None:
        """The name of a port: of one without a link as if it ran like the others of its switch; None for none."""
        link = int(self.link_at[port_id])
        if link < 0:
            return self._free_name(port_id)
        side: Side = "a" if self.ends(link)[0] == port_id else "b"
        key = (int(self.wiring.links.link_class[link]), side)
        if key not in self._port_names:
            self._port_names[key] = self._class_names(*key)
        return self._port_names[key][int(self.wiring.links.end(side)[1][link])]

    def _class_names(self, link_class: int, side: Side) -> Sequence[PortName | None]:
        """The names of the ports at one end of a class of links, by port number."""
        link = self.wiring.classes[link_class]
        known = self.host_ports.get("server" if link.kind == "server-leaf" else link.host or "", ())
        if side == "b" and known:
            return [PortName(port.cage, 1, port.name, "plain") for port in known]
        return class_port_names(self.wiring, link_class, side)

    def site_port(self, port_id: int) -> str | None:
        """What exports call a port of a host; None for ports of switches, and for those without a link."""
        link = int(self.link_at[port_id])
        if link < 0 or self.ends(link)[1] != port_id:
            return None
        row = self.wiring.classes[int(self.wiring.links.link_class[link])]
        group = {"server-leaf": "server", "reserved": "manager", "attached": row.host}.get(row.kind)
        return None if group is None else self.site_ports.name(group, int(self.wiring.links.b_port[link]))

    def _free_name(self, port_id: int) -> PortName | None:
        device, port = self.at(port_id)
        request, tier = self.wiring.network.request, self.kind(device)
        geometry = {"leaf": request.leaf.geometry, "spine": request.spine.geometry, "core": request.core}.get(tier)
        speeds = {c.gbps for c in self.wiring.classes for end in (c.a, c.b) if end.tier == tier}
        if geometry is None:
            return None
        names = (port_names(geometry, gbps) for gbps in sorted(speeds))
        return next((its[port] for its in names if port < len(its) and its[port] is not None), None)

    def rail(self, device: int, port: int) -> int | None:
        """The rail of a server's port over the whole network, from 1; None where rails are not told apart."""
        request = self.wiring.network.request
        separate = self.wiring.hosts.rails > 1
        railed = request.rail_optimized or separate
        if self.wiring.devices.kind[device] != SERVER or not railed or port >= int(self.own_ports[device]):
            return None
        fabric, rail = (int(x[0]) for x in self.wiring.hosts.rail_of(np.array([port], np.int32)))
        return rail + fabric % self.wiring.hosts.rails + 1


def planned_fabric(
    loaded: LoadedSpec, catalog: Catalog, design_id: str | None, network: NetworkName = "compute"
) -> PlannedFabric:
    """One network of the recommended design, or of one by its id, or else of the one that the spec names: what is built
    is held against that even if it cannot be recommended. Raises as `wire_design` does.
    """
    plan, evaluated = make_evaluated_plan(loaded, catalog)
    named = loaded.spec.design if plan.choice is None and design_id is None else design_id
    wired = wire_chosen(loaded, *chosen_design(plan, evaluated, named), network)
    return _fabric_of(scheme_of(loaded, catalog, wired))


def _fabric_of(scheme: Scheme) -> PlannedFabric:
    """The network of a scheme."""
    wired, loaded, network = scheme.wired, scheme.loaded, scheme.network
    floor = wired.evaluated.placed.floor
    layout = None if floor is None else layout_of(floor)
    naming = None if floor is None else device_naming(loaded, wired.evaluated, floor)
    # As the schedule and the racks do: the site's names where the spec states any.
    called = None if loaded.spec.naming is None else scheme.names
    places = tuple(device_places(wired.wiring, layout, network, naming, called))
    names = tuple(place.columns[4] for place in places)
    body, own, links = _bodies(wired.wiring, names)
    first, link_at = _ports(own, body, links)
    return PlannedFabric(
        wired.name,
        wired.id,
        wired.fabric,
        network,
        wired.wiring,
        names,
        places,
        body,
        own,
        links,
        first,
        link_at,
        host_ports(wired.evaluated, network),
        scheme.names,
        scheme.host_ports,
        first.tolist(),
        cache(lambda: tuple(_fabric_of(other) for other in all_schemes(scheme) if other.network != network)),
    )


def _bodies(wiring: Wiring, names: Sequence[str]) -> tuple[Indices, Indices, Ends]:
    """By device the one of its name that stands first, and its own ports; all links in terms of bodies."""
    ports = _port_counts(wiring)
    body, shift = np.arange(len(names)), np.zeros(len(names), np.int64)
    known: dict[str, int] = {}
    taken: dict[int, int] = {}
    for device, name in enumerate(names):
        first = known.setdefault(name.lower(), device)
        body[device], shift[device] = first, taken.get(first, 0)
        taken[first] = taken.get(first, 0) + int(ports[device])
    links = wiring.links
    ends = Ends(
        body[links.a_device],
        links.a_port + shift[links.a_device],
        body[links.b_device],
        links.b_port + shift[links.b_device],
    )
    return body, ports, ends


def _port_counts(wiring: Wiring) -> Indices:
    """Ports of every device: of a switch all that it can have, of a host those that are used."""
    most = np.zeros(len(wiring.devices), np.int64)
    for side in _SIDES:
        device, port = wiring.links.end(side)
        np.maximum.at(most, device, port.astype(np.int64) + 1)
    request = wiring.network.request
    tiers = {"leaf": request.leaf.geometry, "spine": request.spine.geometry, "core": request.core}
    for tier, geometry in tiers.items():
        at = wiring.devices.kind == KINDS.index(tier)
        cages = sum(s.count for s in geometry.sets)
        most[at] = np.maximum(most[at], wiring.devices.stride[at].astype(np.int64) * cages)
    return most


def _ports(own: Indices, body: Indices, links: Ends) -> tuple[PortIds, PortIds]:
    """Where the ports of every device start, and the link of every port."""
    most = np.bincount(body, own, len(body)).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(most)])
    link_at = np.full(int(first[-1]), -1, np.int64)
    for device, port in ((links.a_device, links.a_port), (links.b_device, links.b_port)):
        link_at[first[device] + port] = np.arange(len(device))
    return first, link_at
