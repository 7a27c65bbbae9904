"""The in-band and out-of-band networks: who is on them, and how they are built."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ibplan.catalog.classes import BMC_CLASS
from ibplan.fabric.request import Attached
from ibplan.host_groups import MANAGEMENT, OOB_LEAF
from ibplan.plan.side_build import Group, ServerPorts, SideRequest
from ibplan.plan.side_defaults import side_defaults
from ibplan.spec.models import InbandSpec, ManagementHosts, OobSpec


def inband_request(
    spec: InbandSpec, servers: int, ports: ServerPorts, groups: Sequence[Group], uplinks: Group | None
) -> SideRequest:
    """The in-band network to build: two leaves a unit, so that a server's ports end in two switches.

    `uplinks`: the out-of-band switches that hang on it.
    """
    ratio = spec.oversubscription or side_defaults().inband.oversubscription.value
    return SideRequest(
        "inband",
        "ethernet",
        servers,
        ports,
        (*groups, *([] if uplinks is None else [uplinks])),
        ratio,
        "all",
        spec.medium,
        spine_ratio=ratio,
        min_spines=2,
        unit_servers=spec.unit_servers,
    )


def uplink_group(spec: OobSpec, switches: int, gbps: int, cage_class: str | None) -> Group | None:
    """The uplinks of the out-of-band switches, as hosts of the in-band network."""
    if not switches:
        return None
    each = spec.uplinks or side_defaults().oob.uplinks.value
    return Group(Attached(OOB_LEAF, switches, each, gbps), cage_class)


def inband_hosts(spec: ManagementHosts | None, ports: ServerPorts) -> Group | None:
    """The management servers on the in-band network, with ports as fast as the servers'."""
    if spec is None:
        return None
    each = spec.inband_ports or side_defaults().hosts.inband_ports.value
    hosts = Attached(MANAGEMENT, spec.servers, each, ports.gbps)
    return Group(hosts, spec.inband_cage_class or ports.cage_class)


def oob_request(
    spec: OobSpec, servers: int, ports: ServerPorts, switches: Sequence[tuple[str, int]], others: Sequence[Attached]
) -> SideRequest:
    """The out-of-band network to build: leaves that only the in-band network joins.

    `switches`: (group, count) of the switches of the other networks. Those of this one are managed over their uplinks.
    """
    defaults = side_defaults().oob
    each = spec.ports_per_switch or defaults.ports_per_switch.value
    groups = [Attached(name, count, each, ports.gbps) for name, count in switches]
    return SideRequest(
        "oob",
        "ethernet",
        servers,
        ports,
        tuple(Group(group, BMC_CLASS) for group in (*groups, *others)),
        Fraction(1),  # uplinks are fixed: no ratio makes them
        "all",
        "copper",
        unit_servers=spec.unit_servers,
        fixed_uplinks=spec.uplinks or defaults.uplinks.value,
    )
