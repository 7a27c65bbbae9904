"""The catalogue as tables and as data: what there is, one entry in full, what is lacking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ibplan.catalog.checks import CatalogRow
from ibplan.catalog.entries import Cable, Gpu, Module, Nic, Recipe, Server, Switch
from ibplan.catalog.layers import KINDS, Kind
from ibplan.catalog.store import Catalog
from ibplan.report import markdown
from ibplan.report.data import money, to_json, to_yaml
from ibplan.report.spreadsheet import csv_text
from ibplan.report.text import number

Row = Mapping[str, Any]
LIST_COLUMNS: Final = ("kind", "id", "status", "vendor", "model", "what", "price_usd", "price_kind", "price_date")
SHORT_COLUMNS: Final = ("id", "what", "status", "price_usd")
CHECK_COLUMNS: Final = ("check", "kind", "id", "text", "days")
_MAX_SPEEDS: Final = 3
_ROOM_FOR_ALL: Final = 160


def list_rows(catalog: Catalog, kinds: Iterable[Kind]) -> list[Row]:
    """One row for each entry of the kinds, in the catalogue's order."""
    return [
        {
            "kind": kind,
            "id": name,
            "status": getattr(entry, "status", None),
            "vendor": getattr(entry, "vendor", None),
            "model": getattr(entry, "model", getattr(entry, "name", None)),
            "what": describe(entry),
            **_price(catalog, name),
        }
        for kind in kinds
        for name, entry in getattr(catalog, kind).items()
    ]


def list_columns(width: int) -> tuple[str, ...]:
    """The columns of a list that a table of a width has room for."""
    return LIST_COLUMNS if width >= _ROOM_FOR_ALL else SHORT_COLUMNS


def check_rows(found: Iterable[CatalogRow]) -> list[Row]:
    """One row for each thing that is lacking."""
    return [{"check": r.check, "kind": r.kind, "id": r.id, "text": r.text, "days": r.days} for r in found]


def entry_data(catalog: Catalog, name: str) -> dict[str, Any] | None:
    """Everything known of the entry with an id: its kind, its fields, its prices; None if nothing has it."""
    for kind in KINDS:
        entry = getattr(catalog, kind).get(name)
        if entry is not None:
            prices = [
                row.price.model_dump(mode="json", exclude_none=True) | {"usd": money(row.unit_usd)}
                for row in catalog.prices.usable(name)
            ]
            fields = entry.model_dump(mode="json", exclude_none=True)
            return {"kind": kind, **fields, **_price(catalog, name), "prices": prices}
    return None


def describe(entry: Switch | Nic | Server | Gpu | Module | Cable | Recipe) -> str:
    """What an entry is, in a few words."""
    match entry:
        case Switch():
            speeds = sorted({b.gbps for group in entry.cages for b in group.breakouts}, reverse=True)[:_MAX_SPEEDS]
            return " | ".join(f"{entry.radix(gbps)} x {gbps}G" for gbps in speeds)
        case Nic():
            return " | ".join(f"{m.link_layer} {m.ports * entry.cage_count} x {m.gbps}G" for m in entry.modes)
        case Server():
            return f"{entry.gpus} GPUs, {entry.compute_nics} compute NICs"
        case Gpu():
            return f"{entry.memory_gbytes:g} GB" if entry.memory_gbytes is not None else ""
        case Module():
            reach = f", {entry.reach_m:g} m" if entry.reach_m is not None else ""
            return f"{entry.links} x {entry.gbps}G {entry.form}, {entry.fiber.kind.replace('_', ' ')}{reach}"
        case Cable():
            ends = dict.fromkeys(f"{edge(entry.lengths_m):g}" for edge in (min, max)) if entry.lengths_m else ()
            lengths = f", {' to '.join(ends)} m" if ends else ""
            return f"{entry.kind}{f', 1 to {entry.ends_b}' if entry.ends_b > 1 else ''}{lengths}"
        case Recipe():
            return f"{entry.link_layer} {entry.gbps}G, {entry.medium.replace('_', ' ')}: {entry.cable}"


def _price(catalog: Catalog, name: str) -> Row:
    choice = catalog.prices.choose(name)
    if choice is None:
        return {"price_usd": None, "price_kind": None, "price_date": None}
    return {"price_usd": money(choice.unit_usd), "price_kind": choice.kind, "price_date": choice.date}


def flatten(data: Any, name: str = "") -> Iterator[Row]:
    """Nested data as rows of a field (`cages[0].form`) and its value."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "used" and isinstance(value, bool):
                key, value = "second-hand", "yes" if value else "no"
            yield from flatten(value, f"{name}.{key}" if name else str(key))
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from flatten(value, f"{name}[{index}]")
    else:
        yield {"field": name, "value": data}


def render_rows(
    rows: Sequence[Row], columns: Sequence[str], form: str, *, width: int, color: bool, ascii_only: bool
) -> str:
    """Rows in a format (json, yaml, csv, markdown; else a table). `width`, `color`, `ascii_only` are the terminal's."""
    if form in ("json", "yaml"):
        return render_data({"schema_version": "1", "rows": [dict(row) for row in rows]}, form)
    if form == "csv":
        return csv_text(columns, ([row[column] for column in columns] for row in rows))
    cells = [[_words(row[column]) for column in columns] for row in rows]
    right = [all(_is_number(row[column]) for row in rows if row[column] is not None) for column in columns]
    if form == "markdown":
        return markdown.table(columns, [[markdown.cell(words) for words in line] for line in cells], right)
    from ibplan.report.grid import grid
    from ibplan.report.screen import ascii_only_data

    shown = ascii_only_data(cells) if ascii_only else cells
    return grid(columns, shown, right, whole=("id",), width=width, color=color, ascii_only=ascii_only)


def render_data(data: Any, form: str) -> str:
    """Data as JSON or YAML."""
    return to_yaml(data) if form == "yaml" else to_json(data)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return number(round(value, 2)) if isinstance(value, float) else str(value)
