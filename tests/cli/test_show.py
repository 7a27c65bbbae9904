"""`ibplan show`, seen from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.run import run, run_shell

SPEC = "specs/h100-pod-127.yaml"


def test_the_topology_fits_the_terminal() -> None:
    for columns in ("80", "200"):
        done = run("show", SPEC, env={"COLUMNS": columns})
        assert (done.returncode, done.stderr) == (0, "")
        assert max(map(len, done.stdout.splitlines())) <= int(columns)
        assert "units 1..3 (3 alike): 32 servers on 8 leaves each" in done.stdout
    narrow = run("show", SPEC, "--width", "60")
    assert max(map(len, narrow.stdout.splitlines())) <= 60


def test_a_device_and_its_far_end() -> None:
    data = json.loads(run("show", SPEC, "--device", "leaf-001", "--format", "json").stdout)
    port = data["device"]["ports"][-1]
    far = json.loads(run("show", SPEC, "--device", port["far_device"], "--format", "json").stdout)
    back = next(p for p in far["device"]["ports"] if p["name"] == port["far_port"])
    assert (back["far_device"], back["far_port"]) == ("leaf-001", port["name"])


def test_errors_have_their_codes() -> None:
    done = run("show", SPEC, "--device", "leaf-33")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ibplan: --device: there is no 'leaf-33'; nearest: leaf-032\n"
    assert run("show", SPEC, "--design", "nope").returncode == 2
    done = run("show", "specs/three-lines.yaml", "--set", "budget=$1M")
    assert (done.returncode, done.stdout) == (3, "")
    assert "no design can be recommended" in done.stderr


def test_an_inline_switch_is_shown_when_it_is_named() -> None:
    switch = "network.switch={ports: 128, port_gbps: 400}"
    design = "roce-inline-128x400g-1t-1to1"
    done = run("show", "specs/one-switch.yaml", "--set", switch, "--design", design, "--device", "leaf-001")
    assert done.returncode == 0
    assert "128 of 128 ports used" in done.stdout


def test_to_a_file_and_through_a_pipe(tmp_path: Path) -> None:
    file = tmp_path / "show.txt"
    assert run("show", SPEC, "-o", str(file)).stdout == ""
    assert file.read_text(encoding="utf-8") == run("show", SPEC).stdout
    done = run_shell(f"ibplan show {SPEC} | head -1")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_unicode_it_is_ascii() -> None:
    done = run("show", SPEC, env={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert done.returncode == 0
    done.stdout.encode("ascii")
    assert "|-- spines: spine-001..spine-016" in done.stdout
