"""The bill of materials in procurement's columns. Rows are the line items of a design; nothing is priced here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, Literal

from ibplan.economics.items import LineItem
from ibplan.economics.spares import SPARES_TIER
from ibplan.plan.joint_bill import JointTotals
from ibplan.plan.results import Design, Plan, Totals
from ibplan.report.bom_left_out import left_out_words
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
SPEC_QUANTITY: Final = "order_quantity: "  # and the name of a spec: its share of the sum
_UNIT: Final = "each"
_CURRENCY: Final = "USD"
_INFERRED: Final = "inferred, not stated by a maker: ask the vendor"
_IN_HOST: Final = "power is in the switch's maximum"
_OLD: Final = "may not be orderable: ask the vendor"
Row = Mapping[str, Any]


def bom_rows(plan: Plan, design: Design, by: By = "part") -> list[Row]:
    """The rows of a design: one a part with the places it is used in, or one a part and tier.

    Pieces whose power is in a switch's maximum stand apart from others of the part, so that quantity times power adds
    up to the design's maximum. Spares stand in the first row of their part; by tier they have rows of their own.
    """
    old = old_parts(plan, design)
    return [make_row(line, items, old, by) for line, items in enumerate(row_groups(design.bill_items, by), 1)]


def row_groups(line_items: Iterable[LineItem], by: By) -> list[list[LineItem]]:
    """The line items of each row, in the order of the rows."""
    groups: dict[object, list[LineItem]] = {}
    first: dict[object, list[LineItem]] = {}
    for item in line_items:
        tier = item.tier if by == "tier" else ""
        same = replace(item, quantity=0, where="", tier=tier, basis=None)
        if by == "part" and item.tier == SPARES_TIER and _orderable(item) in first:
            first[_orderable(item)].append(item)
            continue
        group = groups.setdefault(same, [])
        group.append(item)
        first.setdefault(_orderable(item), group)
    return list(groups.values())


def _orderable(item: LineItem) -> LineItem:
    """What makes two lines one thing to order, wherever it is used."""
    neutral = replace(item, network="shared", tier="", quantity=0, where="", basis=None)
    return replace(neutral, power_each_w=None, power_typical_each_w=None, power_in_host=False)


def make_row(line: int, items: Sequence[LineItem], old: Set[str], by: By) -> Row:
    """The row of a group of line items. `old`: parts that may not be orderable any more."""
    first = items[0]
    built = [item for item in items if item.tier != SPARES_TIER]
    quantity = sum(item.quantity for item in built)
    order = sum(item.quantity for item in items)
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
        order - quantity,
        order,
        _UNIT,
        price,
        None if price is None else _CURRENCY,
        first.price_kind,
        first.price_date,
        first.price_source,
        None if price is None else _percent(first.discount_percent),
        None if price is None else price * order,
        None,  # lead time: unknown
        None if first.power_in_host else first.power_each_w,
        _places(built or items),
        "; ".join(_notes(items, old)),
    )
    row = dict(zip(COLUMNS, values, strict=True))
    return {column: first.tier if column == "tier" else row[column] for column in columns_of(by)}


def _percent(discount: float | None) -> float:
    """A discount as people write it: whole where it is whole but for the rounding of cents."""
    return round(discount or 0.0, 2)


def columns_of(by: By) -> tuple[str, ...]:
    """The columns of a bill: by tier, the tier stands after the network."""
    return COLUMNS if by == "part" else (*COLUMNS[:2], "tier", *COLUMNS[2:])


def is_numeric(column: str) -> bool:
    """Whether a column holds numbers."""
    return column in _NUMERIC or column.startswith(SPEC_QUANTITY)


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
    if items[0].discount_percent:
        yield f"{format_usd(items[0].list_price_usd or Decimal(0))} before the discount"
    total = sum(item.quantity for item in items if item.tier != SPARES_TIER)
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


def old_parts(plan: Plan, design: Design) -> Set[str]:
    """Parts of the design that a finding marks as not active."""
    marked = [f.message for f in plan.findings if f.code == "part-status" and f.design == design.id]
    parts = {item.part for item in design.line_items}
    return {part for part in parts if any(message.startswith(f"{part} is marked ") for message in marked)}


def bom_csv(rows: Iterable[Row], by: By = "part", *, crlf: bool = False) -> str:
    """The rows as CSV; money with two places. Totals are left to the reader: every row has what they need."""
    rows = list(rows)
    columns = rows[0].keys() if rows else columns_of(by)
    return csv_text(tuple(columns), ([_cell(row[column]) for column in columns] for row in rows), crlf=crlf)


def _cell(value: Any) -> Any:
    return value.quantize(Decimal("0.01")) if isinstance(value, Decimal) else value


def bom_data(plan: Plan, design: Design, rows: Iterable[Row]) -> dict[str, Any]:
    """The bill as plain data, with what it rests on and its total."""
    return {
        "schema_version": plan.schema_version,
        "name": plan.name,
        "design": design.id,
        "inputs": inputs_data(plan),
        "rows": rows_data(rows),
        "totals": totals_data(design.totals),
        "left_out": [{"what": row.what, "reason": row.reason} for row in design.left_out],
    }


def inputs_data(plan: Plan) -> dict[str, Any]:
    """What a bill rests on besides its spec, as plain data."""
    book = plan.inputs.price_book
    return {"catalog_digest": plan.inputs.catalog_digest, "price_book": {"name": book.name, "date": book.date}}


def rows_data(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as plain data; money with two places."""
    return [{key: _plain(value) for key, value in row.items()} for row in rows]


