"""Files that are no specs, catalogues or price files: refused at once, whatever they are."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.run import measured
from tests.hostile.inside import cli
from tests.hostile.measured import MAX_SECONDS, refused, start_seconds

SIZE = 100 * 1024**2
ITEM = "- {part: nvidia-sn%d, kind: street, usd: 1, source: s}\n"
PRICES = "name: ours\ndate: 2026-01-01\nprices:\n"
CABLE = (
    "- {id: c%d, vendor: v, model: m, confidence: high, sources: [s], kind: dac, form_a: OSFP, form_b: OSFP, "
    "compatible_with: zz%d}\n"
)
LEVELS = zip("abcdefgh", "bcdefghi", strict=True)
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in LEVELS
)


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A directory of files that nobody should read."""
    with (tmp_path / "big").open("wb") as file:
        file.truncate(SIZE)  # takes no room on disk
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00a")
    (tmp_path / "bomb").write_text(BOMB)
    (tmp_path / "deep").write_text("a: " + "[" * 100_000)
    (tmp_path / "dir").mkdir()
    (tmp_path / "loop").symlink_to("pool")
    (tmp_path / "pool").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


FILES = {
    "big": "larger than 2 MiB",
    "empty": "there is nothing in it",
    "binary": "not UTF-8 text",
    "bomb": "more than 200,000 values",
    "deep": "nested too deep",
    "dir": "is a directory",
    "loop": "Too many levels of symbolic links",
    "fifo": "is not a regular file",
    "/dev/zero": "is not a regular file",
    "/proc/self/mem": "cannot be read",
}


@pytest.mark.parametrize("name", FILES)
def test_a_spec_that_is_none(odd: Path, name: str) -> None:
    refused(measured("design", name, cwd=odd), FILES[name])


@pytest.mark.parametrize("name", ["big", "loop", "/proc/self/mem"])
def test_a_catalogue_and_a_price_file_that_are_none(odd: Path, name: str) -> None:
    said = FILES[name].removeprefix("is a directory")
    refused(measured("catalog", "list", "--catalog", name, cwd=odd), said)
    (odd / "spec.yaml").write_text(f"gpus: 64\nprices: {name}\n")
    refused(measured("bom", "spec.yaml", cwd=odd), said)


@pytest.mark.parametrize("name", ["/dev/zero", "big"])
def test_standard_input_without_end(odd: Path, name: str) -> None:
    refused(measured("design", "-", stdin=odd / name), "<stdin>: larger than 2 MiB")


def test_a_catalogue_that_names_itself_and_one_a_hundred_times(tmp_path: Path) -> None:
    (tmp_path / "self.yaml").write_text("gpus: 64\ncatalog: self.yaml\n")
    refused(measured("design", "self.yaml", cwd=tmp_path), "self.yaml:2:1: unknown key 'catalog' (known here: switches")
    (tmp_path / "many.yaml").write_text(f"gpus: 64\ncatalog: [{', '.join(['x/c.yaml'] * 100)}]\n")
    (tmp_path / "x").symlink_to(".")
    (tmp_path / "c.yaml").write_text("gpus: []\n" + "# nothing\n" * 20_000)
    refused(measured("design", "many.yaml", cwd=tmp_path), "the limit for all together")


