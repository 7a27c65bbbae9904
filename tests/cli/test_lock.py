"""`ibplan lock`, and what the other commands do with a lock beside the spec."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.cli.quick import load_once
from tests.cli.run import ROOT, run
from tests.golden import check_golden
from tests.hostile.inside import Done, cli
from tests.plan.planning import COMPUTE_ONLY

SPEC = f"model: 70B\ngpus: 1024\nbudget: $6M\nfabrics: [roce, infiniband]\n{COMPUTE_ONLY}"
PRICES = (
    'name: ours\ndate: "2026-12-01"\nprices:\n'
    '  - {part: nvidia-sn5610, kind: street, usd: 48000, date: "2026-12-01", source: quote 1}\n'
)
GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a spec and a price file, which commands run in."""
    (tmp_path / "pod.yaml").write_text(SPEC)
    (tmp_path / "p.yaml").write_text(PRICES)
    monkeypatch.chdir(tmp_path)
    load_once(monkeypatch)
    return tmp_path


@cache
def _locked() -> str:
    return cli("lock", "-", "-o", "-", stdin=SPEC.encode()).out


def fine(*words: str) -> str:
    done = cli(*words)
    assert (done.code, done.err) == (0, "")
    return done.out


def refused(code: int, *words: str) -> str:
    done = cli(*words)
    assert (done.code, done.out) == (code, "")
    return done.err


def test_a_lock_stands_beside_its_spec_and_the_bill_keeps_to_it(here: Path) -> None:
    free = fine("bom", "pod.yaml")
    assert fine("lock", "pod.yaml") == ""
    (here / "pod.yaml").write_text(SPEC + "prices: p.yaml\n")
    assert fine("bom", "pod.yaml") == free
    assert "48000.00" in fine("bom", "pod.yaml", "--no-lock")
    design = json.loads(fine("design", "pod.yaml", "--format", "json"))
    assert design["inputs"]["locked"]
    assert [each["id"] for each in design["designs"]] == [design["recommended"]]
    assert len(json.loads(fine("design", "pod.yaml", "--no-lock", "--format", "json"))["designs"]) > 1
    assert design["recommended"] in fine("show", "pod.yaml")


def test_golden_lock_of_a_pod() -> None:
    written = run("lock", "specs/h100-pod-127.yaml", "-o", "-")
    assert (written.returncode, written.stderr) == (0, "")
    check_golden(GOLDEN / "h100-pod-127.lock.yaml", written.stdout)


def test_check_says_what_stands_and_which_prices_are_others_today(here: Path) -> None:
    fine("lock", "pod.yaml")
    before = (here / "pod.lock.yaml").read_bytes()
    done = cli("lock", "pod.yaml", "--check", "--prices", "p.yaml")
    assert (done.code, done.out) == (
        0,
        "pod.lock.yaml: the order stands as it was locked: roce-nvidia-sn5610-2t-1to1\n",
    )
    assert "1 locked part has another price today (nvidia-sn5610)" in done.err
    assert "24" not in refused(1, "lock", "pod.yaml", "--check", "--set", "gpus=512").partition("\n")[0]
    assert (here / "pod.lock.yaml").read_bytes() == before


def test_prices_move_on_purpose_and_are_shown(here: Path) -> None:
    fine("lock", "pod.yaml")
    shown = fine("lock", "pod.yaml", "--update-prices", "--prices", "p.yaml")
    assert "$3,411,852 -> $3,315,876 (-$95,976, -2.8%); 1 kind of part changed" in shown
    assert "51,999 -> 48,000" in shown
    assert "48000.00" in fine("bom", "pod.yaml")
    assert "no change" in fine("lock", "pod.yaml", "--update-prices", "--prices", "p.yaml")


def test_everything_moves_on_purpose_and_is_shown(here: Path) -> None:
    fine("lock", "pod.yaml")
    (here / "pod.yaml").write_text(SPEC.replace("1024", "512"))
    for command in ("bom", "design", "diagram"):
        said = refused(1, command, "pod.yaml")
        assert "compute leaf switch nvidia-sn5610: 16 locked, 8 now" in said
    assert "Leaf switches" in fine("lock", "pod.yaml", "--update")
    assert fine("bom", "pod.yaml") == fine("bom", "pod.yaml", "--no-lock")


