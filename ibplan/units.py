"""Quantities with units: annotated types that read what people write and refuse what is ambiguous.

A bare number is taken only by a type whose keys name the unit (`port_gbps: 400`); every other quantity must carry its
unit (`12 kW`, `$6M`, `2.5 m`). SI prefixes are decimal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_PREFIX = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12, "P": 10**15}
_NUMBER = r"(?P<number>[+-]?\d[\d,_]*(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)"
_METRES_PER = {"m": Decimal(1), "cm": Decimal("0.01"), "mm": Decimal("0.001"), "km": Decimal(1000)}
_METRES_PER |= {"ft": Decimal("0.3048"), "in": Decimal("0.0254")}
_SECONDS_PER = {"us": Decimal("0.000001"), "ms": Decimal("0.001"), "s": Decimal(1), "min": Decimal(60)}
_LARGEST = Decimal(10) ** 24
# Times the number of parts of the largest cluster these stay exact: money in Decimal's 28 digits.
_LARGEST_USD = Decimal(10) ** 12
_LARGEST_WATTS = Decimal(10) ** 12
_CENT = Decimal("0.01")


def _number(text: str, what: str) -> Decimal:
    try:
        value = Decimal(text.replace(",", "").replace("_", ""))
    except InvalidOperation:
        raise ValueError(f"{what}: {text!r} is not a number") from None
    return value


def _bounded(value: Decimal, what: str, smallest: Decimal | int = 0) -> Decimal:
    if not value.is_finite() or abs(value) > _LARGEST:
        raise ValueError(f"{what} must be a finite number of a sensible size")
    if value < smallest:
        raise ValueError(f"{what} must not be below {smallest}")
    return value


def _money(value: Decimal, what: str) -> Decimal:
    if _bounded(value, what) > _LARGEST_USD:
        raise ValueError(f"{what} must be at most $1T")
    return value


def _bare(value: Any, what: str) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{what} must be a finite number")
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(f"{what} must be a finite number of a sensible size")
    return Decimal(str(value))


def _match(pattern: str, value: Any, what: str, example: str) -> re.Match[str]:
    found = re.fullmatch(pattern, value.strip()) if isinstance(value, str) and len(value) <= 64 else None
    if found is None:
        shown = value if isinstance(value, str | int | float) else type(value).__name__
        raise ValueError(f"{what} is written like {example}, not {str(shown)[:64]!r}")
    return found


def parse_gbps(value: Any) -> int:
    """Gb/s from `400`, `400G`, `400 Gb/s`, `1.6T`, `50 GB/s` (bytes are converted: x 8). Raises ValueError."""
    what, example = "a speed", "400G, 400 Gb/s or 50 GB/s"
    number = _bare(value, what)
    if number is None:
        found = _match(_NUMBER + r"\s*(?P<unit>[GMT])(?P<kind>b/s|bps|bit/s|B/s|)", value, what, example)
        scale = {"M": Decimal("0.001"), "G": Decimal(1), "T": Decimal(1000)}[found["unit"]]
        number = _number(found["number"], what) * scale * (8 if found["kind"] == "B/s" else 1)
    _bounded(number, what, 1)
    if number != int(number) or number > 1_000_000:
        raise ValueError("a speed is a whole number of Gb/s between 1 and 1,000,000")
    return int(number)


def parse_watts(value: Any) -> float:
    """Watts from `1700 W`, `12 kW`, `1.6 MW`. A bare number is refused. Raises ValueError."""
    found = _match(_NUMBER + r"\s*(?P<prefix>[kMG]?)W", value, "a power", "12 kW or 1700 W")
    watts = _bounded(_number(found["number"], "a power") * _PREFIX[found["prefix"]], "a power")
    if watts > _LARGEST_WATTS:
        raise ValueError("a power must be at most 1,000 GW")
    return float(watts)


def parse_usd(value: Any) -> Decimal:
    """US dollars from `$6M`, `$36,000`, `6M USD`. A bare number is refused. Raises ValueError."""
    if isinstance(value, Decimal):
        return _money(value, "an amount")
    pattern = (
        rf"(?:\$\s*{_NUMBER}\s*(?P<prefix>[kMBT]?)|{_NUMBER.replace('number', 'other')}\s*(?P<suffix>[kMBT]?)\s*USD)"
    )
    found = _match(pattern, value, "an amount of money", "$6M, $36,000 or 6M USD")
    prefix = found["prefix"] if found["number"] is not None else found["suffix"]
    amount = _number(found["number"] or found["other"], "an amount") * _PREFIX[prefix or ""]
    if amount.is_finite() and abs(amount) < _LARGEST_USD and amount % _CENT:
        raise ValueError("an amount of money has no fractions of a cent")
    return _money(amount, "an amount of money")


def parse_usd_number(value: Any) -> Decimal:
    """US dollars where the key says so: a bare number, or anything `parse_usd` reads. Raises ValueError."""
    number = _bare(value, "an amount")
    return parse_usd(value) if number is None else _money(number, "an amount")


def parse_usd_per_kwh(value: Any) -> Decimal:
    """US dollars per kilowatt-hour from `$0.09/kWh`. Raises ValueError."""
    found = _match(rf"\$\s*{_NUMBER}\s*/\s*kWh", value, "a tariff", "$0.09/kWh")
    return _bounded(_number(found["number"], "a tariff"), "a tariff")


def parse_metres(value: Any) -> Decimal:
    """Metres from `2.5 m`, `18 in`, `25 ft`. A bare number is refused. Raises ValueError."""
    found = _match(_NUMBER + r"\s*(?P<unit>mm|cm|km|m|ft|in)", value, "a length", "2.5 m")
    return _bounded(_number(found["number"], "a length") * _METRES_PER[found["unit"]], "a length")


def parse_seconds(value: Any) -> float:
    """Seconds from `2 s`, `50 ms`, `300 us`, `1 min`. A bare number is refused, and so is 0. Raises ValueError."""
    found = _match(_NUMBER + r"\s*(?P<unit>us|ms|s|min)", value, "a time", "50 ms or 2 s")
    seconds = _bounded(_number(found["number"], "a time") * _SECONDS_PER[found["unit"]], "a time")
    if not Decimal("1e-6") <= seconds <= 10**6:
        raise ValueError("a time must lie between 1 us and 1,000,000 s")
    return float(seconds)


def parse_scaled(value: Any) -> int:
    """A large count (parameters, tokens) from `70B`, `15T`, `7e9` or a plain number. Raises ValueError."""
    what = "a large count"
    number = _bare(value, what)
    if number is None:
        found = _match(_NUMBER + r"\s*(?P<prefix>[kMBT]?)", value, what, "70B or 15T")
        number = _number(found["number"], what) * _PREFIX[found["prefix"]]
    _bounded(number, what, 1)
    if number != int(number):
        raise ValueError(f"{what} must be whole")
    return int(number)


def parse_ratio(value: Any) -> Fraction:
    """A down:up ratio from `2:1`, `22/18`, `1.067:1`, `2.0`. Between 1/1000 and 1000. Raises ValueError."""
    what, example = "a ratio (down:up)", "2:1, 22/18 or 2.0"
    number = _bare(value, what)
    if number is None:
        term = r"\d{1,9}(?:\.\d{1,9})?"
        found = _match(rf"(?P<down>{term})(?:\s*[:/]\s*(?P<up>{term}))?", value, what, example)
        up = Fraction(found["up"] or "1")
        if up == 0:
            raise ValueError(f"{what} must have something above zero on the right")
        ratio = Fraction(found["down"]) / up
    else:
        ratio = Fraction(number)
    if not Fraction(1, 1000) <= ratio <= 1000:
        raise ValueError(f"{what} must lie between 1:1000 and 1000:1")
    return ratio


def parse_share(value: Any) -> Fraction:
    """A share from `40%` or `0.4`; between 0 and 1. Raises ValueError."""
    number = _bare(value, "a share")
    if number is None:
        found = _match(_NUMBER + r"\s*%", value, "a share", "40%")
        number = _number(found["number"], "a share") / 100
    if not 0 <= number <= 1:
        raise ValueError("a share lies between 0% and 100%")
    return Fraction(number)


def format_ratio(ratio: Fraction) -> str:
    """`2:1`, `16:15`, `1:2`: the ratio in lowest terms, down:up."""
    return f"{ratio.numerator}:{ratio.denominator}"


def format_gbps(gbps: float) -> str:
    """`400G`; `1.6T` from 10,000 Gb/s upward in Tb/s."""
    return f"{gbps / 1000:,.4g} Tb/s" if gbps >= 10_000 else f"{gbps:,.6g} Gb/s"


def format_usd(amount: Decimal) -> str:
    """`$1,234,567`: whole dollars from $1,000 upward, cents below."""
    return f"${amount:,.0f}" if abs(amount) >= 1000 else f"${amount:,.2f}"


def format_watts(watts: float) -> str:
    """`950 W`, `12.3 kW`, `1.25 MW`."""
    for limit, unit, scale in ((1e3, "W", 1.0), (1e6, "kW", 1e3)):
        if abs(watts) < limit:
            return f"{watts / scale:,.4g} {unit}"
    return f"{watts / 1e6:,.4g} MW"


def _quantity(
    parse: Callable[[Any], Any],
    pattern: str,
    example: str,
    *,
    bare: bool = False,
    show: Callable[[Any], Any] = str,
) -> tuple[BeforeValidator, PlainSerializer, WithJsonSchema]:
    text = {"type": "string", "pattern": pattern, "examples": [example]}
    schema = {"anyOf": [text, {"type": "number"}]} if bare else text
    return BeforeValidator(parse), PlainSerializer(show, when_used="json"), WithJsonSchema(schema)


_N = r"[0-9][0-9,_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?"

Gbps = Annotated[int, *_quantity(parse_gbps, rf"^{_N} ?[GMT](b/s|bps|bit/s|B/s)?$", "400G", bare=True, show=int)]
Watts = Annotated[float, *_quantity(parse_watts, rf"^{_N} ?[kMG]?W$", "12 kW", show=lambda w: f"{w:.15g} W")]
Usd = Annotated[
    Decimal,
    *_quantity(parse_usd, rf"^(\$ ?{_N} ?[kMBT]?|{_N} ?[kMBT]? ?USD)$", "$6M", show=lambda d: f"${d:f}"),
]
UsdNumber = Annotated[
    Decimal,
    *_quantity(
        parse_usd_number,
        rf"^(\$ ?{_N} ?[kMBT]?|{_N} ?[kMBT]? ?USD)$",
        "$6M",
        bare=True,
        show=lambda d: f"${d:f}",
    ),
]
UsdPerKwh = Annotated[
    Decimal, *_quantity(parse_usd_per_kwh, rf"^\$ ?{_N} ?/ ?kWh$", "$0.09/kWh", show=lambda d: f"${d:f}/kWh")
]
Metres = Annotated[
    Decimal, *_quantity(parse_metres, rf"^{_N} ?(mm|cm|km|m|ft|in)$", "2.5 m", show=lambda d: f"{d:f} m")
]
Seconds = Annotated[float, *_quantity(parse_seconds, rf"^{_N} ?(us|ms|s|min)$", "50 ms", show=lambda s: f"{s:.15g} s")]
Scaled = Annotated[int, *_quantity(parse_scaled, rf"^{_N} ?[kMBT]?$", "70B", bare=True, show=int)]
Ratio = Annotated[
    Fraction,
    *_quantity(parse_ratio, r"^[0-9]+(\.[0-9]+)?( ?[:/] ?[0-9]+(\.[0-9]+)?)?$", "2:1", bare=True, show=format_ratio),
]
Share = Annotated[Fraction, *_quantity(parse_share, rf"^{_N} ?%$", "40%", bare=True, show=float)]
