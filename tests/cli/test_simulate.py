"""`ibplan simulate`, seen from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ibplan.document import parse_document
from tests.cli.run import run

SPEC = "specs/one-switch.yaml"
POD = "specs/h100-pod-127.yaml"


def test_every_form(tmp_path: Path) -> None:
    patterns = ("--pattern", "permutation", "--pattern", "ring")
    words = ("simulate", POD, "--seeds", "2", *patterns, "--routing", "ecmp", "--flows", "2", "--fail", "leaf=1,link=2")
    table = run(*words)
    assert (table.returncode, table.stderr) == (0, "")
    assert "leaf=1, link=2" in table.stdout
    data = json.loads(run(*words, "--format", "json").stdout)
    assert [(row["pattern"], row["routing"], row["flows"]) for row in data["rows"]] == [
        ("permutation", "ecmp", 2),
        ("ring", "ecmp", 2),
    ]
    assert data["rows"][0]["unreachable_pairs"] > 0
    same = parse_document(run(*words, "--format", "yaml").stdout, "x.yaml").data
    assert json.loads(json.dumps(same)) == data
    assert run(*words, "--format", "csv").stdout.count("\n") == 3
    assert "## Assumed" in run(*words, "--format", "markdown").stdout
    file = tmp_path / "x.json"
    assert run(*words, "--format", "json", "-o", str(file)).stdout == ""
    assert json.loads(file.read_text(encoding="utf-8")) == data


def test_settings_reach_the_job() -> None:
    words = ("simulate", SPEC, "--seeds", "1", "--format", "json", "--set")
    mapped = run(*words, "workload.parallelism={tp: 8, pp: 2}", "--pattern", "job")
    assert [row["axis"] for row in json.loads(mapped.stdout)["rows"]] == ["tp", "dp", "pp"]
    mixed = run(*words, "workload.jobs=[{gpus: 64, share: 50%}]", "--jobs")
    assert [(row["job_gpus"], row["job_count"]) for row in json.loads(mixed.stdout)["rows"]] == [(64, 2)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pattern", "nope"), "'nope' is not one of 'permutation'"),
        (("--routing", "nope"), "'nope' is not one of 'adaptive'"),
        (("--seeds", "0"), "--seeds"),
        (("--flows", "2", "--routing", "spray"), "--flows changes nothing under --routing spray"),
        (("--fail", "leaf=9"), "--fail: leaf=9: there is 1 leaf"),
        (("--pattern", "job", "--set", "workload.task=inference"), "the job is inference, not training"),
        (("--design", "nope"), "no design has the id 'nope'"),
        (("--seeds", "10000", "--set", "servers=8192"), "flows in all runs"),
    ],
)
def test_errors_have_their_codes(words: tuple[str, ...], said: str) -> None:
    done = run("simulate", SPEC, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
