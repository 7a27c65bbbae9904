"""Two orders side by side: a table for a terminal, Markdown for a merge request, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from textwrap import fill
from typing import Any, Final

from ibplan.document import printable
from ibplan.findings import plural
from ibplan.plan.difference import BUDGET, Difference, FigureChange, Line, MoneyChange, Order, PartChange, Value
from ibplan.report import markdown, text
from ibplan.report.data import money
from ibplan.report.grid import grid
from ibplan.report.order_marks import estimates, figure_marks, legend, lower_bounds, marks
from ibplan.units import format_usd

PART_COLUMNS: Final = ("change", "part", "old", "new", "unit USD", "change USD")
WIDE_COLUMNS: Final = ("change", "network", "category", "part", "part number", "old", "new", "unit USD", "change USD")
SUM_COLUMNS: Final = ("", "old USD", "new USD", "change USD")
FIGURE_COLUMNS: Final = ("", "unit", "old", "new", "change")
_RIGHT: Final = frozenset({"old", "new", "unit USD", "old USD", "new USD", "change USD"})
_ROOM_FOR_ALL: Final = 120
_NAMES: Final = {
    "gpus": "GPUs",
    "servers": "Servers",
    "endpoints": "Endpoints (NIC ports)",
    "tiers": "Tiers",
    "planes": "Planes",
    "leaf_switches": "Leaf switches",
    "spine_switches": "Spine switches",
    "core_switches": "Core switches",
    "switches": "Switches, all tiers",
    "links": "Links, all",
    "modules": "Modules",
    "cables": "Cables",
    "leaf_ratio_built": "Oversubscription, built",
    "spine_ratio_built": "Spine ratio, built",
    "injection_gbps": "Injection",
    "bisection_gbps": "Bisection",
    "per_gpu_gbps": "Each GPU, all talking",
    "latency_same_leaf_us": "Latency, same leaf",
    "latency_cross_leaf_us": "Latency, over spines",
    "latency_cross_pod_us": "Latency, over cores",
    "capex_usd": "Purchase price",
    "capex_per_gpu_usd": "Purchase price per GPU",
    "estimated_fraction": "Share of estimates",
    "unpriced_parts": "Kinds of unpriced parts",
    "power_known_w": "Power, maximum",
    "power_typical_w": "Power, typical",
    "facility_w": "Facility power",
    "network_per_year_kwh": "Network energy, a year",
    "network_per_year_usd": "Network energy, a year",
    "cluster_per_year_kwh": "Network and servers, a year",
    "cluster_per_year_usd": "Network and servers, a year",
    "tco_total_usd": "Total cost of network",
    "tco_energy_usd": "Energy in total cost",
    "tco_support_usd": "Support in total cost",
    "racks": "Racks",
    BUDGET: "Network budget",
}
Table = tuple[str, Sequence[str], list[list[str]]]


def label(order: Order) -> str:
    """The name of the file that an order came from."""
    return printable(Path(order.source).name)


def summary(found: Difference) -> str:
    """One sentence: what it costs now, and how much more or less."""
    if found.equal:
        return f"{found.new.name}: no change ({found.new.design}, {_price(found.new)})"
    total = found.total
    parts = [f"{_price(found.old)} -> {_price(found.new)} ({_rise(total)})"]
    moved = sum(change.kind != "unchanged" for change in found.parts)
    parts.append(f"{plural(moved, 'kind of part', 'kinds of parts')} changed" if moved else "no part changed")
    return f"{found.new.name}: " + "; ".join(parts)


def difference_text(found: Difference, *, unchanged: bool, width: int, color: bool) -> str:
    """The comparison as tables; what did not change only if asked for."""
    head = [f"{label(found.old)} -> {label(found.new)}", summary(found), *_design_lines(found)]
    blocks = [f"{fill(line, width, break_on_hyphens=False)}\n" for line in head]
    for title, columns, rows in _tables(found, unchanged, wide=width >= _ROOM_FOR_ALL):
        right = [column in _RIGHT for column in columns]
        blocks.append(f"\n{title}\n{grid(columns, rows, right, whole=('change',), width=width, color=color)}")
    meanings = _legend(found, unchanged)
    if meanings:
        blocks.append(f"\n{fill(meanings, width, break_on_hyphens=False)}\n")
    return "".join(blocks)


def difference_markdown(found: Difference, *, unchanged: bool) -> str:
    """A comment for a merge request: the sum in a line, the tables folded below it."""
    parts = [
        f"**{markdown.escape(summary(found))}**\n",
        *(f"{markdown.escape(line)}\n" for line in _design_lines(found)),
    ]
    for title, columns, rows in _tables(found, unchanged, wide=True):
        right = [column in _RIGHT for column in columns]
        body = markdown.table(columns, [[markdown.cell(words) for words in row] for row in rows], right)
        parts.append(f"<details><summary>{markdown.escape(title)}</summary>\n\n{body}\n</details>\n")
    meanings = _legend(found, unchanged)
    return "\n".join([*parts, *([f"{markdown.escape(meanings)}\n"] if meanings else [])])


def _design_lines(found: Difference) -> list[str]:
    if found.old.design == found.new.design:
        return []
    return [f"Design: {found.old.design} -> {found.new.design}"]


def _legend(found: Difference, unchanged: bool) -> str:
    """What the marks in the tables mean, in one line; empty where there are none."""
    cells = (cell for _, _, rows in _tables(found, unchanged, wide=True) for row in rows for cell in row[1:])
    return "; ".join(legend(cells))


def _tables(found: Difference, unchanged: bool, *, wide: bool) -> Iterator[Table]:
    parts = [change for change in found.parts if unchanged or change.kind != "unchanged"]
    if parts:
        columns = WIDE_COLUMNS if wide else PART_COLUMNS
        rows = [_part_cells(change) for change in parts]
        yield f"Parts ({len(parts)})", columns, [[row[column] for column in columns] for row in rows]
    several = found.networks if len(found.networks) > 1 else ()  # of one network the sum says all
    for title, sums in (("Money by category", found.categories), ("Money by network", several)):
        rows_of_sums = [_sum_cells(each) for each in sums if unchanged or each.changed]
        if rows_of_sums:
            yield title, SUM_COLUMNS, [*rows_of_sums, _sum_cells(found.total)]
    shown = [each for each in found.figures if each.changed or (unchanged and each.old is not None)]
    figures = [_figure_cells(each, found) for each in shown if each.id in _NAMES]
    if figures:
        yield "Figures", FIGURE_COLUMNS, figures


def _part_cells(change: PartChange) -> dict[str, str]:
    line = change.line
    length = "" if line.length_m is None else f" {line.length_m:g} m"
    return {
        "change": change.kind,
        "network": line.network,
        "category": line.category,
        "part": f"{line.part}{length}",
        "part number": line.part_number or "",
        "old": _pieces(change.old),
        "new": _pieces(change.new),
        "unit USD": _units(change),
        "change USD": text.UNKNOWN if change.usd_change is None else signed_usd(change.usd_change),
    }


def _pieces(line: Line | None) -> str:
    return text.ABSENT if line is None else f"{line.quantity:,}"


def _units(change: PartChange) -> str:
    found = [_unit(line) for line in (change.old, change.new) if line is not None]
    return " -> ".join(dict.fromkeys(found))


def _unit(line: Line) -> str:
    if line.unit_usd is not None:
        return marks(lower_bound=False, estimated=line.estimated) + text.usd(float(line.unit_usd))
    return text.UNKNOWN if line.usd is None else "several"


def _sum_cells(change: MoneyChange) -> list[str]:
    old = marks(lower_bound=not change.old_complete, estimated=change.old_estimated)
    new = marks(lower_bound=not change.new_complete, estimated=change.new_estimated)
    shown = [old + text.usd(float(change.old_usd)), new + text.usd(float(change.new_usd))]
    return [change.name, *shown, text.UNKNOWN if change.usd_change is None else signed_usd(change.usd_change)]


def _figure_cells(change: FigureChange, found: Difference) -> list[str]:
    unit = "%" if change.unit == "share" else change.unit
    sides = ((change.old, found.old), (change.new, found.new))
    return [
        _NAMES[change.id],
        unit,
        *(
            "none"
            if value is None and change.id == BUDGET
            else figure_marks(order, change.id) + _written(value, change.unit)
            for value, order in sides
        ),
        _step(change),
    ]


def _step(change: FigureChange) -> str:
    if change.old is None or change.new is None or change.unit == "down:up":
        return ""
    if isinstance(change.old, bool) or isinstance(change.new, bool):
        return ""
    places = 3 if change.unit == "share" else 6  # as both are shown, without a binary remainder
    old, new = (Decimal(repr(value)).quantize(Decimal(1).scaleb(-places)) for value in (change.old, change.new))
    if old == new:
        return ""
    return ("+" if new > old else "-") + _written(float(abs(new - old)), change.unit)


def _written(value: Value, unit: str) -> str:
    if value is None:
        return text.UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if unit == "USD":
        return text.usd(value)
    if unit == "share":
        return text.percent(value)
    return text.ratio(value) if unit == "down:up" else text.number(value)


def signed_usd(amount: Decimal) -> str:
    """`+1,234`, `-56.70`, `0`: an amount in dollars with its sign."""
    return ("+" if amount > 0 else "") + text.usd(float(amount))


def _price(order: Order) -> str:
    return ("" if order.complete else "at least ") + format_usd(order.usd)


def _rise(total: MoneyChange) -> str:
    if total.usd_change is None:
        return "change unknown: parts have no price"
    if not total.usd_change:
        return "the same price"
    share = f", {total.usd_change / total.old_usd:+.1%}" if total.old_usd else ""
    return f"{'+' if total.usd_change > 0 else '-'}{format_usd(abs(total.usd_change))}{share}"


def difference_data(found: Difference, *, unchanged: bool) -> dict[str, Any]:
    """The comparison as plain data; rows that did not change only if asked for."""
    return {
        "schema_version": "1",
        "equal": found.equal,
        "old": _order(found.old),
        "new": _order(found.new),
        "total": _sum(found.total),
        "parts": [_part(change) for change in found.parts if unchanged or change.kind != "unchanged"],
        "categories": [_sum(each) for each in found.categories if unchanged or each.changed],
        "networks": [_sum(each) for each in found.networks if unchanged or each.changed],
        "figures": [_figure(each, found) for each in found.figures if unchanged or each.changed],
    }


def _figure(change: FigureChange, found: Difference) -> dict[str, Any]:
    flags: dict[str, bool] = {}
    for side, order in (("old", found.old), ("new", found.new)):
        flags[f"{side}_lower_bound"] = change.id in lower_bounds(order)
        flags[f"{side}_estimated"] = change.id in estimates(order)
    return {"id": change.id, "unit": change.unit, "old": change.old, "new": change.new, **flags}


def _order(order: Order) -> dict[str, Any]:
    return {
        "file": label(order),
        "name": order.name,
        "design": order.design,
        "fabric": order.fabric,
        "capex_usd": money(order.usd),
        "complete": order.complete,
        "network_budget_usd": _money(order.budget_usd),
    }


def _sum(change: MoneyChange) -> dict[str, Any]:
    return {
        "name": change.name,
        "old_usd": money(change.old_usd),
        "new_usd": money(change.new_usd),
        "change_usd": _money(change.usd_change),
        "old_complete": change.old_complete,
        "new_complete": change.new_complete,
        "old_estimated": change.old_estimated,
        "new_estimated": change.new_estimated,
    }


def _part(change: PartChange) -> dict[str, Any]:
    line, old, new = change.line, change.old, change.new
    return {
        "change": change.kind,
        "network": line.network,
        "category": line.category,
        "part": line.part,
        "part_number": line.part_number,
        "length_m": line.length_m,
        "description": line.description,
        "old_quantity": 0 if old is None else old.quantity,
        "new_quantity": 0 if new is None else new.quantity,
        "quantity_change": change.quantity_change,
        "old_unit_price_usd": None if old is None else _money(old.unit_usd),
        "new_unit_price_usd": None if new is None else _money(new.unit_usd),
        "old_extended_usd": None if old is None else _money(old.usd),
        "new_extended_usd": None if new is None else _money(new.usd),
        "change_usd": _money(change.usd_change),
        "old_estimated": old is not None and old.estimated,
        "new_estimated": new is not None and new.estimated,
    }


def _money(amount: Decimal | None) -> float | None:
    return None if amount is None else money(amount)
