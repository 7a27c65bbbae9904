"""Which column of a quote holds what: by the names in its head, or as the user says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ibplan.errors import InputError, UsageError
from ibplan.quote.amounts import currency_of
from ibplan.quote.sheet import Cell, Row, Sheet

Key = Literal["part", "description", "quantity", "price", "total", "currency"]
KEYS: Final[tuple[Key, ...]] = get_args(Key)
# Names in small letters without signs, the best first.
NAMES: Final[Mapping[Key, tuple[str, ...]]] = {
    "part": (
        "manufacturer part number",
        "manufacturer part no",
        "mfr part number",
        "mfg part number",
        "mpn",
        "part number",
        "part no",
        "part",
        "p n",
        "pn",
        "product number",
        "product no",
        "product code",
        "item number",
        "item no",
        "item code",
        "article number",
        "article no",
        "artikelnummer",
        "sku",
        "vendor sku",
        "model number",
        "model",
    ),
    "description": (
        "description",
        "item description",
        "product description",
        "product name",
        "product",
        "beschreibung",
        "bezeichnung",
    ),
    "quantity": ("order quantity", "order qty", "quantity", "qty", "menge", "anzahl", "pcs", "pieces"),
    "price": (
        "net unit price",
        "unit net price",
        "net price",
        "unit price",
        "price per unit",
        "price each",
        "unit cost",
        "einzelpreis",
        "price",
        "list price",
    ),
    "total": (
        "extended price",
        "ext price",
        "extended",
        "extended cost",
        "line total",
        "total price",
        "net amount",
        "amount",
        "gesamtpreis",
        "total",
    ),
    "currency": ("currency", "waehrung", "währung"),
}
_HEAD_ROWS: Final = 50
_CURRENCIES: Final = frozenset({"usd", "eur", "gbp", "chf", "us", "in"})


@dataclass(frozen=True, slots=True)
class Head:
    """Where the table starts, and the columns (from 0) that hold what; a quote may have several part numbers.

    `currency` is what the name of the price column says; None = nothing.
    """

    row: int
    columns: Mapping[Key, tuple[int, ...]]
    names: tuple[str, ...]
    currency: str | None


def read_columns(written: str | None) -> dict[Key, str]:
    """`part=P/N,quantity=Qty`: names of columns by key. Raises UsageError."""
    found: dict[Key, str] = {}
    for entry in (written or "").split(",") if written else ():
        key, equals, name = entry.partition("=")
        known = next((k for k in KEYS if k == key.strip()), None)
        if known is None or not equals or not name.strip():
            raise UsageError(f"--columns: {entry!r} is not of the form key=name; keys are {', '.join(KEYS)}")
        found[known] = name.strip()
    return found


def find_head(sheets: Sequence[Sheet], asked: Mapping[Key, str]) -> tuple[Sheet, Head]:
    """The sheet and the row that name the columns: those that name the most. Raises InputError if none does."""
    found = [(len(head.columns), sheet, head) for sheet in sheets for head in _heads(sheet, asked)]
    if found:
        _, sheet, head = max(found, key=lambda each: each[0])
        return sheet, head
    sheet = max(sheets, key=lambda each: max((len(row) for _, row in each.rows[:_HEAD_ROWS]), default=0))
    if not sheet.rows:
        raise InputError([sheet.problem(0, "there is nothing in it")])
    number, first = sheet.rows[0]
    seen = ", ".join(repr(str(cell)[:30]) for cell in first if cell is not None)
    if asked:
        named = ", ".join(repr(name) for name in asked.values())
        raise InputError(
            [sheet.problem(0, f"no row of the first {_HEAD_ROWS} names the columns {named}", f"row {number} is {seen}")]
        )
    message = f"no row of the first {_HEAD_ROWS} names a column for quantities and one for parts or descriptions"
    raise InputError(
        [sheet.problem(0, message, f"row {number} is {seen}; name them: --columns part=NAME,quantity=NAME")]
    )


def _heads(sheet: Sheet, asked: Mapping[Key, str]) -> Iterator[Head]:
    for row in sheet.rows[:_HEAD_ROWS]:
        head = _head(row, asked)
        if (
            head is not None
            and "quantity" in head.columns
            and ("part" in head.columns or "description" in head.columns)
        ):
            yield head


def _head(row: Row, asked: Mapping[Key, str]) -> Head | None:
    number, cells = row
    plain = [_plain(cell) for cell in cells]
    columns: dict[Key, tuple[int, ...]] = {}
    for key in KEYS:
        if key in asked:
            wanted = [index for index, cell in enumerate(cells) if str(cell).strip().lower() == asked[key].lower()]
            if len(wanted) != 1:
                return None
            columns[key] = tuple(wanted)
            continue
        matches = [plain.index(name) for name in NAMES[key] if name in plain]
        if matches:
            columns[key] = tuple(matches) if key == "part" else (matches[0],)
    price = columns.get("price")
    currency = None if price is None else currency_of(str(cells[price[0]]))
    return Head(number, columns, tuple(str(cell or "") for cell in cells), currency)


def _plain(cell: Cell) -> str:
    words = re.sub(r"[^0-9a-zäöüß]+", " ", str(cell or "").lower()).split()
    return " ".join(word for word in words if word not in _CURRENCIES) if len(words) > 1 else " ".join(words)