def test_thousands_of_wrong_names_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PRICES + "".join(ITEM % i for i in range(9000)))
    done = measured("catalog", "list", "--prices", "p.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "there is no part nvidia-sn0 (did you mean nvidia-sn" in done.err
    assert re.search(r"… and 8,[0-9]{3} more problems\n$", done.err)
    (tmp_path / "c.yaml").write_text("cables:\n" + "".join(CABLE % (i, i) for i in range(6000)))
    wrong = measured("catalog", "list", "--catalog", "c.yaml", cwd=tmp_path)
    assert wrong.err.endswith("… and 5,900 more problems\n")
    for each in (done, wrong):
        assert each.seconds < 2 * MAX_SECONDS + start_seconds()  # megabytes of YAML; hints for all would take minutes
        assert each.mb < 200


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("gpus: 1e30", "gpus: expected a whole number"),
        ("gpus: 1" + "0" * 30, "gpus: must be at most 4,194,304"),
        ("gpus: .nan", "gpus: expected a whole number"),
        ("gpus: -.inf", "gpus: expected a whole number"),
        ("gpus: 8\nbudget: $1e999", "must be a finite number of a sensible size"),
        ("gpus: 8\nbudget: $2T", "an amount of money must be at most $1T"),
        ("gpus: 8\nbudget: $0.001", "has no fractions of a cent"),
        ("gpus: 8\nbudget: {power: 5e9 GW}", "a power must be at most 1,000 GW"),
        ("gpus: 8\nsite: {pue: 1e999}", "site.pue"),
        ("gpus: 8\nserver: " + "x" * 60_000, "server: takes at most 200 characters"),
        ("gpus: 8\nmodel: " + "x" * 60_000, "takes at most 200 characters"),
        ("gpus: 8\nprices: " + "x/" * 30_000, "prices: takes at most 4096 characters"),
        ("gpus: 8\nname: a\u202eb", "the character U+202E is not allowed"),
        ("gpus: 8\nname: a\u200bb", "the character U+200B is not allowed"),
        ('gpus: 8\nname: "a\\e[31mb"', "this text holds a control character"),
        ('gpus: 8\nname: "a\\U000E0041"', "this text holds a control character"),
        ('gpus: 8\nname: "a\\rb"', "this text holds a control character"),
    ],
)
def test_numbers_and_texts_of_no_sense(tmp_path: Path, spec: str, said: str) -> None:
    (tmp_path / "s.yaml").write_text(spec, encoding="utf-8")
    done = cli("validate", str(tmp_path / "s.yaml"))
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err) < 1000


HUGE = (
    "servers: 4194304\nfabrics: roce\nserver: {gpus: 1, nics: %d, port_gbps: 400}\n"
    "network: {switch: {ports: %d, port_gbps: 400}}\n"
)


@pytest.mark.parametrize(
    ("nics", "ports", "links", "command"),
    [
        (64, 16384, "805,306,368", "show"),
        (1, 512, "12,582,912", "show"),
        (1, 512, "12,582,912", "show --device leaf-001"),
        (1, 512, "12,582,912", "diagram"),
    ],
)
def test_what_is_too_large_to_wire_is_refused_from_its_size(
    tmp_path: Path, nics: int, ports: int, links: str, command: str
) -> None:
    (tmp_path / "s.yaml").write_text(HUGE % (nics, ports))
    design = f"roce-inline-{ports}x400g-3t-1to1"
    done = measured(*command.split(), "s.yaml", "--design", design, cwd=tmp_path)
    refused(done, f"s.yaml:1:10: servers: {design} has {links} links; designs of up to 4,000,000 links")


def test_the_largest_that_is_wired_takes_little(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(HUGE % (1, 512))
    few = ("s.yaml", "--set", "servers=1310720", "--design", "roce-inline-512x400g-3t-1to1")
    for command in ("show", "diagram"):
        done = measured(command, *few, cwd=tmp_path)
        assert (done.code, done.err) == (0, "")
        assert done.seconds < 3 * MAX_SECONDS + start_seconds()
        assert done.mb < 400


def test_lists_that_multiply_are_refused_by_name(tmp_path: Path) -> None:
    ratios = "[" + ", ".join(f"{i}:1" for i in range(1, 17)) + "]"
    spec = tmp_path / "s.yaml"
    spec.write_text(
        f"gpus: 1024\nnetwork:\n  oversubscription: {{leaf: {ratios}, spine: {ratios}}}\n  planes: [1, 2]\n"
    )
    words = "the lists multiply to 1,024 combinations, 512 is the limit: fabrics 2 x network.oversubscription.leaf 16"
    refused(measured("design", str(spec)), words, "network.planes 2")
    for action in ("bom", "validate", "show", "diagram", "racks", "simulate"):
        done = cli(action, str(spec))
        assert (done.code, done.out) == (2, "")
        assert words in done.err
