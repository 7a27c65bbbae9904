"""Licences: which a design needs, how many, and at what price, if the spec states one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from ibplan.economics.assumptions import LicenceEntry
from ibplan.economics.items import LineItem, NetworkName

LICENCES_TIER = "licences"
Need = Literal["required", "recommended", "optional", "unknown"]
# What the spec says of a licence: its price, `none` = it is not bought; absent = the price is unknown.
LicencePrices = Mapping[str, Decimal | Literal["none"]]


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence of a network: `quantity` of it, one for each `per`. `unit_price_usd` None = unknown: not in the bill.

    `need`: `required`, `recommended`, `optional`; `unknown` = it was not found whether the switch's price holds it.
    `bought`: in the bill. `source` says where the need was read.
    """

    licence: str
    network: NetworkName
    part: str
    description: str
    per: Literal["endpoint", "switch"]
    need: Need
    quantity: int
    unit_price_usd: Decimal | None
    bought: bool
    source: str


@dataclass(frozen=True, slots=True)
class Licensed:
    """What licences of a network are counted by."""

    network: NetworkName
    fabric: str
    gpus: int
    endpoints: int
    switches: int


def licences_of(what: Licensed, entries: Iterable[LicenceEntry], prices: LicencePrices) -> tuple[Licence, ...]:
    """The licences that a network of a fabric can need, in the order of the entries."""
    found = []
    for entry in entries:
        if what.fabric not in entry.fabrics:
            continue
        limit = entry.required_above_gpus
        need = "required" if limit is not None and what.gpus > limit else entry.need
        price = prices.get(entry.key)
        found.append(
            Licence(
                entry.key,
                what.network,
                entry.part,
                entry.description,
                entry.per,
                need,
                what.endpoints if entry.per == "endpoint" else what.switches,
                None if price is None or price == "none" else price,
                price is not None and price != "none",
                f"{entry.source}, {entry.date}",
            )
        )
    return tuple(x for x in found if prices.get(x.licence) != "none" and x.quantity)


def licence_items(licences: Sequence[Licence]) -> list[LineItem]:
    """Lines of the licences that have a price: the others are listed beside the bill, and never a price of 0."""
    return [
        LineItem(
            network=licence.network,
            tier=LICENCES_TIER,
            category="licence",
            part=licence.part,
            manufacturer=None,
            part_number=None,
            description=licence.description,
            quantity=licence.quantity,
            unit_price_usd=licence.unit_price_usd,
            price_kind="street",
            price_date=None,
            price_source="the spec",
            power_each_w=0.0,
            power_typical_each_w=0.0,
            power_in_host=False,
            where=f"one for each {licence.per}",
            list_price_usd=licence.unit_price_usd,
            discount_percent=0.0,
        )
        for licence in licences
        if licence.bought
    ]


def unpriced_and_required(licences: Iterable[Licence]) -> tuple[Licence, ...]:
    """Licences without which the network must not be run, and whose price is unknown."""
    return tuple(licence for licence in licences if licence.need == "required" and not licence.bought)
