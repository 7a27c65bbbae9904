"""The forms of a spec: every combination of fabric, host ports, switches and network choices, before sizing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

from ibplan.catalog.store import Catalog
from ibplan.errors import Reason
from ibplan.fabric.geometry import Geometry
from ibplan.fabric.request import Attached, FabricRequest, TierRequest, Tiers
from ibplan.plan.form_refusals import NOT_ON_INFINIBAND, cannot_carry, form_refusal
from ibplan.plan.hosts import HostPorts, ServerModel, host_ports, later_servers
from ibplan.plan.switches import TierModels, default_switches
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Fabric, LeafPorts, NetworkSpec, PartialUnits, Spec

SMALL_CLUSTER_SERVERS = 8


@dataclass(frozen=True, slots=True)
class Choices:
    """One value of everything that the network section can explore."""

    leaf_ratio: Fraction
    spine_ratio: Fraction
    tiers: Tiers
    single_tier: Literal["one_switch", "two_leaves"]
    rail_optimized: bool
    rail_only: bool
    planes: int
    second_tier: Literal["pod", "rail"]
    leaf_uplink_gbps: int | None
    spine_uplink_gbps: int | None
    partial_units: PartialUnits
    leaf_ports: LeafPorts
    spine_ports: LeafPorts


@dataclass(frozen=True, slots=True)
class Form:
    """What a design will be, before it is sized. `fabrics` = disjoint fabrics (planes, times rails if separate).

    `added`: plain Ethernet that the spec did not ask for, considered because the cluster is small. `later_servers`:
    those of the growth stages, which the first size is built for; none = it is not to grow.
    """

    fabric: Fabric
    hosts: HostPorts
    switches: TierModels
    choices: Choices
    request: FabricRequest
    fabrics: int
    added: bool = False
    later_servers: tuple[int, ...] = ()
    server_gpus: int = 1

    @property
    def has_managers(self) -> bool:
        """Whether reserved ports lead to fabric managers. On Ethernet no far end is known: they are kept free."""
        return self.fabric == "infiniband"

    @property
    def last_gpus(self) -> int:
        """GPUs of the last growth stage; of today where there is none."""
        return max((self.request.servers, *self.later_servers)) * self.server_gpus


@dataclass(frozen=True, slots=True)
class Refused:
    """A combination that cannot even be sized, and why."""

    fabric: Fabric
    switches: TierModels | None
    choices: Choices
    reason: Reason
    hosts: HostPorts | None = None


def network_choices(network: NetworkSpec) -> Iterator[Choices]:
    """The product of all explored values, in the order they are written."""
    uplinks = network.uplink_gbps
    shapes = product(
        network.oversubscription.leaf,
        network.oversubscription.spine,
        network.tiers,
        network.single_tier,
        network.rail_optimized,
        network.rail_only,
        network.planes,
        network.second_tier,
    )
    leaf_uplinks: tuple[int | None, ...] = uplinks.leaf or (None,)
    spine_uplinks: tuple[int | None, ...] = uplinks.spine or (None,)
    ports = product(
        leaf_uplinks, spine_uplinks, network.partial_units, network.leaf_ports.leaf, network.leaf_ports.spine
    )
    for shape, port in product(shapes, ports):
        yield Choices(*shape, *port)


def enumerate_forms(
    loaded: LoadedSpec, catalog: Catalog, server: ServerModel, servers: int, pinned: list[TierModels] | None
) -> Iterator[Form | Refused]:
    """All forms of a spec, with the switches that it names (`pinned`) or with every one of the catalogue."""
    spec = loaded.spec
    for family in _families(loaded, catalog, server, servers, pinned):
        for choices in network_choices(spec.network):
            if family.reason is not None:
                yield Refused(family.fabric, None, choices, family.reason)
            for ports, switches in family.pairs:
                yield _form(spec, family.fabric, ports, switches, choices, servers, server, family.added)


def count_forms(
    loaded: LoadedSpec, catalog: Catalog, server: ServerModel, servers: int, pinned: list[TierModels] | None
) -> dict[Fabric, tuple[int, int]]:
    """(combinations of the network section, host ports with a switch) of each fabric: their product is its forms."""
    combinations = sum(1 for _ in network_choices(loaded.spec.network))
    families = _families(loaded, catalog, server, servers, pinned)
    return {family.fabric: (combinations, len(family.pairs)) for family in families}


@dataclass(frozen=True, slots=True)
class _Family:
    """All forms of one kind of fabric: host ports with the switches that they go to; `reason` where there are none."""

    fabric: Fabric
    added: bool
    pairs: tuple[tuple[HostPorts, TierModels], ...]
    reason: Reason | None


def _families(
    loaded: LoadedSpec, catalog: Catalog, server: ServerModel, servers: int, pinned: list[TierModels] | None
) -> Iterator[_Family]:
    spec = loaded.spec
    models = list(default_switches(catalog)) if pinned is None else pinned
    for fabric, added in _fabrics(loaded, servers):
        hosts = list(host_ports(spec, server, fabric, catalog))
        serving = [] if cannot_carry(spec, fabric) else [m for m in models if m.serves(fabric)]
        if pinned is None:
            serving = [m for m in serving if any(m.leaf.geometry.ports(p.gbps) for p in hosts)]
        reason = None if added else _nothing_serves(fabric, hosts, serving, pinned, spec, server)
        pairs = product(hosts, serving)
        used = tuple((p, m) for p, m in pairs if pinned is not None or m.leaf.geometry.ports(p.gbps))
        yield _Family(fabric, added, used, reason)


def _nothing_serves(
    fabric: Fabric,
    hosts: list[HostPorts],
    serving: list[TierModels],
    pinned: list[TierModels] | None,
    spec: Spec,
    server: ServerModel,
) -> Reason | None:
    """Why a kind of fabric has no form at all; None where the pinned switches serve another fabric of the spec."""
    if cannot_carry(spec, fabric):
        return NOT_ON_INFINIBAND
    if not hosts:
        return Reason("no-host-ports", f"server {server.id} has no ports for {fabric}")
    if serving:
        return None
    if pinned is None:
        speeds = ", ".join(f"{p.gbps} Gb/s" for p in hosts)
        return Reason("no-switch", f"no switch in the catalogue has {speeds} ports for {fabric}")
    if any(m.serves(other) for m in pinned for other in spec.fabrics):
        return None
    names = ", ".join(m.name for m in pinned)
    return Reason("link-layer", f"{names} cannot serve {fabric}: it runs {'/'.join(pinned[0].leaf.link_layers)}")


def _fabrics(loaded: LoadedSpec, servers: int) -> Iterator[tuple[Fabric, bool]]:
    spec = loaded.spec
    for fabric in dict.fromkeys(spec.fabrics):
        yield fabric, False
    small = servers <= SMALL_CLUSTER_SERVERS and "/fabrics" in loaded.defaults
    if small and "ethernet" not in spec.fabrics:
        yield "ethernet", True


def _form(
    spec: Spec,
    fabric: Fabric,
    hosts: HostPorts,
    switches: TierModels,
    choices: Choices,
    servers: int,
    server: ServerModel,
    added: bool,
) -> Form | Refused:
    reason = form_refusal(spec, hosts, switches, choices)
    if reason is not None:
        return Refused(fabric, switches, choices, reason, hosts)
    plane_ports = hosts.ports // choices.planes
    rails, fabrics = (1, choices.planes * plane_ports) if choices.rail_only else (plane_ports, choices.planes)
    leaf, spine, core = switches.leaf.geometry, switches.spine.geometry, switches.core.geometry
    leaf_up = choices.leaf_uplink_gbps or default_uplink_gbps(leaf, spine, hosts.gbps)
    spine_up = choices.spine_uplink_gbps or default_uplink_gbps(spine, core, leaf_up)
    network, reserved = spec.network, spec.network.reserved_ports
    request = FabricRequest(
        servers,
        rails,
        TierRequest(leaf, hosts.gbps, leaf_up, choices.leaf_ratio, choices.leaf_ports, reserved.per_leaf),
        TierRequest(spine, leaf_up, spine_up, choices.spine_ratio, choices.spine_ports, reserved.per_spine),
        core,
        server.domain_servers,
        tuple(Attached(a.name, a.servers, a.ports // choices.planes, a.port_gbps) for a in spec.attached),
        1 if spec.on_compute else choices.tiers,
        choices.single_tier,
        choices.rail_optimized,
        choices.second_tier,
        choices.partial_units,
        network.unit_servers,
        network.pod_units,
        network.min_spines,
        reserved.total,
    )
    later = later_servers(spec, server, servers)
    return Form(fabric, hosts, switches, choices, request, fabrics, added, later, server.gpus)


def default_uplink_gbps(lower: Geometry, upper: Geometry, downlink_gbps: int) -> int:
    """Whole-cage speed where both tiers have it, else the downlink speed, in Gb/s."""
    common = lower.whole_cage_gbps() & upper.whole_cage_gbps()
    return max(max(common, default=downlink_gbps), downlink_gbps)
