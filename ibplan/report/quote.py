"""A quote against the bill: a table for a terminal, Markdown, CSV, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from textwrap import fill
from typing import Any, Final

from ibplan.document import printable
from ibplan.findings import plural
from ibplan.quote.compare import Need, Offered, QuoteCheck
from ibplan.report import markdown, text
from ibplan.report.data import money, significant
from ibplan.report.grid import grid
from ibplan.report.order_marks import legend
from ibplan.report.rows import ESTIMATE
from ibplan.report.spreadsheet import csv_text
from ibplan.units import format_usd

NEED_COLUMNS: Final = ("part", "bill", "quote", "", "book USD", "quote USD", "price %")
OFFER_COLUMNS: Final = ("row", "offered", "pieces", "", "what")
CSV_COLUMNS: Final = (
    "kind",
    "status",
    "part",
    "part_number",
    "needed",
    "quoted",
    "book_unit_price_usd",
    "book_price_estimated",
    "quoted_unit_price_usd",
    "price_change_percent",
    "rows",
    "note",
)
_RIGHT: Final = frozenset({"bill", "quote", "book USD", "quote USD", "price %", "row", "pieces"})
_LONGEST: Final = 60
Table = tuple[str, Sequence[str], list[list[str]]]


def quote_text(check: QuoteCheck, design: str, tolerance: Decimal | None, *, width: int, color: bool) -> str:
    """The comparison for a terminal."""
    blocks = [f"{fill(line, width, break_on_hyphens=False)}\n" for line in _summary(check, design, tolerance)]
    for title, columns, rows in _tables(check):
        body = grid(columns, rows, _right(columns), width=width, color=color)
        blocks.append(f"\n{title}\n{body}")
    return "".join(blocks)


def quote_markdown(check: QuoteCheck, design: str, tolerance: Decimal | None) -> str:
    """The same as Markdown."""
    first, *others = _summary(check, design, tolerance)
    parts = [f"# {markdown.escape(first)}\n", "".join(f"- {markdown.escape(line)}\n" for line in others)]
    for title, columns, rows in _tables(check):
        cells = [[markdown.cell(words) for words in row] for row in rows]
        parts.append(f"## {markdown.escape(title)}\n\n{markdown.table(columns, cells, _right(columns))}")
    return "\n".join(parts)


def _right(columns: Sequence[str]) -> list[bool]:
    return [column in _RIGHT for column in columns]


def _summary(check: QuoteCheck, design: str, tolerance: Decimal | None) -> Iterator[str]:
    count = check.differences(tolerance)
    name = printable(Path(check.quote.source).name)
    yield f"{name} against {design}: {plural(count, 'difference') if count else 'no difference'}"
    mark = ESTIMATE if check.bill_estimated else ""
    bill = ("" if check.bill_complete else "at least ") + mark + format_usd(check.bill_usd)
    if not any(offer.row.unit_usd is not None for offer in check.offers):
        yield f"Total: the quote states no price in US dollars; the bill: {bill}."
    else:
        quoted = format_usd(check.quoted_usd) + (
            "" if check.quoted_complete else " (rows without a US-dollar price apart)"
        )
        known = check.bill_complete and check.quoted_complete and check.bill_usd
        change = check.quoted_usd / check.bill_usd - 1 if known else Decimal(0)
        share = f" ({change:+.1%})" if change else ""
        yield f"Total: {quoted}{share}; the bill: {bill}."
    yield f"Columns: {', '.join(f'{key} = {name}' for key, name in check.quote.columns.items())}."
    if len(check.quote.sheets) > 1:
        yield f"Sheets: {', '.join(check.quote.sheets)}."
    if check.quote.unread:
        yield f"Not read, for want of the same head: {', '.join(check.quote.unread)}."
    others = sorted({offer.row.currency for offer in check.offers if offer.row.currency not in (None, "USD")}, key=str)
    if others:
        yield f"Prices in {', '.join(map(str, others))} are not compared."
    elif all(offer.row.currency is None for offer in check.offers):
        yield "No currency is stated: prices are taken as US dollars."
    if check.bill_estimated:
        yield f"Prices of the bill: {'; '.join(legend([ESTIMATE]))}."


def _tables(check: QuoteCheck) -> Iterator[Table]:
    yield "Parts of the bill", NEED_COLUMNS, [_need_cells(need) for need in check.needs]
    odd = [offer for offer in check.offers if offer.status != "match" or offer.row.total_off or _by_words(offer)]
    if odd:
        yield "Rows to look at", OFFER_COLUMNS, [_offer_cells(offer) for offer in odd]
    if check.quote.skipped:
        rows = [[_place(row.row, row.sheet), _short(row.text)] for row in check.quote.skipped]
        yield "Rows that offer nothing", ("row", "text"), rows


def _need_cells(need: Need) -> list[str]:
    change = need.price_change
    return [
        f"{need.part}{f' ({need.part_number})' if need.part_number else ''}",
        f"{need.needed:,}",
        f"{need.quoted:,}",
        "" if need.status == "as needed" else need.status,
        (ESTIMATE if need.book_estimated and need.book_usd is not None else "") + _dollars(need.book_usd),
        _dollars(need.quoted_usd) if need.quoted else "",
        "" if change is None else f"{change * 100:+.1f}" if change else "0",
    ]


def _dollars(amount: Decimal | None) -> str:
    return text.UNKNOWN if amount is None else f"{amount:,.2f}"


def _by_words(offer: Offered) -> bool:
    return offer.via == "description"


def _offer_cells(offer: Offered) -> list[str]:
    row = offer.row
    words = " ".join([*row.numbers, row.description])
    return [_place(row.row, row.sheet), _short(words), f"{row.quantity:,}", offer.status, "; ".join(_notes(offer))]


def _notes(offer: Offered) -> Iterator[str]:
    if offer.note:
        yield offer.note
    if offer.part is not None and not offer.note:
        yield f"taken for {offer.part}"
    if _by_words(offer):
        yield "found by its description: check it"
    if offer.row.total_off:
        yield "total is not quantity x unit price"


def _place(row: int, sheet: str | None) -> str:
    """A row, as spreadsheets write it where it is one of several sheets: `storage!4`."""
    return str(row) if sheet is None else f"{sheet}!{row}"


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else words[: _LONGEST - 3] + "..."


def quote_csv(check: QuoteCheck) -> str:
    """One row for each part of the bill, then one for each row of the quote that is more than a match."""
    rows: list[list[Any]] = []
    for need in check.needs:
        percent = None if need.price_change is None else significant(float(need.price_change * 100))
        book, quoted = (None if x is None else x.quantize(Decimal("0.01")) for x in (need.book_usd, need.quoted_usd))
        estimated = None if book is None else need.book_estimated
        places = " ".join(map(_place, need.rows, need.sheets))
        start = ["part", need.status, need.part, need.part_number, need.needed, need.quoted]
        rows.append([*start, book, estimated, quoted, percent, places, need.description])
    for offer in check.offers:
        if offer.status != "match" or offer.row.total_off or _by_words(offer):
            row = offer.row
            said = " ".join([*row.numbers, row.description])
            note = "; ".join([said, *_notes(offer)])
            price = None if row.unit_usd is None else row.unit_usd.quantize(Decimal("0.01"))
            rows.append(
                [
                    "row",
                    offer.status,
                    offer.part,
                    None,
                    None,
                    row.quantity,
                    None,
                    None,
                    price,
                    None,
                    _place(row.row, row.sheet),
                    note,
                ]
            )
    return csv_text(CSV_COLUMNS, rows)


def quote_data(check: QuoteCheck, design: str, tolerance: Decimal | None) -> dict[str, Any]:
    """The comparison as plain data."""
    return {
        "schema_version": "1",
        "file": printable(Path(check.quote.source).name),
        "design": design,
        "differences": check.differences(tolerance),
        "columns": dict(check.quote.columns),
        "sheets": list(check.quote.sheets),
        "unread_sheets": list(check.quote.unread),
        "totals": {
            "bill_usd": money(check.bill_usd),
            "bill_complete": check.bill_complete,
            "bill_estimated": check.bill_estimated,
            "quoted_usd": money(check.quoted_usd),
            "quoted_complete": check.quoted_complete,
        },
        "parts": [_need(need) for need in check.needs],
        "rows": [_offer(offer) for offer in check.offers],
        "skipped": [{"sheet": row.sheet, "row": row.row, "text": row.text} for row in check.quote.skipped],
    }


def _need(need: Need) -> dict[str, Any]:
    return {
        "status": need.status,
        "part": need.part,
        "part_number": need.part_number,
        "category": need.category,
        "description": need.description,
        "needed": need.needed,
        "quoted": need.quoted,
        "book_unit_price_usd": _money(need.book_usd),
        "book_estimated": need.book_estimated,
        "quoted_unit_price_usd": _money(need.quoted_usd),
        "price_change_fraction": None if need.price_change is None else significant(float(need.price_change)),
        "rows": list(need.rows),
        "sheets": list(need.sheets),
    }


def _offer(offer: Offered) -> dict[str, Any]:
    row = offer.row
    return {
        "sheet": row.sheet,
        "row": row.row,
        "status": offer.status,
        "numbers": list(row.numbers),
        "description": row.description,
        "quantity": row.quantity,
        "unit_price": _money(row.unit_price),
        "currency": row.currency,
        "total_off": row.total_off,
        "part": offer.part,
        "via": offer.via,
        "note": offer.note,
    }


def _money(amount: Decimal | None) -> float | None:
    return None if amount is None else money(amount)
