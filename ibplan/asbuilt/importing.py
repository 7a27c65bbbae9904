"""import: a found fabric in, a spec that plans the same one out, with what it could not say. The front door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from io import BytesIO
from typing import Any, Final

from ibplan.asbuilt.candidates import Knobs, SwitchChoice, base_request, switch_choices, whole_gbps
from ibplan.asbuilt.counts import Counts, counts_of_network, counts_of_shape
from ibplan.asbuilt.found import FoundFabric
from ibplan.asbuilt.rates import Rate
from ibplan.asbuilt.reconstruct import shape_of
from ibplan.asbuilt.search import find_knobs
from ibplan.asbuilt.shape import Shape
from ibplan.catalog.entries import Server
from ibplan.catalog.store import Catalog
from ibplan.document import dump_yaml
from ibplan.errors import InputError, UsageError
from ibplan.findings import plural
from ibplan.plan.forms import default_uplink_gbps
from ibplan.plan.hosts import link_layer
from ibplan.plan.make import make_evaluated_plan
from ibplan.spec.load import LoadedSpec, load_spec
from ibplan.spec.models import Fabric

_INFINIBAND: Final = ("ibnetdiscover", "iblinkinfo")
_DEVICE_NAMES: Final = ("server", "leaf", "spine", "core", "manager")
_MOST_REASONS: Final = 5


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the user says of a fabric that the files do not: None = they have to tell, or a default is assumed.

    hosts: a pattern of the names of hosts (`gpu*`). server, switch: ids of the catalogue. gbps: rate of links that do
    not state theirs. name: of the spec.
    """

    hosts: str | None = None
    server: str | None = None
    switch: str | None = None
    fabric: Fabric | None = None
    gbps: int | None = None
    name: str = "imported"


@dataclass(frozen=True, slots=True)
class Imported:
    """A spec as data and as text, what it describes, and whether it plans the same numbers of switches and links.

    `differences`: where it does not. `design`: the one that the counts are of, and that the spec names; None = nothing
    could be planned. `priced`: whether all parts of that have a price.
    """

    shape: Shape
    data: dict[str, Any]
    text: str
    design: str | None
    priced: bool
    differences: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def reproduced(self) -> bool:
        """Whether the plan of the spec has the numbers of the fabric."""
        return self.design is not None and not self.differences


def import_fabric(found: FoundFabric, options: ImportOptions, catalog: Catalog) -> Imported:
    """Describe a found fabric and make a spec of it.

    Raises UsageError where hosts cannot be told from switches, a rate is needed that nothing states, or an id is not in
    the catalogue.
    """
    shape = shape_of(_rated(found, options.gbps), _pattern(options.hosts))
    notes = [*found.notes, *found.left_out_notes, *shape.assumed]
    fabric = options.fabric or _fabric(found, notes)
    server, domain_servers = _server(shape, options, catalog, fabric, notes)
    wanted = counts_of_shape(shape)
    choices = switch_choices(shape, catalog, fabric, options.switch)
    best, switches = find_knobs(shape, choices, domain_servers, wanted)
    if len(switches) > 1:
        notes.append(
            f"{len(switches)} switches of the catalogue have these ports: strike those that are not yours, or name it "
            "with --switch."
        )
    data = _spec(shape, options, fabric, server, best, switches)
    text = dump_yaml(data)
    design, priced, differences = _planned(text, catalog, wanted, notes)
    if design is not None:  # without prices nothing is recommended: name the one that is there
        data = _with_design(data, design)
        text = dump_yaml(data)
    return Imported(shape, data, text, design, priced, tuple(differences), tuple(notes))


def _pattern(hosts: str | None) -> Callable[[str], bool] | None:
    if hosts is None:
        return None
    patterns = [pattern.strip().lower() for pattern in hosts.split(",") if pattern.strip()]
    return lambda name: any(fnmatchcase(name.lower(), pattern) for pattern in patterns)


def _rated(found: FoundFabric, gbps: int | None) -> FoundFabric:
    """The fabric with a rate for links that state none. Raises UsageError where there is none to give."""
    bare = sum(link.rate is None for link in found.links)
    if not bare:
        return found
    if gbps is None:
        raise UsageError(f"{bare:,} of {len(found.links):,} links do not state their rate: give it with --gbps")
    links = tuple(link if link.rate is not None else link._replace(rate=Rate(gbps)) for link in found.links)
    return replace(found, links=links)


def _fabric(found: FoundFabric, notes: list[str]) -> Fabric:
    if all(form in _INFINIBAND for form in found.formats):
        return "infiniband"
    notes.append("The fabric is taken for RoCE; say otherwise with --fabric.")
    return "roce"


