"""Which price stands for a part. Prices of the user stand before those of the book; used goods never stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from ibplan.catalog.entries import ExchangeRate, Price, PriceFile, PriceKind

_RANK: dict[PriceKind, int] = {"street": 0, "list": 1, "estimate": 2}
_CENT = Decimal("0.01")
USD = "USD"


@dataclass(frozen=True, slots=True)
class PriceChoice:
    """The price that stands for a part. `unit_usd` in US dollars; `rate` = the exchange rate it was converted with.

    `list_usd` = the price before the discount; None = none was taken off.
    `length_m`: the cable length in metres that it was read for, None if none was stated. `locked`: a lock holds it, and
    its source says already what it was read for.
    """

    part: str
    unit_usd: Decimal
    kind: PriceKind
    date: str | None
    source: str
    rate: ExchangeRate | None = None
    list_usd: Decimal | None = None
    length_m: float | None = None
    locked: bool = False

    @property
    def discount_fraction(self) -> float:
        """What was taken off, as a share of the price before it."""
        return 0.0 if not self.list_usd else float(1 - self.unit_usd / self.list_usd)


@dataclass(frozen=True, slots=True)
class PricedRow:
    """A price row with its amount in US dollars, and whether it is the user's own, or that of a lock."""

    price: Price
    unit_usd: Decimal
    own: bool
    rate: ExchangeRate | None = None
    locked: bool = False


@dataclass(frozen=True, slots=True)
class PriceBook:
    """All prices, by part. `name` and `date` are those of the user's price file where there is one, else the book's.

    `foreign` are prices of a currency without a rate, with whether they are the user's own; they are among `unusable`,
    too. `discounts` are shares off the prices of parts.
    """

    name: str
    date: str
    rows: Mapping[str, tuple[PricedRow, ...]]
    unusable: Mapping[str, tuple[Price, ...]]
    foreign: tuple[tuple[Price, bool], ...] = ()
    discounts: Mapping[str, Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, book: PriceFile, overlay: PriceFile | None = None) -> PriceBook:
        """The prices of the book and of an overlay. Rates of the overlay stand before those of the book."""
        files = [(overlay, True)] if overlay is not None else []
        rates = newest_rates(*([overlay] if overlay is not None else []), book)
        rows: dict[str, list[PricedRow]] = {}
        unusable: dict[str, list[Price]] = {}
        foreign: list[tuple[Price, bool]] = []
        for file, own in (*files, (book, False)):
            for price in file.prices:
                row = None if price.used else _in_usd(price, own, rates)
                if row is None:
                    unusable.setdefault(price.part, []).append(price)
                    foreign += [] if price.used else [(price, own)]
                else:
                    rows.setdefault(price.part, []).append(row)
        shown = overlay if overlay is not None else book
        return cls(
            shown.name,
            shown.date,
            {part: tuple(found) for part, found in rows.items()},
            {part: tuple(found) for part, found in unusable.items()},
            tuple(foreign),
        )

    def with_discounts(self, discounts: Mapping[str, Fraction]) -> PriceBook:
        """The book with shares taken off the prices of parts. Street prices of the user's own stay: they are quotes."""
        return replace(self, discounts=discounts)

    def with_rates(self, rates: Mapping[str, ExchangeRate]) -> PriceBook:
        """The book with exchange rates that stand before those of its files: foreign prices can then stand as well."""
        rows = {part: [_again(row, rates) for row in found] for part, found in self.rows.items()}
        kept = []
        for price, own in self.foreign:
            row = _in_usd(price, own, rates)
            if row is None:
                kept.append((price, own))
            else:
                rows.setdefault(price.part, []).append(row)
        converted = {id(price) for price, _ in self.foreign} - {id(price) for price, _ in kept}
        unusable = {part: tuple(p for p in found if id(p) not in converted) for part, found in self.unusable.items()}
        return replace(
            self,
            rows={part: tuple(found) for part, found in rows.items()},
            unusable={part: found for part, found in unusable.items() if found},
            foreign=tuple(kept),
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
                usd = self._discounted(row)
                price, before = row.price, row.unit_usd if usd != row.unit_usd else None
                return PriceChoice(
                    part, usd, price.kind, price.date, price.source, row.rate, before, price.length_m, row.locked
                )
        return None

    def range_usd(self, part: str, length_m: float | None = None) -> tuple[Decimal, Decimal] | None:
        """The lowest and the highest price that could stand for a part, discounts taken off; None if there is none.

        A range that a price states (`low_usd`, `high_usd`) counts. The user's own prices are the only ones if there are
        any: they are quotes.
        """
        rows = self.rows.get(part, ())
        own = [row for row in rows if row.own]
        fitting = _for_length(own or rows, length_m)
        if not fitting:
            return None
        share = {id(row): 1 - self._share(row) for row in fitting}
        low = min(_times(min(row.unit_usd, row.price.low_usd or row.unit_usd), share[id(row)]) for row in fitting)
        high = max(_times(max(row.unit_usd, row.price.high_usd or row.unit_usd), share[id(row)]) for row in fitting)
        return low, high

    def _share(self, row: PricedRow) -> Fraction:
        quoted = row.own and row.price.kind == "street"
        return Fraction(0) if quoted else self.discounts.get(row.price.part, Fraction(0))

    def _discounted(self, row: PricedRow) -> Decimal:
        return _times(row.unit_usd, 1 - self._share(row))


def _times(usd: Decimal, factor: Fraction) -> Decimal:
    """A share of an amount, in whole cents."""
    return usd if factor == 1 else (usd * factor.numerator / factor.denominator).quantize(_CENT)


def _again(row: PricedRow, rates: Mapping[str, ExchangeRate]) -> PricedRow:
    """A row converted with another rate, if there is one for its currency."""
    return (row.rate is not None and _in_usd(row.price, row.own, rates)) or row


def newest_rates(*files: PriceFile) -> dict[str, ExchangeRate]:
    """One rate a currency: the first that is given, so that the user's own stands if its file comes first."""
    found: dict[str, ExchangeRate] = {}
    for file in files:
        for rate in file.rates:
            found.setdefault(rate.currency, rate)
    return found


def usd_of(price: Price, rates: Mapping[str, ExchangeRate]) -> Decimal | None:
    """A price in US dollars, not rounded; None = it is in another currency, and there is no rate of that."""
    if price.usd is not None or price.amount is None:
        return price.usd
    amount = Decimal(str(price.amount))
    if price.currency == USD:
        return amount
    rate = rates.get(price.currency or "")
    return None if rate is None else amount * Decimal(str(rate.usd))


def _in_usd(price: Price, own: bool, rates: Mapping[str, ExchangeRate]) -> PricedRow | None:
    usd = usd_of(price, rates)
    if usd is None:
        return None
    rate = None if price.usd is not None or price.currency == USD else rates[price.currency or ""]
    return PricedRow(price, usd.quantize(_CENT), own, rate)


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
