"""Quotes read from CSV files and workbooks: dialects, heads, what is refused."""

from __future__ import annotations

import io
import random
import struct
import zlib
from decimal import Decimal
from pathlib import Path

import pytest
from openpyxl import Workbook

from ibplan.errors import InputError, UsageError
from ibplan.quote.columns import NAMES, read_columns
from ibplan.quote.rows import Quote, read_quote
from tests.quote.files import HEAD, csv_file, workbook

ROWS: list[list[object]] = [
    ["ACME Networks, offer 4711"],
    [],
    list(HEAD),
    ["MQM9700-NS2F", 'Quantum-2 switch, 64 ports "NDR"', 48, "32,870.00", "1,577,760.00"],
    ["Optics"],
    ["MMA4Z00-NS", "twin-port; finned | SR4", "512 pcs", "", ""],
    [None, None, None, "Sum", "1,577,760.00"],
]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# A gray PNG whose rows are noise enough not to be packed: larger than all that a workbook may hold besides its cells.
_NOISE = random.Random(1).randbytes(1_200 * 1_001)
PICTURE = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1_000, 1_200, 8, 0, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(_NOISE, 1))
    + _chunk(b"IEND", b"")
)


def _same(quote: Quote) -> None:
    assert [(r.numbers, r.quantity, r.unit_price, r.total_off) for r in quote.rows] == [
        (("MQM9700-NS2F",), 48, Decimal("32870.00"), False),
        (("MMA4Z00-NS",), 512, None, False),
    ]
    assert [row.text for row in quote.skipped] == ["Optics", "Sum 1,577,760.00"]
    assert quote.columns == {
        "part": "Part Number",
        "description": "Description",
        "quantity": "Qty",
        "price": "Unit Price",
        "total": "Total",
    }


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_dialects_of_csv(tmp_path: Path, delimiter: str, encoding: str) -> None:
    quote = read_quote(csv_file(tmp_path / "q.csv", ROWS, delimiter, encoding), {})
    _same(quote)
    assert [row.row for row in quote.rows] == [4, 6]
    assert quote.rows[0].description == 'Quantum-2 switch, 64 ports "NDR"'


def test_a_workbook_and_its_sheets(tmp_path: Path) -> None:
    file = workbook(tmp_path / "q.xlsx", ROWS)
    quote = read_quote(file, {})
    _same(quote)
    assert [row.row for row in quote.rows] == [4, 6]
    _same(read_quote(file, {}, "Quote"))
    with pytest.raises(InputError, match="there is no sheet 'Nope' \\(there are: Cover, Quote\\)"):
        read_quote(file, {}, "Nope")
    with pytest.raises(InputError, match="no row of the first 50 names a column for quantities"):
        read_quote(file, {}, "Cover")


def test_a_workbook_of_another_writer_with_a_picture(tmp_path: Path) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(tmp_path / "q.xlsx")
    sheet = book.add_worksheet("Offer")
    for number, row in enumerate(ROWS):
        sheet.write_row(number, 0, row)
    sheet.insert_image("H1", "logo.png", {"image_data": io.BytesIO(PICTURE)})
    book.close()
    _same(read_quote(tmp_path / "q.xlsx", {}))


def test_numbers_of_a_workbook_stay_numbers(tmp_path: Path) -> None:
    rows = [list(HEAD), [98035100, "x", 4.0, 1.234, 4.94], [980351.0, "y", 2, 5, None]]
    first, second = read_quote(workbook(tmp_path / "q.xlsx", rows), {}).rows
    assert (first.numbers, first.quantity, first.unit_price) == (("98035100",), 4, Decimal("1.234"))
    assert second.numbers == ("980351",)


def test_a_price_from_the_total_and_a_total_that_is_off(tmp_path: Path) -> None:
    rows = [["P/N", "Qty", "Price (EUR)", "Amount"], ["AAAA1", 4, "", "40,00"], ["AAAA2", 3, "10.00", "31.00"]]
    first, second = read_quote(csv_file(tmp_path / "q.csv", rows, ";"), {}).rows
    assert (first.unit_price, first.total_off, first.currency, first.unit_usd) == (10, False, "EUR", None)
    assert (second.unit_price, second.total_off) == (10, True)


def test_columns_by_name(tmp_path: Path) -> None:
    rows = [["Ref", "How many", "Part Number", "Qty"], ["AAAA1", 7, "no", 1]]
    file = csv_file(tmp_path / "q.csv", rows)
    quote = read_quote(file, read_columns("part=ref, quantity=How many"))
    assert [(row.numbers, row.quantity) for row in quote.rows] == [(("AAAA1",), 7)]
    with pytest.raises(
        InputError, match="no row of the first 50 names the columns 'Menge' \\(row 1 is 'Ref', 'How many'"
    ):
        read_quote(file, read_columns("quantity=Menge"))
    for wrong in ("part", "parts=x", "part="):
        with pytest.raises(UsageError, match="is not of the form key=name"):
            read_columns(wrong)


