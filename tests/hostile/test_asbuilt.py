"""Fabrics from someone who means harm: refused at once, in little memory, with nothing half-read."""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibplan.asbuilt.reading import read_fabric
from ibplan.errors import InputError, UsageError
from tests.asbuilt import built
from tests.asbuilt.built import perfect, planned
from tests.cli.run import ROOT, measured
from tests.examples import share
from tests.hostile.inside import cli
from tests.hostile.measured import refused
from tests.hostile.test_quotes import ROW, SHEET, changed

POD = str(ROOT / "specs" / "h100-pod-127.yaml")
PAIR = ("h100-pod-127", "model=7B", "servers=2", "network.reserved_ports=0", "network.tiers=2")
NODE = 'Ca\t1 "H-%016x"\t\t# "server-001 mlx5_0"\n[1]\t"S-1"[%d]\n\n'


def refused_here(path: Path, said: str) -> None:
    for words in (("verify", POD, "--as-built", str(path)), ("import", str(path))):
        done = cli(*words)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err
        assert len(done.err) < 30_000


@pytest.mark.parametrize("name", ["/dev/zero", "/proc/self/mem", "big", "fifo"])
def test_files_without_end(tmp_path: Path, name: str) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(100 * 1024**2)  # takes no room on disk
    os.mkfifo(tmp_path / "fifo")
    said = {"big": "larger than 64 MiB, the limit for a cable list", "/proc/self/mem": "cannot be read"}
    done = measured("import", name, cwd=tmp_path)
    refused(done, said.get(name, "is not a regular file"))


def test_standard_input_without_end(tmp_path: Path) -> None:
    done = measured("import", "-", stdin=Path("/dev/zero"))
    refused(done, "<stdin>: larger than 64 MiB")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("f.json", '{"lldp": ' + "[" * 100_000, "nested too deep"),
        ("f.json", '{"lldp": ' + "[" * 500 + "]" * 500 + "}", "not of the form of lldpctl"),
        ("f.json", '{"lldp": {"interface": {"%s": {}}}}' % ("x" * 5_000), "a name of 5,000 characters"),
        ("f.json", '{"lldp": %s}' % ("9" * 5_000), "a number in it is too long"),
        ("f.txt", 'Switch\t64 "S-1"\t# "' + "x" * 100_000 + '"\n', "a line of more than 4,096 characters"),
        ("f.txt", 'Switch\t99999 "S-1"\t# "x"\n[1]\t"S-1"[1]\n', "is joined to itself"),
        ("f.txt", "Switch\t64 \"S-1\"\t# \"x\"\n" + "[1]\t\"S-2\"[1]\n" * 5_000, "more problems"),
        ("f.txt", "".join(NODE % (n, n) for n in range(1, 3_000)), "more problems"),
        ("f.txt", "LocalPort  RemoteDevice  RemotePortID\n" + "x" * 4_000, "the head of the table has no rule"),
        ("f.csv", "a device,b device\n" + "x,\n" * 50_000, "more problems"),
        ("f.csv", "a device,b device\nx," + ";" * 1_900 + "y\n", ""),
        ("f.csv", "a device,a port,b device\nx,\"" + "1," * 900 + '",y\n', "more than 64 ends of one cable"),
        ("f.csv", "a device,b device\nx,\x00\n", "not a text file"),
    ],
    ids=range(13),
)  # fmt: skip
def test_texts_that_are_much_or_nothing(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    refused_here(tmp_path / name, said)


def test_workbooks_that_are_more_than_they_seem(tmp_path: Path) -> None:
    for data, said in (
        (SHEET % b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "more than 500,000 rows"),
        (SHEET % (b"<row/>" * 6_000_000), "unpacks to more than the limit for a cable list"),
        (SHEET % b"".join(ROW % (i, i) for i in range(1, 100)), "names the device at both ends"),
    ):
        refused_here(Path(changed(tmp_path, data)), said)


def test_a_map_of_names_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(built.ibnetdiscover(perfect(planned(*PAIR))))
    for text, said in (
        ("x" * 1_000_000, "is not of the form"),
        ('"' * 3_000, "is not of the form"),
        ("\0", "not a text"),
    ):
        (tmp_path / "map").write_text(text)
        done = cli("verify", POD, "--as-built", str(tmp_path / "good.txt"), "--name-map", str(tmp_path / "map"))
        assert (done.code, done.out) == (2, "")
        assert said in done.err


@cache
def texts() -> list[str]:
    fabric = perfect(planned(*PAIR))
    lists = built.list_csv(built.rows(fabric))
    return [
        built.ibnetdiscover(fabric),
        built.iblinkinfo(fabric),
        built.lldp_json(fabric)["leaf-001"],
        built.lldp_table(fabric)["leaf-001"],
        lists,
    ]


@settings(max_examples=share(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(which=st.integers(0, 4), seed=st.integers(0, 2**32))
def test_spoiled_texts_are_read_or_refused(tmp_path: Path, which: int, seed: int) -> None:
    """Whatever is cut out, doubled, exchanged or put in: a fabric, or an error that says what is wrong."""
    path = tmp_path / "leaf-001.txt"
    path.write_text(spoiled(texts()[which], random.Random(seed)))
    found, said = None, ""
    try:
        found = read_fabric([path])
    except (InputError, UsageError) as error:
        said = str(error)
    assert (found is None) == bool(said)
    assert "\x1b" not in said
    assert found is None or all(device.name.isprintable() for device in found.devices)


def spoiled(text: str, chance: random.Random) -> str:
    """A text with one to three changes."""
    for _ in range(chance.randrange(1, 4)):
        at, size = chance.randrange(len(text)), chance.choice([1, 1, 5, 40, 400])
        put = chance.choice(['"', "[", "]", "(", "\n", "\t", ",", "#", "==", "\x1b", "9" * 30])
        kinds = [text[:at] + text[at + size :], text[: at + size] + text[at:], text[:at] + put + text[at:], text[:at]]
        text = chance.choice(kinds) or "x"
    return text
