"""`ibplan bom`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path

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
    first, second = (run("bom", SPEC, env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2"))
    assert first == second
