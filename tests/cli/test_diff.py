"""`ibplan diff`, seen from the command line."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.cli.quick import load_once
from tests.cli.run import run_shell
from tests.golden import check_golden
from tests.hostile.inside import cli
from tests.plan.planning import COMPUTE_ONLY

GOLDEN = Path(__file__).parents[1] / "golden"
SPEC = f"name: pod\nmodel: 70B\ngpus: %d\nbudget: $6M\n{COMPUTE_ONLY}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with an old and a new spec, which commands run in."""
    monkeypatch.chdir(tmp_path)
    load_once(monkeypatch)
    (tmp_path / "old.yaml").write_text(SPEC % 1024)
    (tmp_path / "new.yaml").write_text(SPEC % 2048)
    (tmp_path / "old.json").write_text(_plan(1024))
    (tmp_path / "new.json").write_text(_plan(2048))
    return tmp_path


@cache
def _plan(gpus: int) -> str:
    """The plan is made once: comparing its JSON plans nothing."""
    return cli("design", "-", "--format", "json", stdin=(SPEC % gpus).encode()).out


@pytest.mark.parametrize("width", ["80", "120", "200"])
def test_golden_table(here: Path, width: str) -> None:
    done = cli("diff", "old.json", "new.json", "--width", width)
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= int(width)
    check_golden(GOLDEN / f"diff-{width}.txt", done.out)


@pytest.mark.parametrize(("form", "end"), [("markdown", "md"), ("json", "json")])
def test_golden_markdown_and_json(here: Path, form: str, end: str) -> None:
    done = cli("diff", "old.json", "new.json", "--format", form)
    assert done.code == 0
    check_golden(GOLDEN / f"diff.{end}", done.out)


def test_nothing_that_differs_is_no_row(here: Path) -> None:
    words = "pod: no change (roce-nvidia-sn5610-2t-1to1, $3,411,852)"
    for form, text in (("table", f"old.json -> old.json\n{words}\n"), ("markdown", None), ("json", None)):
        done = cli("diff", "old.json", "old.json", "--exit-code", "--format", form)
        assert (done.code, done.err) == (0, "")
        assert text in (None, done.out)
    data = json.loads(cli("diff", "old.json", "old.json", "--format", "json").out)
    assert (data["equal"], data["parts"], data["categories"], data["networks"], data["figures"]) == (
        True,
        [],
        [],
        [],
        [],
    )
    assert "|" not in cli("diff", "old.json", "old.json", "--format", "markdown").out
    shown = json.loads(cli("diff", "old.json", "old.json", "--format", "json", "--show-unchanged").out)
    assert {part["change"] for part in shown["parts"]} == {"unchanged"}


def test_specs_locks_and_plans_are_told_apart_by_content(here: Path) -> None:
    assert cli("lock", "old.yaml").code == 0
    (here / "plan.yaml").write_text(cli("design", "old.yaml", "--no-lock", "--format", "yaml").out)
    for old in ("old.yaml", "old.lock.yaml", "plan.yaml"):
        for sides in ((old, "old.json"), ("old.json", old)):
            done = cli("diff", *sides, "--exit-code")
            assert (done.code, done.err) == (0, ""), sides
    moved = cli("diff", "old.json", "new.json").out.partition("\n")[2]
    assert cli("diff", "old.lock.yaml", "new.json").out.partition("\n")[2] == moved
    for file in ("old.json", "old.yaml"):
        piped = cli("diff", "-", "new.json", stdin=(here / file).read_bytes())
        assert piped.out.partition("\n")[2] == moved


def test_designs_by_name(here: Path) -> None:
    name = "infiniband-nvidia-qm9700-2t-1to1"
    data = json.loads(cli("diff", "old.yaml", "old.yaml", "--new-design", name, "--format", "json").out)
    assert (data["old"]["design"], data["new"]["design"]) == ("roce-nvidia-sn5610-2t-1to1", name)
    for option in ("--old-design", "--new-design"):
        done = cli("diff", "old.yaml", "old.yaml", option, "nope")
        assert done.code == 2
        assert f"{option}: no design has the id 'nope'" in done.err


