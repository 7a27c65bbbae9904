"""`ibplan compare`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from ibplan.document import parse_document
from tests.cli.run import ROOT, run
from tests.golden import check_golden

SPEC = "specs/one-switch.yaml"
VARY = ("--vary", "servers=16,32", "--vary", "budget=$1k,$9M")
GOLDEN = Path(__file__).parent / "golden"


def test_golden_text_and_markdown() -> None:
    for columns in ("80", "200"):
        done = run("compare", SPEC, *VARY, env={"COLUMNS": columns})
        assert (done.returncode, done.stderr) == (0, "")
        assert max(map(len, done.stdout.splitlines())) <= int(columns)
        check_golden(GOLDEN / f"compare-{columns}.txt", done.stdout)
    check_golden(GOLDEN / "compare.md", run("compare", SPEC, *VARY, "--format", "markdown").stdout)


@pytest.fixture(scope="module")
def data() -> dict[str, object]:
    done = run("compare", SPEC, *VARY, "--all-designs", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_yaml_is_the_same_and_so_is_one_job(data: dict[str, object]) -> None:
    text = run("compare", SPEC, *VARY, "--all-designs", "--format", "yaml", "--jobs", "1").stdout
    assert json.loads(json.dumps(parse_document(text, "sweep").data, default=float)) == data


def _listed(heading: str) -> list[str]:
    page = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    section = re.split(rf"^## {re.escape(heading)}\n", page, flags=re.MULTILINE)[1].split("\n## ")[0]
    return re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)


def test_the_page_lists_every_key_in_order(data: dict[str, object]) -> None:
    combinations = data["combinations"]
    assert isinstance(combinations, list)
    assert _listed("compare") == list(data)
    assert _listed("compare.combinations") == list(combinations[0])
    assert _listed("compare.combinations.designs") == list(combinations[0]["designs"][0])


def test_csv_has_the_rows_of_the_json(data: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "sweep.csv"
    assert run("compare", SPEC, *VARY, "--all-designs", "--format", "csv", "-o", str(file)).stdout == ""
    rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    combinations = data["combinations"]
    assert isinstance(combinations, list)
    assert [(int(r["combination"]), r["servers"], r["budget"], r["design_id"]) for r in rows] == [
        (c["number"], c["values"]["servers"], c["values"]["budget"], d["id"])
        for c in combinations
        for d in c["designs"]
    ]
    assert {r["why"] == "" for r in rows if r["state"] == "recommended"} == {True}
    assert all("network budget: asked $1,000, the best there is" in r["why"] for r in rows if r["exit_code"] == "3")


def test_every_row_has_a_label_of_its_own_in_every_table() -> None:
    done = run("compare", "specs/small-team.yaml", "--vary", "servers=2,4", "--all-designs", "--width", "80")
    assert max(map(len, done.stdout.splitlines())) <= 80
    labels = re.findall(r"^ *([12]\.\d+) ", done.stdout, re.MULTILINE)
    tables = done.stdout.count(" servers ")
    assert tables > 1
    assert all(labels.count(label) == tables for label in labels)
    assert len(set(labels)) > 4


def test_nothing_that_fits_exits_3_and_still_prints() -> None:
    done = run("compare", SPEC, "--vary", "budget=$1k,$2k")
    assert (done.returncode, done.stderr) == (3, "")
    assert "a design is recommended for none of them" in done.stdout
    assert "none: over a limit" in done.stdout


def test_errors_exit_2_and_nothing_is_written(tmp_path: Path) -> None:
    done = run("compare", SPEC, "--vary", "servers=16,x", "-o", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "--vary servers=x: servers: expected a whole number, got text 'x'\n"
    assert list(tmp_path.iterdir()) == []
    assert run("compare", SPEC).returncode == 2
    assert "256 is the limit" in run("compare", SPEC, "--vary", f"gpus={','.join(map(str, range(1, 300)))}").stderr


def test_standard_input_is_read_once_for_all() -> None:
    text = (ROOT / SPEC).read_text(encoding="utf-8")
    done = run("compare", "-", "--vary", "servers=8,16", "--format", "csv", stdin=text)
    assert done.returncode == 0
    assert done.stdout.count("\n") == 3


def test_a_lock_beside_the_spec_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text((ROOT / SPEC).read_text(encoding="utf-8"))
    (tmp_path / "s.lock.yaml").write_text("not a lock\n")
    assert run("compare", "s.yaml", "--vary", "servers=8", cwd=tmp_path).returncode == 0
