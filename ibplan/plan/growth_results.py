"""What growth says: purchases, stages, and the two ways to get to the last one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Purchase:
    """Parts bought at a stage. `unit_price_usd` None = unknown; today's prices at every stage."""

    network: str
    category: str
    part: str
    part_number: str | None
    description: str
    quantity: int
    unit_price_usd: Decimal | None
    extended_usd: Decimal | None

    def of(self, quantity: int) -> Purchase:
        """Another quantity of the same part."""
        usd = self.unit_price_usd
        return replace(self, quantity=quantity, extended_usd=None if usd is None else usd * quantity)


@dataclass(frozen=True, slots=True)
class Surplus:
    """Parts bought before that a stage has no use for."""

    network: str
    part: str
    quantity: int


@dataclass(frozen=True, slots=True)
class StageNetwork:
    """One network at a stage, with its links against the stage before.

    `links_moved`: links of the stage before that are unplugged and serve elsewhere; `links_removed`: unplugged for
    good. None = not counted, because there are too many links.
    """

    network: str
    tiers: int
    switches: int
    links: int
    links_added: int | None
    links_moved: int | None
    links_removed: int | None

    @property
    def recabled(self) -> int | None:
        """Links of the stage before that do not stay; None = not counted."""
        return None if self.links_moved is None else self.links_moved + (self.links_removed or 0)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. `capex_usd` = price of all that stands then; `purchase_usd` = of what is bought for it.

    `links_recabled` = moved and removed links over all networks; None = not counted.
    """

    year: int
    gpus: int
    servers: int
    networks: tuple[StageNetwork, ...]
    links_recabled: int | None
    capex_usd: Decimal
    purchases: tuple[Purchase, ...]
    purchase_usd: Decimal
    complete: bool
    surplus: tuple[Surplus, ...]


@dataclass(frozen=True, slots=True)
class GrowthPath:
    """All stages in order. `refusal`: why a stage cannot be built, which is then the first that is not listed."""

    stages: tuple[Stage, ...]
    purchase_usd: Decimal
    complete: bool
    links_recabled: int | None
    refusal: str | None


@dataclass(frozen=True, slots=True)
class Growth:
    """A design through all stages. `reserved_usd` = what planning ahead costs more on the first day.

    `reserved`: the parts of that. `reaches`: whether these switches reach the last stage at all, and `reason` why not.
    """

    design: str
    reaches: bool
    reason: str | None
    planned: GrowthPath
    unplanned: GrowthPath
    reserved_usd: Decimal | None
    reserved: tuple[Purchase, ...]
