"""A document: the data of one YAML text, and where each part of it stands."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, Final

import yaml

from ibplan.document.build import UNSEEN, Builder, Place
from ibplan.document.syntax import syntax_problem
from ibplan.errors import InputError, Problem

MAX_BYTES: Final = 2 * 1024 * 1024
Loc = Sequence[str | int]

_FORBIDDEN: Final = re.compile(f"[{UNSEEN}]")
_NUMBER_TEXT: Final = re.compile(r"[-+]?[0-9.][0-9.eE+-]{0,48}")


@dataclass(frozen=True, slots=True)
class Document:
    """Data (mappings, tuples, scalars) of one source. `settings` are parts that something else than the text gave."""

    data: Any
    source: str
    text: str = field(repr=False, default="")
    root: Place = field(repr=False, default=Place(1, 1))
    settings: tuple[tuple[tuple[str | int, ...], str], ...] = ()

    def _walk(self, loc: Loc) -> tuple[tuple[str | int, ...], Any]:
        here: Any = self.data
        found: list[str | int] = []
        for part in loc:
            keyed = isinstance(here, dict) and part in here
            if keyed or (isinstance(here, tuple) and isinstance(part, int) and 0 <= part < len(here)):
                here = here[part]
                found.append(part)
        return tuple(found), here

    def path(self, loc: Loc) -> tuple[str | int, ...]:
        """The parts of `loc` that are in the data; others (union tags, wrapped indices) are left out."""
        return self._walk(loc)[0]

    def value(self, loc: Loc) -> Any:
        """The value at `loc`, as deep as the data goes."""
        return self._walk(loc)[1]

    def position(self, loc: Loc, key: bool = False) -> tuple[int, int]:
        """Line and column (1-based) of the value at `loc`, or of its key; as deep as the data goes."""
        place, where = self.root, (self.root.line, self.root.column)
        for part in self.path(loc):
            if place.parts is None:
                break
            keyed = key and place.keys is not None
            try:
                next_place: Place = place.parts[part]  # type: ignore[index]  # a key for dict, an index for list
            except (KeyError, IndexError):
                break
            where = place.keys[part] if keyed else next_place[:2]  # type: ignore[index]
            place = next_place
        return where

    def place(self, loc: Loc, key: bool = False) -> tuple[str, int, int]:
        """Source, line and column of the part at `loc`; line and column are 0 where a setting gave it."""
        path = self.path(loc)
        for set_path, source in reversed(self.settings):
            if path[: len(set_path)] == set_path:
                return (source, 0, 0)
        return (self.source, *self.position(loc, key))

    def written(self, loc: Loc) -> str:
        """The number at `loc` as the text has it (`4e3`, not 4000.0); empty for anything else."""
        source, line, column = self.place(loc)
        if source != self.source or isinstance(self.value(loc), str | bool):
            return ""
        lines = self.text.split("\n", line)
        found = _NUMBER_TEXT.match(lines[line - 1], column - 1) if 0 < line <= len(lines) else None
        return found[0] if found else ""

    def problem(self, loc: Loc, message: str, remedy: str = "", *, key: bool = False) -> Problem:
        """A problem of the part at `loc`."""
        return Problem(*self.place(loc, key), message, remedy)

    def with_data(self, data: Any, path: tuple[str | int, ...], source: str) -> Document:
        """The document with other data, of which the part at `path` comes from `source`."""
        return replace(self, data=data, settings=(*self.settings, (path, source)))


def printable(name: object) -> str:
    """A file name or an argument as it can be shown: undecodable bytes and control characters escaped."""
    text = str(name).encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _refuse(source: str, message: str, remedy: str = "", line: int = 0, column: int = 0) -> InputError:
    return InputError([Problem(source, line, column, message, remedy)])


def _decode(text: bytes, source: str) -> str:
    if len(text) > MAX_BYTES:
        raise _refuse(source, f"larger than {MAX_BYTES // 1024**2} MiB, the limit for a YAML file")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        before = text[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        raise _refuse(source, "not UTF-8 text", "save the file as UTF-8", line, column) from None


def _read(text: str | bytes, source: str) -> tuple[Any, Place, str]:
    decoded = _decode(text, source) if isinstance(text, bytes) else text
    if len(decoded) > MAX_BYTES:
        raise _refuse(source, f"larger than {MAX_BYTES // 1024**2} MiB, the limit for a YAML file")
    decoded = decoded.removeprefix("\ufeff")
    bad = _FORBIDDEN.search(decoded)
    if bad is not None:
        before = decoded[: bad.start()]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"the character U+{ord(bad[0]):04X} is not allowed"
        raise _refuse(source, message, "remove it", line, column)
    builder = Builder(source)
    try:
        data, root = builder.build(decoded)
    except yaml.YAMLError as error:
        raise InputError([*builder.problems, syntax_problem(error, source, decoded)]) from None
    return data, root, decoded


def parse_value(text: str, source: str) -> Any:
    """The value of a YAML scalar or flow collection (`2:1`, `[1:1, 2:1]`), for a setting. Raises InputError."""
    try:
        return _read(text, source)[0]
    except InputError as error:
        raise InputError([replace(p, line=0, column=0) for p in error.problems]) from None


def parse_document(text: str | bytes, source: str) -> Document:
    """Read a text whose top level is a mapping. Raises InputError with every problem found."""
    data, root, decoded = _read(text, source)
    if data is None:
        raise _refuse(source, "there is nothing in it")
    if not isinstance(data, dict):
        message = f"expected keys with values at the top level, got {'a list' if isinstance(data, tuple) else 'text'}"
        raise _refuse(source, message, "write `key: value` lines", root.line, root.column)
    return Document(data, source, decoded, root)


def read_stream(stream: BinaryIO, source: str) -> Document:
    """Read a document from an open binary stream, such as standard input. Raises InputError."""
    return parse_document(stream.read(MAX_BYTES + 1), source)


def read_document(path: Path, source: str | None = None) -> Document:
    """Read a file. `source` names it in messages; default: its path. Raises InputError."""
    name = printable(path) if source is None else source
    with open_regular(path, name) as stream:
        return read_stream(stream, name)


@contextmanager
def open_regular(path: Path, name: str) -> Iterator[BinaryIO]:
    """A file of the user to read; `name` stands for it in messages. Raises InputError, also while it is read."""
    try:
        # Not blocking: the other end of a named pipe may never come.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise _refuse(name, "no such file") from None
    except (OSError, ValueError) as error:
        raise _refuse(name, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise _refuse(name, "is a directory, not a file")
        if not stat.S_ISREG(mode):
            raise _refuse(name, "is not a regular file", "pipe it into standard input, and give `-`")
        with open(handle, "rb", closefd=False) as stream:
            yield stream
    except OSError as error:
        raise _refuse(name, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(handle)


class _Dumper(yaml.SafeDumper):
    """Writes what the reader above reads back, and what YAML 1.1 readers do not take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """Nothing is written as an alias."""
        return True


def _decimal(dumper: yaml.SafeDumper, number: Decimal) -> yaml.ScalarNode:
    return dumper.represent_scalar(f"tag:yaml.org,2002:{'float' if '.' in f'{number:f}' else 'int'}", f"{number:f}")


_Dumper.add_representer(Decimal, _decimal)
_Dumper.add_representer(Fraction, lambda dumper, f: dumper.represent_str(f"{f.numerator}:{f.denominator}"))
_Dumper.add_representer(tuple, lambda dumper, items: dumper.represent_list(items))
# A text like 4e9 is a number to YAML 1.2 only: this resolver makes the dumper quote it.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"), list("-+.0123456789")
)


def dump_yaml(data: Any) -> str:
    """Data as YAML text, keys in their order."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
