"""Which part is bought for a named part: the maker's own, or a compatible one, and at what price."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeVar, cast

from ibplan.catalog.entries import Cable, Module, Power, Recipe
from ibplan.catalog.prices import PriceChoice
from ibplan.catalog.store import Catalog

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Offer:
    """A part that can be bought, with its price (None = unknown), and the part that the recipe names."""

    entry: Module | Cable
    price: PriceChoice | None
    named: Module | Cable

    @property
    def usd(self) -> Decimal | None:
        """Unit price in US dollars."""
        return None if self.price is None else self.price.unit_usd

    @property
    def power(self) -> Power:
        """Power of a module: its own figures, else those of the part that it stands in for (`power_assumed`)."""
        source = self.named if self.power_assumed else self.entry
        return source.power if isinstance(source, Module) else Power()

    @property
    def power_assumed(self) -> bool:
        """Whether the maximum power is that of the part it stands in for, because its own was not published."""
        return isinstance(self.entry, Module) and self.entry.power.max_w is None and self.entry is not self.named


@dataclass(frozen=True, slots=True)
class PartsBook:
    """The catalogue as selection needs it: recipes by (link layer, Gb/s), compatible parts by what they replace."""

    catalog: Catalog
    optics: Literal["compatible", "vendor"]
    recipes: Mapping[tuple[str, int], tuple[Recipe, ...]]
    stand_ins: Mapping[str, tuple[Module | Cable, ...]]
    _offers: dict[str, Offer] = field(default_factory=dict, compare=False, repr=False)
    _prices: dict[tuple[str, float | None], PriceChoice | None] = field(default_factory=dict, compare=False, repr=False)
    _known: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, catalog: Catalog, optics: Literal["compatible", "vendor"]) -> PartsBook:
        """Index a catalogue for one policy on whose optics are bought."""
        recipes: dict[tuple[str, int], list[Recipe]] = {}
        for recipe in catalog.recipes.values():
            recipes.setdefault((recipe.link_layer, recipe.gbps), []).append(recipe)
        stand_ins: dict[str, list[Module | Cable]] = {}
        entries: list[Module | Cable] = [*catalog.modules.values(), *catalog.cables.values()]
        for entry in entries:
            if entry.compatible_with is not None:
                stand_ins.setdefault(entry.compatible_with, []).append(entry)
        return cls(
            catalog,
            optics,
            {key: tuple(found) for key, found in recipes.items()},
            {key: tuple(found) for key, found in stand_ins.items()},
        )

    def offer(self, part: str) -> Offer:
        """The cheapest priced way to buy a named part; the part itself, unpriced, if there is none.

        `vendor` takes only the part itself. Ties go to the smaller id, so that the choice is stable. Each part is
        looked up once: every form of a spec asks for the same few.
        """
        if part not in self._offers:
            self._offers[part] = self._chosen(part)
        return self._offers[part]

    def once(self, key: object, find: Callable[[], T]) -> T:
        """What was found of this book under a key, or what `find` finds now."""
        if key not in self._known:
            self._known[key] = find()
        return cast("T", self._known[key])

    def _chosen(self, part: str) -> Offer:
        named, entries = self._entries(part)
        return _cheapest([Offer(e, self._price(e.id, None), named) for e in entries])

    def cables(self, part: str) -> list[Cable]:
        """The named cable and what stands in for it."""
        return [entry for entry in self._entries(part)[1] if isinstance(entry, Cable)]

    def cable_offer(self, part: str, lengths_m: Mapping[str, float | None]) -> Offer:
        """The cheapest priced of the cables in `lengths_m`, each at its length (None = unknown); at least one."""
        named, entries = self._entries(part)
        priced = [(e, self._price(e.id, lengths_m[e.id])) for e in entries if e.id in lengths_m]
        return _cheapest([Offer(e, price, named) for e, price in priced])

    def at_length(self, offer: Offer, length_m: float | None) -> Offer:
        """The same cable at the price of a length in metres."""
        return Offer(offer.entry, self._price(offer.entry.id, length_m), offer.named)

    def _price(self, part: str, length_m: float | None) -> PriceChoice | None:
        """The price that stands for a part at a length in metres, looked up once."""
        key = (part, length_m)
        if key not in self._prices:
            self._prices[key] = self.catalog.prices.choose(part, length_m)
        return self._prices[key]

    def _entries(self, part: str) -> tuple[Module | Cable, list[Module | Cable]]:
        named: Module | Cable = self.catalog.modules.get(part) or self.catalog.cables[part]
        others = self.stand_ins.get(part, ()) if self.optics == "compatible" else ()
        return named, [named, *(e for e in others if e.status != "retired")]


def _cheapest(offers: Sequence[Offer]) -> Offer:
    priced = [o for o in offers if o.usd is not None]
    return min(priced, key=lambda o: (o.usd or Decimal(0), o.entry.id), default=offers[0])
