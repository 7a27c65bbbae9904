"""Settings: `key=value` texts that change a spec after it was read, each named in messages by the option it came by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ibplan.document import Document, parse_value, printable
from ibplan.errors import InputError, Problem

SET: Final = "--set"
VARY: Final = "--vary"
_KEY: Final = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_MAX_KEY_PARTS: Final = 16


def apply_settings(document: Document, settings: Sequence[str], option: str = SET) -> tuple[Document, list[Problem]]:
    """The document with `key=value` settings put in, in order, and what is wrong with those that could not be."""
    problems: list[Problem] = []
    for setting in settings:
        try:
            document = _apply(document, setting, printable(f"{option} {setting}"))
        except InputError as error:
            problems += error.problems
    return document, problems


def key_parts(key: str) -> list[str] | None:
    """The parts of a dotted key, an index in brackets as a part (`attached[0].name`); None if it is none."""
    dotted = re.sub(r"\[([0-9]+)\]", r".\1", key.strip())
    return dotted.split(".") if _KEY.fullmatch(dotted) else None


def _apply(document: Document, setting: str, source: str) -> Document:
    key, equals, text = setting.partition("=")
    parts = key_parts(key)
    if not equals or parts is None:
        raise _wrong(source, "is not of the form key=value", "such as network.oversubscription=2:1")
    if len(parts) > _MAX_KEY_PARTS:
        raise _wrong(source, f"the key has more than {_MAX_KEY_PARTS} levels")
    data, path = _put(document.data, parts, parse_value(text, source), source, ())
    return document.with_data(data, path, source)


def _put(
    here: Any, parts: list[str], value: Any, source: str, above: tuple[str | int, ...]
) -> tuple[Any, tuple[str | int, ...]]:
    """`here` with the value at `parts`, and the path of the topmost part that is new."""
    if not parts:
        return value, above
    part, rest = parts[0], parts[1:]
    where = ".".join(map(str, above))
    if isinstance(here, tuple):
        if not part.isdecimal() or int(part[:9]) >= len(here):
            raise _wrong(
                source, f"{where} is a list of {len(here)}: {part!r} is not an index from 0 to {len(here) - 1}"
            )
        index = int(part)
        new, path = _put(here[index], rest, value, source, (*above, index))
        return (*here[:index], new, *here[index + 1 :]), path
    if isinstance(here, dict):
        new, path = _put(here.get(part), rest, value, source, (*above, part))
        return {**here, part: new}, path if part in here else (*above, part)
    if here is None:
        return {part: _put(None, rest, value, source, (*above, part))[0]}, above
    raise _wrong(source, f"{where} is {here!r}, which has no keys", f"set {where} as a whole")


def _wrong(source: str, message: str, remedy: str = "") -> InputError:
    return InputError([Problem(source, 0, 0, message, remedy)])
