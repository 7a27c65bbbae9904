"""`ibplan racks`, seen from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from ibplan.document import parse_document
from tests.cli.run import run, run_shell

SPEC = "specs/h100-pod-127.yaml"


def test_one_rack_in_every_form() -> None:
    table = run("racks", SPEC, "--rack", "r01-11")
    assert (table.returncode, table.stderr) == (0, "")
    assert "spine-016" in table.stdout
    data = json.loads(run("racks", SPEC, "--rack", "R01-11", "--format", "json").stdout)
    (rack,) = data["racks"]
    assert len(rack["devices"]) == 41
    same = parse_document(run("racks", SPEC, "--rack", "R01-11", "--format", "yaml").stdout, "racks.yaml").data
    assert json.loads(json.dumps(same)) == data
    assert run("racks", SPEC, "--rack", "R01-11", "--format", "csv").stdout.count("\n") == 42
    assert "## Rack R01-11" in run("racks", SPEC, "--rack", "R01-11", "--format", "markdown").stdout


def test_errors_have_their_codes() -> None:
    done = run("racks", SPEC, "--rack", "R99-01")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no rack is called 'R99-01'; nearest: " in done.stderr
    done = run("racks", "specs/three-lines.yaml", "--set", "budget=$1M")
    assert (done.returncode, done.stdout) == (3, "")
    done = run("racks", "specs/small-team.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "rack units of nvidia-hgx-h100 not known" in done.stderr
    done = run("design", SPEC, "--set", "site.rack.power=5kW", "--format", "json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["rejected"][0]["reasons"][0]["code"] == "rack-power"


def test_to_a_file_and_through_a_pipe(tmp_path: Path) -> None:
    file = tmp_path / "racks.csv"
    assert run("racks", SPEC, "--format", "csv", "-o", str(file)).stdout == ""
    assert file.read_text(encoding="utf-8") == run("racks", SPEC, "--format", "csv").stdout
    done = run_shell(f"ibplan racks {SPEC} | head -1")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_unicode_it_is_ascii() -> None:
    done = run("racks", SPEC, env={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert done.returncode == 0
    done.stdout.encode("ascii")
