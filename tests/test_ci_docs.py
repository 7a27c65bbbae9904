"""The workflows of docs/ci.md are YAML, and ibplan takes every command line that the pages on bills show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from ibplan.cli.main import app
from ibplan.document import parse_document

DOCS = Path(__file__).parents[1] / "docs"


def _blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def _scripts(data: Any) -> list[str]:
    """The shell texts of a workflow: `run` of GitHub, `script` of GitLab."""
    if isinstance(data, dict):
        own = [data["run"]] if "run" in data else list(data.get("script", ()))
        return own + [found for value in data.values() for found in _scripts(value)]
    return [found for value in data for found in _scripts(value)] if isinstance(data, tuple) else []


def _workflows() -> list[Any]:
    return [parse_document(text, "docs/ci.md").data for text in _blocks("ci.md", "yaml")]


def _lines() -> list[str]:
    shell = [script for workflow in _workflows() for script in _scripts(workflow)] + _blocks("bom.md", "")
    lines = [line.strip() for text in shell for line in text.splitlines()]
    return [line for line in lines if line.startswith("ibplan ")]


def _commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    return dict(group.commands)


def test_the_workflows_emit_check_and_compare() -> None:
    github, gitlab = _workflows()
    assert set(github["jobs"]) == {"bom"}
    assert "bill-of-materials" in gitlab
    for workflow in (github, gitlab):
        text = "\n".join(_scripts(workflow))
        assert text.index("ibplan diff") < text.index("--check")
        assert 'ibplan bom "$SPEC" -o out/bom.xlsx' in text


@pytest.mark.parametrize("line", dict.fromkeys(_lines()))
def test_ibplan_takes_the_command_line(line: str) -> None:
    _, name, *words = shlex.split(line)
    params = _commands()[name].make_context(name, words).params
    assert params.get("specs") or (params["old"] and params["new"])
    with pytest.raises(Exception, match="No such option"):
        _commands()[name].make_context(name, [*words, "--no-such-option"])
