"""Catalogues and price files that lie, contradict, or want to run: refused, or shown and never obeyed."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.hostile.inside import Done, cli

EVIL = """\
switches:
- id: evil
  vendor: {vendor}
  model: {model}
  link_layers: [infiniband]
  cages: [{{count: {count}, cage_class: ndr-osfp, form: OSFP, heat_sink: finned, lanes: 8, lane_gbps: 100,
    breakouts: [{{ports: {ports}, gbps: 400, lanes: 4{more}}}]}}]
  capacity_gbps: {capacity}
  rack_units: 1
  power: {{max_w: {watts}}}
  part_numbers: {{any: {part}}}
  confidence: high
  sources: ["=1+1"]
"""
PRICE = 'name: ours\ndate: {day}\nprices:\n- {{part: evil, kind: street, source: "@x", {price}}}\n'
RATE = "rates:\n- {{currency: EUR, usd: {usd}, date: 2026-01-01, source: x}}\n"
SPEC = "gpus: 64\nfabrics: infiniband\nnetwork: {switch: evil}\ncatalog: evil.yaml\nprices: prices.yaml\n"
SOUND = {
    "vendor": "v", "model": "m", "part": "p", "count": 64, "ports": 2, "more": "", "capacity": 51200, "watts": 1000,
}  # fmt: skip
COMMANDS = (
    ("design", "s.yaml"),
    ("design", "s.yaml", "--format", "markdown"),
    ("bom", "s.yaml", "--format", "markdown"),
    ("show", "s.yaml"),
    ("diagram", "s.yaml"),
    ("catalog", "show", "evil"),
    ("catalog", "list", "--kind", "switches", "--format", "markdown"),
    ("catalog", "check", "--older-than", "1d", "--as-of", "2026-12-01"),
)
CSV = (
    ("design", "s.yaml", "--format", "csv"),
    ("bom", "s.yaml"),
    ("catalog", "show", "evil", "--format", "csv"),
    ("catalog", "list", "--kind", "switches", "--format", "csv"),
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(price: str = "usd: 100", rate: str = "", day: str = "2026-01-01", **changes: object) -> None:
    Path("evil.yaml").write_text(EVIL.format(**{**SOUND, **changes}), encoding="utf-8")
    Path("prices.yaml").write_text(PRICE.format(price=price, day=day) + rate, encoding="utf-8")
    Path("s.yaml").write_text(SPEC, encoding="utf-8")


def run(*words: str) -> Done:
    files = ("--catalog", "evil.yaml", "--prices", "prices.yaml") if words[0] == "catalog" else ()
    return cli(*words, *files)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"count": 10**9}, "count: must be at most 4,096"),
        ({"count": 4096, "ports": 16}, "16 ports of 4 lanes do not fit a cage of 8 lanes"),
        ({"count": 0}, "count: must be at least 1"),
        ({"capacity": 1}, "but capacity_gbps says 1"),
        ({"watts": "1e308"}, "a number may be 1,000,000,000,000 at most"),
        ({"watts": ".inf"}, "power.max_w"),
        ({"watts": -1}, "power.max_w: must be at least 0"),
        ({"more": ", cages_lost: 99"}, "cages_lost: must be at most 3"),
        ({"model": '"\\e[31m"'}, "control character"),
        ({"price": "usd: -1"}, "an amount must not be below 0"),
        ({"price": "usd: 1e24"}, "an amount must be at most $1T"),
        ({"price": "usd: .nan"}, "prices[0].usd"),
        ({"price": "amount: -1, currency: EUR"}, "an amount must not be below 0"),
        ({"price": "amount: 1e300, currency: EUR"}, "a number may be"),
        ({"price": "amount: 1e11, currency: EUR", "rate": RATE.format(usd="1e6")}, "at most $1T, here 1e+06"),
        ({"price": "amount: 1, currency: EUR", "rate": RATE.format(usd="1e300")}, "a number may be"),
        ({"price": "amount: 1, currency: EUR", "rate": RATE.format(usd="1e7")}, "must be at most $1M"),
        ({"price": "usd: 1, date: '0000-00-00'"}, "there is no day 0000-00-00"),
        ({"price": "usd: 1, date: '2026-02-30'"}, "there is no day 2026-02-30"),
        ({"price": "usd: 1, date: '٢٠٢٦'"}, "there is no day"),
        ({"day": "9999-99-99"}, "there is no day 9999-99-99"),
    ],
)
def test_entries_that_cannot_be(changes: dict[str, str], said: str) -> None:
    write(**changes)
    done = run("design", "s.yaml")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith(("evil.yaml:", "prices.yaml:"))


FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\n=1+1", " =1+1", "\uff1d1+1")


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_is_a_formula(formula: str) -> None:
    quoted = '"' + formula.replace("\t", "\\t").replace("\n", "\\n") + '"'
    write(model=quoted, vendor=quoted, part=quoted)
    for words in CSV:
        done = run(*words)
        assert (done.code, done.err) == (0, "")
        for row in csv.reader(io.StringIO(done.out, newline=""), strict=True):
            for cell in row:
                assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d")), cell
    assert f"'{formula}" in run("bom", "s.yaml").out


@pytest.mark.parametrize(
    "name",
    [
        "x" * 60_000,
        "<script>alert(1)</script>",
        "a | b `c` [d](e) ![f](g)",
        "\\u0430dm\\u0456n 漢字 💣 e\\u0301",
        "[bold]x[/]",
        "a\\nb",
    ],
)
def test_odd_names_are_shown_and_nothing_else(name: str) -> None:
    write(model=f'"{name}"', vendor=f'"{name}"', part=f'"{name}"')
    Path("s.yaml").write_text(SPEC + f'name: "{name[:100]}"\n', encoding="utf-8")
    for words in COMMANDS:
        done = run(*words)
        assert (done.code, done.err) == (0, ""), words
        seen = done.out.replace("\n", "")
        assert seen.isprintable() or words[0] == "diagram", words
        if "markdown" in words or words[0] == "diagram":
            assert "<script>" not in done.out


@pytest.mark.parametrize("price", ["usd: 0", "usd: 1000000000000", "usd: 0.01", "amount: 0.01, currency: EUR"])
def test_prices_at_the_limits(price: str) -> None:
    write(price=price, rate=RATE.format(usd=1))
    for words in (("design", "s.yaml", "--format", "json"), ("bom", "s.yaml"), ("catalog", "show", "evil")):
        assert run(*words).code == 0, words
    assert cli("bom", "s.yaml", "--set", "gpus=4194304", "--set", "network.tiers=3").code in (0, 3)


@pytest.mark.parametrize("price", ["usd: 0.004", "amount: 0.00001, currency: EUR"])
def test_prices_below_a_cent_are_refused(price: str) -> None:
    write(price=price, rate=RATE.format(usd=1))
    done = run("bom", "s.yaml")
    assert (done.code, done.out) == (2, "")
    assert "prices.yaml:4:" in done.err
    assert "less than a cent" in done.err or "a cent at least" in done.err


def test_arguments_cannot_write_to_the_terminal() -> None:
    write()
    evil = "\x1b[31m\u202eevil"
    for words in (
        ("design", evil),
        ("design", "s.yaml", "--design", evil),
        ("design", "s.yaml", "--explain", evil),
        ("design", "s.yaml", "--set", f"network.{evil}=1"),
        ("design", "s.yaml", "--set", f"name={evil}"),
        ("design", "s.yaml", "--format", evil),
        (evil,),
        ("design", f"--{evil}"),
        ("compare", "s.yaml", "--vary", f"name=a,{evil}"),
        ("compare", "s.yaml", "--vary", f"network.{evil}=1"),
        ("bom", "s.yaml", "--design", evil),
        ("show", "s.yaml", "--device", evil),
        ("show", "s.yaml", "--design", evil),
        ("diagram", "s.yaml", "--design", evil),
        ("racks", "s.yaml", "--rack", evil),
        ("racks", "s.yaml", "--design", evil),
        ("export", "s.yaml", "--to", evil, "-o", "-"),
        ("export", "s.yaml", "--to", "graphml", "-o", "-", "--design", evil),
        ("export", "s.yaml", "--to", "graphml", "-o", "-", "--set", f"naming.leaf='{evil}{{number}}'"),
        ("simulate", "s.yaml", "--design", evil),
        ("simulate", "s.yaml", "--fail", evil),
        ("simulate", "s.yaml", "--fail", f"{evil}=1"),
        ("simulate", "s.yaml", "--pattern", evil),
        ("verify", "s.yaml", "--as-built", evil),
        ("verify", "s.yaml", "--as-built", "s.yaml", "--name-map", evil),
        ("verify", "s.yaml", "--as-built", "s.yaml", "--columns", evil),
        ("verify", "s.yaml", evil, "--expect", evil),
        ("import", evil),
        ("import", "s.yaml", "--sheet", evil),
        ("catalog", "show", evil),
        ("catalog", "list", "--catalog", evil),
        ("catalog", "list", "--kind", evil),
        ("catalog", "check", "--older-than", evil),
        ("catalog", "check", "--as-of", evil),
        ("init", "-o", f"{evil}/x"),
    ):
        done = cli(*words)
        assert done.code in (2, 4), words
        assert done.out == "", words
        assert "\x1b[31m" not in done.err, words
        if words[-1] != f"--{evil}" and words != (evil,):  # what Typer itself says of unknown options and commands
            assert "\u202e" not in done.err, words
