"""The storage network: the servers' storage ports and the appliances' ports on a fat tree of their own."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from ibplan.fabric.request import Attached
from ibplan.host_groups import APPLIANCE, APPLIANCE_PORT
from ibplan.plan.side_build import Group, ServerPorts, SideRequest
from ibplan.plan.side_defaults import side_defaults
from ibplan.plan.side_model import SideNote
from ibplan.spec.models import Fabric, StorageSpec


def appliance_group(
    spec: StorageSpec, gpus: int, gbps: int, cage_class: str | None
) -> tuple[Group | None, list[SideNote]]:
    """The appliances on a network whose other ports run at `gbps`; None where their ports are not known.

    Where the number of appliances is not known, every port stands for itself. Ports from a bandwidth wanted for each
    GPU: ceil(GPUs x Gb/s of a GPU / Gb/s of a port).
    """
    speed = spec.appliance_gbps or gbps
    ports = spec.appliance_ports
    if spec.gbps_per_gpu is not None:
        ports = ceil(gpus * Fraction(str(spec.gbps_per_gpu)) / speed)
    if ports is None:
        return None, [SideNote("storage-appliances-unknown", "/storage")]
    notes = []
    if spec.appliance_cage_class is None and cage_class is not None:
        notes.append(
            SideNote("far-cages-assumed", "/storage", {"hosts": "storage appliances", "cage_class": cage_class})
        )
    hosts, each = (spec.appliances, ports // spec.appliances) if spec.appliances else (ports, 1)
    name = APPLIANCE if spec.appliances else APPLIANCE_PORT
    ratio = side_defaults().storage.appliance_oversubscription.value
    group = Attached(name, hosts, each, speed, own_leaves=True, leaves=spec.appliance_leaves, ratio=ratio)
    return Group(group, spec.appliance_cage_class or cage_class), notes


def storage_request(
    spec: StorageSpec, fabric: Fabric, servers: int, ports: ServerPorts, appliances: Group | None
) -> SideRequest:
    """The storage network to build."""
    return SideRequest(
        "storage",
        fabric,
        servers,
        ports,
        () if appliances is None else (appliances,),
        spec.oversubscription or side_defaults().storage.oversubscription.value,
        "half",
        spec.medium,
        min_spines=2,
        unit_servers=spec.unit_servers,
    )


def bandwidth_notes(spec: StorageSpec, ports: ServerPorts, gpus_per_server: int) -> list[SideNote]:
    """Says so where a server's storage ports cannot carry what is wanted for its GPUs."""
    have = ports.ports * ports.gbps / gpus_per_server
    if spec.gbps_per_gpu is None or spec.gbps_per_gpu <= have:
        return []
    fields = {"wanted": f"{spec.gbps_per_gpu:g}", "have": f"{have:g}"}
    return [SideNote("storage-ports-too-slow", "/storage/gbps_per_gpu", fields)]
