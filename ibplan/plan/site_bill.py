"""Racks and rack PDUs at the prices of the spec, and what a cluster costs with them and its servers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from ibplan.catalog.entries import PriceKind
from ibplan.catalog.prices import PriceChoice
from ibplan.economics.bill import line_item
from ibplan.economics.items import Category, LineItem
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.hosts import ServerModel
from ibplan.site.floor import Floor
from ibplan.spec.models import RackSpec, Spec


@dataclass(frozen=True, slots=True)
class SiteBill:
    """Lines of the racks and rack PDUs that have a price. `complete`: all are counted and have one."""

    items: tuple[LineItem, ...]
    complete: bool

    @property
    def usd(self) -> Decimal | None:
        """Price of the lines, USD; None where racks or PDUs are to be bought and none of them has a price."""
        if not self.items and not self.complete:
            return None
        return sum((item.extended_usd or Decimal(0) for item in self.items), Decimal(0))


@dataclass(frozen=True, slots=True)
class ClusterCost:
    """What network, servers and racks cost, USD. `known_usd` counts what has a price; `complete`: that is all.

    `usd`: the same where a server has a price (`server_usd`), a lower bound unless complete; None where it has none.
    """

    known_usd: Decimal
    usd: Decimal | None
    server_usd: Decimal | None
    server_price_kind: PriceKind | None
    complete: bool


def site_bill(floor: Floor | None, rack: RackSpec) -> SiteBill:
    """The racks and rack PDUs to buy; those of racks that come assembled are in the price of their servers.

    Not complete where attached hosts have no place: the racks that they stand in are not counted.
    """
    if floor is None:
        return SiteBill((), complete=False)
    racks, pdus = floor.bought_rack_count, floor.pdu_count
    wanted: tuple[tuple[Category, str, str, int, Decimal | None, str], ...] = (
        ("rack", "rack", f"Rack of {floor.rules.rack_units} rack units", racks, rack.price, "servers and switches"),
        ("PDU", "rack-pdu", "Rack PDU", pdus, rack.pdu_price, "racks"),
    )
    items = tuple(
        _line(category, part, description, count, usd, where)
        for category, part, description, count, usd, where in wanted
        if count and usd is not None
    )
    priced = all(usd is not None or not count for *_, count, usd, _where in wanted)
    return SiteBill(items, priced and _all_placed(floor))


def _all_placed(floor: Floor) -> bool:
    """Whether all hosts that the spec attaches to the compute network stand in racks of the floor."""
    hosts = (h for n in floor.networks if n.name == "compute" for h in n.size.request.attached)
    return all(floor.spots_of(f"compute/attached:{h.name}") is not None for h in hosts if not h.north_south)


def _line(category: Category, part: str, description: str, count: int, usd: Decimal, where: str) -> LineItem:
    price = PriceChoice(part, usd, "street", None, "the spec")
    line = line_item(
        "site", "site", category, (part, None, None, description), count, price, (None, None, False), where
    )
    return replace(line, low_price_usd=usd, high_price_usd=usd)


def cluster_cost(design: Evaluated, spec: Spec, server: ServerModel) -> ClusterCost:
    """What a design costs with its servers and racks."""
    site = site_bill(design.placed.floor, spec.site.rack)
    servers = design.network.request.servers
    servers_usd = None if server.usd is None else server.usd * servers
    known = design.capital.usd + (site.usd or Decimal(0)) + (servers_usd or Decimal(0))
    complete = design.price_is_certain and site.complete and servers_usd is not None
    return ClusterCost(known, None if servers_usd is None else known, server.usd, server.price_kind, complete)
