"""The side networks of a design. Most of them are those of other designs, too: each is built once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from ibplan.catalog.store import Catalog
from ibplan.errors import Unbuildable
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import Attached
from ibplan.host_groups import APPLIANCE, MANAGEMENT
from ibplan.parts.offers import PartsBook
from ibplan.plan.converged import NorthSouth, north_south, place_of, storage_reach
from ibplan.plan.hosts import ServerModel
from ibplan.plan.management import inband_hosts, inband_request, oob_request, uplink_group
from ibplan.plan.side_build import WORDS, Group, ServerPorts, SideRequest, build, build_cheapest
from ibplan.plan.side_defaults import side_defaults
from ibplan.plan.side_model import LeftOut, SideName, SideNetwork, SideNetworks, SideNote
from ibplan.plan.side_ports import inband_ports, oob_ports, storage_fabric, storage_ports
from ibplan.plan.storage import appliance_group, bandwidth_notes, storage_request
from ibplan.plan.switches import SwitchModel, catalog_switch
from ibplan.site.floor import PDU_HOSTS
from ibplan.spec.models import Fabric, InbandSpec, OobSpec, Spec, StorageSpec

T = TypeVar("T")
Found = SideNetwork | LeftOut
Counts = tuple[tuple[str, int], ...]
_MOST_ROUNDS = 32
_BY_SPEC = "the spec leaves it out"


@dataclass(frozen=True, slots=True)
class SidePlanner:
    """Plans the side networks of all designs of a spec. `known`: what was built before, by what it was asked for.

    `ahead`: the side networks of the last growth stage, of which those of this stage become a part. `pdus`: rack PDUs
    that the floor has, None = unknown; a number in the spec stands before it.
    """

    spec: Spec
    server: ServerModel
    catalog: Catalog
    book: PartsBook
    known: dict[object, object] = field(default_factory=dict)
    ahead: SideNetworks | None = None
    pdus: int | None = None

    def with_pdus(self, pdus: int | None) -> SidePlanner:
        """The same planner for a floor with so many rack PDUs."""
        return self if pdus == self.pdus else replace(self, pdus=pdus)

    def plan(self, compute: Fabric, network: NetworkSize, last: NetworkSize | None = None) -> SideNetworks:
        """The side networks beside a compute network; such as grow to those beside the `last` one, if there is one."""
        if last is not None:
            ahead = self.plan(compute, last)
            tiers = tuple((tier.tier, tier.count) for tier in last.tiers)
            to = ("to grow", compute, last.request.servers, tiers, self.pdus)
            return self._once(to, lambda: replace(self, known={}, ahead=ahead)).plan(compute, network)
        servers = network.request.servers
        switches = tuple((f"compute.{tier.tier}", tier.count) for tier in network.tiers)
        key = ("all", compute, servers, switches, self.pdus)
        return self._once(key, lambda: self._plan(compute, servers, switches))

    def north_south(self, servers: int, oob_switches: int) -> NorthSouth | None:
        """What stands on the compute network beside the GPUs' ports; None = nothing. It takes two counts."""
        if not self.spec.on_compute:
            return None
        uplinks = self._uplinks(oob_switches) if "inband" in self.spec.on_compute else None
        key = ("north-south", servers, uplinks)
        return self._once(key, lambda: north_south(self.spec, self.server, servers, uplinks))

    def _once(self, key: object, make: Callable[[], T]) -> T:
        if key not in self.known:
            self.known[key] = make()
        return cast("T", self.known[key])

    def _plan(self, compute: Fabric, servers: int, switches: Counts) -> SideNetworks:
        storage, notes = self._once(("storage", compute, servers), lambda: self._storage(compute, servers))
        more = storage.switch_counts if isinstance(storage, SideNetwork) else ()
        inband, oob = self._management(servers, (*switches, *more))
        found = (storage, inband, oob)
        return SideNetworks(
            tuple(n for n in found if isinstance(n, SideNetwork)),
            tuple(n for n in found if isinstance(n, LeftOut)),
            (*notes, *self._management_notes(inband, oob)),
        )

    @property
    def _storage_spec(self) -> StorageSpec:
        return self.spec.storage if isinstance(self.spec.storage, StorageSpec) else StorageSpec()

    def _storage(self, compute: Fabric, servers: int) -> tuple[Found, list[SideNote]]:
        spec = self._storage_spec
        if self.spec.storage == "none":
            return LeftOut(WORDS["storage"], _BY_SPEC, True), []
        if (place := place_of("storage", self.spec)) is not None:
            return LeftOut(WORDS["storage"], f"the spec has it on {place}", True), self._converged_notes(servers)
        fabric = storage_fabric(spec, self.server, compute)
        ports = storage_ports(spec, self.server, fabric)
        if isinstance(ports, LeftOut):
            return ports, []
        gpus = servers * self.server.gpus
        appliances, notes = appliance_group(spec, gpus, ports.gbps, ports.cage_class)
        notes += bandwidth_notes(spec, ports, self.server.gpus)
        found = self._built(storage_request(spec, fabric, servers, ports, appliances), spec.switch)
        return found, notes if isinstance(found, SideNetwork) else []

    def _converged_notes(self, servers: int) -> list[SideNote]:
        """What storage on another network gives rise to."""
        ports = storage_reach(self.spec, self.server)
        if not isinstance(ports, ServerPorts):
            return [SideNote("storage-nowhere", "/storage/converged_with")]
        spec, gpus = self._storage_spec, self.server.gpus
        _, notes = appliance_group(spec, servers * gpus, ports.gbps, ports.cage_class)
        return [*notes, *bandwidth_notes(spec, ports, gpus)]

    def _management(self, servers: int, switches: Counts) -> tuple[Found, Found]:
        """Both management networks together.

        Out-of-band switches hang on the in-band network and count its switches: repeated until both agree. The counts
        only grow from round to round.
        """
        oob = self._oob(servers, switches)
        for _ in range(_MOST_ROUNDS):
            leaves = oob.network.switch_count if isinstance(oob, SideNetwork) else 0
            inband = self._inband(servers, leaves)
            more = inband.switch_counts if isinstance(inband, SideNetwork) else ()
            oob = self._oob(servers, (*switches, *more))
            if isinstance(oob, LeftOut) or oob.network.switch_count == leaves:
                return inband, oob
        raise AssertionError("every round adds a switch, and the networks hold a bounded number of them")

    def _inband(self, servers: int, oob_switches: int) -> Found:
        return self._once(("inband", servers, oob_switches), lambda: self._new_inband(servers, oob_switches))

    def _new_inband(self, servers: int, oob_switches: int) -> Found:
        spec = self.spec.management.inband
        if not isinstance(spec, InbandSpec):
            return LeftOut(WORDS["inband"], _BY_SPEC, True)
        if (place := place_of("inband", self.spec)) is not None:
            return LeftOut(WORDS["inband"], f"the spec has it on {place}", True)
        ports = inband_ports(spec, self.server)
        if isinstance(ports, LeftOut):
            return ports
        uplinks = self._uplinks(oob_switches)
        request = inband_request(spec, servers, ports, self._on_inband(servers, ports), uplinks)
        if spec.switch is not None or not oob_switches:
            return self._built(request, spec.switch)
        # A few uplinks more or less do not make another switch the cheapest: the first choice stays while it will do.
        first = self._once(("inband switch", servers), lambda: self._built(request, None))
        if isinstance(first, LeftOut):
            return first
        again = self._built(request, first.switches.leaf.id)
        return again if isinstance(again, SideNetwork) else self._built(request, None)

    def _on_inband(self, servers: int, ports: ServerPorts) -> list[Group]:
        """Hosts of the in-band network that are not its servers: management servers, and converged storage."""
        hosts = inband_hosts(self.spec.management.hosts, ports)
        storage = None
        if self._storage_spec.converged_with == "inband":
            gpus = servers * self.server.gpus
            storage, _ = appliance_group(self._storage_spec, gpus, ports.gbps, ports.cage_class)
        return [group for group in (hosts, storage) if group is not None]

    def _uplinks(self, switches: int) -> Group | None:
        """The uplinks of out-of-band switches: in the fastest cages that these have."""
        oob = self.spec.management.oob
        if not switches or not isinstance(oob, OobSpec):
            return None
        models = self._candidates("ethernet", oob.switch, "oob")
        cages = max(models[0].geometry.sets, key=lambda s: max(mode.gbps for mode in s.modes))
        return uplink_group(oob, switches, max(mode.gbps for mode in cages.modes), cages.cage_class)

    def _oob(self, servers: int, switches: Counts) -> Found:
        spec = self.spec.management.oob
        if not isinstance(spec, OobSpec):
            return LeftOut(WORDS["oob"], _BY_SPEC, True)
        ports = oob_ports(spec, self.server)
        if isinstance(ports, LeftOut):
            return ports
        return self._built(oob_request(spec, servers, ports, switches, list(self._on_oob(spec))), spec.switch)

    def _on_oob(self, spec: OobSpec) -> list[Attached]:
        """Hosts of the out-of-band network that are neither servers nor switches."""
        storage, hosts, found = self._storage_spec, self.spec.management.hosts, []
        if hosts is not None:
            each = hosts.oob_ports or side_defaults().hosts.oob_ports.value
            found.append(Attached(MANAGEMENT, hosts.servers, each, 1))
        if storage.appliances is not None and storage.appliance_management_ports is not None:
            found.append(Attached(APPLIANCE, storage.appliances, storage.appliance_management_ports, 1))
        pdus = self.pdus if spec.pdus is None else spec.pdus
        if pdus:
            found.append(Attached(PDU_HOSTS, pdus, 1, 1))
        return found

    def _built(self, request: SideRequest, switch: str | None) -> Found:
        last = None if self.ahead is None else self.ahead.named(request.name)
        if last is not None:
            with suppress(Unbuildable):
                return build(request, last.switches.leaf, self.book, self.spec.site.airflow, last.network)
        models = self._candidates(request.fabric, switch, request.name)
        return build_cheapest(request, models, self.book, self.spec.site.airflow)

    def _candidates(self, fabric: Fabric, switch: str | None, name: SideName) -> list[SwitchModel]:
        """The switch that the spec names, or every one that can be ordered: boxes for management ports for `oob`."""
        if switch is not None:
            return [self._model(switch)]
        role = "management" if name == "oob" else "fabric"
        return self._once(("models", fabric, role), lambda: self._of_catalog(fabric, role))

    def _of_catalog(self, fabric: Fabric, role: str) -> list[SwitchModel]:
        entries = [e for e in self.catalog.switches.values() if e.role == role and e.status == "active"]
        models = [self._model(entry.id) for entry in entries if not entry.planning_gaps()]
        return [model for model in models if model.serves(fabric)]

    def _model(self, switch: str) -> SwitchModel:
        entry = self.catalog.switches[switch]
        return self._once(("model", switch), lambda: catalog_switch(entry, self.catalog))

    def _management_notes(self, inband: Found, oob: Found) -> list[SideNote]:
        notes, hosts, carried = [], self.spec.management.hosts, "inband" in self.spec.on_compute
        if (isinstance(inband, SideNetwork) or carried) and hosts is not None and hosts.inband_cage_class is None:
            cage = self._inband_cage_class()
            fields = {"hosts": "management servers", "cage_class": str(cage)}
            notes += [SideNote("far-cages-assumed", "/management/hosts", fields)] if cage is not None else []
        if isinstance(oob, SideNetwork):
            if (
                isinstance(self.spec.management.oob, OobSpec)
                and self.spec.management.oob.pdus is None
                and self.pdus is None
            ):
                notes.append(SideNote("pdus-unknown", "/management/oob"))
            if isinstance(inband, LeftOut) and not carried:
                notes.append(SideNote("oob-uplinks-open", "/management"))
        return notes

    def _inband_cage_class(self) -> str | None:
        spec = self.spec.management.inband
        ports = inband_ports(spec, self.server) if isinstance(spec, InbandSpec) else None
        return ports.cage_class if isinstance(ports, ServerPorts) else None
