"""`ibplan quote`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.quick import load_once
from tests.cli.run import ROOT
from tests.golden import check_golden
from tests.hostile.inside import cli
from tests.quote.files import csv_file, workbook

GOLDEN = Path(__file__).parents[1] / "golden"
POD = str(ROOT / "specs" / "h100-pod-127.yaml")
ROWS: list[list[object]] = [
    ["ACME Networks", "offer 4711"],
    [],
    ["Pos", "Part No.", "Description", "Qty", "Unit price (USD)", "Ext. price"],
    [1, "MQM9700-NS2R", "Quantum-2 switch, 64 ports, reverse airflow", 48, "31,500.00", "1,512,000.00"],
    [2, "MMA4Z00-NS", "twin-port OSFP, finned", 512, "979.00", "501,248.00"],
    [3, "", "FS 800G OSFP 2xSR4, flat", 500, "1,249.00", "624,500.00"],
    [4, "", "MTP-12 OM4 custom trunk", 1100, "80.00", "88,000.00"],
    [5, "MMS4X00-NS-FLT", "twin-port OSFP, single mode, flat", 1024, "799.00", "818,000.00"],
    [6, "UFM-TELEMETRY", "licence", 1, "on request", ""],
    ["", "", "Total", "", "", "3,543,748.00"],
]


@pytest.fixture
def quote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A quote with one of each difference."""
    load_once(monkeypatch)
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "quote.csv", ROWS)
    workbook(tmp_path / "quote.xlsx", ROWS)
    return "quote.csv"


@pytest.mark.parametrize("width", ["80", "120", "200"])
def test_golden_table(quote: str, width: str) -> None:
    done = cli("quote", POD, "--file", quote, "--width", width)
    assert (done.code, done.err) == (1, "")
    assert max(map(len, done.out.splitlines())) <= int(width)
    check_golden(GOLDEN / f"quote-{width}.txt", done.out)


@pytest.mark.parametrize(("form", "end"), [("markdown", "md"), ("csv", "csv"), ("json", "json")])
def test_golden_formats(quote: str, form: str, end: str) -> None:
    done = cli("quote", POD, "--file", quote, "--format", form)
    assert done.code == 1
    check_golden(GOLDEN / f"quote.{end}", done.out)


def test_a_workbook_says_the_same(quote: str) -> None:
    texts = [cli("quote", POD, "--file", f"quote.{end}").out.partition("\n")[2] for end in ("csv", "xlsx")]
    cover = "Not read, for want of the same head: Cover.\n"
    assert cover in texts[1]
    assert texts[0] == texts[1].replace(cover, "")
    piped = cli("quote", POD, "--file", "-", stdin=Path("quote.xlsx").read_bytes())
    assert piped.out.partition("\n")[2] == texts[1]
    assert cli("quote", "-", "--file", "-").code == 2


def test_a_workbook_of_ibplan_is_read_whole(quote: str) -> None:
    assert cli("bom", POD, "--format", "xlsx", "-o", "own.xlsx").code == 0
    done = cli("quote", POD, "--file", "own.xlsx", "--format", "json")
    data = json.loads(done.out)
    assert (done.code, data["differences"]) == (0, 0)
    assert data["sheets"] == ["compute", "storage", "inband", "oob"]
    assert data["unread_sheets"] == ["Summary", "Notes"]
    assert data["totals"]["quoted_usd"] == data["totals"]["bill_usd"]
    assert {place for part in data["parts"] for place in part["sheets"]} == set(data["sheets"])
    # Rows to look at, and those that offer nothing, are named with their sheets.
    for form, place in (("table", "storage!"), ("markdown", "storage!")):
        assert place in cli("quote", POD, "--file", "own.xlsx", "--format", form).out
    assert cli("quote", POD, "--file", "own.xlsx", "--sheet", "storage").code == 1


def test_the_bill_of_the_locked_design_is_what_counts(quote: str) -> None:
    assert cli("lock", POD, "-o", "pod.lock.yaml").code == 0
    done = cli("bom", POD, "--lock", "pod.lock.yaml", "-o", "bill.csv")
    assert done.code == 0
    done = cli("quote", POD, "--lock", "pod.lock.yaml", "--file", "bill.csv", "--price-tolerance", "0")
    assert (done.code, done.err) == (0, "")
    assert "no difference" in done.out


def test_no_cell_of_the_quote_is_run_or_drives_the_terminal(quote: str) -> None:
    Path(quote).write_text('Part,Description,Qty\n"=cmd()","\x1b[31mred",1\n', encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(cli("quote", POD, "--file", quote, "--format", "csv").out)))
    assert rows[-1]["note"].startswith("'=cmd()")
    assert "\x1b" not in cli("quote", POD, "--file", quote).out


def test_what_is_wrong_is_said_with_its_code(quote: str) -> None:
    for words, code, said in (
        (("--file", "no.csv"), 2, "no.csv: no such file"),
        (("--file", "."), 2, ".: is a directory, not a file"),
        (("--file", quote, "--columns", "x=y"), 2, "--columns: 'x=y' is not of the form key=name"),
        (("--file", quote, "--sheet", "x"), 2, "a CSV file has no sheets"),
        (("--file", quote, "--price-tolerance", "x"), 2, "--price-tolerance: a share is written like 40%"),
        (("--file", quote, "--design", "x"), 2, "--design: no design has the id 'x'"),
        (("--file", quote, "--set", "budget=$1"), 3, "no design can be recommended"),
    ):
        done = cli("quote", POD, *words)
        assert (done.code, done.out) == (code, ""), words
        assert said in done.err


def test_the_numbers_agree_with_the_bill(quote: str) -> None:
    data = json.loads(cli("quote", POD, "--file", quote, "--format", "json").out)
    bill = json.loads(cli("bom", POD, "--format", "json").out)
    assert data["totals"]["bill_usd"] == bill["totals"]["capex_usd"]
    assert {p["part"]: p["needed"] for p in data["parts"]} == {
        sku: sum(row["quantity"] for row in bill["rows"] if row["vendor_sku"] == sku)
        for sku in {row["vendor_sku"] for row in bill["rows"]}
    }
