"""cable_design: from a loaded spec to the cabled networks of one design."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.cabling.ends import HostPort, Naming
from ibplan.cabling.rows import CabledNetwork
from ibplan.cabling.runs import Places
from ibplan.cabling.trunks import StructuredRules
from ibplan.catalog.store import Catalog
from ibplan.economics.items import NetworkName
from ibplan.errors import UsageError
from ibplan.fabric.ports import port_names
from ibplan.fabric.wiring_cages import uplinks_elsewhere
from ibplan.host_groups import OOB_LEAF, STORAGE_HOSTS
from ibplan.parts.chosen import LinkParts
from ibplan.plan.evaluate import Evaluated, is_billed
from ibplan.plan.runs import layout_of
from ibplan.plan.site_names import DeviceNames
from ibplan.plan.sited import device_naming
from ibplan.plan.structured import panelled, structured_rules
from ibplan.plan.wired import choose_design
from ibplan.plan.wires import wire_evaluated
from ibplan.spec.load import LoadedSpec


@dataclass(frozen=True, slots=True)
class CabledDesign:
    """One design with its networks as they are cabled. `name` = of the spec."""

    name: str
    id: str
    networks: tuple[CabledNetwork, ...]


def cable_design(
    loaded: LoadedSpec, catalog: Catalog, design_id: str | None = None, network: str | None = None
) -> CabledDesign:
    """The recommended design, or one by its id, ready for a cable schedule; only one network if it is named.

    Raises as `wire_design` does; UsageError where the design has no network of that name.
    """
    name, design, _ = choose_design(loaded, catalog, design_id)
    there: tuple[NetworkName, ...] = ("compute", *(side.name for side in design.side.planned))
    chosen = tuple(n for n in there if network in (None, n))
    if not chosen:
        raise UsageError(f"--network: {design.id} has no network {network!r}; it has: {', '.join(there)}")
    floor = design.placed.floor
    rules = structured_rules(loaded.spec.site)
    places = None if floor is None else layout_of(floor) if rules is None else panelled(floor)
    naming = None if floor is None else device_naming(loaded, design, floor)
    called = None if loaded.spec.naming is None else DeviceNames(loaded, design)
    networks = tuple(_cabled(design, n, places, naming, rules, called) for n in chosen)
    return CabledDesign(name, design.id, networks)


def _cabled(
    design: Evaluated,
    network: NetworkName,
    places: Places | None,
    naming: Naming | None,
    structured: StructuredRules | None,
    called: DeviceNames | None,
) -> CabledNetwork:
    wiring, parts = wire_evaluated(design, network), billed_parts(design, network)
    names = None if called is None else called.named(wiring, network)
    return CabledNetwork(network, wiring, parts, places, naming, host_ports(design, network), structured, names)


def host_ports(design: Evaluated, network: NetworkName) -> dict[str, list[HostPort]]:
    """What the ports of hosts are called on a side network, or on the compute network beside those of the GPUs: a
    server's first port is another one on each.
    """
    side = design.side.named(network)
    request = design.network.request if side is None else side.network.request
    single = network == "oob"
    word = {"server": "bmc"} if single else {}
    groups = {} if side is None else {"server": request.rails}
    groups |= {group.name: group.ports for group in request.attached if group.north_south or side is not None}
    found = {}
    for name, ports in groups.items():
        called = word.get(name, "mgmt" if single else network if side is not None else _carried(name))
        found[name] = [HostPort(n, called if ports == 1 else f"{called}-{n}") for n in range(1, ports + 1)]
    oob = design.side.named("oob")
    if (network == "inband" or OOB_LEAF in groups) and oob is not None:
        up = oob.network.request.leaf
        names = port_names(up.geometry, up.up_gbps)
        there = [names[port] for port in uplinks_elsewhere(oob.network.request)]
        found[OOB_LEAF] = [HostPort(port.cage, port.name) for port in there if port is not None]
    return found


def _carried(host: str) -> str:
    """Whose ports those of a group are, where the compute network carries storage or in-band traffic."""
    return "storage" if host in STORAGE_HOSTS else "inband"


def billed_parts(design: Evaluated, network: NetworkName) -> tuple[LinkParts, ...]:
    """The parts of a network that are bought."""
    side = design.side.named(network)
    if side is not None:
        return side.parts
    return tuple(p for p in design.parts if is_billed(p, design.form))
