"""From switches, NICs and the parts of every link class to line items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter

from ibplan.catalog.entries import Cable
from ibplan.catalog.prices import PriceChoice
from ibplan.economics.items import Basis, Category, LineItem, LineNetwork, NetworkName
from ibplan.host_groups import SERVER_PORTS
from ibplan.parts.chosen import CableOrder
from ibplan.parts.offers import Offer
from ibplan.parts.select import LinkParts


@dataclass(frozen=True, slots=True)
class Equipment:
    """A switch or a NIC to buy: what it is, how many, its price and power (W; None = unknown).

    `holds_module_power`: the maximum already counts the modules in its own cages.
    """

    tier: str
    category: Category
    part: str
    manufacturer: str | None
    part_number: str | None
    description: str
    count: int
    price: PriceChoice | None
    power_max_w: float | None
    power_typical_w: float | None
    holds_module_power: bool
    where: str


NO_LENGTH = "for no stated length: what a longer cable adds is unknown"
_FAR = {"server": "servers", "leaf": "leaves", "spine": "spines", "core": "cores", "attached": "attached hosts"}
_FAR |= {"reserved": "the fabric manager"}


_BUT_QUANTITY = attrgetter(*(field.name for field in fields(LineItem) if field.name != "quantity"))


def make_bill(network: NetworkName, equipment: Sequence[Equipment], links: Sequence[LinkParts]) -> tuple[LineItem, ...]:
    """All line items of a network: equipment, then each link class; equal lines are added up. Order is stable."""
    holds = {e.tier: e.holds_module_power for e in equipment if e.category == "switch"}
    items = [_equipment_item(network, e) for e in equipment if e.count]
    for parts in links:
        items += _link_items(network, parts, holds)
    return tuple(_added_up(items))


def line_item(
    network: LineNetwork,
    tier: str,
    category: Category,
    identity: tuple[str, str | None, str | None, str],
    quantity: int,
    choice: PriceChoice | None,
    power: tuple[float | None, float | None, bool],
    where: str,
    basis: Basis | None = None,
    length_m: float | None = None,
) -> LineItem:
    """One line. `identity`: part, manufacturer, part number, description; `power`: maximum, typical, held by a host.

    With a length in metres the price source says which length the price was read for.
    """
    part, manufacturer, part_number, description = identity
    return LineItem(
        network=network,
        tier=tier,
        category=category,
        part=part,
        manufacturer=manufacturer,
        part_number=part_number,
        description=description,
        quantity=quantity,
        unit_price_usd=None if choice is None else choice.unit_usd,
        price_kind=None if choice is None else choice.kind,
        price_date=None if choice is None else choice.date,
        price_source=None if choice is None else _price_source(choice, length_m),
        power_each_w=power[0],
        power_typical_each_w=power[1],
        power_in_host=power[2],
        where=where,
        basis=basis,
        list_price_usd=None if choice is None else choice.list_usd or choice.unit_usd,
        discount_percent=None if choice is None else choice.discount_fraction * 100,
        length_m=length_m,
    )


def _price_source(choice: PriceChoice, length_m: float | None) -> str:
    """The source of a price; a converted one names its exchange rate and that rate's date."""
    found, rate = choice.source, choice.rate
    if rate is not None:
        found += f"; 1 {rate.currency} = {rate.usd:g} USD on {rate.date} ({rate.source})"
    if length_m is None or choice.locked:
        return found
    return f"{found}; for {choice.length_m:g} m" if choice.length_m is not None else f"{found}; {NO_LENGTH}"


def _equipment_item(network: NetworkName, e: Equipment) -> LineItem:
    identity = (e.part, e.manufacturer, e.part_number, e.description)
    return line_item(
        network, e.tier, e.category, identity, e.count, e.price, (e.power_max_w, e.power_typical_w, False), e.where
    )


