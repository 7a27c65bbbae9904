"""The bill as a workbook: a summary, a sheet for each network, notes. Sums are formulas, with their values kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from ibplan.plan.joint_bill import JointBill
from ibplan.report.bom import By, Row, is_numeric, total_words
from ibplan.report.bom_merged import merged_columns, merged_rows, merged_title
from ibplan.report.bom_notes import bill_notes
from ibplan.report.workbook import Book, cell_text, fit_height, put, workbook_bytes

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

PRICED: Final = "priced"
UNPRICED: Final = "no price"
SUMMARY: Final = "Summary"
NOTES: Final = "Notes"
_STATE: Final = "price_state"
_MONEY: Final = frozenset({"unit_price", "extended_price"})
_WIDTH: Final = 11
_WIDTHS: Final = {
    "line": 6,
    "manufacturer": 14,
    "manufacturer_part_number": 18,
    "vendor_sku": 22,
    "description": 32,
    "spares": 8,
    "unit": 7,
    "unit_price": 13,
    "price_source": 30,
    "extended_price": 16,
    "where_used": 30,
    "notes": 32,
}
_TITLES: Final = {"vendor_sku": "Vendor SKU", "power_each_w": "Power each, W"}
_SUMMARY_HEAD: Final = (
    "Network",
    "Category",
    "Lines",
    "Pieces to order",
    "Price, USD",
    "Pieces without a price",
    "State",
)
_HEAD_ROW: Final = 3


@dataclass(frozen=True, slots=True)
class _Ranges:
    """Where the columns of a sheet stand, as formulas name them: `'compute'!$C$2:$C$9`."""

    category: str
    pieces: str
    price: str
    state: str


def bom_xlsx(joint_bill: JointBill, by: By = "part") -> bytes:
    """A joint bill as an XLSX file; the same bill gives the same bytes.

    Raises ValueError if a line's extended price is not its order quantity times its unit price.
    """
    rows = merged_rows(joint_bill, by)
    columns = _sheet_columns(merged_columns(joint_bill, by))
    networks = {network: [r for r in rows if r["network"] == network] for network in dict.fromkeys(_networks(rows))}

    def fill(book: Book) -> None:
        summary = book.sheet(SUMMARY, (16, 16, 10, 16, 20, 16, 60), _SUMMARY_HEAD, _HEAD_ROW)
        ranges = {network: _network_sheet(book, network, found, columns) for network, found in networks.items()}
        _fill_summary(book, summary, joint_bill, networks, ranges)
        _notes_sheet(book, joint_bill, rows)

    return workbook_bytes(fill)


def _networks(rows: Sequence[Row]) -> list[str]:
    return [row["network"] for row in rows]


def _sheet_columns(columns: Sequence[str]) -> tuple[str, ...]:
    behind = columns.index("extended_price") + 1
    return (*columns[:behind], _STATE, *columns[behind:])


def _title(column: str) -> str:
    if column in _TITLES:
        return _TITLES[column]
    name, colon, spec = column.partition(":")  # the name of a spec stays as it is
    return name.replace("_", " ").capitalize() + colon + spec


def _network_sheet(book: Book, network: str, rows: Sequence[Row], columns: Sequence[str]) -> _Ranges:
    widths = [_WIDTHS.get(column, _WIDTH) for column in columns]
    sheet = book.sheet(network, widths, [cell_text(_title(column)) for column in columns])
    for number, row in enumerate(rows, 1):
        for column, name in enumerate(columns):
            if name not in ("extended_price", _STATE):
                put(sheet, number, column, row[name], _format(book, name))
        _priced_cells(book, sheet, number, row, columns)
        fit_height(sheet, number, [row.get(name) for name in columns], widths)
    last = len(rows)
    sheet.autofilter(0, 0, last, len(columns) - 1)
    _total_row(book, sheet, rows, columns)
    kept = {name: f"'{network}'!{_column(columns, name, 1, last)}" for name in ("category", "order_quantity")}
    price, state = (f"'{network}'!{_column(columns, name, 1, last)}" for name in ("extended_price", _STATE))
    return _Ranges(kept["category"], kept["order_quantity"], price, state)


def _format(book: Book, column: str) -> Format:
    if column in _MONEY:
        return book.money
    if is_numeric(column):
        return book.count if "quantity" in column else book.number
    return book.text


def _priced_cells(book: Book, sheet: Worksheet, number: int, row: Row, columns: Sequence[str]) -> None:
    """Extended price and state: whoever fills in or corrects a price sees both follow."""
    price, pieces, extended = row["unit_price"], row["order_quantity"], row["extended_price"]
    if extended != (None if price is None else price * pieces):
        raise ValueError(f"line {row['line']}: {extended} is not {pieces} x {price}")
    unit, quantity = _cell(columns, "unit_price", number), _cell(columns, "order_quantity", number)
    known = f"ISNUMBER({unit})"
    value = "" if extended is None else float(extended)
    at = columns.index("extended_price")
    sheet.write_formula(number, at, f'=IF({known},{quantity}*{unit},"")', book.money, value)
    words = UNPRICED if price is None else PRICED
    sheet.write_formula(number, at + 1, f'=IF({known},"{PRICED}","{UNPRICED}")', book.text, words)


def _total_row(book: Book, sheet: Worksheet, rows: Sequence[Row], columns: Sequence[str]) -> None:
    last = len(rows)
    for column, name in enumerate(columns):
        if name == "extended_price" or "quantity" in name or name == "spares":
            shape = book.total if name == "extended_price" else book.total_count
            formula = _sum_formula(_column(columns, name, 1, last))
            sheet.write_formula(last + 1, column, formula, shape, _sum(row[name] for row in rows))
        else:
            put(sheet, last + 1, column, "Total" if name == "network" else None, book.bold)


def _sum_formula(cells: str) -> str:
    """The sum of what is known: where nothing is, an empty cell and not 0."""
    return f'=IF(COUNT({cells})=0,"",SUM({cells}))'


def _sum(values: Iterable[Decimal | int | None]) -> float | str:
    """What the formula of a sum gives."""
    known = [value for value in values if value is not None]
    return float(sum(known, Decimal(0))) if known else ""


def _cell(columns: Sequence[str], name: str, row: int) -> str:
    from xlsxwriter.utility import xl_rowcol_to_cell

    return str(xl_rowcol_to_cell(row, columns.index(name)))


def _column(columns: Sequence[str], name: str, first: int, last: int) -> str:
    from xlsxwriter.utility import xl_range_abs

    at = columns.index(name)
    return str(xl_range_abs(first, at, last, at))


def _fill_summary(
    book: Book, sheet: Worksheet, joint_bill: JointBill, networks: dict[str, list[Row]], ranges: dict[str, _Ranges]
) -> None:
    sheet.write_string(0, 0, cell_text(merged_title(joint_bill)), book.title)
    sheet.write_string(1, 0, total_words(joint_bill.totals))
    row = _HEAD_ROW
    for network, rows in networks.items():
        for category in dict.fromkeys(r["category"] for r in rows):
            row += 1
            found = [r for r in rows if r["category"] == category]
            put(sheet, row, 0, network, book.text)
            put(sheet, row, 1, category, book.text)
            _summary_sums(book, sheet, row, found, ranges[network])
    sheet.autofilter(_HEAD_ROW, 0, row, len(_SUMMARY_HEAD) - 1)
    _summary_total(book, sheet, row, joint_bill, [r for rows in networks.values() for r in rows])


def _summary_sums(book: Book, sheet: Worksheet, row: int, found: Sequence[Row], at: _Ranges) -> None:
    same = f"{at.category},$B{row + 1}"
    money = _sum(r["extended_price"] for r in found)
    sheet.write_formula(row, 2, f"=COUNTIF({same})", book.count, len(found))
    sheet.write_formula(row, 3, f"=SUMIFS({at.pieces},{same})", book.count, _pieces(found))
    known = f'COUNTIFS({same},{at.state},"{PRICED}")'
    sheet.write_formula(row, 4, f'=IF({known}=0,"",SUMIFS({at.price},{same}))', book.money, money)
    sheet.write_formula(row, 5, f'=SUMIFS({at.pieces},{same},{at.state},"{UNPRICED}")', book.count, _missing(found))
    _state_cell(book.text, sheet, row, found)


def _pieces(rows: Sequence[Row]) -> int:
    return sum(r["order_quantity"] for r in rows)


def _missing(rows: Sequence[Row]) -> int:
    """Pieces without a price."""
    return _pieces([r for r in rows if r["unit_price"] is None])


def _state_cell(shape: Format, sheet: Worksheet, row: int, rows: Sequence[Row]) -> None:
    whole, part = "complete", "a lower bound: parts without a price are not in it"
    missing, money = f"F{row + 1}", f"E{row + 1}"
    words = whole if not _missing(rows) else UNPRICED if all(r["unit_price"] is None for r in rows) else part
    formula = f'=IF({missing}=0,"{whole}",IF({money}="","{UNPRICED}","{part}"))'
    sheet.write_formula(row, 6, formula, shape, words)


def _summary_total(book: Book, sheet: Worksheet, last: int, joint_bill: JointBill, rows: Sequence[Row]) -> None:
    row = last + 1
    money = _sum(r["extended_price"] for r in rows)
    put(sheet, row, 0, "Total", book.bold)
    put(sheet, row, 1, None, book.bold)
    values = ((2, len(rows)), (3, _pieces(rows)), (4, money), (5, _missing(rows)))
    for column, value in values:
        letter = "ABCDEF"[column]
        formula = _sum_formula(f"{letter}{_HEAD_ROW + 2}:{letter}{last + 1}")
        sheet.write_formula(row, column, formula, book.total if column == 4 else book.total_count, value)
    _state_cell(book.bold, sheet, row, rows)
    planned = None if money == "" else joint_bill.totals.capex_usd + (joint_bill.totals.site_usd or 0)
    put(sheet, row + 1, 0, "As planned", book.text)
    put(sheet, row + 1, 4, planned, book.money)
    put(sheet, row + 2, 0, "Changed since", book.text)
    change = float(money or 0) - float(planned or 0)
    sheet.write_formula(row + 2, 4, f"=N(E{row + 1})-N(E{row + 2})", book.money, round(change, 2))


def _notes_sheet(book: Book, joint_bill: JointBill, rows: Sequence[Row]) -> None:
    widths = (24, 28, 140)
    sheet = book.sheet(NOTES, widths, ("Subject", "Spec", "Note"))
    for number, note in enumerate(bill_notes(joint_bill, rows), 1):
        words = (note.subject, note.spec, note.text)
        for column, text in enumerate(words):
            put(sheet, number, column, text, book.text)
        fit_height(sheet, number, words, widths)
