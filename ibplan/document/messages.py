"""A pydantic error in plain words: what was expected, what stands there, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

_EXPECTED: Final = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "decimal_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
    "is_instance_of": "a quantity",
    "none_required": "nothing",
}
_LIMITS: Final = {
    "greater_than_equal": ("must be at least", "ge"),
    "greater_than": ("must be above", "gt"),
    "less_than_equal": ("must be at most", "le"),
    "less_than": ("must be below", "lt"),
}
_SIZES: Final = {
    "too_short": ("needs at least {min_length} entries", "{actual_length}"),
    "too_long": ("takes at most {max_length} entries", "more"),
    "string_too_short": ("needs at least {min_length} characters", "none"),
    "string_too_long": ("takes at most {max_length} characters", "more"),
}
_OLD_BOOLEANS: Final = frozenset({"on", "off", "yes", "no", "y", "n"})
OLD_BOOLEAN_REMEDY: Final = "YAML 1.1 read on, off, yes and no as true or false; YAML 1.2 and ibplan read them as text"


def dotted(path: tuple[str | int, ...]) -> str:
    """`network.tiers`, `attached[0].ports`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{_short(part)}" if text else _short(part)
    return text


def describe(item: Mapping[str, Any], value: Any, written: str) -> tuple[str, str]:
    """Message and remedy for a pydantic error. `value` is what the data holds there, `written` its source text."""
    kind, context = item["type"], item.get("ctx", {})
    if kind in _EXPECTED:
        expected = _EXPECTED[kind]
        return f"expected {expected}, got {_shown(value, written)}", _type_remedy(expected, value)
    if kind in _LIMITS:
        words, key = _LIMITS[kind]
        return f"{words} {_number(context[key])}, got {_shown(value, written)}", ""
    if kind in _SIZES:
        words, got = _SIZES[kind]
        return f"{words.format(**context)}, got {got.format(**context)}".replace(" 1 entries", " one entry"), ""
    if kind in ("literal_error", "enum"):
        return _choice(context["expected"], value, written)
    if kind == "string_pattern_mismatch":
        return f"{_shown(value, written)} is not of the form {context['pattern']}", ""
    if kind in ("value_error", "assertion_error"):
        return str(context["error"]), ""
    if kind == "at":
        return item["msg"], ""
    return item["msg"].replace("Input should be", "expected"), ""


def _choice(expected: str, value: Any, written: str) -> tuple[str, str]:
    choices = [c.strip("'") for c in re.split(r", | or ", expected)]
    message = f"expected {choices[0]}" if len(choices) == 1 else f"expected one of {', '.join(choices)}"
    near = get_close_matches(value.lower(), choices, 1) if isinstance(value, str) and len(value) <= 64 else []
    remedy = f"did you mean {near[0]}?" if near else _type_remedy("", value)
    return f"{message}, got {_shown(value, written)}", remedy


def _type_remedy(expected: str, value: Any) -> str:
    if isinstance(value, str):
        if expected == "true or false" and value.lower() in _OLD_BOOLEANS:
            return "write true or false; " + OLD_BOOLEAN_REMEDY
        if expected in ("a number", "a whole number"):
            return _number_remedy(value)
        if expected == "true or false" and value.lower() in ("true", "false"):
            return f"write {value.lower()}"
    elif expected == "keys with values" and value is None:
        return "write keys below it, or remove it"
    elif expected == "text" and isinstance(value, int | float):
        return "put it in quotes"
    elif expected == "a whole number" and isinstance(value, float) and value.is_integer():
        return f"write {value:.0f}" if abs(value) < 1e15 else ""
    return ""


def _number_remedy(text: str) -> str:
    if re.fullmatch(r"[-+]?0[0-9]+(\.[0-9]*)?", text):
        return "leading zeros are not a number"
    if re.fullmatch(r"[0-9]+(:[0-9]{1,2})+", text):
        return "YAML 1.1 read this as a number to base 60; ibplan does not"
    if re.fullmatch(r"[-+]?[0-9]{1,3}([_, ]?[0-9]{3})+", text):
        digits = re.sub(r"[^-+0-9]", "", text)
        return f"write {digits}, without quotes or separators"
    if re.fullmatch(r"[-+]?[0-9.]+", text):
        return "remove the quotes"
    return ""


def _shown(value: Any, written: str) -> str:
    if isinstance(value, str):
        return f"text {_short(value)!r}"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return written or str(value)
    if isinstance(value, dict):
        return "keys with values" if value else "an empty mapping"
    return "a list"


def _number(limit: Any) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}" if isinstance(limit, float) else str(limit)


def _short(text: str) -> str:
    return text if len(text) <= 64 else text[:61] + "..."
