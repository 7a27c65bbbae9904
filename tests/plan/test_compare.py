"""Sweeps: order, what each combination's plan says, and errors of some or of all combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ibplan.catalog import store
from ibplan.errors import InputError
from ibplan.plan import compare
from ibplan.plan.compare import Source, Sweep, sweep
from ibplan.plan.results import Plan
from ibplan.spec.variations import parse_variations
from tests.cli.quick import load_once
from tests.plan.planning import plan
from tests.plan.valued import performance

SPEC = "model: 70B\nservers: 16\nnetwork: {switch: nvidia-qm9700}\nfabrics: infiniband\n"


@pytest.fixture(autouse=True)
def _catalog_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    load_once(monkeypatch)
    monkeypatch.setattr(compare, "load_catalog", lambda *files: store.load_catalog(*files))


def _swept(tmp_path: Path, vary: Sequence[str], *settings: str, text: str = SPEC, **options: object) -> Sweep:
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    found: Sweep = sweep(Source(path, settings), parse_variations(vary, settings), **options)  # type: ignore[arg-type]
    return found


def test_every_combination_is_the_plan_of_its_values(tmp_path: Path) -> None:
    found = _swept(tmp_path, ["servers=16,32", "network.oversubscription=1:1,3:1"], jobs=2)
    assert found.name == "spec"
    assert found.keys == ("servers", "network.oversubscription")
    assert [tuple(c.values.values()) for c in found.combinations] == [
        ("16", "1:1"),
        ("16", "3:1"),
        ("32", "1:1"),
        ("32", "3:1"),
    ]
    assert [c.number for c in found.combinations] == [1, 2, 3, 4]
    for combination in found.combinations:
        whole = plan(SPEC, *(f"{key}={value}" for key, value in combination.values.items()))
        assert whole.recommended is not None
        design = whole.design(whole.recommended)
        (row,) = combination.designs
        assert (combination.state, combination.exit_code, combination.recommended) == ("recommended", 0, design.id)
        totals = design.totals
        assert (row.gpus, row.switches, row.capex_usd) == (totals.gpus, totals.switches, totals.capex_usd)
        assert row.per_gpu_gbps == design.networks.compute.bandwidth.per_gpu_gbps
        training = design.performance.training
        assert training is not None
        assert (row.step_s, row.days, row.tokens_per_s) == (training.step_s, training.days, training.tokens_per_s)


def test_one_process_and_several_say_the_same(tmp_path: Path) -> None:
    alone = _swept(tmp_path, ["servers=4,8,12"], jobs=1)
    assert _swept(tmp_path, ["servers=4,8,12"], jobs=3) == alone


def test_all_designs_are_those_of_the_plan(tmp_path: Path) -> None:
    (found,) = _swept(tmp_path, ["gpus=64"], all_designs=True, text="model: 70B\ngpus: 8\n").combinations
    whole = plan("model: 70B\ngpus: 64\n")
    assert [d.id for d in found.designs] == [d.id for d in whole.designs]
    assert [d.id for d in found.designs if d.recommended] == [whole.recommended]
    assert len(found.designs) > 2


def test_the_states_of_combinations_that_recommend_nothing(tmp_path: Path) -> None:
    over, fits = _swept(tmp_path, ["budget=$1k,$9M"]).combinations
    assert (over.state, over.exit_code, over.recommended, over.designs) == ("over a limit", 3, None, ())
    assert [row.limit for row in over.shortfall] == ["network_budget"]
    assert fits.state == "recommended"
    (tight,) = _swept(tmp_path, ["network.tiers=1"], "servers=128").combinations
    assert (tight.state, tight.exit_code) == ("cannot be built", 3)
    assert any("one switch" in reason for reason in tight.reasons)
    (bare,) = _swept(tmp_path, ["network.switch=nvidia-q3400-ra"], "server=nvidia-gb300-nvl72-tray").combinations
    assert (bare.state, bare.exit_code, bare.recommended) == ("without prices", 0, None)
    (slow,) = _swept(tmp_path, ["fabrics=ethernet"], text="model: 405B\nservers: 16\ngrowth: []\n").combinations
    assert slow.state == "recommended"  # nothing else is asked for


def test_performance_is_taken_from_the_designs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = compare.make_plan

    def with_times(*arguments: object) -> Plan:
        made: Plan = make(*arguments)  # type: ignore[arg-type]
        training = {"step_s": 12.5, "days": 40.0, "tokens_per_s": 1e6}
        return replace(made, designs=tuple(replace(d, performance=performance(training)) for d in made.designs))

    monkeypatch.setattr(compare, "make_plan", with_times)
    (found,) = _swept(tmp_path, ["servers=16"]).combinations
    (row,) = found.designs
    assert (row.step_s, row.days, row.tokens_per_s) == (12.5, 40.0, 1e6)


def _problems(tmp_path: Path, vary: Sequence[str], *settings: str, text: str = SPEC) -> list[str]:
    with pytest.raises(InputError) as error:
        _swept(tmp_path, vary, *settings, text=text)
    return str(error.value).replace(str(tmp_path), "").splitlines()


def test_the_problem_of_a_value_is_that_of_its_option(tmp_path: Path) -> None:
    assert _problems(tmp_path, ["servers=4,x,y", "network.tiers=1,2"]) == [
        "--vary servers=x: servers: expected a whole number, got text 'x'",
        "--vary servers=y: servers: expected a whole number, got text 'y'",
    ]
    found = _problems(tmp_path, ["network.switch=nvidia-qm9700,nope", "server=nvidia-dgx-h100,none-such"])
    assert [line.split(": ")[0] for line in found] == ["--vary network.switch=nope", "--vary server=none-such"]


def test_a_problem_of_every_combination_is_said_once(tmp_path: Path) -> None:
    found = _problems(tmp_path, ["servers=4,8"], "network.tiers=7", text=SPEC + "colour: red\n")
    assert len(found) == 2
    assert found[0].startswith("--set network.tiers=7: ")
    assert found[1].startswith("/spec.yaml:5:1: unknown key 'colour'")


GROWING = SPEC.replace("servers: 16", "gpus: 128") + "growth: [{year: 1, gpus: 512}]\n"


def test_a_problem_of_some_combinations_says_of_which(tmp_path: Path) -> None:
    (alone,) = _problems(tmp_path, ["gpus=128,1024", "network.planes=1,2"], text=GROWING)
    assert alone.startswith(
        "/spec.yaml:5:26: with gpus=1024: growth[0].gpus: stages never shrink: 512 GPUs after 1,024"
    )
    vary = ["gpus=128,1024", "growth=[{year: 1, gpus: 256}],[{year: 1, gpus: 2048}]", "network.planes=1,2"]
    (both,) = _problems(tmp_path, vary, text=GROWING)
    assert both.startswith(
        "--vary growth=[{year: 1, gpus: 256}]: with gpus=1024, growth=[{year: 1, gpus: 256}], network.planes=1 "
        "and 1 more combination: growth[0].gpus: stages never shrink"
    )


def test_what_only_planning_finds_is_reported_for_all_combinations_too(tmp_path: Path) -> None:
    found = _problems(tmp_path, ["design=nope,infiniband-nvidia-qm9700-2t-1to1,neither"])
    assert [line.split(": ")[0] for line in found] == ["--vary design=neither", "--vary design=nope"]


def test_catalogues_and_prices_can_be_varied(tmp_path: Path) -> None:
    row = "prices: [{part: nvidia-qm9700, kind: street, usd: %s, date: '2026-11-30', source: the test}]\n"
    for name, usd in (("low", "1000"), ("high", "90000")):
        text = f"name: {name}\ndate: '2026-11-30'\n{row % usd}"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    low, high = _swept(tmp_path, ["prices=low.yaml,high.yaml"]).combinations
    assert low.designs[0].capex_usd < high.designs[0].capex_usd
    assert [p.split(": ")[0] for p in _problems(tmp_path, ["prices=low.yaml,no.yaml"])] == ["--vary prices=no.yaml"]
