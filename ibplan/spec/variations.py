"""Variations: `key=value,value` texts, each a key of the spec with the values that it takes in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from ibplan.document import capped, printable
from ibplan.errors import InputError, Problem
from ibplan.spec.settings import SET, VARY, key_parts

MAX_COMBINATIONS: Final = 256
_PAIRS: Final = {"[": "]", "{": "}"}
# A quote opens a text only where a value can begin; elsewhere it is a letter like any other.
_BEFORE_A_VALUE: Final = frozenset("[{,: \t")


@dataclass(frozen=True, slots=True)
class Variation:
    """A key of the spec, as it was written, and its values as texts, in order."""

    key: str
    values: tuple[str, ...]


def parse_variations(texts: Sequence[str], settings: Sequence[str] = ()) -> tuple[Variation, ...]:
    """The variations of `key=value,value` texts, beside `key=value` settings.

    Values are parted at commas outside brackets and quotes. Raises one InputError with everything that is wrong: no
    key, no value, a value or a key given twice, more than MAX_COMBINATIONS combinations.
    """
    problems: list[Problem] = []
    found: list[Variation] = []
    taken = {tuple(key_parts(setting.partition("=")[0]) or ()): SET for setting in settings}
    for text in texts:
        source = printable(f"{VARY} {text}")
        key, equals, listed = text.partition("=")
        parts = key_parts(key)
        if not equals or parts is None:
            problems.append(Problem(source, 0, 0, "is not of the form key=value,value", "such as gpus=512,1024"))
            continue
        if tuple(parts) in taken:
            option = taken[tuple(parts)]
            problems.append(Problem(source, 0, 0, f"{key.strip()} is given twice", f"it stands under {option}, too"))
        taken[tuple(parts)] = VARY
        values = _values(listed)
        problems += [Problem(source, 0, 0, *wrong) for wrong in _wrong_values(values)]
        found.append(Variation(key.strip(), tuple(values)))
    if problems:
        raise InputError(capped(problems))
    _check_count(found)
    return tuple(found)


def combinations(variations: Sequence[Variation]) -> Iterator[tuple[str, ...]]:
    """Every combination of one value of each variation, the last changing first."""
    return product(*(variation.values for variation in variations))


def _check_count(variations: Sequence[Variation]) -> None:
    count = prod(len(variation.values) for variation in variations)
    if count <= MAX_COMBINATIONS:
        return
    named = " x ".join(f"{printable(v.key)} {len(v.values):,}" for v in variations)
    message = f"there are {count:,} combinations, {MAX_COMBINATIONS:,} is the limit: {named}"
    raise InputError([Problem(VARY, 0, 0, message, "vary fewer values at once")])


def _wrong_values(values: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do, for each value that cannot stand."""
    seen: set[str] = set()
    for number, value in enumerate(values, 1):
        if not value:
            yield f"value {number} of {len(values)} is empty", "leave out a comma, or write null for no value"
        elif value in seen:
            yield f"value {number}, {printable(value)}, is there before", "give every value once"
        seen.add(value)


def _values(text: str) -> list[str]:
    """The parts of a text between commas that stand outside brackets and quotes, without blanks around them."""
    found, start = [], 0
    for index in _commas(text):
        found.append(text[start:index].strip())
        start = index + 1
    return [*found, text[start:].strip()]


def _commas(text: str) -> Iterator[int]:
    """Where the commas outside brackets and quotes stand. Brackets that do not match are left to the YAML reader."""
    closing: list[str] = []
    quote, escaped, before, closed = "", False, ",", -2
    for index, letter in enumerate(text):
        if quote:
            if letter == quote and not escaped:
                quote, closed = "", index
            escaped = quote == '"' and letter == "\\" and not escaped
        elif letter in "\"'" and (
            before in _BEFORE_A_VALUE or closed == index - 1
        ):  # '' in a text is one of its letters
            quote = letter
        elif letter in _PAIRS:
            closing.append(_PAIRS[letter])
        elif closing and letter == closing[-1]:
            closing.pop()
        elif letter == "," and not closing:
            yield index
        before = letter
