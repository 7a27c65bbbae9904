"""YAML events -> plain values and their positions, with the few scalars of YAML 1.2 and hard limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn

import yaml

from ibplan.errors import InputError, Problem

MAX_DEPTH: Final = 32
MAX_NODES: Final = 200_000
MAX_ALIASES: Final = 100
MAX_SCALAR: Final = 64 * 1024
MAX_DIGITS: Final = 40
# Bound what the models have to look at, and to complain about.
MAX_KEYS: Final = 500
MAX_ITEMS: Final = 10_000
MAX_PROBLEMS: Final = 100

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTANTS: Final[dict[str, Any]] = {"": None, "~": None, "null": None, "true": True, "false": False}
_NUMBER_STARTS: Final = frozenset("-+.0123456789")
_NUMBER: Final = re.compile(
    r"[-+]?(?:(?P<int>0|[1-9][0-9]*)|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)"
)
# Beside control characters: line ends that only YAML 1.1 knows, marks that turn the text on a screen around, and
# characters that nobody sees, so that two names look alike. They would reach a terminal or a CSV cell.
UNSEEN: Final = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f"
)
# Escapes in double quotes can make what the text itself may not hold.
_UNPRINTABLE: Final = re.compile(rf"[\r{UNSEEN}]")


class Place(NamedTuple):
    """Where a value stands (1-based), and where its parts stand: by key or by index."""

    line: int
    column: int
    keys: dict[str, tuple[int, int]] | None = None
    parts: dict[str, Place] | list[Place] | None = None


class _Anchor(NamedTuple):
    value: Any
    place: Place
    nodes: int
    depth: int


class _Frame:
    """A collection that is being read."""

    __slots__ = ("anchor", "column", "depth", "key", "keys", "line", "nodes_before", "parts", "value")

    def __init__(self, event: Any, is_mapping: bool, nodes: int) -> None:
        mark = event.start_mark
        self.line, self.column = mark.line + 1, mark.column + 1
        self.anchor, self.nodes_before, self.depth = event.anchor, nodes, 1
        self.value: Any = {} if is_mapping else []
        self.keys: dict[str, tuple[int, int]] | None = {} if is_mapping else None
        self.parts: Any = {} if is_mapping else []
        self.key: str | None = None


class Builder:
    """Turns the events of one text into data. `build` is the way in; everything else is a step of it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._stack: list[_Frame] = []
        self._anchors: dict[str, _Anchor | None] = {}
        self._problems: list[Problem] = []
        self._root: tuple[Any, Place] | None = None
        self._nodes = self._aliases = self._documents = 0
        self._steps: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._start,
            yaml.SequenceStartEvent: self._start,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
        }

    def build(self, text: str) -> tuple[Any, Place]:
        """The data of `text` and its positions. Raises InputError, and yaml.YAMLError for bad syntax."""
        steps = self._steps
        for event in yaml.parse(text, _LOADER):
            step = steps.get(type(event))
            if step is not None:
                step(event)
        if self._problems:
            raise InputError(self._problems)
        return self._root if self._root is not None else (None, Place(1, 1))

    @property
    def problems(self) -> list[Problem]:
        """What was found before the reading stopped."""
        return self._problems

    def _problem(self, event: Any, message: str, remedy: str = "") -> None:
        mark = event.start_mark
        self._problems.append(Problem(self._source, mark.line + 1, mark.column + 1, message, remedy))

    def _stop(self, event: Any, message: str, remedy: str = "") -> NoReturn:
        self._problem(event, message, remedy)
        raise InputError(self._problems)

    def _tag(self, event: Any) -> NoReturn:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!")[:64]
        self._stop(event, f"the tag {tag!r} is not allowed", "write the value without it")

    def _count(self, event: Any, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            self._stop(event, f"more than {MAX_NODES:,} values, aliases expanded")

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop(event, "a second document starts here", "one file holds one document: remove the '---'")

    def _add(self, event: Any, value: Any, place: Place, depth: int) -> None:
        if not self._stack:
            self._root = (value, place)
            return
        frame = self._stack[-1]
        if depth >= frame.depth:
            frame.depth = depth + 1
        if frame.keys is None:
            if len(frame.value) >= MAX_ITEMS:
                self._stop(event, f"more than {MAX_ITEMS:,} entries in one list")
            frame.value.append(value)
            frame.parts.append(place)
        elif frame.key is None:
            self._stop(event, "a list, a mapping or an alias cannot be a key")
        else:
            frame.value[frame.key] = value
            frame.parts[frame.key] = place
            frame.key = None

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        if event.tag is not None:
            self._tag(event)
        if len(text) > MAX_SCALAR:
            self._stop(event, f"a text of {len(text):,} characters; {MAX_SCALAR:,} is the limit")
        plain = event.implicit[0]
        if not plain and _UNPRINTABLE.search(text):
            self._stop(event, "this text holds a control character", "remove the escape that writes it")
        self._count(event, 1)
        stack = self._stack
        if stack and stack[-1].keys is not None and stack[-1].key is None:
            self._key(event, text, plain)
            return
        value = self._plain(event, text) if plain else text
        mark = event.start_mark
        place = Place(mark.line + 1, mark.column + 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchor(value, place, 1, 0)
        self._add(event, value, place, 0)

    def _plain(self, event: Any, text: str) -> Any:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if text[0] not in _NUMBER_STARTS:
            return text
        found = _NUMBER.fullmatch(text)
        if found is None:
            return text
        if found["int"] is not None:
            if len(text) > MAX_DIGITS:
                self._stop(event, f"a number of {len(text):,} digits; {MAX_DIGITS} is the limit")
            return int(text)
        number = float(text)
        return number if abs(number) < float("inf") else text

    def _key(self, event: Any, text: str, plain: bool) -> None:
        frame = self._stack[-1]
        keys = frame.keys
        assert keys is not None  # the caller saw a mapping
        mark = event.start_mark
        if plain and text == "<<":
            self._stop(event, "merge keys ('<<') are not allowed", "write the keys out")
        if plain and text == "":
            self._stop(event, "a key is missing before the ':'")
        if text in keys:
            line, column = keys[text]
            self._problem(event, f"the key {text!r} is given twice; first at line {line}, column {column}")
            if len(self._problems) >= MAX_PROBLEMS:
                raise InputError(self._problems)
        else:
            if len(keys) >= MAX_KEYS:
                self._stop(event, f"more than {MAX_KEYS:,} keys in one mapping")
            keys[text] = (mark.line + 1, mark.column + 1)
        frame.key = text

    def _start(self, event: Any) -> None:
        if event.tag is not None:
            self._tag(event)
        if len(self._stack) >= MAX_DEPTH:
            self._stop(event, f"nested more than {MAX_DEPTH} levels deep")
        if self._stack and self._stack[-1].keys is not None and self._stack[-1].key is None:
            self._stop(event, "a list or a mapping cannot be a key", "put a text that starts with [ or { in quotes")
        self._stack.append(_Frame(event, type(event) is yaml.MappingStartEvent, self._nodes))
        self._count(event, 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = None

    def _end(self, event: Any) -> None:
        frame = self._stack.pop()
        value = frame.value if frame.keys is not None else tuple(frame.value)
        place = Place(frame.line, frame.column, frame.keys, frame.parts)
        if frame.anchor is not None:
            self._anchors[frame.anchor] = _Anchor(value, place, self._nodes - frame.nodes_before, frame.depth)
        self._add(event, value, place, frame.depth)

    def _alias(self, event: Any) -> None:
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            self._stop(event, f"more than {MAX_ALIASES} aliases ('*name')")
        if event.anchor not in self._anchors:
            remedy = "put a text that starts with * in quotes"
            self._stop(event, f"nothing before this line is named '&{event.anchor}'", remedy)
        anchor = self._anchors[event.anchor]
        if anchor is None:
            self._stop(event, f"'*{event.anchor}' stands inside the value that it names")
        if len(self._stack) + anchor.depth > MAX_DEPTH:
            self._stop(event, f"nested more than {MAX_DEPTH} levels deep")
        self._count(event, anchor.nodes)
        mark = event.start_mark
        place = anchor.place._replace(line=mark.line + 1, column=mark.column + 1)
        self._add(event, anchor.value, place, anchor.depth)
