"""The README shows what the program prints, and counts what the tests hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ibplan.document import parse_document, validate
from ibplan.spec.models import Spec
from tests.cli.run import run
from tests.golden import check_golden

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
_OUTPUT = re.compile(r"(<!-- output: ibplan ([^\n]*) -->\n```text\n).*?(```\n<!-- end of output -->)", re.DOTALL)


def test_golden_output_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    found = _OUTPUT.search(text)
    assert found is not None
    printed = run(*found[2].split(), "--width", "80")
    assert printed.returncode == 0, printed.stderr
    heart = printed.stdout.partition("\nThe same form with other switches")[0]
    check_golden(README, text[: found.start()] + found[1] + heart + found[3] + text[found.end() :])


def yaml_blocks() -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", yaml_blocks())
def test_specs_in_the_readme_are_valid(block: str) -> None:
    validate(Spec, parse_document(block, "README.md"))


def test_the_smallest_spec_is_the_one_that_the_demo_runs() -> None:
    written = (ROOT / "specs" / "three-lines.yaml").read_text(encoding="utf-8")
    assert yaml_blocks()[0] in written


def test_every_spec_is_listed() -> None:
    text = README.read_text(encoding="utf-8")
    assert {p.stem for p in (ROOT / "specs").glob("*.yaml")} == set(re.findall(r"\(specs/([a-z0-9-]+)\.yaml\)", text))


def test_numbers_of_published_designs_are_those_of_the_tests() -> None:
    text = README.read_text(encoding="utf-8")
    folder = ROOT / "tests" / "published"
    ids = set((folder / "ids.txt").read_text(encoding="utf-8").split())
    exceptions = yaml.safe_load((folder / "exceptions.yaml").read_text(encoding="utf-8"))
    missing = len(exceptions["exceptions"] if isinstance(exceptions, dict) else exceptions)
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    assert f"{len(ids) - missing} published designs" in text
    assert f"the {words[missing]} that cannot be planned" in text