def test_the_exit_code_tells(here: Path) -> None:
    assert cli("diff", "old.json", "new.json").code == 0
    assert cli("diff", "old.json", "new.json", "--exit-code").code == 1
    over = cli("diff", "old.json", "new.json", "--fail-over-budget")
    assert over.code == 1
    assert "pod costs $6,823,704: $823,704 over its network budget of $6,000,000" in over.err
    assert "no design is recommended; roce-nvidia-sn5610-2t-1to1, the first in rank, is compared" in over.err
    parts = json.loads(cli("diff", "old.json", "new.json", "--format", "json").out)["parts"]
    assert f"Parts ({len(parts)})" in over.out
    assert len({part["part"] for part in parts}) == 4  # switches, two kinds of modules and one of cables, by length
    assert cli("diff", "old.json", "old.json", "--fail-over-budget", "--fail-over", "0%").code == 0
    rise = cli("diff", "old.json", "new.json", "--fail-over", "$1M")
    assert (rise.code, rise.err.splitlines()[-1]) == (
        1,
        "ibplan: pod costs $3,411,852 more than before; $1,000,000 more is allowed",
    )
    assert cli("diff", "new.json", "old.json", "--fail-over", "$1M").code == 0


def test_what_is_wrong_is_said_with_its_code(here: Path) -> None:
    (here / "broken.yaml").write_text("gpus: 1024\nmodle: 70B\n")
    (here / "free.yaml").write_text("gpus: 1024\n")
    (here / "bill.json").write_text(cli("bom", "old.yaml", "--format", "json").out)
    (here / "none.yaml").write_text("gpus: 1024\nnetwork: {tiers: 1}\n")
    for words, code, said in (
        (("broken.yaml", "new.yaml"), 2, "broken.yaml:2:1: unknown key 'modle' (did you mean model?)"),
        (("old.yaml", "broken.yaml"), 2, "broken.yaml:2:1: unknown key 'modle'"),
        (("no.yaml", "new.yaml"), 2, "no.yaml: no such file"),
        (("none.yaml", "new.yaml"), 3, "none.yaml: no design can be recommended; name one with --old-design"),
        (("bill.json", "new.yaml"), 2, "bill.json:1:1: this is a bill"),
        (("-", "-"), 2, "standard input can be one side only"),
        (("old.yaml", "free.yaml", "--fail-over-budget"), 2, "--fail-over-budget: free.yaml sets no budget.network"),
        (("old.yaml", "new.yaml", "--fail-over", "much"), 2, "--fail-over: an amount of money is written like"),
    ):
        done = cli("diff", *words)
        assert (done.code, done.out) == (code, ""), words
        assert said in done.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"quantity": 16', '"quantity": -16', "quantity: must be at least 0"),
        ('"schema_version": "1"', '"schema_version": "9"', ":2:21: schema_version: "),
        ('"designs": [', '"designs": [[], ', "designs[0]: expected keys with values"),
        ('"network": "$6000000"', '"network": "lots"', "an amount of money is written like"),
        ('"capex_usd":', '"capex":', "the design lacks totals.capex_usd"),
        ('"effective_spec": {', '"effective_spec": {{', "plan.json:"),
    ],
)
def test_a_plan_that_was_edited_is_refused_with_its_place(here: Path, old: str, new: str, said: str) -> None:
    text = _plan(1024)
    (here / "plan.json").write_text(text.replace(old, new))
    done = cli("diff", "plan.json", "new.json")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith("plan.json:")


def test_a_plan_of_an_older_ibplan_lacks_figures_and_is_compared(here: Path) -> None:
    text = _plan(1024)
    (here / "plan.json").write_text(text.replace('"power_w":', '"future_w":'))
    data = json.loads(cli("diff", "plan.json", "old.json", "--format", "json").out)
    assert [(f["id"], f["old"]) for f in data["figures"]] == [("power_w", None)]


def test_through_a_pipe_without_color(here: Path) -> None:
    done = run_shell("ibplan diff new.json old.json 2>/dev/null | head -1", cwd=here)
    assert (done.returncode, done.stdout, done.stderr) == (0, "new.json -> old.json\n", "")
