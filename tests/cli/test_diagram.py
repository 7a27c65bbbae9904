"""`ibplan diagram`, seen from the command line."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.run import run

SPEC = "specs/h100-pod-127.yaml"
STARTS = {"svg": "<?xml", "dot": "graph ", "mermaid": "---\ntitle: "}


@pytest.mark.parametrize("form", STARTS)
def test_the_same_bytes_every_time(form: str, tmp_path: Path) -> None:
    file = tmp_path / "drawing"
    done = run("diagram", SPEC, "--format", form, env={"PYTHONHASHSEED": "1"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(STARTS[form])
    assert run("diagram", SPEC, "--format", form, "-o", str(file)).stdout == ""
    assert file.read_text(encoding="utf-8") == done.stdout


def test_svg_is_what_it_draws_unless_told_otherwise() -> None:
    ElementTree.fromstring(run("diagram", "specs/three-tiers-16384.yaml").stdout)


def test_mermaid_is_folded_where_it_would_draw_nothing() -> None:
    text = run("diagram", SPEC, "--format", "mermaid").stdout
    assert "units 1..3" in text
    assert text.count("---|") < 500


def test_errors_have_their_codes() -> None:
    assert run("diagram", SPEC, "--design", "nope").returncode == 2
    assert run("diagram", SPEC, "--format", "png").returncode == 2
    done = run("diagram", "specs/three-lines.yaml", "--set", "budget=$1M")
    assert (done.returncode, done.stdout) == (3, "")