def test_every_row_that_cannot_be_read_is_told_with_its_number(tmp_path: Path) -> None:
    rows = [list(HEAD), ["AAAA1", "", "two", "5 or 6", ""], ["AAAA2", "", "-1", "", "x1"], ["AAAA3", "", 1, 2, 2]]
    with pytest.raises(InputError) as caught:
        read_quote(csv_file(tmp_path / "q.csv", rows), {})
    assert [problem.message for problem in caught.value.problems] == [
        "row 2: price: expected an amount of money, got '5 or 6'",
        "row 2: quantity: expected a whole number of pieces, got 'two'",
        "row 3: quantity: expected a whole number of pieces, got '-1'",
        "row 3: total: expected an amount of money, got 'x1'",
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "there is nothing in it"),
        (b"a,b\n1,2\n", "no row of the first 50 names a column for quantities and one for parts or descriptions"),
        (b"Qty,Part\n", "names the columns, but no row below it states a quantity of a part"),
        (b"Qty,Part\n1,\xff\n", "not UTF-8 text \\(line 2\\)"),
        (b"\xff\xfeQ", "not UTF-16 text"),
        (b"Qty,Part\n1,\0\n", "not a text file"),
        (b"\xd0\xcf\x11\xe0" + b"x" * 600, "a workbook of the old kind"),
        (b"PK\x03\x04" + b"x" * 600, "not a workbook that can be read"),
        (b"Qty,Part\n" + b"1,x\n" * 5000, "more than 5,000 rows"),
        (b"Qty,Part" + b",x" * 200 + b"\n", "more than 200 columns"),
        (b"Qty,Part\n1," + b"x" * 2001 + b"\n", "row 2: a cell of 2,001 characters"),
        (b"x" * (5 * 1024**2 + 1), "larger than 5 MiB"),
    ],
)
def test_what_is_no_quote(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "q.csv").write_bytes(data)
    with pytest.raises(InputError, match=said):
        read_quote(tmp_path / "q.csv", {})


def test_long_lines_are_no_long_cells(tmp_path: Path) -> None:
    rows = [[*HEAD, *("note",) * 20], ["AAAA1", "x", 1, 1, 1, *("y" * 400,) * 20]]
    assert len(read_quote(csv_file(tmp_path / "q.csv", rows), {}).rows) == 1


def test_names_of_columns_are_plain_and_of_one_key() -> None:
    names = [name for found in NAMES.values() for name in found]
    assert len(names) == len(set(names))
    assert [name for name in names if name != " ".join(name.lower().split())] == []


def _sheets(path: Path, **sheets: list[list[object]]) -> Path:
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        body = book.create_sheet(name)
        for row in rows:
            body.append(row)
    book.save(path)
    return path


def test_all_sheets_of_the_same_head_are_read(tmp_path: Path) -> None:
    head: list[object] = list(HEAD)
    file = _sheets(
        tmp_path / "q.xlsx",
        Summary=[["Network", "Total price"], ["compute", 5]],
        compute=[head, ["AAAA1", "x", 4, 1, 4], [None, "Total", None, None, 4]],
        storage=[["as agreed"], [*head, None], ["AAAA1", "x", 2, 1, 2, None]],
        other=[[*head, "Qty per rack"], ["AAAA1", "x", 9, 1, 9, 3]],
        empty=[],
    )
    quote = read_quote(file, {})
    assert [(r.sheet, r.row, r.quantity) for r in quote.rows] == [("compute", 2, 4), ("storage", 3, 2)]
    assert [(r.sheet, r.row) for r in quote.skipped] == [("compute", 3)]
    assert (quote.sheets, quote.unread) == (("compute", "storage"), ("Summary", "other"))
    single = read_quote(file, {}, "storage")
    assert ([(r.sheet, r.row) for r in single.rows], single.sheets, single.unread) == ([(None, 3)], ("storage",), ())


def test_what_cannot_be_read_is_told_with_its_sheet(tmp_path: Path) -> None:
    rows: list[list[object]] = [list(HEAD), ["AAAA1", "x", "two", 1, 2]]
    with pytest.raises(InputError) as caught:
        read_quote(_sheets(tmp_path / "q.xlsx", one=rows, other=rows), {})
    assert [problem.message.split(":")[0] for problem in caught.value.problems] == [
        "sheet one, row 2",
        "sheet other, row 2",
    ]
