"""Numbers and texts as people read them: thousands separators, no exponents, nothing that could drive a terminal."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from ibplan.document import printable

UNKNOWN: Final = "?"
ABSENT: Final = "-"
_SCALES: Final = ((10**12, "T"), (10**9, "B"), (10**6, "M"))
_LARGEST_TERM: Final = 64


def number(value: float) -> str:
    """`1,234.5`: all digits there are, without an exponent."""
    text = f"{Decimal(repr(value)) if isinstance(value, float) else Decimal(value):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def modelled(value: float) -> str:
    """`3.61`: four digits of what a model gives, which is not known to more."""
    return number(float(f"{value:.4g}"))


def usd(value: float) -> str:
    """`1,234,567`: whole dollars from 1,000 upward, cents below; 0 is plain."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.2f}"


def ratio(value: float) -> str:
    """`2:1`, `16:15`; `1.067:1` where the terms are large."""
    exact = Fraction(value).limit_denominator(1000)
    if max(exact.numerator, exact.denominator) <= _LARGEST_TERM and abs(exact - value) < 1e-4:
        return f"{exact.numerator}:{exact.denominator}"
    return f"{number(float(f'{value:.4g}'))}:1"


def percent(share: float) -> str:
    """`12.5` for 0.125: one place."""
    return number(round(share * 100, 1))


def scaled(value: int) -> str:
    """`70B`, `15T`; a count below a million as it is."""
    for scale, letter in _SCALES:
        if value >= scale:
            return f"{number(float(f'{value / scale:.6g}'))}{letter}"
    return number(value)


def shown(value: Any) -> str:
    """A value of the spec as a user would write it."""
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        inside = ", ".join(map(shown, value))
        return f"[{inside}]" if len(value) > 1 else inside
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(item)}" for key, item in value.items() if item is not None) + "}"
    return printable(value)
