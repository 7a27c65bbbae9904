"""What a plan rests on though its spec does not say it: defaults of published designs, the price of a server."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ibplan.catalog.entries import PriceKind


@dataclass(frozen=True, slots=True)
class SideDefault:
    """A default that a storage or management network is built with. `key` of the spec would state it; None = none can.

    `value`: down:up, a count, or Gb/s, as its name says; `note`: how it was read out of its `sources`.
    """

    key: str | None
    name: str
    value: str
    note: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerPrice:
    """The price of one server, USD, discounts taken off; `date` None = none is stated."""

    server: str
    usd: Decimal
    kind: PriceKind
    date: str | None
    source: str
