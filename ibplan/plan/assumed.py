"""Which published defaults the side networks of a plan are built with, and the price of its server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ibplan.catalog.prices import PriceBook
from ibplan.host_groups import APPLIANCE, APPLIANCE_PORT
from ibplan.plan.assumed_results import ServerPrice, SideDefault
from ibplan.plan.hosts import ServerModel
from ibplan.plan.results import Design, NetworkResult
from ibplan.plan.side_build import ServerPorts
from ibplan.plan.side_defaults import PublishedCount, PublishedRatio, side_defaults
from ibplan.plan.side_ports import inband_ports
from ibplan.spec.models import InbandSpec, OobSpec, Spec, StorageSpec
from ibplan.units import format_ratio


def server_price(server: ServerModel, book: PriceBook) -> ServerPrice | None:
    """The price that stands for a server; None where none is known."""
    if server.usd is None or server.price_kind is None:
        return None
    choice = None if server.entry is None else book.choose(server.id)
    if choice is None:
        return ServerPrice(server.id, server.usd, server.price_kind, None, "the spec")
    return ServerPrice(server.id, server.usd, server.price_kind, choice.date, choice.source)


def used_side_defaults(spec: Spec, server: ServerModel, designs: Sequence[Design]) -> tuple[SideDefault, ...]:
    """The defaults that some design uses: those of networks that are planned, where the spec says nothing."""
    return (*_storage(spec, designs), *_inband(spec, server, designs), *_oob(spec, designs), *_hosts(spec, designs))


def _storage(spec: Spec, designs: Sequence[Design]) -> Iterator[SideDefault]:
    networks = [design.networks.storage for design in designs if design.networks.storage is not None]
    known = side_defaults().storage
    if networks and not (isinstance(spec.storage, StorageSpec) and spec.storage.oversubscription):
        yield _default("storage.oversubscription", "down:up of the storage network", known.oversubscription)
    if any(_has_host(network, APPLIANCE, APPLIANCE_PORT) for network in networks):
        yield _default(None, "down:up of leaves with storage appliances", known.appliance_oversubscription)


def _has_host(network: NetworkResult, *hosts: str) -> bool:
    return any(row.host in hosts for row in network.links)


def _inband(spec: Spec, server: ServerModel, designs: Sequence[Design]) -> Iterator[SideDefault]:
    stated, known = spec.management.inband, side_defaults().inband
    if not isinstance(stated, InbandSpec) or not any(design.networks.inband for design in designs):
        return
    ports = inband_ports(stated, server)
    if stated.port_gbps is None and isinstance(ports, ServerPorts) and ports.gbps == known.port_gbps.value:
        yield _default("management.inband.port_gbps", "Gb/s of a server's in-band port", known.port_gbps)
    if not stated.oversubscription:
        yield _default("management.inband.oversubscription", "down:up of the in-band network", known.oversubscription)


def _oob(spec: Spec, designs: Sequence[Design]) -> Iterator[SideDefault]:
    stated, known = spec.management.oob, side_defaults().oob
    if not isinstance(stated, OobSpec) or not any(design.networks.oob for design in designs):
        return
    if not stated.uplinks:
        yield _default("management.oob.uplinks", "uplinks of an out-of-band switch", known.uplinks)
    if not stated.ports_per_switch:
        key = "management.oob.ports_per_switch"
        yield _default(key, "out-of-band ports of a switch of the other networks", known.ports_per_switch)


def _hosts(spec: Spec, designs: Sequence[Design]) -> Iterator[SideDefault]:
    stated, known = spec.management.hosts, side_defaults().hosts
    if stated is None:
        return
    if not stated.inband_ports and (any(d.networks.inband for d in designs) or "inband" in spec.on_compute):
        yield _default("management.hosts.inband_ports", "in-band ports of a management server", known.inband_ports)
    if not stated.oob_ports and any(design.networks.oob for design in designs):
        yield _default("management.hosts.oob_ports", "out-of-band ports of a management server", known.oob_ports)


def _default(key: str | None, name: str, found: PublishedRatio | PublishedCount) -> SideDefault:
    value = format_ratio(found.value) if isinstance(found.value, Fraction) else str(found.value)
    return SideDefault(key, name, value, found.why, found.sources)
