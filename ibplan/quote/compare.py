"""A quote held against a bill: missing, surplus, wrong parts, prices against the book."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from ibplan.catalog.entries import Cable, Module
from ibplan.catalog.store import Catalog
from ibplan.economics.items import LineItem
from ibplan.quote.match import Match, Via, bare, find_part, make_index
from ibplan.quote.rows import Quote, QuoteRow
from ibplan.quote.wrong import what_is_wrong

NeedStatus = Literal["as needed", "missing", "too few", "too many"]
RowStatus = Literal["match", "stand-in", "wrong", "not in the bill", "not recognized"]


@dataclass(frozen=True, slots=True)
class Need:
    """What the bill asks of one part, and what the quote offers of it. `book_usd`: the bill's unit price.

    `rows` of the quote offer it; `sheets` are theirs, in the same order, None where only one sheet was read.

    `quoted_usd`: the quote's; None = a row states none in US dollars. Both are means over the pieces where prices
    differ, as those of lengths do. `book_estimated`: a price of the bill is an estimate.
    """

    part: str
    part_number: str | None
    category: str
    description: str
    needed: int
    quoted: int
    book_usd: Decimal | None
    quoted_usd: Decimal | None
    rows: tuple[int, ...]
    book_estimated: bool = False
    sheets: tuple[str | None, ...] = ()

    @property
    def status(self) -> NeedStatus:
        """How the quantities compare."""
        if self.quoted == self.needed:
            return "as needed"
        return "missing" if not self.quoted else "too few" if self.quoted < self.needed else "too many"

    @property
    def price_change(self) -> Decimal | None:
        """Quoted against book price, as a share of the book price: 0.1 is 10% more; None if either is unknown."""
        if self.quoted_usd is None or not self.book_usd:
            return None
        return self.quoted_usd / self.book_usd - 1


@dataclass(frozen=True, slots=True)
class Offered:
    """One row with the part it was taken for (None = not recognized) and what is to be said of it."""

    row: QuoteRow
    status: RowStatus
    part: str | None
    via: Via | None
    note: str


@dataclass(frozen=True, slots=True)
class QuoteCheck:
    """The whole comparison. Sums in USD; not complete = rows or lines without a price in US dollars are not in it."""

    quote: Quote
    needs: tuple[Need, ...]
    offers: tuple[Offered, ...]
    bill_usd: Decimal
    bill_complete: bool
    quoted_usd: Decimal
    quoted_complete: bool

    @property
    def bill_estimated(self) -> bool:
        """Whether a price of the bill is an estimate."""
        return any(need.book_estimated for need in self.needs)

    def differences(self, tolerance: Decimal | None) -> int:
        """How many things are not as the bill has them; prices count if they rise by more than the `tolerance`."""
        wrong = sum(need.status != "as needed" for need in self.needs)
        wrong += sum(offer.status not in ("match", "stand-in") or offer.row.total_off for offer in self.offers)
        if tolerance is not None:
            wrong += sum(n.price_change is None or n.price_change > tolerance for n in self.needs if n.quoted)
        return wrong


def compare_quote(quote: Quote, items: Sequence[LineItem], catalog: Catalog) -> QuoteCheck:
    """Hold a quote against the line items of a design, spares included."""
    needs = _needs(items)
    index, billed = make_index(catalog, items), {need.part for need in needs}
    offers: list[Offered] = []
    taken: list[list[QuoteRow]] = [[] for _ in needs]
    for row in quote.rows:
        match = find_part(row, index, billed)
        offer, place = _placed(row, match, needs, catalog)
        offers.append(offer)
        if place is not None:
            taken[place].append(row)
    prices = [row.unit_usd for row in quote.rows]
    sums = [item.extended_usd for item in items]
    return QuoteCheck(
        quote,
        tuple(_filled(need, rows) for need, rows in zip(needs, taken, strict=True)),
        tuple(offers),
        sum((usd for usd in sums if usd is not None), Decimal(0)),
        None not in sums,
        sum(
            (price * row.quantity for price, row in zip(prices, quote.rows, strict=True) if price is not None),
            Decimal(0),
        ),
        None not in prices,
    )


def _needs(items: Iterable[LineItem]) -> list[Need]:
    """One need for each part and part number, in the order of the bill."""
    groups: dict[tuple[str, str | None], list[LineItem]] = {}
    for item in items:
        groups.setdefault((item.part, item.part_number), []).append(item)
    found = []
    for (part, number), group in groups.items():
        needed = sum(item.quantity for item in group)
        book = _mean([(item.unit_price_usd, item.quantity) for item in group])
        first, estimated = group[0], any(item.price_kind == "estimate" for item in group)
        found.append(Need(part, number, first.category, first.description, needed, 0, book, None, (), estimated))
    return found


def _mean(prices: Sequence[tuple[Decimal | None, int]]) -> Decimal | None:
    """Price of a piece, of (price, pieces); None where one is unknown, or there are no pieces."""
    known = [(price, pieces) for price, pieces in prices if price is not None]
    pieces = sum(count for _, count in prices)
    if len(known) < len(prices) or not pieces:
        return None
    if len({price for price, _ in known}) == 1:
        return known[0][0]
    return sum((price * count for price, count in known), Decimal(0)) / pieces


def _placed(row: QuoteRow, match: Match | None, needs: Sequence[Need], catalog: Catalog) -> tuple[Offered, int | None]:
    """A row with its verdict, and which need it fills (None = none)."""
    if match is None:
        return Offered(row, "not recognized", None, None, ""), None
    part, via = match.candidate.part, match.via
    same = [i for i, need in enumerate(needs) if need.part == part]
    equal = same or [i for i, need in enumerate(needs) if _stands_in(catalog, part, need.part)]
    status: RowStatus = "match" if same else "stand-in"
    if not equal:
        wrong = what_is_wrong(catalog, part, [need.part for need in needs])
        return Offered(row, "wrong" if wrong else "not in the bill", part, via, wrong), None
    fits = [i for i in equal if _same_number(needs[i], match)]
    # A number stands for its own length before one that has no number.
    fits = [i for i in fits if match.number and bare(needs[i].part_number or "") == bare(match.number)] or fits
    if same and not fits:
        return Offered(row, "wrong", part, via, _variant_note(match, needs[same[0]])), None
    if len(fits or equal) > 1:
        numbers = " or ".join(needs[i].part_number or "?" for i in fits or equal)
        return Offered(row, "not recognized", part, via, f"which of {numbers} is not said"), None
    place = (fits or equal)[0]
    note = f"stands in for {needs[place].part}" if status == "stand-in" else ""
    return Offered(row, status, part, via, note), place


def _same_number(need: Need, match: Match) -> bool:
    """Whether the airflow or length that a row fixes is the bill's; what either leaves open fits."""
    if not match.candidate.variant or need.part_number is None or match.number is None:
        return True
    return bare(need.part_number) == bare(match.number)


def _variant_note(match: Match, need: Need) -> str:
    variant = match.candidate.variant
    what = f"airflow {variant}" if variant in ("p2c", "c2p") else f"length {variant} m"
    return f"wrong {what}: the bill needs {need.part_number}"


def _stands_in(catalog: Catalog, part: str, needed: str) -> bool:
    """Whether two parts are one to the bill: one is compatible with the other, or both with a third."""
    return _original(catalog, part) == _original(catalog, needed)


def _original(catalog: Catalog, part: str) -> str:
    entry = catalog.part(part)
    return (entry.compatible_with if isinstance(entry, Module | Cable) else None) or part


def _filled(need: Need, rows: Sequence[QuoteRow]) -> Need:
    quantity = sum(row.quantity for row in rows)
    mean = _mean([(row.unit_usd, row.quantity) for row in rows])
    places = tuple(row.row for row in rows)
    return replace(need, quoted=quantity, quoted_usd=mean, rows=places, sheets=tuple(row.sheet for row in rows))
