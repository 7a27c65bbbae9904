"""Where a design stands: its server and switches as boxes, on the floor of the spec's site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ibplan.catalog.store import Catalog
from ibplan.fabric.network import NetworkSize
from ibplan.plan.switches import SwitchModel, TierModels
from ibplan.site.floor import Floor, Servers, SitedNetwork
from ibplan.site.ground import Ground
from ibplan.site.packing import Box
from ibplan.site.placing import plan_floor
from ibplan.site.rules import boxes
from ibplan.spec.models import AttachedHosts, InlineServer, Spec

_UM2: float = 1e12


@dataclass(frozen=True, slots=True)
class NetworkToPlace:
    """A network of a design: its sizes, the switch of each tier, whether its reserved ports lead to managers."""

    name: str
    size: NetworkSize
    models: Mapping[str, SwitchModel]
    managed: bool = False
    attached: tuple[AttachedHosts, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A design's floor, or what is not known so that there is none.

    `over_limit`: what draws more than the power that is assumed for a rack, and stands alone. `unweighed` and
    `unmeasured`: parts whose weight (where a limit is set) or maximum power is not known, so that nothing checks it.
    """

    floor: Floor | None
    unknown: tuple[str, ...] = ()
    over_limit: tuple[str, ...] = ()
    unmeasured: tuple[str, ...] = ()
    unweighed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteRacks:
    """Racks with servers, and racks with switches and other devices alone."""

    server: int
    network: int


@dataclass(frozen=True, slots=True)
class SiteResult:
    """The floor of a design. `rows` with racks; `row_places` from the first to the last place in use of any row.

    `server_rack_w`: maximum power of a full server rack, W; None = unknown. `pdus` of racks that do not come assembled.
    """

    racks: SiteRacks
    servers_per_rack: int
    rows: int
    row_places: int
    floor_m2: float
    pdus: int
    server_rack_w: float | None


def tier_models(models: TierModels) -> dict[str, SwitchModel]:
    """The switch of each tier by the tier's name."""
    return {"leaf": models.leaf, "spine": models.spine, "core": models.core}


def place_design(spec: Spec, catalog: Catalog, ground: Ground, networks: Sequence[NetworkToPlace]) -> Placed:
    """Place all networks of a design with its servers. Raises Unbuildable where a stated limit is broken."""
    server = server_box(spec, catalog)
    unknown = [f"rack units of {_server_name(spec)}"] if server is None else []
    sited = []
    for network in networks:
        found: dict[str, Box] = {}
        for row in network.size.tiers:
            model = network.models[row.tier]
            box = switch_box(model)
            if box is None:
                unknown.append(f"rack units of {model.id}")
            else:
                found[row.tier] = box
        sited.append(SitedNetwork(network.name, network.size, found | _other_boxes(network)))
    if server is None or unknown:
        return Placed(None, tuple(dict.fromkeys(unknown)))
    rules = ground.rules
    count = networks[0].size.request.servers
    floor = plan_floor(ground, _servers(spec, catalog, server, count), sited)
    every = {box.name: box for box in (server, *(box for n in sited for box in n.boxes.values()))}.values()
    known = floor.servers.rack_box is not None and floor.servers.rack_box.power_w is not None
    return Placed(
        floor,
        over_limit=tuple(b.name for b in every if not rules.power_stated and (b.power_w or 0) > rules.power_w),
        unmeasured=tuple(b.name for b in every if b.power_w is None and not (known and b is server)),
        unweighed=tuple(b.name for b in every if b.weight_kg is None and rules.weight_kg is not None),
    )


def server_box(spec: Spec, catalog: Catalog) -> Box | None:
    """One server as a box; None where its height is not known and it does not come in racks."""
    server = spec.server
    if isinstance(server, InlineServer):
        if server.rack_units is None:
            return None
        return Box("the server", server.rack_units, server.power, server.weight_kg)
    entry = catalog.servers[server]
    if entry.rack_units is None and entry.sold_as is None:
        return None
    # A tray of a rack that comes assembled takes no room of ours.
    return Box(entry.id, entry.rack_units or 1, entry.power.max_w, entry.weight_kg, entry.cooling)


def _server_name(spec: Spec) -> str:
    return spec.server if isinstance(spec.server, str) else "the server"


def _servers(spec: Spec, catalog: Catalog, box: Box, count: int) -> Servers:
    entry = None if isinstance(spec.server, InlineServer) else catalog.servers[spec.server]
    sold = None if entry is None else entry.sold_as
    if entry is None or sold is None:
        return Servers(count, box)
    return Servers(count, box, sold.servers, Box(f"a rack of {entry.id}", 1, sold.power_w, sold.weight_kg))


def switch_box(model: SwitchModel) -> Box | None:
    """A switch as a box; None where its height is not known."""
    if model.rack_units is None:
        return None
    weight = None if model.entry is None else model.entry.weight_kg
    return Box(model.id, model.rack_units, model.power_max_w, weight)


def _other_boxes(network: NetworkToPlace) -> dict[str, Box]:
    """Managers, and the attached hosts whose height the spec states."""
    found = {}
    if network.managed:
        fact = boxes()["manager"]
        found["manager"] = Box("the fabric manager", fact.rack_units, fact.max_w)
    for hosts in network.attached:
        if hosts.rack_units is not None:
            found[f"attached:{hosts.name}"] = Box(hosts.name, hosts.rack_units, hosts.power, hosts.weight_kg)
    return found


def describe_site(floor: Floor) -> SiteResult:
    """The figures of a floor."""
    rules, slots = floor.rules, floor.ground.slots
    rows = {place // slots for place in floor.places}
    used = [place % slots for place in floor.places]
    row_places = max(used) - min(used) + 1
    servers = floor.servers
    if servers.whole_rack:
        power = None if servers.rack_box is None else servers.rack_box.power_w
    else:
        each = servers.box.power_w
        power = None if each is None else each * min(servers.count, floor.rows.servers_per_rack)
    return SiteResult(
        SiteRacks(len(floor.server_places), floor.network_rack_count),
        floor.rows.servers_per_rack,
        len(rows),
        row_places,
        len(rows) * row_places * rules.width_um * rules.pitch_um / _UM2,
        floor.pdu_count,
        power,
    )
