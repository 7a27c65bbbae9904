"""NVUE's object model, as NVIDIA publishes it for each release (package nvueschema): what a command may say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

Data = dict[str, Any]


@cache
def model(release: str) -> type[BaseModel]:
    """The root of a release such as 5.11."""
    found: type[BaseModel] = import_module(f"nvueschema.models.v{release.replace('.', '_')}").NvueConfig
    return found


def commands(script: str) -> list[list[str]]:
    """The words of every `nv set` line."""
    return [line.split()[2:] for line in script.splitlines() if line.startswith("nv set ")]


def expand(ports: str) -> Iterator[str]:
    """The interfaces of a list such as swp1-4,swp5s0-1."""
    for piece in ports.split(","):
        found = re.fullmatch(r"(.*?)(\d+)-(\d+)", piece)
        if found is None:
            yield piece
        else:
            yield from (f"{found[1]}{number}" for number in range(int(found[2]), int(found[3]) + 1))


def configuration(script: str, root: type[BaseModel]) -> Data:
    """All commands together as NVUE keeps them. Raises ValueError for words that the model does not have."""
    data: Data = {}
    for words in commands(script):
        if words[0] == "interface":
            for port in expand(words[1]):
                _set(data, root, [words[0], port, *words[2:]])
        else:
            _set(data, root, words)
    return data


def as_texts(data: Any) -> Any:
    """Data with every value as the text that a command has for it."""
    return {key: as_texts(value) for key, value in data.items()} if isinstance(data, dict) else str(data)


def _set(data: Data, node: Any, words: Sequence[str]) -> None:
    """Walk down the model by the words of a command; a word is a field, the key of a collection, or a value."""
    where = data
    for at, word in enumerate(words):
        kind = _kind(node)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = {info.alias or name: info for name, info in kind.model_fields.items()}.get(word)
            if field is None:
                raise ValueError(f"{' '.join(words[:at])}: there is no {word}")
            node = field.annotation
        elif kind is dict:
            node = get_args(_collection(node))[1]
        else:
            raise ValueError(f"{' '.join(words[:at])}: nothing comes after a value")
        rest = words[at + 1 :]
        if len(rest) == 1 and _is_value(node):
            where[word] = rest[0]
            return
        where = where.setdefault(word, {})


def _is_value(node: Any) -> bool:
    kind = _kind(node)
    return kind is not dict and kind is not Any and not (isinstance(kind, type) and issubclass(kind, BaseModel))


def _members(node: Any) -> list[Any]:
    """The members of a union, those of inner ones too, without None."""
    if get_origin(node) in (Union, UnionType):
        return [inner for member in get_args(node) for inner in _members(member) if inner is not type(None)]
    return [node]


def _collection(node: Any) -> Any:
    return next((member for member in _members(node) if get_origin(member) is dict), None)


def _kind(node: Any) -> Any:
    """A model, `dict` for a collection, else what a value is."""
    if _collection(node) is not None:
        return dict
    members = _members(node)
    return next((m for m in members if isinstance(m, type) and issubclass(m, BaseModel)), members[0])
