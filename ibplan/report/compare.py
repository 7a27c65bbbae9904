"""A sweep for people and programs: one row for each combination, or for each design of each combination."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from ibplan.document import printable
from ibplan.explain import Data
from ibplan.findings import plural
from ibplan.plan.assemble import SCHEMA_VERSION
from ibplan.plan.compare import Sweep
from ibplan.report import markdown, text
from ibplan.report.data import plain
from ibplan.report.grid import grid_table
from ibplan.report.rows import ESTIMATE, LEGEND, LOWER_BOUND
from ibplan.report.screen import ascii_only_data, printed
from ibplan.report.sections import shortfall_words
from ibplan.report.spreadsheet import csv_text

_GAP: Final = 3  # two blanks and the line that is not drawn
_WIDEST: Final = 40
_NUMBER: Final = "#"
_MOST_REASONS: Final = 3
# The columns of a design in the CSV after those of its combination; `gpus` and `design` may be varied keys.
_CSV: Final = {
    "design_id": "id",
    "rank": "rank",
    "recommended": "recommended",
    "fabric": "fabric",
    "planned_gpus": "gpus",
    "switches": "switches",
    "capex_usd": "capex_usd",
    "complete": "complete",
    "estimated_fraction": "estimated_fraction",
    "capex_per_gpu_usd": "capex_per_gpu_usd",
    "power_w": "power_w",
    "power_known_w": "power_known_w",
    "per_gpu_gbps": "per_gpu_gbps",
    "step_s": "step_s",
    "days": "days",
    "tokens_per_s": "tokens_per_s",
}


def compare_data(sweep: Sweep) -> dict[str, Any]:
    """The sweep as plain data: what `--format json` prints."""
    return {"schema_version": SCHEMA_VERSION, **plain(sweep)}


def compare_csv(data: Data) -> str:
    """One row for each design that is listed, and one for each combination that lists none."""
    head = ["combination", *data["keys"], "state", "exit_code", "why", *_CSV]
    rows = []
    for combination in data["combinations"]:
        values = [combination["values"][key] for key in data["keys"]]
        first = [combination["number"], *values, combination["state"], combination["exit_code"], _why(combination)]
        for design in combination["designs"] or [None]:
            rows.append([*first, *(None if design is None else design[key] for key in _CSV.values())])
    return csv_text(head, rows)


def compare_text(data: Data, *, width: int, color: bool, ascii_only: bool) -> str:
    """For people: as many tables as the width asks for, and why nothing is recommended where nothing is."""
    shown = ascii_only_data(data) if ascii_only else data
    return printed(_parts(shown, width, ascii_only), width=width, color=color, ascii_only=ascii_only)


def compare_markdown(data: Data) -> str:
    """The same for a wiki or a merge request, in one table."""
    columns = _columns(data)
    rows = [[markdown.cell(column.cell(row)) for column in columns] for row in _rows(data)]
    table = markdown.table([markdown.escape(c.head) for c in columns], rows, [c.right for c in columns])
    notes = "".join(f"- {markdown.escape(line)}\n" for line in _notes(data))
    return f"# {markdown.escape(_headline(data))}\n\n{table}" + (f"\n{notes}" if notes else "")


@dataclass(frozen=True, slots=True)
class _Row:
    """A combination, and a design of it if there is one. `label`: its number, with that of the design if several."""

    label: str
    combination: Data
    design: Data | None


@dataclass(frozen=True, slots=True)
class _Column:
    """One column; `key`: it says which combination a row is, and stands in every table."""

    head: str
    cell: Callable[[_Row], str]
    right: bool = True
    key: bool = False


def _rows(data: Data) -> list[_Row]:
    several = any(len(combination["designs"]) > 1 for combination in data["combinations"])
    return [
        _Row(f"{c['number']}.{place}" if several and design is not None else str(c["number"]), c, design)
        for c in data["combinations"]
        for place, design in enumerate(c["designs"] or [None], 1)
    ]


def _columns(data: Data) -> list[_Column]:
    designs = [design for c in data["combinations"] for design in c["designs"]]
    names = _short(data["keys"])
    found = [_Column(_NUMBER, lambda row: row.label, key=True)]
    found += [_Column(names[key], _value(key), right=False, key=True) for key in data["keys"]]
    chosen_alone = all(design["recommended"] for design in designs)
    found.append(_Column("Recommended" if chosen_alone else "Design", _design, right=False))
    if not chosen_alone:
        found.append(_Column("Rank", _rank))
        found.append(_Column("Recommended", _of("recommended", lambda yes: "yes" if yes else "no"), right=False))
    found.append(_Column("Switches", _of("switches", text.number)))
    found.append(_Column("Price\nUSD", _usd("capex_usd")))
    found.append(_Column("per GPU\nUSD", _usd("capex_per_gpu_usd")))
    found.append(_Column("Power\nW", _power))
    found.append(_Column("each GPU\nGb/s", _of("per_gpu_gbps", text.number)))
    known = ((key, head) for key, head in _WORK.items() if any(design[key] is not None for design in designs))
    return [*found, *(_Column(head, _of(key, text.number)) for key, head in known)]


_WORK: Final = {"step_s": "Step\ns", "days": "Training\ndays", "tokens_per_s": "Tokens\n1/s"}


def _short(keys: Sequence[str]) -> dict[str, str]:
    """The last part of each key as its name, where no other key ends so."""
    last = [key.rpartition(".")[2] for key in keys]
    return {key: name if last.count(name) == 1 else key for key, name in zip(keys, last, strict=True)}


def _value(key: str) -> Callable[[_Row], str]:
    return lambda row: printable(row.combination["values"][key])


def _of(key: str, write: Callable[[Any], str]) -> Callable[[_Row], str]:
    def cell(row: _Row) -> str:
        if row.design is None:
            return text.ABSENT
        return text.UNKNOWN if row.design[key] is None else write(row.design[key])

    return cell


def _rank(row: _Row) -> str:
    """Designs without all prices have none."""
    rank = None if row.design is None else row.design["rank"]
    return text.ABSENT if rank is None else text.number(rank)


def _usd(key: str) -> Callable[[_Row], str]:
    def cell(row: _Row) -> str:
        if row.design is None:
            return text.ABSENT
        marks = ("" if row.design["complete"] else LOWER_BOUND) + (ESTIMATE if row.design["estimated_fraction"] else "")
        return marks + text.usd(row.design[key])

    return cell


def _power(row: _Row) -> str:
    if row.design is None:
        return text.ABSENT
    return ("" if row.design["power_w"] is not None else LOWER_BOUND) + text.number(row.design["power_known_w"])


def _design(row: _Row) -> str:
    if row.design is None:
        return f"none: {row.combination['state']}"
    name: str = row.design["id"]
    return name


def _parts(data: Data, width: int, ascii_only: bool) -> Iterator[RenderableType]:
    yield Text(_headline(data), "bold")
    rows = _rows(data)
    for columns in _packed(_columns(data), rows, width):
        yield Text()
        cells = [[column.cell(row) for column in columns] for row in rows]
        yield grid_table([c.head for c in columns], cells, [c.right for c in columns], whole=_whole(columns))
    notes = list(_notes(data))
    if notes:
        yield Text()
    for line in notes:
        yield Padding(Text(line), (0, 0, 0, 2))


def _whole(columns: Sequence[_Column]) -> list[str]:
    """Numbers never wrap."""
    return [column.head for column in columns if column.right]


def _packed(columns: Sequence[_Column], rows: Sequence[_Row], width: int) -> Iterator[list[_Column]]:
    """Columns that fit beside each other, behind those that say which combination it is."""
    widths = {
        c.head: min(_WIDEST, max(len(line) for cell in (c.head, *map(c.cell, rows)) for line in cell.split("\n")))
        for c in columns
    }
    keys = [column for column in columns if column.key]
    room = width - sum(widths[column.head] + _GAP for column in keys)
    beside: list[_Column] = []
    used = 0
    for column in columns[len(keys) :]:
        if beside and used + widths[column.head] > room:
            yield [*keys, *beside]
            beside, used = [], 0
        beside.append(column)
        used += widths[column.head] + _GAP
    yield [*keys, *beside]


def _headline(data: Data) -> str:
    count = len(data["combinations"])
    found = sum(c["recommended"] is not None for c in data["combinations"])
    fitting = f"a design is recommended for {'all' if found == count else found if found else 'none'} of them"
    varied = ", ".join(map(printable, data["keys"]))
    return f"{printable(data['name'])}: {plural(count, 'combination')} of {varied}; {fitting}"


def _notes(data: Data) -> Iterator[str]:
    yield from _reasons(data)
    used = {cell[:1] for row in _rows(data) for column in _columns(data) if column.right for cell in [column.cell(row)]}
    words = [f"{mark} {meaning}" for mark, meaning in LEGEND if mark in used and mark != text.ABSENT]
    words += ["each GPU: bandwidth when half of the GPUs send to the other half"]
    if all(design[key] is None for c in data["combinations"] for design in c["designs"] for key in _WORK):
        words.append("the step time of the job is not known")
    yield "; ".join(words) + "."


def _reasons(data: Data) -> Iterator[str]:
    """Why nothing is recommended, combinations with the same reason together."""
    where: dict[str, list[str]] = {}
    for combination in data["combinations"]:
        if combination["recommended"] is None:
            where.setdefault(_why(combination) or combination["state"], []).append(str(combination["number"]))
    for why, numbers in where.items():
        yield f"{_NUMBER} {', '.join(numbers)}: {why}."


def _why(combination: Mapping[str, Any]) -> str | None:
    """Why nothing is recommended, in words; None where something is."""
    if combination["recommended"] is not None:
        return None
    if combination["shortfall"]:
        return "; ".join(shortfall_words(row, row["design"]) for row in combination["shortfall"])
    if combination["reasons"]:
        first, more = combination["reasons"][:_MOST_REASONS], len(combination["reasons"]) - _MOST_REASONS
        return "; ".join(map(printable, first)) + (f"; and {plural(more, 'more reason')}" if more > 0 else "")
    if combination["state"] == "without prices":
        return "parts have no price: give prices in a file named by `prices:`"
    return "no design that keeps every limit is known to carry the job"