def _link_items(network: NetworkName, parts: LinkParts, holds: Mapping[str, bool]) -> list[LineItem]:
    link = parts.link
    reserved = link.kind == "reserved"
    if parts.recipe is None:
        return [_unknown(network, parts)]
    items = []
    for offer, count, end, far in (
        (parts.module_a, parts.modules_a, link.a, link.b),
        (parts.module_b, parts.modules_b, link.b, link.a),
    ):
        if offer is not None and count:
            where = f"{_named(end.tier, link.host)}, links to {_named(far.tier, link.host)}"
            held = holds.get(end.tier, False)
            figures = (offer.power.max_w, offer.power.typical_w, held)
            tier, basis = "reserved" if reserved else end.tier, parts.recipe.basis
            identity = _identity(offer)
            items.append(line_item(network, tier, "transceiver", identity, count, offer.price, figures, where, basis))
    if parts.cable is not None and parts.cables:
        orders = parts.orders or (CableOrder(parts.cable, None, parts.cables),)
        items += [_cable_item(network, parts, order, holds) for order in orders]
    return items


def _named(tier: str, host: str | None) -> str:
    """Who is at an end. Switches of another network stand on this one in a group `network.tier`."""
    if tier != "attached" or host is None:
        return _FAR[tier]
    network, _, other = host.partition(".")
    return f"{network} {_FAR[other]}" if other in _FAR else SERVER_PORTS.get(host, f"attached hosts {host}")


def _cable_item(network: NetworkName, parts: LinkParts, order: CableOrder, holds: Mapping[str, bool]) -> LineItem:
    link, entry, price = parts.link, order.offer.entry, order.offer.price
    assert isinstance(entry, Cable)
    power = _cable_power(entry, holds.get(link.a.tier, False), holds.get(link.b.tier, False))
    where = f"{_FAR[link.a.tier]} to {_named(link.b.tier, link.host)}"
    part, vendor, _, model = _identity(order.offer)
    return line_item(
        network,
        "reserved" if link.kind == "reserved" else link.a.tier,
        "splitter" if entry.ends_b > 1 else "cable",
        (part, vendor, entry.part_number_at(order.length_m), model),
        order.count,
        price,
        (power, power, False),
        where,
        None if parts.recipe is None else parts.recipe.basis,
        order.length_m,
    )


def _cable_power(cable: Cable, near_held: bool, far_held: bool) -> float | None:
    """Power in W of the ends that no switch's maximum holds; None if it is not known."""
    if cable.kind in ("fiber", "rj45"):
        return 0.0
    ends = (0 if near_held else 1) + (0 if far_held else cable.ends_b)
    if ends == 0:
        return 0.0
    return None if cable.end_power_w is None else cable.end_power_w * ends


def _identity(offer: Offer) -> tuple[str, str | None, str | None, str]:
    entry = offer.entry
    stands_for = f", compatible with {entry.compatible_with}" if entry.compatible_with else ""
    return entry.id, entry.vendor, entry.part_number, f"{entry.model}{stands_for}"


def _unknown(network: NetworkName, parts: LinkParts) -> LineItem:
    """A line for links whose parts cannot be chosen: one a link, without a price."""
    link = parts.link
    part = f"unknown-{link.gbps}g-{link.kind}-link"
    identity = (part, None, None, f"modules and cable of one {link.gbps} Gb/s link, kind of cage unknown")
    where = f"{_FAR[link.a.tier]} to {_named(link.b.tier, link.host)}"
    tier = "reserved" if link.kind == "reserved" else link.a.tier
    return line_item(network, tier, "transceiver", identity, link.count, None, (None, None, False), where)


def _added_up(items: Iterable[LineItem]) -> list[LineItem]:
    """Lines that differ only in quantity become one, at the place of the first."""
    merged: dict[tuple[object, ...], LineItem] = {}
    for item in items:
        key = _BUT_QUANTITY(item)
        same = merged.get(key)
        merged[key] = item if same is None else replace(same, quantity=same.quantity + item.quantity)
    return list(merged.values())
