"""The columns of a quote and their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from ibplan.quote.amounts import currency_of
from ibplan.sheets import heads
from ibplan.sheets.cells import Cell, Limits

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
_CURRENCIES: Final = frozenset({"usd", "eur", "gbp", "chf", "us", "in"})
LIMITS: Final = Limits("quote", mib=5, rows=5_000, cells_mib=6)


def _enough(columns: Mapping[Key, tuple[int, ...]]) -> bool:
    return "quantity" in columns and ("part" in columns or "description" in columns)


def _plain(cell: Cell) -> str:
    words = heads.plain_name(cell, "äöüß").split()
    return " ".join(word for word in words if word not in _CURRENCIES) if len(words) > 1 else " ".join(words)


COLUMNS: Final[heads.Columns[Key]] = heads.Columns(
    NAMES,
    _enough,
    "a column for quantities and one for parts or descriptions",
    "part=NAME,quantity=NAME",
    _plain,
    frozenset({"part"}),
)


def read_columns(written: str | None) -> dict[Key, str]:
    """`part=P/N,quantity=Qty`: names of columns by key. Raises UsageError."""
    return heads.read_columns(written, KEYS)


def head_currency(head: heads.Head[Key]) -> str | None:
    """The currency that the name of the price column says; None = nothing."""
    price = head.columns.get("price")
    return None if price is None else currency_of(head.names[price[0]])
