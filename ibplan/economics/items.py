"""Line items: the currency between engine and report. Nothing downstream recomputes them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Category = Literal["switch", "NIC", "transceiver", "cable", "splitter"]
NetworkName = Literal["compute", "storage", "inband", "oob"]


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line of the bill. `part` is a catalogue id, or a description where no part could be chosen.

    `unit_price_usd` None = the price is unknown (never 0). `where` says in words what the parts join.
    """

    network: NetworkName
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
    where: str

    @property
    def extended_usd(self) -> Decimal | None:
        """Quantity times unit price; None if the price is unknown."""
        return None if self.unit_price_usd is None else self.unit_price_usd * self.quantity
