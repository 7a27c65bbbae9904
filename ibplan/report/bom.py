"""The bill of materials in procurement's columns. Rows are the line items of a design; nothing is priced here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, Literal

from ibplan.economics.items import LineItem
from ibplan.plan.results import Design, Plan
from ibplan.report.data import money, significant
from ibplan.report.markdown import cell, escape, table
from ibplan.report.spreadsheet import csv_text
from ibplan.report.text import number
from ibplan.units import format_usd

By = Literal["part", "tier"]
COLUMNS: Final = (
    "line",
    "network",
    "category",
    "manufacturer",
    "manufacturer_part_number",
    "vendor_sku",
    "description",
    "length_m",
    "quantity",
    "spares",
    "order_quantity",
    "unit",
    "unit_price",
    "currency",
    "price_kind",
    "price_date",
    "price_source",
    "discount_percent",
    "extended_price",
    "lead_time_weeks",
    "power_each_w",
    "where_used",
    "notes",
)
_NUMERIC: Final = frozenset(
    {
        "line",
        "length_m",
        "quantity",
        "spares",
        "order_quantity",
        "unit_price",
        "discount_percent",
        "extended_price",
        "lead_time_weeks",
        "power_each_w",
    }
)
_UNIT: Final = "each"
_CURRENCY: Final = "USD"
_INFERRED: Final = "inferred, not stated by a maker: ask the vendor"
_IN_HOST: Final = "power is in the switch's maximum"
_OLD: Final = "may not be orderable: ask the vendor"
Row = Mapping[str, Any]


def bom_rows(plan: Plan, design: Design, by: By = "part") -> list[Row]:
    """The rows of a design: one a part with the places it is used in, or one a part and tier.

    Pieces whose power is in a switch's maximum stand apart from others of the part, so that quantity times power adds
    up to the design's maximum.
    """
    groups: dict[object, list[LineItem]] = {}
    for item in design.line_items:
        tier = item.tier if by == "tier" else ""
        same = replace(item, quantity=0, where="", tier=tier, basis=None)
        groups.setdefault(same, []).append(item)
    old = _old_parts(plan, design)
    return [_row(line, items, old, by) for line, items in enumerate(groups.values(), 1)]


def _row(line: int, items: Sequence[LineItem], old: Set[str], by: By) -> Row:
    first = items[0]
    quantity = sum(item.quantity for item in items)
    price = first.unit_price_usd
    values = (
        line,
        first.network,
        first.category,
        first.manufacturer,
        first.part_number,
        first.part,
        first.description,
        first.length_m,
        quantity,
        0,  # spares: none are planned yet
        quantity,
        _UNIT,
        price,
        None if price is None else _CURRENCY,
        first.price_kind,
        first.price_date,
        first.price_source,
        None if price is None else 0,  # no discount is known: prices are taken as they are
        None if price is None else price * quantity,
        None,  # lead time: unknown
        None if first.power_in_host else first.power_each_w,
        _places(items),
        "; ".join(_notes(items, old)),
    )
    row = dict(zip(COLUMNS, values, strict=True))
    return {column: first.tier if column == "tier" else row[column] for column in columns_of(by)}


def columns_of(by: By) -> tuple[str, ...]:
    """The columns of a bill: by tier, the tier stands after the network."""
    return COLUMNS if by == "part" else (*COLUMNS[:2], "tier", *COLUMNS[2:])


def _places(items: Sequence[LineItem]) -> str:
    places: dict[str, int] = {}
    for item in items:
        places[item.where] = places.get(item.where, 0) + item.quantity
    if len(places) == 1:
        return next(iter(places))
    return "; ".join(f"{where} ({quantity})" for where, quantity in places.items())


def _notes(items: Sequence[LineItem], old: Set[str]) -> Iterator[str]:
    if items[0].unit_price_usd is None:
        yield "no price"
    if items[0].price_kind == "estimate":
        yield "price is an estimate"
    if items[0].category in ("cable", "splitter") and items[0].length_m is None:
        yield "length not known"
    if items[0].part_number is None:
        yield "no part number known"
    total = sum(item.quantity for item in items)
    reserved = sum(item.quantity for item in items if item.tier == "reserved")
    if reserved:
        yield "for reserved ports" if reserved == total else f"{reserved} for reserved ports"
    inferred = sum(item.quantity for item in items if item.basis == "inferred")
    if inferred:
        yield f"pairing {_INFERRED}" if inferred == total else f"pairing of {inferred} {_INFERRED}"
    if items[0].power_in_host:
        yield _IN_HOST
    if items[0].part in old:
        yield _OLD


def _old_parts(plan: Plan, design: Design) -> Set[str]:
    """Parts of the design that a finding marks as not active."""
    marked = [f.message for f in plan.findings if f.code == "part-status" and f.design == design.id]
    parts = {item.part for item in design.line_items}
    return {part for part in parts if any(message.startswith(f"{part} is marked ") for message in marked)}


def bom_csv(rows: Iterable[Row], by: By = "part", *, crlf: bool = False) -> str:
    """The rows as CSV; money with two places. Totals are left to the reader: every row has what they need."""
    columns = columns_of(by)
    return csv_text(columns, ([_cell(row[column]) for column in columns] for row in rows), crlf=crlf)


def _cell(value: Any) -> Any:
    return value.quantize(Decimal("0.01")) if isinstance(value, Decimal) else value


def bom_data(plan: Plan, design: Design, rows: Iterable[Row]) -> dict[str, Any]:
    """The bill as plain data, with what it rests on and its total."""
    totals = design.totals
    return {
        "schema_version": plan.schema_version,
        "name": plan.name,
        "design": design.id,
        "inputs": {
            "catalog_digest": plan.inputs.catalog_digest,
            "price_book": {"name": plan.inputs.price_book.name, "date": plan.inputs.price_book.date},
        },
        "rows": [{key: _plain(value) for key, value in row.items()} for row in rows],
        "totals": {
            "capex_usd": money(totals.capex_usd),
            "complete": totals.complete,
            "estimated_fraction": significant(totals.estimated_fraction),
            "unpriced": [{"part": row.part, "quantity": row.quantity} for row in totals.unpriced],
        },
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return money(value)
    return significant(value) if isinstance(value, float) else value


def bom_markdown(plan: Plan, design: Design, rows: Sequence[Row], by: By = "part") -> str:
    """The bill as Markdown with its total. The columns are always those of the CSV."""
    columns = columns_of(by)
    body = [[cell(_words(row[column])) for column in columns] for row in rows]
    totals = design.totals
    known = "complete" if totals.complete else f"a lower bound: {_without_price(len(totals.unpriced))}"
    share = f"; {totals.estimated_fraction:.0%} of it rests on estimates" if totals.estimated_fraction else ""
    total = f"Total: {format_usd(totals.capex_usd)} ({known}{share})"
    head = f"# {escape(plan.name)}: bill of materials of {escape(design.id)}\n"
    return f"{head}\n{table(columns, body, [c in _NUMERIC for c in columns])}\n{escape(total)}\n"


def _without_price(kinds: int) -> str:
    return "1 kind of part has no price" if kinds == 1 else f"{kinds} kinds of parts have no price"


def _words(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{value:,.2f}"
    if isinstance(value, int | float):
        return number(value)
    return "" if value is None else str(value)
