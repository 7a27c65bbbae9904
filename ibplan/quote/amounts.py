"""Quantities and prices as vendors write them. What can be read in two ways is refused."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from ibplan.sheets.cells import Cell

_SYMBOLS: Final = {"$": "USD", "€": "EUR", "£": "GBP", "US$": "USD"}
_CODE: Final = re.compile(r"\b(USD|EUR|GBP|CHF|JPY|CNY|CAD|AUD|SEK|NOK|DKK|INR|SGD)\b")
_PIECES: Final = re.compile(r"([0-9][0-9.,' ]*?)\s*(?:pcs?\.?|pieces?|ea\.?|each|units?|x|st\.?|stk\.?|stück)?", re.I)
_LARGEST_QUANTITY: Final = 10**9
_LARGEST_USD: Final = Decimal(10) ** 12


def read_quantity(cell: Cell) -> int:
    """A whole number of pieces: `16`, `1,024`, `16 pcs`. Raises ValueError."""
    if isinstance(cell, int | float):
        number = Decimal(repr(cell))
    else:
        found = _PIECES.fullmatch((cell or "").strip())
        if found is None:
            raise ValueError(f"expected a whole number of pieces, got {_shown(cell)}")
        text = re.sub(r"[' ]", "", found[1])
        if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{3})+", text):
            raise ValueError(f"{_shown(cell)} can be read as {text.replace('.', '')} or as {text}: write it plain")
        number = _decimal(text)
    if not number.is_finite() or number != int(number) or not 0 <= number <= _LARGEST_QUANTITY:
        raise ValueError(f"expected a whole number of pieces, got {_shown(cell)}")
    return int(number)


def read_price(cell: Cell) -> tuple[Decimal | None, str | None]:
    """An amount and its currency: `$1,234.50`, `1.234,50 EUR`, 1234.5. A text without digits is no price.

    Returns (None, None) where there is no price; a currency of None = not stated. Raises ValueError.
    """
    if cell is None:
        return None, None
    if isinstance(cell, int | float):
        return _sensible(Decimal(repr(cell)), cell), None
    if not re.search(r"[0-9]", cell):
        return None, None
    currency = currency_of(cell)
    text = _CODE.sub("", cell.upper())
    text = re.sub(r"(US\$|[$€£\s'])", "", text)
    if not re.fullmatch(r"[0-9][0-9.,]*", text):
        raise ValueError(f"expected an amount of money, got {_shown(cell)}")
    if re.fullmatch(r"[0-9]{1,3}\.[0-9]{3}", text):
        raise ValueError(f"{_shown(cell)} can be read as {text.replace('.', '')} or as {text}: write it with cents")
    return _sensible(_decimal(text), cell), currency


def currency_of(text: str) -> str | None:
    """The currency that a text names by code or sign; None if it names none."""
    found = _CODE.search(text.upper())
    if found is not None:
        return found[1]
    return next((code for sign, code in _SYMBOLS.items() if sign in text), None)


def _decimal(text: str) -> Decimal:
    """A number with marks for thousands and decimals. The last mark is the decimal one, if it can be one."""
    comma, point = text.rfind(","), text.rfind(".")
    if comma >= 0 and point >= 0:
        thousands, decimal = (",", ".") if point > comma else (".", ",")
    elif comma >= 0:
        grouped = re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", text)
        thousands, decimal = (",", ".") if grouped else (".", ",")
    else:
        thousands, decimal = (".", ",") if text.count(".") > 1 else (",", ".")
    whole, *rest = text.split(decimal)
    groups = whole.split(thousands)
    if len(rest) > 1 or (len(groups) > 1 and any(len(group) != 3 for group in groups[1:])) or not groups[0]:
        raise ValueError(f"{text!r} is not a number that can be read in one way only")
    return Decimal("".join(groups) + ("." + rest[0] if rest and rest[0] else ""))


def _sensible(amount: Decimal, cell: Cell) -> Decimal:
    if not amount.is_finite() or not 0 <= amount <= _LARGEST_USD:
        raise ValueError(f"expected an amount of money, got {_shown(cell)}")
    return amount


def _shown(cell: Cell) -> str:
    return repr(cell if not isinstance(cell, str) or len(cell) <= 40 else cell[:37] + "...")
