"""Which price stands for a part. Prices of the user stand before those of the book; used goods never stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ibplan.catalog.entries import ExchangeRate, Price, PriceFile, PriceKind

_RANK: dict[PriceKind, int] = {"street": 0, "list": 1, "estimate": 2}


@dataclass(frozen=True, slots=True)
class PriceChoice:
    """The price that stands for a part. `unit_usd` in US dollars; `rate` = the exchange rate it was converted with.

    `length_m`: the cable length in metres that it was read for, None if none was stated.
    """

    part: str
    unit_usd: Decimal
    kind: PriceKind
    date: str | None
    source: str
    rate: ExchangeRate | None = None
    length_m: float | None = None


@dataclass(frozen=True, slots=True)
class PricedRow:
    """A price row with its amount in US dollars, and whether it is the user's own."""

    price: Price
    unit_usd: Decimal
    own: bool
    rate: ExchangeRate | None = None


@dataclass(frozen=True, slots=True)
class PriceBook:
    """All prices, by part. `name` and `date` are those of the user's price file where there is one, else the book's."""

    name: str
    date: str
    rows: Mapping[str, tuple[PricedRow, ...]]
    unusable: Mapping[str, tuple[Price, ...]]

    @classmethod
    def of(cls, book: PriceFile, overlay: PriceFile | None = None) -> PriceBook:
        """The prices of the book and of an overlay. Rates of the overlay stand before those of the book."""
        files = [(overlay, True)] if overlay is not None else []
        rates = newest_rates(*([overlay] if overlay is not None else []), book)
        rows: dict[str, list[PricedRow]] = {}
        unusable: dict[str, list[Price]] = {}
        for file, own in (*files, (book, False)):
            for price in file.prices:
                row = None if price.used else _in_usd(price, own, rates)
                if row is None:
                    unusable.setdefault(price.part, []).append(price)
                else:
                    rows.setdefault(price.part, []).append(row)
        shown = overlay if overlay is not None else book
        return cls(
            shown.name,
            shown.date,
            {part: tuple(found) for part, found in rows.items()},
            {part: tuple(found) for part, found in unusable.items()},
        )

    def usable(self, part: str) -> tuple[PricedRow, ...]:
        """Every price of a part that could stand: new goods, in US dollars; best first."""
        return tuple(sorted(self.rows.get(part, ()), key=_order))

    def choose(self, part: str, length_m: float | None = None) -> PriceChoice | None:
        """The price of a part: newest street, else newest list, else newest estimate; None if there is none.

        The user's own prices stand before the book's whatever their kind. Among prices of one kind and date the lowest
        stands. Prices read for a length (in metres) stand for that length and shorter ones; without a length the
        longest is assumed.
        """
        rows = self.rows.get(part, ())
        for own in (True, False):
            fitting = _for_length([row for row in rows if row.own is own], length_m)
            if fitting:
                row = min(fitting, key=_order)
                price = row.price
                return PriceChoice(part, row.unit_usd, price.kind, price.date, price.source, row.rate, price.length_m)
        return None


def newest_rates(*files: PriceFile) -> dict[str, ExchangeRate]:
    """One rate a currency: the first that is given, so that the user's own stands if its file comes first."""
    found: dict[str, ExchangeRate] = {}
    for file in files:
        for rate in file.rates:
            found.setdefault(rate.currency, rate)
    return found


def _in_usd(price: Price, own: bool, rates: Mapping[str, ExchangeRate]) -> PricedRow | None:
    if price.usd is not None:
        return PricedRow(price, price.usd.quantize(Decimal("0.01")), own)
    rate = rates.get(price.currency or "")
    if rate is None or price.amount is None:
        return None
    return PricedRow(price, (Decimal(str(price.amount)) * Decimal(str(rate.usd))).quantize(Decimal("0.01")), own, rate)


def first_day(text: str) -> date:
    """The first day that a date such as 2026, 2026-09 or 2026-09-24 can mean, so that an age is never understated."""
    year, month, day = (*(int(part) for part in text.split("-")), 1, 1)[:3]
    return date(year, month, day)


def _order(row: PricedRow) -> tuple[bool, int, tuple[int, ...], Decimal, str]:
    """Best first. A date without a day counts as the start of its month or year; no date as the oldest."""
    newest = tuple(-int(part) for part in (row.price.date or "0").split("-"))
    return (not row.own, _RANK[row.price.kind], (*newest, 0, 0)[:3], row.unit_usd, row.price.source)


def _for_length(rows: Iterable[PricedRow], length_m: float | None) -> list[PricedRow]:
    rows = list(rows)
    lengths = sorted({row.price.length_m for row in rows if row.price.length_m is not None})
    if length_m is None:
        nearest = lengths[-1] if lengths else None
    else:
        nearest = next((length for length in lengths if length >= length_m), None)
    return [row for row in rows if row.price.length_m is None or row.price.length_m == nearest]
