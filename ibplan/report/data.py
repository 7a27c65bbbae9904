"""A plan as plain data, in the fixed form of the JSON output: every key, in order, rounded, the same bytes always."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cache
from typing import Any, Final

from ibplan.document import dump_yaml
from ibplan.economics.items import LineItem
from ibplan.plan.results import Plan, Shortfall

SIGNIFICANT_DIGITS: Final = 6
_CENT: Final = Decimal("0.01")
_AS_THEY_ARE: Final = frozenset({str, int, bool})
# The documented keys of a line item come first, those that it has besides after them.
_ITEM_KEYS: Final = (
    "network",
    "tier",
    "category",
    "part",
    "part_number",
    "quantity",
    "unit_price_usd",
    "price_kind",
    "price_date",
    "extended_usd",
    "where",
)


def plan_data(plan: Plan) -> dict[str, Any]:
    """The plan as dicts, lists, texts, numbers, booleans and None: what `--format json` prints."""
    data: dict[str, Any] = plain(plan)
    # The spec is the user's own: its numbers are given back as they were written, not rounded.
    data["effective_spec"] = _as_lists(plan.effective_spec)
    return data


def to_json(data: Any) -> str:
    """Data of a report as JSON: two spaces of indent, UTF-8 as it is, a newline at the end."""
    import json  # a table needs none

    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_yaml(data: Any) -> str:
    """Data of a report as YAML."""
    return dump_yaml(data)


def money(amount: Decimal) -> float:
    """An amount as a number with two places."""
    return float(amount.quantize(_CENT, ROUND_HALF_EVEN))


def significant(number: float) -> float:
    """A number rounded to six significant digits. Raises ValueError if it is not finite."""
    if not math.isfinite(number):
        raise ValueError(f"a figure is {number}")
    return float(f"{number:.{SIGNIFICANT_DIGITS}g}")


def plain(value: Any) -> Any:
    """A result as dicts, lists, texts, numbers and None; numbers rounded as in all output."""
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, LineItem):
        return _item(value)
    if isinstance(value, Shortfall):
        return _shortfall(value)
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}  # type: ignore[arg-type]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return _number(value)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _item_names() -> tuple[str, ...]:
    """The documented keys first."""
    return (*_ITEM_KEYS, *(name for name in _names(LineItem) if name not in _ITEM_KEYS))


def _number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return money(value)
    if isinstance(value, Fraction | float):
        return significant(float(value))
    return value


def _item(item: LineItem) -> dict[str, Any]:
    return {name: plain(getattr(item, name)) for name in _item_names()}


def _shortfall(short: Shortfall) -> dict[str, Any]:
    """A limit that is not kept. Budgets are money: they keep their two places."""
    rounded = (lambda amount: round(amount, 2)) if short.limit.endswith("_budget") else significant
    return {
        "limit": short.limit,
        "asked": rounded(short.asked),
        "best": None if short.best is None else rounded(short.best),
        "design": short.design,
    }


def _as_lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_lists(item) for key, item in value.items()}
    return [_as_lists(item) for item in value] if isinstance(value, list | tuple) else value
