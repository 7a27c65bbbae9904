"""`ibplan cables`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from tests.cli.run import run, run_shell

SPEC = "specs/h100-pod-127.yaml"


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_the_schedule_has_the_cables_and_lengths_of_the_bill() -> None:
    done = run("cables", SPEC)
    assert (done.returncode, done.stderr) == (0, "")
    lengths: dict[tuple[str, str], int] = {}
    for row in _rows(done.stdout):
        lengths[row["cable"], row["length_m"]] = lengths.get((row["cable"], row["length_m"]), 0) + 1
    billed: dict[tuple[str, str], int] = {}
    for row in _rows(run("bom", SPEC).stdout):
        if row["category"] in ("cable", "splitter"):
            key = row["vendor_sku"], row["length_m"]
            billed[key] = billed.get(key, 0) + int(row["quantity"])
    assert lengths == billed


def test_json_and_a_named_design() -> None:
    plan = json.loads(run("design", "specs/three-lines.yaml", "--format", "json").stdout)
    name = plan["designs"][1]["id"]
    found = json.loads(run("cables", "specs/three-lines.yaml", "--design", name, "--format", "json").stdout)
    assert found["design"] == name
    assert len(found["cables"]) == plan["designs"][1]["totals"]["cables"]


def test_a_workbook_needs_a_file(tmp_path: Path) -> None:
    done = run("cables", SPEC, "--format", "xlsx")
    assert (done.returncode, done.stdout) == (2, "")
    assert "name it with -o" in done.stderr
    file = tmp_path / "cables.xlsx"
    assert run("cables", SPEC, "--format", "xlsx", "-o", str(file)).returncode == 0
    assert file.read_bytes()[:2] == b"PK"
    assert [path.name for path in tmp_path.iterdir()] == ["cables.xlsx"]


def test_a_network_that_is_not_planned() -> None:
    done = run("cables", SPEC, "--network", "backbone")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no network 'backbone'" in done.stderr


def test_a_reader_that_stops_early_is_no_failure() -> None:
    done = run_shell(f"ibplan cables {SPEC} | head -2; echo ${{PIPESTATUS[0]}}")
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


def test_nothing_half_written(tmp_path: Path) -> None:
    file = tmp_path / "none" / "cables.csv"
    done = run("cables", SPEC, "-o", str(file))
    assert done.returncode == 4
    assert "cannot be written" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_same_bytes_every_time() -> None:
    assert run("cables", SPEC, env={"PYTHONHASHSEED": "1"}).stdout == run("cables", SPEC).stdout