def _server(
    shape: Shape, options: ImportOptions, catalog: Catalog, fabric: Fabric, notes: list[str]
) -> tuple[Any, int]:
    """What the spec says of the server, and the servers of its NVLink domain."""
    group = shape.servers
    if options.server is not None:
        entry = catalog.servers.get(options.server)
        if entry is None:
            near = catalog.nearest(options.server, "servers")
            raise UsageError(
                f"--server: the catalogue has no {options.server!r}" + (f"; nearest: {near}" if near else "")
            )
        return entry.id, max(1, (entry.nvlink_domain_gpus or entry.gpus) // entry.gpus)
    nics = group.ports // shape.planes
    inline = {"gpus": nics, "nics": nics, "ports_per_nic": shape.planes, "port_gbps": whole_gbps(group.gbps)}
    notes.append(f"The server is taken to have {plural(nics, 'GPU')}, one for each NIC.")
    alike = sorted(s.id for s in catalog.servers.values() if _has_ports(s, nics, whole_gbps(group.gbps), fabric))
    if alike:
        notes.append(f"Servers of the catalogue with these ports, for --server: {', '.join(alike)}.")
    return inline, 1


def _has_ports(server: Server, nics: int, gbps: int, fabric: Fabric) -> bool:
    """Whether the compute NICs of a server are as many, at this rate."""
    mode = None if server.compute is None else server.compute.mode(link_layer(fabric))
    return server.compute_nics == nics and mode is not None and mode.gbps == gbps


def _spec(
    shape: Shape,
    options: ImportOptions,
    fabric: Fabric,
    server: Any,
    knobs: Knobs,
    switches: list[SwitchChoice],
) -> dict[str, Any]:
    """The spec as data. Storage and management networks are not in the files: they are left out."""
    network: dict[str, Any] = {}
    written = [switch.written for switch in switches]
    network["switch"] = written[0] if len(written) == 1 else written
    network["tiers"] = shape.tiers
    if shape.tiers == 1 and shape.links.leaf_leaf:
        network["single_tier"] = "two_leaves"
    if shape.planes > 1:
        network["planes"] = shape.planes
    if shape.rail_only:
        network["rail_only"] = True
    network |= _uplinks(shape, switches)
    network |= knobs.written()
    if shape.managers:
        network["reserved_ports"] = base_request(shape, switches[0], 1).reserved_total
    data: dict[str, Any] = {"name": options.name, "servers": shape.servers.hosts, "server": server}
    if shape.attached:
        data["attached"] = [
            {"name": _attached_name(g.name), "servers": g.hosts, "ports": g.ports, "port_gbps": whole_gbps(g.gbps)}
            for g in shape.attached
        ]
    side = {"storage": "none", "management": {"inband": False, "oob": False}}
    return data | {"fabrics": fabric, "network": network, **side}


def _with_design(data: dict[str, Any], design: str) -> dict[str, Any]:
    """The spec with the design named, before the network's own keys."""
    at = list(data).index("network")
    rows = list(data.items())
    return dict([*rows[:at], ("design", design), *rows[at:]])


def _uplinks(shape: Shape, switches: list[SwitchChoice]) -> dict[str, Any]:
    """Speeds of uplinks, where they are not those that a spec takes by itself with any of the switches."""
    speeds = {tier.tier: whole_gbps(tier.up_gbps) for tier in shape.switches if tier.up and tier.up_gbps}
    if not speeds:
        return {}
    down = whole_gbps(shape.servers.gbps)
    leaf = speeds["leaf"]
    usual = all(default_uplink_gbps(s.leaf, s.spine, down) == leaf for s in switches)
    if "spine" in speeds:
        usual &= all(default_uplink_gbps(s.spine, s.core, leaf) == speeds["spine"] for s in switches)
    if usual:
        return {}
    return {"uplink_gbps": speeds if len(speeds) > 1 else leaf}


def _attached_name(name: str) -> str:
    """A name that a spec takes for a group of hosts."""
    kept = "".join(c if c.isalnum() or c in "_.-" else "-" for c in name).strip("-._")[:60] or "hosts"
    return f"hosts.{kept}" if kept.partition("-")[0] in _DEVICE_NAMES else kept


def _planned(text: str, catalog: Catalog, wanted: Counts, notes: list[str]) -> tuple[str | None, bool, list[str]]:
    """The design that the written spec gives, whether it has a price, and where its counts differ.

    Designs that do not agree are named.
    """
    try:
        loaded: LoadedSpec = load_spec("-", stdin=BytesIO(text.encode()))
        plan, evaluated = make_evaluated_plan(loaded, catalog)
    except InputError as error:
        return None, False, [problem.message for problem in error.problems]
    if not evaluated:
        return None, False, [reason.text for row in plan.rejected for reason in row.reasons][:_MOST_REASONS]
    found = {name: wanted.differences(counts_of_network(design.network)) for name, design in evaluated.items()}
    design = min(found, key=lambda name: (len(found[name]), name != plan.choice, name))
    odd = [name for name, differences in found.items() if differences and not found[design]]
    if odd:
        notes.append(f"Planned otherwise, and to be struck from the list of switches: {', '.join(odd)}.")
    priced = any(row.id == design and row.rank is not None for row in plan.designs)
    return design, priced, found[design]
