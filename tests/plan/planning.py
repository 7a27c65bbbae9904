"""Plans of specs written in the tests, with the packaged catalogue or with prices of the test laid over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from io import BytesIO

from ibplan.catalog.entries import Price, PriceFile
from ibplan.catalog.layers import packaged_prices
from ibplan.catalog.prices import PriceBook
from ibplan.catalog.store import Catalog, load_catalog
from ibplan.plan.make import make_plan
from ibplan.plan.results import Design, NetworkResult, Plan
from ibplan.spec.load import LoadedSpec, load_spec

# For specs of tests that count the parts of the compute network.
COMPUTE_ONLY = "storage: none\nmanagement: {inband: false, oob: false}\n"


@cache
def catalog() -> Catalog:
    return load_catalog()


@cache
def _book() -> PriceFile:
    return packaged_prices()[0]


def with_prices(prices: Mapping[str, Decimal | int]) -> Catalog:
    """The packaged catalogue with street prices of the test before its own."""
    rows = tuple(Price(part=part, kind="street", usd=Decimal(usd), source="the test") for part, usd in prices.items())
    overlay = PriceFile(name="the test", date="2026-01-01", prices=rows)
    return replace(catalog(), prices=PriceBook.of(_book(), overlay))


def loaded(text: str, *settings: str) -> LoadedSpec:
    """A spec written as text."""
    return load_spec("-", settings, stdin=BytesIO(text.encode()))


def plan(text: str, *settings: str, using: Catalog | None = None) -> Plan:
    """The plan of a spec written as text."""
    return make_plan(loaded(text, *settings), catalog() if using is None else using)


def only(result: Plan) -> Design:
    """The single design of a plan that rejects nothing."""
    assert not result.rejected, result.rejected
    (design,) = result.designs
    return design


def compute(text: str, *settings: str) -> NetworkResult:
    """The compute network of the single design of a spec."""
    return only(plan(text, *settings)).networks.compute


def quantities(design: Design, category: str, tier: str) -> int:
    """How many parts of a category stand in a tier's lines."""
    return sum(i.quantity for i in design.line_items if i.category == category and i.tier == tier)
