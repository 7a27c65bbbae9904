"""Prices and rates of a file that cannot be: of no day, below zero, absurd, or in contradiction with themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from ibplan.catalog.entries import ExchangeRate, Price, PriceFile
from ibplan.catalog.prices import USD, first_day, usd_of
from ibplan.document import Document
from ibplan.errors import Problem

_LARGEST_USD: Final = 10**12
_LARGEST_RATE: Final = 1e6
_CENT: Final = Decimal("0.01")
# What is wrong with the part of a price that a key holds, and what to do about it.
_Fault = tuple[str, str, str]


def odd_prices(prices: PriceFile, rates: Mapping[str, ExchangeRate], document: Document) -> Iterator[Problem]:
    """Every price and rate of a file that cannot be, at its place. `rates`: by currency, those that stand."""
    days = [(("date",), prices.date), *((("prices", i, "date"), p.date) for i, p in enumerate(prices.prices))]
    days += [(("rates", i, "date"), rate.date) for i, rate in enumerate(prices.rates)]
    for at, day in days:
        if day is not None and not _is_day(day):
            yield document.problem(at, f"there is no day {day}")
    for i, one in enumerate(prices.rates):
        if one.usd > _LARGEST_RATE:
            yield document.problem(("rates", i, "usd"), "one unit of a currency must be at most $1M")
        if one.currency == USD and one.usd != 1:
            yield document.problem(("rates", i, "usd"), "a US dollar is 1 US dollar", "leave this rate out")
    for i, price in enumerate(prices.prices):
        for key, message, remedy in (*_contradictions(price), *_too_small(price), *_odd_amount(price, rates)):
            yield document.problem(("prices", i, key), message, remedy)


def _contradictions(price: Price) -> Iterator[_Fault]:
    """Two prices in one row, and ranges that do not hold the price that they are stated for."""
    if price.usd is not None and (price.amount is not None or price.currency not in (None, USD)):
        key = "currency" if price.amount is None else "amount"
        yield key, f"the row states usd, too, ${price.usd:,f}", "state usd, or amount and currency, not both"
    low, high = price.low_usd, price.high_usd
    if low is not None and high is not None and low > high:
        yield "low_usd", f"${low:,f} is more than high_usd, ${high:,f}", "is it the other way round?"
        return
    usd = usd_of(price, {})
    if usd is None or usd < 0:
        return  # the range of a foreign price was stated at the rate of another day
    if low is not None and usd < low:
        yield "low_usd", f"${low:,f} is more than the price itself, ${usd:,f}", "state a range that holds the price"
    if high is not None and usd > high:
        yield "high_usd", f"${high:,f} is less than the price itself, ${usd:,f}", "state a range that holds the price"


def _too_small(price: Price) -> Iterator[_Fault]:
    """Prices that would be nothing in whole cents."""
    for key, usd in (("usd", price.usd), ("low_usd", price.low_usd), ("high_usd", price.high_usd)):
        if usd is not None and 0 < usd < _CENT:
            yield key, f"${usd:f} is less than a cent, and prices are in whole cents", "state the price of one piece"


def _odd_amount(price: Price, rates: Mapping[str, ExchangeRate]) -> Iterator[_Fault]:
    if price.amount is None or price.usd is not None:
        return
    usd = usd_of(price, rates)
    rate = None if price.currency == USD else rates.get(price.currency or "")
    times = "" if rate is None else f", here {rate.usd:g} times it"
    if price.amount < 0:
        yield "amount", "an amount must not be below 0", ""
    elif usd is not None and usd > _LARGEST_USD:
        yield "amount", f"an amount must be at most $1T{times}", ""
    elif usd is not None and 0 < usd < _CENT:
        yield "amount", f"an amount must be a cent at least{times}: prices are in whole cents", ""


def _is_day(text: str) -> bool:
    try:
        first_day(text)
    except ValueError:
        return False
    return text.isascii()
