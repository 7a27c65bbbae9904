"""Rows of a quote: what is offered, how many, at what price. What cannot be read is an error with its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Final

from ibplan.document import capped
from ibplan.errors import InputError, Problem
from ibplan.quote.amounts import currency_of, read_price, read_quantity
from ibplan.quote.columns import COLUMNS, LIMITS, Key, head_currency
from ibplan.sheets.cells import Cell, Sheet, read_sheets
from ibplan.sheets.heads import Head, find_head, same_heads

USD: Final = "USD"
_CENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class QuoteRow:
    """One offer. `numbers` are the texts of its part columns; a price of None = none is stated.

    `currency` None = not stated (taken for US dollars, and said so). `total_off`: the stated total is not quantity
    times unit price. `sheet`: where the row is, if several sheets were read.
    """

    row: int
    numbers: tuple[str, ...]
    description: str
    quantity: int
    unit_price: Decimal | None
    currency: str | None
    total_off: bool
    sheet: str | None = None

    @property
    def unit_usd(self) -> Decimal | None:
        """Unit price in US dollars; None if there is none, or it is in another currency."""
        return self.unit_price if self.currency in (None, USD) else None


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row below the head that offers nothing: a heading, a sum, a remark."""

    row: int
    text: str
    sheet: str | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote as read. `columns` says which column was taken for what, by its name in the head.

    `sheets` were read, and `unread` hold rows and were not: sheets of a workbook, by name.
    """

    source: str
    columns: Mapping[Key, str]
    rows: tuple[QuoteRow, ...]
    skipped: tuple[SkippedRow, ...]
    sheets: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def read_quote(path: Path, asked: Mapping[Key, str], sheet: str | None = None) -> Quote:
    """Read a CSV file or a workbook. Raises one InputError with every row that cannot be read."""
    sheets = read_sheets(path, sheet, LIMITS)
    found, head = find_head(sheets, COLUMNS, asked)
    # Readings of a CSV are no sheets: only one of them is right.
    tables = [(found, head)] if found.name is None else same_heads(sheets, head, COLUMNS, asked)
    rows: list[QuoteRow] = []
    skipped: list[SkippedRow] = []
    problems: list[Problem] = []
    for table, its_head in tables:
        name = table.name if len(tables) > 1 else None
        for row in _table_rows(table, its_head, problems):
            placed = replace(row, sheet=name)
            if isinstance(placed, QuoteRow):
                rows.append(placed)
            else:
                skipped.append(placed)
    if problems:
        raise InputError(capped(problems))
    if not rows:
        raise InputError(
            [found.problem(head.row, "names the columns, but no row below it states a quantity of a part")]
        )
    columns = {key: ", ".join(head.names[index] for index in indices) for key, indices in head.columns.items()}
    read = tuple(table.name for table, _ in tables if table.name is not None)
    unread = tuple(s.name for s in sheets if s.name is not None and s.rows and s.name not in read)
    return Quote(found.source, columns, tuple(rows), tuple(skipped), read, unread)


def _table_rows(sheet: Sheet, head: Head[Key], problems: list[Problem]) -> Iterator[QuoteRow | SkippedRow]:
    """The rows below the head of one sheet."""
    for number, cells in sheet.rows:
        if number <= head.row:
            continue
        if _offers(cells, head):
            row = _read(number, cells, head, sheet, problems)
            if row is not None:
                yield row
        else:
            yield SkippedRow(number, " ".join(str(cell) for cell in cells if cell is not None))


def _cell(cells: tuple[Cell, ...], head: Head[Key], key: Key) -> Cell:
    indices = head.columns.get(key)
    return None if indices is None or indices[0] >= len(cells) else cells[indices[0]]


def _texts(cells: tuple[Cell, ...], head: Head[Key], key: Key) -> tuple[str, ...]:
    indices = [index for index in head.columns.get(key, ()) if index < len(cells)]
    return tuple(_plain(cells[index]) for index in indices if cells[index] is not None)


def _plain(cell: Cell) -> str:
    # A spreadsheet keeps a part number of digits as a number: 9803.0 is 9803.
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _offers(cells: tuple[Cell, ...], head: Head[Key]) -> bool:
    """Whether a row states a quantity of something: else it is a heading, a sum or a remark."""
    named = bool(_texts(cells, head, "part") or _texts(cells, head, "description"))
    return named and _cell(cells, head, "quantity") is not None


def _read(
    number: int, cells: tuple[Cell, ...], head: Head[Key], sheet: Sheet, problems: list[Problem]
) -> QuoteRow | None:
    before = len(problems)
    quantity, price, total = 0, None, None
    currency = currency_of(" ".join(_texts(cells, head, "currency"))) or head_currency(head)
    try:
        quantity = read_quantity(_cell(cells, head, "quantity"))
    except ValueError as error:
        problems.append(sheet.problem(number, f"quantity: {error}"))
    try:
        price, named = read_price(_cell(cells, head, "price"))
        currency = named or currency
    except ValueError as error:
        problems.append(sheet.problem(number, f"price: {error}"))
    try:
        total, named = read_price(_cell(cells, head, "total"))
        currency = currency or named
    except ValueError as error:
        problems.append(sheet.problem(number, f"total: {error}"))
    if len(problems) > before:
        return None
    if price is None and total is not None and quantity:
        price = total / quantity
    description = " ".join(_texts(cells, head, "description"))
    numbers = _texts(cells, head, "part")
    return QuoteRow(number, numbers, description, quantity, price, currency, _off(quantity, price, total))


def _off(quantity: int, price: Decimal | None, total: Decimal | None) -> bool:
    """Whether the stated total is not that of its row, half a cent a piece for rounding apart."""
    if price is None or total is None:
        return False
    return abs(price * quantity - total) > _CENT / 2 * max(quantity, 2)
