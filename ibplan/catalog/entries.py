"""What a catalogue entry states. Every check lives in the models, so that a user's overlay gets it too.

A field that is None is unknown; nothing is filled in. `planning_gaps()` says what an entry lacks to be planned with.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from ibplan.catalog.base import (
    Confidence,
    Entry,
    Form,
    HeatSink,
    Id,
    LinkLayer,
    Medium,
    Power,
    PriceKind,
    Sourced,
    Status,
)
from ibplan.catalog.components import Cable, Fiber, Module, Recipe, RecipeEnd
from ibplan.catalog.devices import Breakout, CageGroup, Gpu, Nic, NicMode, PortGroup, Server, SoldAs, Switch
from ibplan.units import UsdNumber

__all__ = [
    "Breakout",
    "Cable",
    "CageGroup",
    "CatalogFile",
    "Confidence",
    "Entry",
    "ExchangeRate",
    "Fiber",
    "Form",
    "Gpu",
    "HeatSink",
    "Id",
    "LinkLayer",
    "Medium",
    "Module",
    "Nic",
    "NicMode",
    "PortGroup",
    "Power",
    "Price",
    "PriceFile",
    "PriceKind",
    "Recipe",
    "RecipeEnd",
    "Server",
    "SoldAs",
    "Sourced",
    "Status",
    "Switch",
]


class Price(Entry):
    """One price of one part. Foreign currency is kept as written; `usd` is None until a rate is stated.

    `length_m` is the cable length the price was read for; None where it was read for no length in particular.
    """

    part: Id
    kind: PriceKind
    usd: UsdNumber | None = None
    amount: float | None = None
    currency: str | None = Field(default=None, pattern=r"^[A-Z]{3}$")
    low_usd: UsdNumber | None = None
    high_usd: UsdNumber | None = None
    length_m: float | None = Field(default=None, gt=0)
    used: bool = False
    date: str | None = Field(default=None, pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")
    source: str
    note: str | None = None

    @model_validator(mode="after")
    def _has_an_amount(self) -> Price:
        if self.usd is None and (self.amount is None or self.currency is None):
            raise ValueError("a price states usd, or amount and currency")
        return self


class ExchangeRate(Entry):
    """US dollars for one unit of a currency."""

    currency: str = Field(pattern=r"^[A-Z]{3}$")
    usd: float = Field(gt=0)
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    source: str


class CatalogFile(Entry):
    """A catalogue file: any of the sections. An entry with an id that exists replaces it whole."""

    switches: tuple[Switch, ...] = ()
    nics: tuple[Nic, ...] = ()
    servers: tuple[Server, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    modules: tuple[Module, ...] = ()
    cables: tuple[Cable, ...] = ()
    recipes: tuple[Recipe, ...] = ()


class PriceFile(Entry):
    """A price book, or an overlay on one: prices of an overlay stand before those of the book for the same part."""

    name: str
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    rates: tuple[ExchangeRate, ...] = ()
    prices: tuple[Price, ...] = ()
