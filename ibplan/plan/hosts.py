"""The server of a spec as planning sees it: its ports on each kind of fabric, and NICs to buy where it has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches

from ibplan.catalog.entries import Gpu, LinkLayer, Nic, PortGroup, PriceKind, Server
from ibplan.catalog.store import Catalog
from ibplan.errors import InputError, Problem
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import MAX_GPUS, Fabric, InlineServer, Spec

PLAIN_ETHERNET_GBPS = (25, 40, 50, 100)


def link_layer(fabric: Fabric) -> LinkLayer:
    """The link layer of a kind of fabric: RoCE and plain Ethernet are both Ethernet."""
    return "infiniband" if fabric == "infiniband" else "ethernet"


@dataclass(frozen=True, slots=True)
class HostPorts:
    """Ports of one server on the compute network: `ports` in all at `gbps` each, `ports_per_nic` from one NIC.

    `cage_class` and `ports_per_cage` None = unknown. `nic` = a NIC to buy for each server, None if it brings its own.
    """

    gbps: int
    ports: int
    ports_per_nic: int
    cage_class: str | None
    ports_per_cage: int | None
    nic: Nic | None = None


@dataclass(frozen=True, slots=True)
class ServerModel:
    """The server: GPUs, NVLink domain in servers, power in W and price in USD with its kind, GPU. None = unknown."""

    id: str
    gpus: int
    domain_servers: int
    power_w: float | None
    usd: Decimal | None
    entry: Server | None
    inline: InlineServer | None
    price_kind: PriceKind | None
    gpu: Gpu | None


def resolve_server(loaded: LoadedSpec, catalog: Catalog) -> ServerModel:
    """The server a spec names. Raises InputError for an unknown or incomplete one."""
    server = loaded.spec.server
    if isinstance(server, InlineServer):
        return _inline(loaded, server, catalog)
    entry = catalog.servers.get(server)
    if entry is None:
        near = catalog.nearest(server, "servers")
        remedy = f"did you mean {near}?" if near else "`ibplan catalog list --kind servers` lists them"
        raise InputError([loaded.document.problem(("server",), f"unknown server {server!r}", remedy)])
    gaps = entry.planning_gaps()
    if gaps:
        message = f"server {server!r} cannot be planned with: the catalogue does not know {', '.join(gaps)}"
        raise InputError([loaded.document.problem(("server",), message, "state the server inline or in an overlay")])
    price = catalog.prices.choose(entry.id)
    domain = entry.nvlink_domain_gpus or entry.gpus
    return ServerModel(
        entry.id,
        entry.gpus,
        max(1, domain // entry.gpus),
        entry.power.max_w,
        None if price is None else price.unit_usd,
        entry,
        None,
        None if price is None else price.kind,
        None if entry.gpu is None else catalog.gpus.get(entry.gpu),
    )


def _inline(loaded: LoadedSpec, server: InlineServer, catalog: Catalog) -> ServerModel:
    domain = server.nvlink_domain_gpus or server.gpus
    problems = []
    if domain % server.gpus:
        message = f"an NVLink domain of {domain} GPUs does not hold whole servers of {server.gpus}"
        problems.append(loaded.document.problem(("server", "nvlink_domain_gpus"), message))
    if server.gpu is not None and server.gpu not in catalog.gpus:
        near = " or ".join(get_close_matches(server.gpu, catalog.gpus, 3))
        remedy = f"did you mean {near}?" if near else f"known are {', '.join(catalog.gpus)}"
        problems.append(loaded.document.problem(("server", "gpu"), f"unknown GPU {server.gpu!r}", remedy))
    if problems:
        raise InputError(problems)
    kind: PriceKind | None = None if server.price is None else "street"
    return ServerModel(
        "inline",
        server.gpus,
        domain // server.gpus,
        server.power,
        server.price,
        None,
        server,
        kind,
        None if server.gpu is None else catalog.gpus[server.gpu],
    )


def server_count(loaded: LoadedSpec, server: ServerModel) -> tuple[int, int]:
    """(servers, GPUs planned); GPUs that do not fill servers are rounded up. Raises InputError where they disagree."""
    servers, planned = _server_count(loaded, server)
    first = min(loaded.spec.growth, key=lambda stage: stage.year, default=None)
    if first is not None and -(-first.gpus // server.gpus) < servers:
        message = f"stages never shrink: {first.gpus:,} GPUs in year {first.year} after {planned:,}"
        raise InputError([loaded.document.problem(("growth",), message)])
    return servers, planned


def _server_count(loaded: LoadedSpec, server: ServerModel) -> tuple[int, int]:
    spec = loaded.spec
    if spec.servers is not None:
        planned = spec.servers * server.gpus
        if planned > MAX_GPUS:
            message = f"servers: {spec.servers:,} of {server.gpus} GPUs are {planned:,} GPUs; {MAX_GPUS:,} is the limit"
            raise InputError([loaded.document.problem(("servers",), message)])
        if spec.gpus is not None and not planned - server.gpus < spec.gpus <= planned:
            message = f"gpus: {spec.gpus:,} and servers: {spec.servers:,} of {server.gpus} GPUs ({planned:,}) disagree"
            raise InputError([loaded.document.problem(("servers",), message, "state one of them")])
        return spec.servers, planned
    if spec.gpus is None:
        raise InputError([Problem(loaded.source, 0, 0, "state gpus or servers")])
    servers = -(-spec.gpus // server.gpus)
    return servers, servers * server.gpus


def growth_stages(spec: Spec, server: ServerModel, servers: int) -> tuple[tuple[int, int], ...]:
    """(year, servers) of every stage, the present one first, as year 0; GPUs are rounded up to whole servers."""
    later = sorted((stage.year, -(-stage.gpus // server.gpus)) for stage in spec.growth)
    return ((0, servers), *later)


def later_servers(spec: Spec, server: ServerModel, servers: int) -> tuple[int, ...]:
    """The servers of the growth stages that have more than there are now."""
    return tuple(count for _, count in growth_stages(spec, server, servers)[1:] if count > servers)


def host_ports(spec: Spec, server: ServerModel, fabric: Fabric, catalog: Catalog) -> Iterator[HostPorts]:
    """The ports that a server can bring to a kind of fabric; several for plain Ethernet (one a NIC speed), or none."""
    if fabric == "ethernet":
        yield from _ethernet_ports(server, catalog)
    elif server.inline is not None:
        yield _inline_ports(server.inline)
    elif server.entry is not None and server.entry.compute is not None:
        found = _group_ports(server.entry.compute, link_layer(fabric), server.entry.compute_nics)
        if found is not None:
            yield found


def _inline_ports(server: InlineServer) -> HostPorts:
    ports = server.nics * server.ports_per_nic
    return HostPorts(server.port_gbps, ports, server.ports_per_nic, server.cage_class, None)


def _group_ports(group: PortGroup, layer: LinkLayer, nics: int) -> HostPorts | None:
    mode = group.mode(layer)
    if mode is None:
        return None
    ports = group.cages * mode.ports
    per_nic = ports // nics if ports % nics == 0 else 1
    return HostPorts(mode.gbps, ports, per_nic, group.cage_class, mode.ports)


def _ethernet_ports(server: ServerModel, catalog: Catalog) -> Iterator[HostPorts]:
    """Ports for TCP over 25 to 100G: the server's own where it has them, else one bought NIC of each speed."""
    if server.inline is not None and server.inline.port_gbps in PLAIN_ETHERNET_GBPS:
        yield _inline_ports(server.inline)
        return
    own = server.entry.ethernet if server.entry is not None else None
    found = _group_ports(own, "ethernet", 1) if own is not None else None
    if found is not None:
        yield replace(found, ports_per_nic=found.ports)
        return
    for gbps in PLAIN_ETHERNET_GBPS:
        nic = cheapest_nic(catalog, gbps)
        if nic is not None:
            ports = nic.cage_count * _nic_ports(nic, gbps)
            yield HostPorts(gbps, ports, ports, nic.cage_class, _nic_ports(nic, gbps), nic)


def _nic_ports(nic: Nic, gbps: int) -> int:
    return max((m.ports for m in nic.modes if m.link_layer == "ethernet" and m.gbps == gbps), default=0)


def cheapest_nic(catalog: Catalog, gbps: int) -> Nic | None:
    """The cheapest priced NIC whose ports run plain Ethernet at a speed, all ports together; None if none is priced."""
    priced = []
    for nic in catalog.nics.values():
        ports = nic.cage_count * _nic_ports(nic, gbps)
        shared = nic.shared_gbps is not None and nic.shared_gbps < ports * gbps
        if not ports or shared or nic.planning_gaps() or nic.status in ("retired", "prototype"):
            continue
        if max(m.gbps for m in nic.modes) == gbps and (price := catalog.prices.choose(nic.id)) is not None:
            priced.append((price.unit_usd, nic.id, nic))
    return min(priced)[2] if priced else None
