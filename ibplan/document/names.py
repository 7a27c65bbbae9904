"""Keys that a model does not know: which one was meant."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, get_args

from pydantic import BaseModel

from ibplan.document.core import Document
from ibplan.document.messages import OLD_BOOLEAN_REMEDY, dotted

Model = type[BaseModel]
_MAX_DEPTH: Final = 6
_OLD_BOOLEANS: Final = frozenset({"on", "off", "yes", "no"})


def unknown_key(model: Model, document: Document, loc: tuple[str | int, ...]) -> tuple[str, str]:
    """Message and remedy for the unknown key at the end of `loc`."""
    key = str(loc[-1])
    path = document.path(loc[:-1])
    where = f" in {dotted(path)}" if path else ""
    shown = key if len(key) <= 64 else key[:61] + "..."
    return f"unknown key {shown!r}{where}", _remedy(model, document, loc, key)


def _remedy(model: Model, document: Document, loc: tuple[str | int, ...], key: str) -> str:
    if key.lower() in _OLD_BOOLEANS:
        return OLD_BOOLEAN_REMEDY
    here = _names_here(model, document, loc[:-1])
    plain = key[:64].lower().replace("-", "_").replace(" ", "_")
    elsewhere = _paths(model)
    above = "".join(f"{part}." for part in document.path(loc[:-1]))
    if "." in plain and {plain, above + plain} & {path for paths in elsewhere.values() for path in paths}:
        return f"nest it: one level of keys for each dot of {plain}"
    near = get_close_matches(plain, here, 1, 0.7) or [n for n in here if len(plain) > 2 and n.startswith(plain)]
    if near:
        return f"did you mean {' or '.join(near[:3])}?"
    exact = [path for name, paths in elsewhere.items() if name == plain for path in paths]
    if not exact:
        close = get_close_matches(plain, elsewhere, 1, 0.8)
        exact = [path for name in close for path in elsewhere[name]]
    if exact:
        return f"did you mean {' or '.join(exact[:3])}?"
    return f"known here: {', '.join(here)}" if 0 < len(here) <= 12 else ""


def _names_here(model: Model, document: Document, loc: tuple[str | int, ...]) -> list[str]:
    """The names that the mapping at `loc` may have: those of its model, and of models it is a short form of."""
    current, names = [model], list(model.model_fields)
    known = len(document.path(loc[:0]))
    for depth, part in enumerate(loc, 1):
        below = [m for c in current if part in c.model_fields for m in _nested(c.model_fields[part])]
        deeper = len(document.path(loc[:depth]))
        if deeper > known:
            names, known = [], deeper
        if below:
            current = below
            names += [name for m in below for name in m.model_fields if name not in names]
    if not names:
        names = [name for m in current for name in m.model_fields]
    return names


def _nested(annotation: Any) -> list[Model]:
    annotation = getattr(annotation, "annotation", annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for part in get_args(annotation) for m in _nested(part)]


@cache
def _paths(model: Model) -> dict[str, list[str]]:
    """Every name in the model's tree, with the dotted paths at which it may stand."""
    found: dict[str, list[str]] = {}
    for path in _walk(model, "", 0):
        found.setdefault(path.rsplit(".", 1)[-1], []).append(path)
    return found


def _walk(model: Model, prefix: str, depth: int) -> Iterator[str]:
    for name, info in model.model_fields.items():
        yield prefix + name
        if depth < _MAX_DEPTH:
            for below in _nested(info):
                yield from _walk(below, f"{prefix}{name}.", depth + 1)
