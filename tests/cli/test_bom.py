"""`ibplan bom`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
import os
from decimal import Decimal
from pathlib import Path

import pytest

from tests.cli.run import run

SPEC = "specs/three-lines.yaml"


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_the_bill_of_the_recommended_design_agrees_with_its_total() -> None:
    plan = json.loads(run("design", SPEC, "--format", "json").stdout)
    chosen = next(d for d in plan["designs"] if d["id"] == plan["recommended"])
    done = run("bom", SPEC)
    assert (done.returncode, done.stderr) == (0, "")
    total = sum(Decimal(row["extended_price"]) for row in _rows(done.stdout))
    assert float(total) == chosen["totals"]["capex_usd"]
    bill = json.loads(run("bom", SPEC, "--format", "json").stdout)
    assert (bill["design"], bill["totals"]["capex_usd"]) == (chosen["id"], float(total))


def test_the_bill_of_a_named_design() -> None:
    plan = json.loads(run("design", SPEC, "--format", "json").stdout)
    for name in (plan["designs"][1]["id"], plan["designs"][0]["alternatives"][0]["id"]):
        assert json.loads(run("bom", SPEC, "--design", name, "--format", "json").stdout)["design"] == name


def test_rows_by_part_or_by_tier() -> None:
    parts, tiers = _rows(run("bom", SPEC).stdout), _rows(run("bom", SPEC, "--by", "tier").stdout)
    assert len(parts) < len(tiers)
    assert sum(int(r["quantity"]) for r in parts) == sum(int(r["quantity"]) for r in tiers)


def test_markdown_and_yaml() -> None:
    assert run("bom", SPEC, "--format", "markdown").stdout.startswith("# three-lines: bill of materials of ")
    assert "\nrows:\n" in run("bom", SPEC, "--format", "yaml").stdout


def test_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "bom.csv"
    assert run("bom", SPEC, "--crlf", "-o", str(file)).returncode == 0
    data = file.read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") > 1
    assert run("bom", SPEC, "--crlf", "--format", "json").returncode == 2


def test_no_recommendation_and_no_name_is_no_bill() -> None:
    done = run("bom", SPEC, "--set", "budget=$1M")
    assert (done.returncode, done.stdout) == (3, "")
    assert "no design can be recommended" in done.stderr
    plan = json.loads(run("design", SPEC, "--set", "budget=$1M", "--format", "json").stdout)
    named = run("bom", SPEC, "--set", "budget=$1M", "--design", plan["designs"][0]["id"])
    assert named.returncode == 0
    assert _rows(named.stdout)


def test_an_unknown_design_names_the_nearest() -> None:
    done = run("bom", SPEC, "--design", "infiniband-nvidia-qm9700")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nearest: infiniband-nvidia-qm9700-2t-1to1" in done.stderr


def test_the_same_bytes_every_time() -> None:
    assert run("bom", SPEC, env={"PYTHONHASHSEED": "1"}).stdout == run("bom", SPEC).stdout


@pytest.mark.parametrize("ending", ["xlsx", "cdx.json"])
def test_the_ending_of_the_file_says_the_form(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"bom.{ending}"
    assert run("bom", SPEC, "-o", str(file)).returncode == 0
    start = {
        "csv": b'"line"',
        "json": b"{",
        "yaml": b"schema",
        "md": b"# three",
        "xlsx": b"PK",
        "cdx.json": b'{\n  "$s',
    }
    assert file.read_bytes().startswith(start[ending])
    done = run("bom", SPEC, "--check", str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{file}: up to date\n")


def test_a_stale_bill_is_one_with_a_diff_and_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "bom.csv"
    assert run("bom", SPEC, "-o", str(file)).returncode == 0
    before = file.read_bytes()
    done = run("bom", SPEC, "--set", "network.oversubscription=2:1", "--check", "bom.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")  # the spec is not there
    done = run("bom", SPEC, "--set", "network.oversubscription=2:1", "--check", str(file))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == f"--- {file} (committed)"
    assert any(line.startswith("+1,") for line in lines)
    assert done.stderr == f"ibplan: {file} is stale: read the difference, then write it anew with -o\n"
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_the_format_that_is_asked_for_stands_before_the_ending(tmp_path: Path) -> None:
    file = tmp_path / "bom.txt"
    assert run("bom", SPEC, "--format", "markdown", "-o", str(file)).returncode == 0
    assert run("bom", SPEC, "--format", "markdown", "--check", str(file)).returncode == 0
    assert run("bom", SPEC, "--check", str(file)).returncode == 1


def test_what_cannot_be_checked_is_two_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "bad.xlsx").write_text("line\n")
    for name, said in (
        ("none.csv", "none.csv: no such file"),
        ("bad.xlsx", "bad.xlsx: is not a workbook: File is not a zip file (write it anew with -o)"),
        (".", "is a directory, not a file"),
    ):
        done = run("bom", "-", "--check", name, cwd=tmp_path, stdin="gpus: 64\n")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr


POD = "specs/h100-pod-127.yaml"
COMMITTED = "specs/h100-pod-127.bom.csv"


def test_golden_committed_bill_is_up_to_date() -> None:
    if os.environ.get("IBPLAN_GOLDEN") == "1":
        run("bom", POD, "-o", COMMITTED)
    done = run("bom", POD, "--check", COMMITTED)
    assert (done.returncode, done.stdout) == (0, ""), "if that is wanted, run `make boms`"


def test_one_bill_of_several_specs() -> None:
    alone = [json.loads(run("bom", spec, "--format", "json").stdout) for spec in (SPEC, POD)]
    done = run("bom", SPEC, POD)
    rows = _rows(done.stdout)
    total = sum(Decimal(row["extended_price"]) for row in rows)
    assert float(total) == pytest.approx(sum(bill["totals"]["capex_usd"] for bill in alone))
    for bill in alone:
        own = sum(int(row[f"order_quantity: {bill['name']}"]) for row in rows)
        assert own == sum(row["order_quantity"] for row in bill["rows"])
    together = json.loads(run("bom", SPEC, POD, "--format", "json").stdout)
    assert [spec["design"] for spec in together["specs"]] == [bill["design"] for bill in alone]


def test_what_does_not_go_together_is_refused() -> None:
    for words, said in (
        ((SPEC, SPEC), f"{SPEC} is given twice"),
        ((SPEC, POD, "--design", "x"), "--design goes with one spec"),
        ((SPEC, "--check", "a.csv", "-o", "b.csv"), "--check writes nothing"),
        (("-", "--check", "-"), "standard input can be the spec or the file to check, not both"),
        ((SPEC, "--crlf", "-o", "b.xlsx"), "--crlf does not go with --format xlsx"),
    ):
        done = run("bom", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


def test_the_file_to_check_can_come_through_a_pipe() -> None:
    bill = run("bom", SPEC).stdout
    assert run("bom", SPEC, "--check", "-", stdin=bill).stderr == "<stdin>: up to date\n"
    done = run("bom", SPEC, "--check", "-", stdin=bill[1:])
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "--- <stdin> (committed)")
    done = run("bom", SPEC, "--check", "-", stdin="x" * (2 * 1024**2 + 1))
    assert (done.returncode, done.stderr) == (2, "<stdin>: larger than 2 MiB, the limit for a bill\n")


def test_a_spec_without_a_recommendation_is_named() -> None:
    done = run("bom", POD, "-", stdin="gpus: 1024\nbudget: $1M\n")
    assert (done.returncode, done.stdout) == (3, "")
    assert "ibplan: <stdin>: no design can be recommended" in done.stderr
