"""Line items: the currency between engine and report. Nothing downstream recomputes them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Category = Literal["switch", "NIC", "transceiver", "cable", "splitter", "trunk", "panel", "licence", "rack", "PDU"]
Basis = Literal["stated", "inferred"]
NetworkName = Literal["compute", "storage", "inband", "oob"]
LineNetwork = NetworkName | Literal["site", "shared"]


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line of the bill. `part` is a catalogue id, or a description where no part could be chosen.

    `unit_price_usd` None = the price is unknown (never 0); `list_price_usd` = the same before the discount of
    `discount_percent`. `low_price_usd` and `high_price_usd` are the lowest and the highest known, discounts taken off.
    `where` says in words what the parts join; what belongs to no network alone is of the network `site`.
    `basis`: whether a maker states the recipe that chose the part, or it is inferred; None = no recipe chose it.
    `power_each_w` is the maximum (None = unknown); `power_in_host`: the switch's own maximum has it already.
    `length_m` of a cable, as ordered; None = no cable, or unknown.
    """

    network: LineNetwork
    tier: str
    category: Category
    part: str
    manufacturer: str | None
    part_number: str | None
    description: str
    quantity: int
    unit_price_usd: Decimal | None
    price_kind: Literal["list", "street", "estimate"] | None
    price_date: str | None
    price_source: str | None
    power_each_w: float | None
    power_typical_each_w: float | None
    power_in_host: bool
    where: str
    basis: Basis | None = None
    list_price_usd: Decimal | None = None
    discount_percent: float | None = None
    low_price_usd: Decimal | None = None
    high_price_usd: Decimal | None = None
    length_m: float | None = None

    @property
    def extended_usd(self) -> Decimal | None:
        """Quantity times unit price; None if the price is unknown."""
        return None if self.unit_price_usd is None else self.unit_price_usd * self.quantity

    @property
    def counted_power_w(self) -> float | None:
        """Maximum power of the line that is not counted elsewhere, W; None if unknown."""
        if self.power_in_host:
            return 0.0
        return None if self.power_each_w is None else self.power_each_w * self.quantity
