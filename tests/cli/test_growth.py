"""`ibplan growth`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.quick import load_once
from tests.cli.run import run
from tests.golden import check_golden
from tests.hostile.inside import cli

SPEC = "specs/growth-8192.yaml"


def test_golden_text_and_markdown() -> None:
    for columns in ("80", "200"):
        done = run("growth", SPEC, env={"COLUMNS": columns})
        assert (done.returncode, done.stderr) == (0, "")
        assert max(map(len, done.stdout.splitlines())) <= int(columns)
        check_golden(Path(__file__).parent / "golden" / f"growth-{columns}.txt", done.stdout)
    done = run("growth", SPEC, "--format", "markdown")
    check_golden(Path(__file__).parent / "golden" / "growth.md", done.stdout)


def test_csv_has_the_purchases_of_the_json() -> None:
    data = json.loads(run("growth", SPEC, "--format", "json").stdout)["growth"]
    rows = list(csv.DictReader(io.StringIO(run("growth", SPEC, "--format", "csv").stdout)))
    for way in ("planned", "unplanned"):
        listed = [(s["year"], p["part"], p["quantity"]) for s in data[way]["stages"] for p in s["purchases"]]
        assert [(int(r["year"]), r["part"], int(r["quantity"])) for r in rows if r["strategy"] == way] == listed


def test_errors_have_their_codes() -> None:
    done = run("growth", "specs/three-lines.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the spec has no stages" in done.stderr
    assert run("growth", SPEC, "--design", "nope").returncode == 2
    assert run("growth", SPEC, "--set", "budget=$1").returncode == 3
    roce = next(i for i in json.loads(run("design", SPEC, "--format", "json").stdout)["designs"] if i["rank"] == 2)
    done = run("growth", SPEC, "--design", roce["id"], "--format", "json")
    assert json.loads(done.stdout)["growth"]["design"] == roce["id"]


GROWS = b"gpus: 512\nfabrics: infiniband\nnetwork: {oversubscription: [1:1, 2:1], switch: nvidia-qm9700}\n"
GROWS += b"storage: none\nmanagement: {inband: false, oob: false}\n"
GROWS += b"budget: $%s\ngrowth: [{year: 2, gpus: 1024}]\n"


def test_only_the_recommended_design_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    load_once(monkeypatch)
    spec = GROWS % b"5M"
    plan = json.loads(cli("design", "-", "--format", "json", stdin=spec).out)
    first, second = (next(d["id"] for d in plan["designs"] if d["rank"] == rank) for rank in (1, 2))
    assert plan["recommended"] == first
    for form in ("table", "markdown"):
        heads = {i: cli("growth", "-", "--design", i, "--format", form, stdin=spec).out for i in (first, second)}
        assert heads[first].splitlines()[0].endswith(f"growth of {first} (recommended)")
        assert heads[second].splitlines()[0].endswith(f"growth of {second}")
        assert cli("growth", "-", "--format", form, stdin=spec).out == heads[first]
    pinned = cli("growth", "-", "--set", f"design={second}", stdin=spec).out
    assert pinned.splitlines()[0].endswith(f"growth of {second}")
    assert "budget" not in pinned


def test_stages_beyond_the_budget_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    load_once(monkeypatch)
    assert "over the network budget of $3,000,000" in " ".join(cli("growth", "-", stdin=GROWS % b"3M").out.split())
