"""`ibplan export`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.run import run, run_shell

SPEC = "specs/converged-16.yaml"


def test_the_list_names_every_target() -> None:
    table = run("export", "--list")
    assert (table.returncode, table.stderr) == (0, "")
    rows = json.loads(run("export", "--list", "--format", "json").stdout)["rows"]
    assert {"opensm", "slurm", "netbox"} <= {row["target"] for row in rows}
    assert all(row["target"] in table.stdout and row["program"] for row in rows)
    listed = list(csv.DictReader(io.StringIO(run("export", "--list", "--format", "csv").stdout)))
    assert [row["target"] for row in listed] == [row["target"] for row in rows]


def test_files_in_a_directory_and_one_on_standard_output(tmp_path: Path) -> None:
    out = tmp_path / "opensm"
    done = run("export", SPEC, "--to", "opensm", "-o", str(out))
    assert (done.returncode, done.stdout) == (0, "")
    assert "GUIDs are made up" in done.stderr
    assert {path.name for path in out.iterdir()} >= {"opensm.conf", "root_guids.cfg", "node_names.map"}
    again = run("export", SPEC, "--to", "opensm", "-o", str(out))
    assert again.returncode == 0
    (out / "opensm.conf").write_text("edited", encoding="utf-8")
    refused = run("export", SPEC, "--to", "opensm", "-o", str(out))
    assert refused.returncode == 2
    assert "opensm.conf: not written by `ibplan export` for this target, or changed since" in refused.stderr
    assert (out / "opensm.conf").read_text(encoding="utf-8") == "edited"
    assert run("export", SPEC, "--to", "opensm", "-o", str(out), "--force").returncode == 0
    single = run("export", SPEC, "--to", "slurm", "-o", "-")
    assert (single.returncode, single.stderr) == (0, "")
    assert "SwitchName=" in single.stdout
    piped = run_shell(f"ibplan export {SPEC} --to slurm -o - | head -1")
    assert (piped.returncode, piped.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "SPEC and --to and -o missing"),
        ((SPEC, "--to", "slurm"), 2, "-o missing"),
        ((SPEC, "--to", "slrum", "-o", "-"), 2, "no target 'slrum'; nearest: slurm"),
        ((SPEC, "--to", "ptm", "-o", "-"), 2, "is InfiniBand; which neighbor each port must see"),
        ((SPEC, "--to", "opensm", "-o", "-"), 2, "writes 3 files: name a directory with -o"),
        ((SPEC, "--to", "slurm", "-o", "-", "--design", "x"), 2, "no design has the id 'x'"),
        ((SPEC, "--to", "slurm", "-o", "-", "--set", "naming.server=gpu"), 2, "every one would be called 'gpu'"),
        ((SPEC, "--to", "slurm", "-o", "-", "--set", "naming.server='g{unit}'"), 2, "would both be called 'g1'"),
        ((SPEC, "--to", "opensm", "-o", "/dev/null/x", "--set", "addressing.guids=no.map"), 2, "no.map"),
        (
            ("specs/three-lines.yaml", "--to", "slurm", "-o", "-", "--set", "budget=$1M"),
            3,
            "no design can be recommended",
        ),
        ((SPEC, "--to", "slurm", "-o", "/dev/null"), 4, "it is a file"),
    ],
)
def test_errors_have_their_codes(arguments: tuple[str, ...], code: int, said: str) -> None:
    done = run("export", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
