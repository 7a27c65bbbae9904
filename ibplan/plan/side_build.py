"""Build one side network: size it on a switch, choose its parts, price it; and choose the switch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ibplan.cabling.choice import network_parts
from ibplan.economics.bill import make_bill
from ibplan.economics.capital import capital_cost
from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.geometry import Geometry
from ibplan.fabric.growing import stage_request
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import NetworkSize, build_network
from ibplan.fabric.request import Attached, FabricRequest, TierRequest
from ibplan.fabric.sizing import size_fabric
from ibplan.findings import plural
from ibplan.integers import ceil_div
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import MediumChoice
from ibplan.plan.equip import Airflow, all_switches
from ibplan.plan.forms import default_uplink_gbps
from ibplan.plan.hosts import link_layer
from ibplan.plan.runs import site_runs, wire_side
from ibplan.plan.side_model import LeftOut, SideName, SideNetwork
from ibplan.plan.structured import structure
from ibplan.plan.switches import SwitchModel, TierModels
from ibplan.site.floor import Floor
from ibplan.spec.models import Fabric

if TYPE_CHECKING:
    from ibplan.cabling.trunks import Structured, StructuredRules
    from ibplan.economics.items import LineItem

WORDS: dict[SideName, str] = {
    "storage": "storage network",
    "inband": "in-band network",
    "oob": "out-of-band network",
}


@dataclass(frozen=True, slots=True)
class ServerPorts:
    """Ports of one server on a side network; `cage_class` and `ports_per_cage` None = unknown."""

    ports: int
    gbps: int
    cage_class: str | None
    ports_per_cage: int | None = 1


@dataclass(frozen=True, slots=True)
class Group:
    """Other devices on a side network, all alike, and the cage of their ports."""

    hosts: Attached
    cage_class: str | None


@dataclass(frozen=True, slots=True)
class SideRequest:
    """What is to be built. `fixed_uplinks`: leaves that nothing joins, each with so many uplinks to another network.

    `ratio`: oversubscription of every tier. A server's ports are dealt over two leaves (or pairs of them).
    """

    name: SideName
    fabric: Fabric
    servers: int
    ports: ServerPorts
    groups: tuple[Group, ...]
    ratio: Fraction
    leaf_ports: Literal["half", "all"]
    medium: MediumChoice
    spine_ratio: Fraction = Fraction(1)
    min_spines: int = 1
    unit_servers: int | None = None
    fixed_uplinks: int | None = None

    def on(self, geometry: Geometry) -> FabricRequest:
        """The fabric to size, with one kind of switch in all tiers."""
        gbps, separate = self.ports.gbps, self.fixed_uplinks is not None
        fastest = max(mode.gbps for cages in geometry.sets for mode in cages.modes)
        up = fastest if separate else default_uplink_gbps(geometry, geometry, gbps)
        leaf = TierRequest(geometry, gbps, up, self.ratio, self.leaf_ports, fixed_uplinks=self.fixed_uplinks)
        return FabricRequest(
            self.servers,
            self.ports.ports,
            leaf,
            TierRequest(geometry, up, up, self.spine_ratio, self.leaf_ports),
            geometry,
            attached=tuple(group.hosts for group in self.groups),
            tiers=1 if separate else "auto",
            single_tier="separate" if separate else "two_leaves",
            unit_servers=self.unit_servers,
            min_spines=self.min_spines,
            most_rails_per_leaf=None if separate else ceil_div(self.ports.ports, 2),
            min_isl=self.min_spines,
        )


def build(
    request: SideRequest, model: SwitchModel, book: PartsBook, airflow: Airflow, last: NetworkSize | None = None
) -> SideNetwork:
    """The network on one kind of switch; such as grows to the `last` one, if there is one.

    Raises Unbuildable with what is short.
    """
    if (refusal := model.refusal()) is not None:
        raise Unbuildable(refusal)
    if not model.serves(request.fabric):
        raise Unbuildable(Reason("link-layer", f"it cannot serve {request.fabric}"))
    sized = request.on(model.geometry)
    if last is not None:
        sized = replace(stage_request(last.request, last.fabric, sized.servers), attached=sized.attached)
    network = build_network(
        sized,
        size_fabric(sized),
        1,
        server=HostEnd(request.ports.cage_class, request.ports.ports_per_cage),
        server_ports=request.ports.ports,
        attached=tuple(HostEnd(group.cage_class, 1) for group in request.groups),
    )
    models = TierModels(model, model, model)
    parts = network_parts(network, link_layer(request.fabric), book, lambda link: request.medium)
    items = make_bill(request.name, all_switches(network, models, airflow), parts)
    return SideNetwork(request.name, request.fabric, models, network, parts, items, request.medium)


def cabled(
    side: SideNetwork, floor: Floor, book: PartsBook, airflow: Airflow, rules: StructuredRules | None = None
) -> SideNetwork:
    """The network with its cables by the runs on a floor, over trunks if there are `rules` for them.

    A run that its parts do not cover refuses no design.
    """
    network = side.network
    runs = site_runs(floor, side.name, network, lambda: wire_side(network), assumed=True)
    parts = network_parts(network, link_layer(side.fabric), book, lambda link: side.medium, runs)
    structured: Structured | None = None
    more: tuple[LineItem, ...] = ()
    if rules is not None:
        parts, structured, more = structure(side.name, network, parts, floor, rules, book, lambda: wire_side(network))
    items = (*make_bill(side.name, all_switches(network, side.switches, airflow), parts), *more)
    return replace(side, parts=parts, items=items, structured=structured)


def build_cheapest(
    request: SideRequest, models: Sequence[SwitchModel], book: PartsBook, airflow: Airflow
) -> SideNetwork | LeftOut:
    """The network on the switch that suits it best: all parts priced, pairs of parts stated, cheapest.

    Among several switches those without a price are not taken, because nothing could be recommended then; LeftOut
    names one that would do. LeftOut with the reason if none will.
    """
    if len(models) == 1:
        return _first_of(request, models, book, airflow)
    fast = [m for m in models if m.geometry.ports(request.ports.gbps)]
    able = [m for m in fast if _may_join(request, m, book)]
    found, reasons = _tried(request, [m for m in able if m.price is not None], book, airflow)
    if found:
        return min(found, key=_rank)
    for model in able:
        if model.price is None and _tried(request, [model], book, airflow)[0]:
            key = {"storage": "storage", "inband": "management.inband", "oob": "management.oob"}[request.name]
            reason = f"{model.id} would do, but has no price: give it one, or name it with {key}.switch"
            return LeftOut(WORDS[request.name], f"no priced switch builds it; {reason}")
    if not able:
        parts = f"no known parts join their cages with those of the servers ({request.ports.cage_class})"
        reasons = [parts if fast else f"no switch has {request.ports.gbps} Gb/s ports for it"]
    return _refused(request, reasons)


def _first_of(
    request: SideRequest, models: Sequence[SwitchModel], book: PartsBook, airflow: Airflow
) -> SideNetwork | LeftOut:
    found, reasons = _tried(request, models, book, airflow)
    return found[0] if found else _refused(request, reasons)


def _tried(
    request: SideRequest, models: Sequence[SwitchModel], book: PartsBook, airflow: Airflow
) -> tuple[list[SideNetwork], list[str]]:
    """The network on each of some switches, and why others cannot build it."""
    found, reasons = [], []
    for model in models:
        try:
            found.append(build(request, model, book, airflow))
        except Unbuildable as refusal:
            reasons.append(f"{model.id}: {refusal.reasons[0].text}")
    return found, reasons


def _refused(request: SideRequest, reasons: Sequence[str]) -> LeftOut:
    more = f" (and {plural(len(reasons) - 1, 'more reason')})" if len(reasons) > 1 else ""
    return LeftOut(WORDS[request.name], f"it cannot be built: {reasons[0]}{more}")


def _may_join(request: SideRequest, model: SwitchModel, book: PartsBook) -> bool:
    """Whether any recipe joins the servers' cages with some of the switch's: what has none need not be sized."""
    server, gbps = request.ports.cage_class, request.ports.gbps
    if server is None:
        return True
    cages = {c.cage_class for c in model.geometry.sets if c.mode(gbps) is not None}
    for recipe in book.recipes.get((link_layer(request.fabric), gbps), ()):
        for near, far in ((recipe.end_a, recipe.end_b), (recipe.end_b, recipe.end_a)):
            if server in far.cage_classes and not cages.isdisjoint(near.cage_classes):
                return True
    return False


def _rank(network: SideNetwork) -> tuple[int, bool, Decimal, str]:
    capital = capital_cost(network.items)
    inferred = any(p.recipe is not None and p.recipe.basis == "inferred" for p in network.parts)
    return len(capital.unpriced), inferred, capital.usd, network.switches.leaf.id
