"""Which column of a table holds what: by the names in its head, or as the user says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from ibplan.errors import InputError, UsageError
from ibplan.sheets.cells import Cell, Row, Sheet

K = TypeVar("K", bound=str)
_HEAD_ROWS: Final = 50


@dataclass(frozen=True, slots=True)
class Head(Generic[K]):
    """Where the table starts, and the columns (from 0) that hold what; a key may have several columns."""

    row: int
    columns: Mapping[K, tuple[int, ...]]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Columns(Generic[K]):
    """What to look for: by key the names that a column may have (`plain` ones, the best first).

    `many`: keys of which every column counts, not the best alone. `enough`: whether the keys found make a table;
    `needed` says in words what that takes, `example` how to name columns by hand.
    """

    names: Mapping[K, tuple[str, ...]]
    enough: Callable[[Mapping[K, tuple[int, ...]]], bool]
    needed: str
    example: str
    plain: Callable[[Cell], str]
    many: frozenset[str] = frozenset()


def read_columns(written: str | None, keys: Sequence[K]) -> dict[K, str]:
    """`part=P/N,quantity=Qty`: names of columns by key. Raises UsageError."""
    found: dict[K, str] = {}
    for entry in (written or "").split(",") if written else ():
        key, equals, name = entry.partition("=")
        known = next((k for k in keys if k == key.strip()), None)
        if known is None or not equals or not name.strip():
            raise UsageError(f"--columns: {entry!r} is not of the form key=name; keys are {', '.join(keys)}")
        found[known] = name.strip()
    return found


def find_head(sheets: Sequence[Sheet], columns: Columns[K], asked: Mapping[K, str]) -> tuple[Sheet, Head[K]]:
    """The sheet and the row that name the columns: those that name the most. Raises InputError if none does."""
    found = [(len(head.columns), sheet, head) for sheet in sheets for head in _heads(sheet, columns, asked)]
    if found:
        _, sheet, head = max(found, key=lambda each: each[0])
        return sheet, head
    sheet = max(sheets, key=lambda each: max((len(row) for _, row in each.rows[:_HEAD_ROWS]), default=0))
    if not sheet.rows:
        raise InputError([sheet.problem(0, "there is nothing in it")])
    number, first = sheet.rows[0]
    seen = ", ".join(repr(str(cell)[:30]) for cell in first if cell is not None)
    if asked:
        named = ", ".join(repr(name) for name in asked.values())
        raise InputError(
            [sheet.problem(0, f"no row of the first {_HEAD_ROWS} names the columns {named}", f"row {number} is {seen}")]
        )
    message = f"no row of the first {_HEAD_ROWS} names {columns.needed}"
    raise InputError([sheet.problem(0, message, f"row {number} is {seen}; name them: --columns {columns.example}")])


def same_heads(
    sheets: Sequence[Sheet], head: Head[K], columns: Columns[K], asked: Mapping[K, str]
) -> list[tuple[Sheet, Head[K]]]:
    """The sheets of a workbook whose table has the same columns in the same places, each with its own head."""
    names = _names(head)
    found = []
    for sheet in sheets:
        same = next((other for other in _heads(sheet, columns, asked) if _names(other) == names), None)
        if same is not None:
            found.append((sheet, same))
    return found


def _names(head: Head[K]) -> list[str]:
    """What the columns are called, whatever empty ones are behind them."""
    names = [plain_name(name) or name for name in head.names]
    while names and not names[-1]:
        names.pop()
    return names


def _heads(sheet: Sheet, columns: Columns[K], asked: Mapping[K, str]) -> Iterator[Head[K]]:
    for row in sheet.rows[:_HEAD_ROWS]:
        head = _head(row, columns, asked)
        if head is not None and columns.enough(head.columns):
            yield head


def _head(row: Row, wanted: Columns[K], asked: Mapping[K, str]) -> Head[K] | None:
    number, cells = row
    plain = _told_apart([wanted.plain(cell) for cell in cells])
    columns: dict[K, tuple[int, ...]] = {}
    for key, names in wanted.names.items():
        if key in asked:
            named = [index for index, cell in enumerate(cells) if str(cell).strip().lower() == asked[key].lower()]
            if len(named) != 1:
                return None
            columns[key] = tuple(named)
            continue
        matches = [plain.index(name) for name in names if name in plain]
        if matches:
            columns[key] = tuple(matches) if key in wanted.many else (matches[0],)
    return Head(number, columns, tuple(str(cell or "") for cell in cells))


def _told_apart(names: Sequence[str]) -> list[str]:
    """The second column of a name gets a 2 behind it, and so on: `device`, `port`, `device 2`, `port 2`."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return found


def plain_name(cell: Cell, letters: str = "") -> str:
    """A name of a column in small letters, words apart by one blank, without other signs but the `letters`."""
    return " ".join(re.sub(rf"[^0-9a-z{letters}]+", " ", str(cell or "").lower()).split())