def test_a_design_by_name(here: Path) -> None:
    name = "infiniband-nvidia-qm9700-2t-1to1"
    fine("lock", "pod.yaml", "--design", name, "-o", "ib.lock.yaml")
    assert "nvidia-qm9700" in fine("bom", "pod.yaml", "--lock", "ib.lock.yaml")
    assert "nvidia-sn5610" in fine("bom", "pod.yaml")
    assert "is not the locked design" in refused(
        2, "bom", "pod.yaml", "--lock", "ib.lock.yaml", "--design", "roce-nvidia-sn5610-2t-1to1"
    )
    assert "is not the locked design" in refused(2, "show", "pod.yaml", "--lock", "ib.lock.yaml", "--design", "x")


def test_a_spec_from_standard_input(here: Path) -> None:
    assert "name it with --output" in cli("lock", "-", stdin=SPEC.encode()).err
    done = cli("lock", "-", "-o", "x.lock.yaml", stdin=SPEC.encode())
    assert (done.code, done.err) == (0, "")
    with_lock = cli("bom", "-", "--lock", "x.lock.yaml", stdin=SPEC.encode())
    assert with_lock.out == cli("bom", "-", stdin=SPEC.encode()).out


def _wrong(here: Path) -> dict[tuple[str, ...], tuple[int, str]]:
    return {
        ("lock", "pod.yaml"): (2, "pod.lock.yaml: the lock exists; --check compares it"),
        ("lock", "pod.yaml", "--check", "--update"): (2, "do not go together"),
        ("lock", "pod.yaml", "--check", "--design", "x"): (2, "--design goes with a new lock or with --update"),
        ("lock", "pod.yaml", "-o", "no.yaml", "--check"): (2, "no.yaml: there is no lock yet"),
        ("lock", "pod.yaml", "-o", "no/lock.yaml"): (4, "no/lock.yaml: cannot be written"),
        ("lock", "pod.yaml", "-o", "n.yaml", "--set", "budget=$1k"): (3, "no design can be recommended"),
        ("bom", "pod.yaml", "--lock", "no.yaml"): (2, "no.yaml: no such file"),
        ("bom", "pod.yaml", "--lock", "p.yaml"): (2, "p.yaml:1:1: this is no lock: it has no key 'ibplan_lock'"),
        ("bom", "pod.yaml", "--lock", "pod.lock.yaml", "--no-lock"): (2, "--lock does not go with --no-lock"),
        ("bom", "pod.yaml", "--prices", "p.yaml"): (2, "--prices changes nothing under the lock pod.lock.yaml"),
        ("design", "pod.lock.yaml"): (2, "this is a lock, not a spec"),
    }


def test_what_is_wrong_is_said_with_its_code(here: Path) -> None:
    fine("lock", "pod.yaml")
    for words, (code, said) in _wrong(here).items():
        assert said in refused(code, *words), words


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("quantity: 16", "quantity: 17", ":3: figures: the items add up to $3,463,850.84, but capex_usd says"),
        ("ibplan_lock: 1", "ibplan_lock: 2", ":3:14: ibplan_lock: a lock of version 2; this ibplan reads 1"),
        ("fabric: roce", "fabrik: roce", ":7:1: unknown key 'fabrik' (did you mean fabric?)"),
        ("price_kind: street", "price_kind: used", "price_kind: "),
        ("unit_price_usd: 51999.00", "unit_price_usd: null", "unit_price_usd and price_kind are given together"),
        ("part: nvidia-sn5610", "part: NVIDIA", "an id is lower-case letters"),
        ("quantity: 16", "quantity: .nan", "expected a whole number"),
    ],
)
def test_a_lock_that_was_edited_is_refused(here: Path, old: str, new: str, said: str) -> None:
    file = here / "pod.lock.yaml"
    file.write_text(_locked().replace(old, new, 1))
    found = refused(2, "bom", "pod.yaml")
    assert said in found
    assert found.startswith("pod.lock.yaml:")


def test_validate_takes_locks_beside_specs(here: Path) -> None:
    fine("lock", "pod.yaml")
    assert fine("validate", "pod.yaml", "pod.lock.yaml") == "pod.lock.yaml: ok\npod.yaml: ok\n"
    (here / "pod.lock.yaml").write_text("ibplan_lock: 1\n")
    done: Done = cli("validate", "pod.yaml", "pod.lock.yaml")
    assert (done.code, done.out) == (2, "pod.yaml: ok\n")


def test_no_example_has_a_lock_that_would_hide_what_its_spec_gives() -> None:
    assert list((ROOT / "specs").glob("*.lock.yaml")) == []
