"""The ports that a server has on each side network: as the spec states them, else as its entry does; never guessed."""

from __future__ import annotations

from ibplan.catalog.classes import BMC_CLASS
from ibplan.catalog.entries import LinkLayer, PortGroup
from ibplan.plan.hosts import ServerModel, link_layer
from ibplan.plan.side_build import WORDS, ServerPorts
from ibplan.plan.side_defaults import side_defaults
from ibplan.plan.side_model import LeftOut
from ibplan.spec.models import Fabric, InbandSpec, OobSpec, StorageSpec


def storage_fabric(spec: StorageSpec, server: ServerModel, compute: Fabric) -> Fabric:
    """InfiniBand beside InfiniBand, RoCE beside the others, unless the server's storage ports run only the other."""
    if spec.fabric is not None:
        return spec.fabric
    wanted: Fabric = "infiniband" if compute == "infiniband" else "roce"
    group = _group(server, "storage")
    if group is None or group.mode(link_layer(wanted)) is not None:
        return wanted
    return "roce" if wanted == "infiniband" else "infiniband"


def storage_ports(spec: StorageSpec, server: ServerModel, fabric: Fabric) -> ServerPorts | LeftOut:
    """Ports of one server on the storage network."""
    stated = (spec.ports_per_server, spec.port_gbps, spec.cage_class)
    found = _ports(stated, _group(server, "storage"), link_layer(fabric), None)
    return found or _unknown(server, "storage", "storage.ports_per_server and storage.port_gbps")


def inband_ports(spec: InbandSpec, server: ServerModel) -> ServerPorts | LeftOut:
    """Ports of one server on the in-band network, at the published speed where its ports can be that fast.

    On the leaves of the compute network, whose switches are faster, they run as fast as they can.
    """
    stated = (spec.ports_per_server, spec.port_gbps, spec.cage_class)
    usual = side_defaults().inband.port_gbps.value if spec.converged_with is None else None
    found = _ports(stated, _group(server, "inband"), "ethernet", usual)
    speed = "" if usual is not None else " and management.inband.port_gbps"
    return found or _unknown(server, "inband", f"management.inband.ports_per_server{speed}")


def oob_ports(spec: OobSpec, server: ServerModel) -> ServerPorts | LeftOut:
    """BMC ports of one server, at 1 Gb/s."""
    own = server.entry.bmc_ports if server.entry is not None else None
    ports = spec.ports_per_server or own
    if not ports:
        return _unknown(server, "oob", "management.oob.ports_per_server")
    return ServerPorts(ports, 1, BMC_CLASS)


def _group(server: ServerModel, name: str) -> PortGroup | None:
    found: PortGroup | None = getattr(server.entry, name, None)
    return found


def _ports(
    stated: tuple[int | None, int | None, str | None],
    group: PortGroup | None,
    layer: LinkLayer,
    usual_gbps: int | None,
) -> ServerPorts | None:
    """What is stated, completed by the server's entry. `usual_gbps`: the speed where nothing is stated."""
    count, gbps, cage_class = stated
    mode = group.mode(layer) if group is not None else None
    if group is not None and mode is not None:
        usual = min(usual_gbps or mode.gbps, mode.gbps)
        whole = (gbps or usual) == mode.gbps
        return ServerPorts(
            count or group.cages * mode.ports,
            gbps or usual,
            cage_class or group.cage_class,
            mode.ports if whole and cage_class is None else 1,
        )
    speed = gbps or usual_gbps
    if count is None or speed is None:
        return None
    return ServerPorts(count, speed, cage_class)


def _unknown(server: ServerModel, name: str, keys: str) -> LeftOut:
    who = "the server stated in the spec" if server.entry is None else server.id
    words = WORDS[name]  # type: ignore[index]
    return LeftOut(words, f"the ports of {who} on it are not known; state {keys}")