def totals_data(totals: Totals | JointTotals) -> dict[str, Any]:
    """What a bill costs, as plain data."""
    return {
        "capex_usd": money(totals.capex_usd),
        "complete": totals.complete,
        "estimated_fraction": significant(totals.estimated_fraction),
        "unpriced": [{"part": row.part, "quantity": row.quantity} for row in totals.unpriced],
        "site_usd": None if totals.site_usd is None else money(totals.site_usd),
        "site_complete": totals.site_complete,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return money(value)
    return significant(value) if isinstance(value, float) else value


def bom_markdown(plan: Plan, design: Design, rows: Sequence[Row], by: By = "part") -> str:
    """The bill as Markdown with its total. The columns are always those of the CSV."""
    title = f"{plan.name}: bill of materials of {design.id}"
    bill = markdown_bill(title, rows, design.totals, columns_of(by))
    return f"{bill}\nLeft out of this plan: {escape(left_out_words(plan, design))}\n"


def markdown_bill(title: str, rows: Sequence[Row], totals: Totals | JointTotals, columns: Sequence[str]) -> str:
    """Title, table and total in Markdown."""
    body = [[cell(_words(row[column])) for column in columns] for row in rows]
    aligned = table([cell(column) for column in columns], body, [is_numeric(column) for column in columns])
    return f"# {escape(title)}\n\n{aligned}\n{escape(total_words(totals))}\n"


def total_words(totals: Totals | JointTotals) -> str:
    """`Total: $3,411,852 (complete; 5% of it rests on estimates)`; racks that are priced are named apart."""
    known = "complete" if totals.complete else f"a lower bound: {_without_price(len(totals.unpriced))}"
    share = f"; {totals.estimated_fraction:.0%} of it rests on estimates" if totals.estimated_fraction else ""
    total = f"Total: {format_usd(totals.capex_usd)} ({known}{share})"
    if totals.site_usd:
        whole = "complete" if totals.site_complete else "a lower bound: some have no price or no place"
        total = f"{total}; racks and rack PDUs apart: {format_usd(totals.site_usd)} ({whole})"
    return f"{total}; support, installation and tax are not in it"


def _without_price(kinds: int) -> str:
    return "1 kind of part has no price" if kinds == 1 else f"{kinds} kinds of parts have no price"


def _words(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{value:,.2f}"
    if isinstance(value, int | float):
        return number(value)
    return "" if value is None else str(value)
