"""The cable schedule as CSV and JSON, piece by piece. Rows come from `ibplan.cabling`; nothing is counted here."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final

from ibplan.cabling.rows import CableRow, End
from ibplan.report.spreadsheet import safe

_END: Final = ("hall", "row", "rack", "unit", "device", "cage", "port", "module", "module_part_number")
COLUMNS: Final = (
    "network",
    "cable_id",
    "kind",
    "label_a",
    "label_b",
    *(f"a_{name}" for name in (*_END, "module_quantity")),
    *(f"b_{name}" for name in (*_END, "module_quantity")),
    "cable",
    "manufacturer",
    "part_number",
    "description",
    "medium",
    "connector_a",
    "polish_a",
    "connector_b",
    "polish_b",
    "polarity",
    "gbps",
    "run_m",
    "length_m",
    "bundle",
)
_BLOCK: Final = 4096
Cell = str | int | float | None


def cells(row: CableRow) -> tuple[Cell, ...]:
    """A row in the order of `COLUMNS`. Several far ends of a splitter stand in one cell, apart by `; `."""
    far = row.b[0][:9] if len(row.b) == 1 else [_joined(end[i] for end in row.b) for i in range(9)]
    modules = row.b[0].module_quantity if len(row.b) == 1 else sum(end.module_quantity for end in row.b)
    run_m, length_m = _whole(row.run_m), _whole(row.length_m)
    return (*row[:4], "; ".join(row.label_b), *row.a[:10], *far, modules, *row[7:18], run_m, length_m, row.bundle)


def _joined(values: Iterable[Cell]) -> str | None:
    texts = ["" if value is None else str(value) for value in values]
    return "; ".join(texts) if any(texts) else None


def _whole(number: float | None) -> float | int | None:
    """A number without a decimal point that says nothing."""
    return int(number) if number is not None and number == int(number) else number


def schedule_csv(rows: Iterable[CableRow]) -> Iterator[str]:
    """The schedule as CSV, some thousand rows at a time."""
    yield _csv([COLUMNS])
    left = iter(rows)
    while block := [cells(row) for row in islice(left, _BLOCK)]:
        # Most texts of a block are alike, and hardly any looks like a formula: looking at each once is much faster.
        if any(isinstance(cell, str) and safe(cell) != cell for cell in set(chain.from_iterable(block))):
            yield _csv([[safe(cell) if isinstance(cell, str) else cell for cell in row] for row in block])
        else:
            yield _csv(block)


def _csv(rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)
    return text.getvalue()


def schedule_json(head: Mapping[str, Any], rows: Iterable[CableRow]) -> Iterator[str]:
    """The schedule as one JSON object: what `head` holds, then `cables`, one to a line."""
    start = json.dumps(head, indent=2, ensure_ascii=False, allow_nan=False)
    yield start.removesuffix("\n}") + ',\n  "cables": ['
    between, block = "\n    ", []
    for row in rows:
        block.append(between + json.dumps(_plain(row), ensure_ascii=False, allow_nan=False))
        between = ",\n    "
        if len(block) == _BLOCK:
            yield "".join(block)
            block.clear()
    yield "".join(block) + ("\n  ]" if between[0] == "," else "]") + "\n}\n"


def _plain(row: CableRow) -> dict[str, Any]:
    data = row._asdict()
    data["a"], data["b"] = _end(row.a), [_end(end) for end in row.b]
    return data | {"run_m": _whole(row.run_m), "length_m": _whole(row.length_m)}


def _end(end: End) -> dict[str, Any]:
    return end._asdict()
