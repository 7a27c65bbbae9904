"""`ibplan verify` and `ibplan import`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ibplan.document import parse_document
from tests.asbuilt import built
from tests.asbuilt.built import Built, perfect, planned
from tests.cli.quick import load_once
from tests.cli.run import ROOT
from tests.golden import check_golden
from tests.hostile.inside import cli

GOLDEN = Path(__file__).parents[1] / "golden"
POD = str(ROOT / "specs" / "h100-pod-127.yaml")
SMALLER = ("--set", "servers=60")
PLAN = ("h100-pod-127", "servers=60")


def mixed() -> Built:
    """A pod with one of each difference."""
    fabric = perfect(planned(*PLAN))
    fabric.swap(fabric.at("server-001", "1/1"), fabric.at("server-002", "1/1"), "a")
    fabric.swap(fabric.at("server-003", "1/1"), fabric.at("server-003", "1/2"), "b")
    for n in range(21, 24):
        fabric.swap(fabric.at(f"server-0{n}", "3/1"), fabric.at(f"server-0{n}", "3/2"), "b")
    fabric.swap_devices("server-010", "server-011")
    at = fabric.at("server-041", "1/2")
    fabric.cables[at] = replace(fabric.cables[at], a=built.Plug("leaf-010", 0, "1/16/1", 31))
    at = fabric.at("leaf-005", "1/20/1")
    fabric.cables[at] = replace(fabric.cables[at], lanes=1)
    at = fabric.at("leaf-006", "1/20/1")
    fabric.cables[at] = replace(fabric.cables[at], lane_gbps=50)
    fabric.cables.append(built.Cable(*(built.Plug(f"leaf-01{n}", 0, "1/15/2", 30) for n in (1, 2))))
    gone = {fabric.at("server-050", "2/2"), *fabric.of("server-060")}
    fabric.cables = [cable for n, cable in enumerate(fabric.cables) if n not in gone]
    fabric.renamed = {"server-020": "stranger-1"}
    return fabric


@pytest.fixture
def fabric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    load_once(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("fabric.txt").write_text(built.ibnetdiscover(mixed()))
    Path("good.txt").write_text(built.ibnetdiscover(perfect(planned(*PLAN))))
    return "fabric.txt"


@pytest.mark.parametrize("width", ["80", "120", "200"])
def test_golden_table(fabric: str, width: str) -> None:
    done = cli("verify", POD, *SMALLER, "--as-built", fabric, "--width", width)
    assert (done.code, done.err) == (1, "")
    assert max(map(len, done.out.splitlines())) <= int(width)
    check_golden(GOLDEN / f"verify-{width}.txt", done.out)


@pytest.mark.parametrize(("form", "end"), [("markdown", "md"), ("csv", "csv"), ("json", "json")])
def test_golden_formats(fabric: str, form: str, end: str) -> None:
    done = cli("verify", POD, *SMALLER, "--as-built", fabric, "--format", form)
    assert done.code == 1
    check_golden(GOLDEN / f"verify.{end}", done.out)
    if form == "json":
        data = json.loads(done.out)
        assert len(data["differences"]) == sum(data["counts"].values())
        same = parse_document(cli("verify", POD, *SMALLER, "--as-built", fabric, "--format", "yaml").out, "y").data
        assert json.loads(json.dumps(same)) == data
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(done.out)))
        assert {row["at_rack"] for row in rows} >= {"R01-10"}


def test_as_planned_is_exit_code_0_and_files_come_in_many_ways(fabric: str) -> None:
    done = cli("verify", POD, *SMALLER, "--as-built", "good.txt")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("dgx-h100-superpod-4su: infiniband-nvidia-qm9700-2t-1to1: as planned\n")
    piped = cli("verify", POD, *SMALLER, "--as-built", "-", stdin=Path("good.txt").read_bytes())
    assert (piped.code, piped.err) == (0, "")
    text = Path("good.txt").read_text()
    blocks = text.split("\n\n")
    Path("folder").mkdir()
    Path("folder", "all.txt").write_text("\n\n".join(blocks))
    assert cli("verify", POD, *SMALLER, "--as-built", "folder").code == 0
    assert cli("verify", POD, *SMALLER, "--as-built", "good.txt", "folder/all.txt").code == 0
    assert cli("verify", POD, *SMALLER, "--as-built", "good.txt", "--as-built", fabric).code == 1
    done = cli("verify", POD, *SMALLER, "--as-built", fabric, "--expect", "units=1", "-o", "out.txt")
    assert (done.code, done.out) == (1, "")
    assert "expected links of the 996 planned ones" in Path("out.txt").read_text().replace("\n", " ")


def test_the_schedule_of_cables_is_a_list_that_it_reads(fabric: str) -> None:
    assert cli("cables", POD, *SMALLER, "--network", "compute", "-o", "cables.csv").code == 0
    assert cli("verify", POD, *SMALLER, "--as-built", "cables.csv").code == 0
    one = str(ROOT / "specs" / "one-switch.yaml")
    assert cli("cables", one, "--network", "compute", "--format", "xlsx", "-o", "cables.xlsx").code == 0
    assert cli("verify", one, "--as-built", "cables.xlsx").code == 0
    assert cli("cables", one, "-o", "all.csv").code == 0
    assert cli("cables", one, "--format", "xlsx", "-o", "all.xlsx").code == 0
    for network, others in (("compute", ("inband", "oob", "storage")), ("oob", ("compute", "inband", "storage"))):
        said = []
        for name in ("all.csv", "all.xlsx"):
            done = cli("verify", one, "--as-built", name, "--network", network, "--format", "json")
            assert done.code == 0, name
            said.append(json.loads(done.out)["notes"][0])
        assert said[0] == said[1]
        assert re.match(r"Left out: [0-9,]+ cables of other networks\. Not checked here: ", said[0])
        assert all(f"{other} (--network {other})" in said[0] for other in others), said[0]


def test_what_export_writes_is_as_planned(fabric: str) -> None:
    one = str(ROOT / "specs" / "one-switch.yaml")
    assert cli("export", one, "--to", "netbox", "-o", "netbox").code == 0
    for network in ("compute", "storage", "inband", "oob"):
        done = cli("verify", one, "--as-built", "netbox/8-cables.csv", "--network", network)
        assert (done.code, done.err) == (0, ""), network
    assert cli("export", POD, *SMALLER, "--to", "ibnetdiscover", "-o", "exported").code == 0
    done = cli("verify", POD, *SMALLER, "--as-built", "exported")
    assert (done.code, done.err) == (0, "")


def test_the_list_that_other_tests_read(fabric: str) -> None:
    one = perfect(planned("one-switch"))
    check_golden(GOLDEN / "verify-one-switch.csv", built.list_csv(built.rows(one)))
    assert (
        cli("verify", str(ROOT / "specs" / "one-switch.yaml"), "--as-built", str(GOLDEN / "verify-one-switch.csv")).code
        == 0
    )


def test_a_spec_that_was_imported_is_one(fabric: str) -> None:
    done = cli("import", "good.txt", "--server", "nvidia-dgx-h100", "--switch", "nvidia-qm9700", "-o", "ours.yaml")
    assert (done.code, done.out, done.err) == (0, "", "")
    check_golden(GOLDEN / "import.yaml", Path("ours.yaml").read_text())
    assert cli("verify", "ours.yaml", "--as-built", "good.txt").code == 0
    assert cli("bom", "ours.yaml").code == 0
    table = cli("import", fabric, "--format", "table", "--width", "80")
    assert (table.code, max(map(len, table.out.splitlines())) <= 80) == (0, True)
    check_golden(GOLDEN / "import-80.txt", table.out)
    check_golden(GOLDEN / "import.md", cli("import", fabric, "--format", "markdown").out)
    text = cli("import", fabric, "--format", "json").out
    check_golden(GOLDEN / "import.json", text)
    data = json.loads(text)
    assert (data["reproduced"], data["differences"]) == (False, ["links between leaves: 1, planned 0"])
    same = parse_document(cli("import", fabric, "--format", "yaml").out, "y").data
    assert json.loads(json.dumps(same)) == data


def test_what_is_wrong_is_said_with_its_code(fabric: str) -> None:
    Path("cut.txt").write_text(Path("good.txt").read_text()[:30_000])
    for words, said in (
        ((), "name what was found: --as-built FILE"),
        (("--as-built", "no.txt"), "no.txt: no such file"),
        (("--as-built", "cut.txt"), "cut off"),
        (("--as-built", "good.txt", "--expect", "x"), "--expect: 'x' is not of the form"),
        (("--as-built", "good.txt", "--columns", "x=y"), "--columns: 'x=y' is not of the form key=name"),
        (("--as-built", "good.txt", "--name-map", "no.map"), "no.map: no such file"),
        (("--as-built", "good.txt", "--match", "x"), "--match"),
        (("--as-built", "-", "--name-map", "-"), "standard input can be one of the files"),
        (("--as-built", "good.txt", "--network", "storage", "--design", "x"), "no design has the id 'x'"),
    ):
        done = cli("verify", POD, *SMALLER, *words)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err, words
    for words, said in (
        (("no.txt",), "no.txt: no such file"),
        (("-", "-"), "standard input can be one of the files"),
        (("good.txt", "--hosts", "x*"), "there is no host in it"),
        (("good.txt", "--switch", "x"), "--switch: the catalogue has no 'x'"),
    ):
        done = cli("import", *words)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err, words


def test_no_name_of_the_fabric_is_run_or_drives_the_terminal(fabric: str) -> None:
    evil = built.list_csv([("1", "=cmd()", "1", "\x1b[31mred", "2", "400")])
    Path("evil.csv").write_text(evil, encoding="utf-8")
    done = cli("verify", POD, *SMALLER, "--as-built", "evil.csv")
    assert "\x1b" not in done.out
    rows = list(csv.DictReader(io.StringIO(cli("verify", POD, "--as-built", "evil.csv", "--format", "csv").out)))
    assert {row["at_device"] for row in rows if row["kind"] == "unknown-device"} == {"'=cmd()"}
