"""The catalogue as a spec prices it: its exchange rates put in, its discounts taken off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction

from ibplan.catalog.entries import ExchangeRate
from ibplan.catalog.prices import USD
from ibplan.catalog.store import Catalog
from ibplan.errors import Problem
from ibplan.spec.load import LoadedSpec

_LARGEST_USD = 1e12
_CENT_USD = 0.01


def priced_catalog(loaded: LoadedSpec, catalog: Catalog) -> Catalog:
    """The catalogue with the exchange rates and discounts of a spec (`pricing_problems`: what is wrong with them)."""
    prices, spec = catalog.prices, loaded.spec
    if spec.exchange_rates:
        rates = {r.currency: ExchangeRate(**r.model_dump()) for r in spec.exchange_rates}
        prices = prices.with_rates(rates)
    discounts = dict(_discounts(loaded, catalog))
    if discounts:
        prices = prices.with_discounts(discounts)
    return catalog if prices is catalog.prices else replace(catalog, prices=prices)


def pricing_problems(loaded: LoadedSpec, catalog: Catalog) -> Iterator[Problem]:
    """What is wrong with the exchange rates and discounts of a spec."""
    yield from _absurd_rates(loaded, catalog)
    yield from _unknown_vendors(loaded, catalog)


def _absurd_rates(loaded: LoadedSpec, catalog: Catalog) -> Iterator[Problem]:
    """Rates that make a price of the catalogue larger than any money, or nothing in whole cents."""
    foreign = [price for price, _ in catalog.prices.foreign]
    foreign += [row.price for rows in catalog.prices.rows.values() for row in rows if row.rate is not None]
    for index, rate in enumerate(loaded.spec.exchange_rates):
        at = ("exchange_rates", index, "usd")
        amounts = [price.amount for price in foreign if price.currency == rate.currency and price.amount]
        if amounts and max(amounts) * rate.usd > _LARGEST_USD:
            message = f"a price of {max(amounts):,.0f} {rate.currency} would be more than $1T"
            yield loaded.document.problem(at, message)
        if amounts and min(amounts) * rate.usd < _CENT_USD:
            message = f"a price of {min(amounts):,g} {rate.currency} would be less than a cent"
            yield loaded.document.problem(at, message)
        if rate.currency == USD and rate.usd != 1:
            yield loaded.document.problem(at, "a US dollar is 1 US dollar", "leave this rate out")


def _vendors(catalog: Catalog) -> list[str]:
    kinds = (catalog.switches, catalog.nics, catalog.modules, catalog.cables, catalog.servers)
    return sorted({entry.vendor for entries in kinds for entry in entries.values()})


def _unknown_vendors(loaded: LoadedSpec, catalog: Catalog) -> Iterator[Problem]:
    if not loaded.spec.discounts.vendor:
        return
    known = _vendors(catalog)
    for name in loaded.spec.discounts.vendor:
        if name not in known:
            folded = {vendor.lower(): vendor for vendor in known}
            near = get_close_matches(name.lower(), folded, 3)
            remedy = f"did you mean {' or '.join(folded[n] for n in near)}?" if near else f"known: {', '.join(known)}"
            message = f"no part of the catalogue is made by {name!r}"
            yield loaded.document.problem(("discounts", "vendor", name), message, remedy, key=True)


def _discounts(loaded: LoadedSpec, catalog: Catalog) -> Iterator[tuple[str, Fraction]]:
    """Parts with their discounts: the vendor's, else the category's."""
    vendor, category = loaded.spec.discounts.vendor, loaded.spec.discounts.category
    shares = {c: getattr(category, c) for c in type(category).model_fields}
    if not vendor and not any(shares.values()):
        return
    cables = {e.id: "splitter" if e.ends_b > 1 else "cable" for e in catalog.cables.values()}
    for entries, kind in (
        (catalog.switches, "switch"),
        (catalog.nics, "nic"),
        (catalog.modules, "transceiver"),
        (catalog.cables, ""),
        (catalog.servers, "server"),
    ):
        for entry in entries.values():
            share = vendor.get(entry.vendor) if entry.vendor in vendor else shares[kind or cables[entry.id]]
            if share:
                yield entry.id, share
