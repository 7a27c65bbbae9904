"""The commands of the program, all of them or only those that a start can need."""

from __future__ import annotations

import pytest

from ibplan.cli.main import app, app_for

NAMES = [command.name for command in app.registered_commands]


@pytest.mark.parametrize("name", NAMES)
def test_a_command_that_is_named_is_the_only_one(name: str) -> None:
    narrow = app_for([name, "--help"])
    assert [command.name for command in narrow.registered_commands] == [name]
    assert narrow.registered_callback == app.registered_callback
    assert [command.name for command in app.registered_commands] == NAMES


@pytest.mark.parametrize("words", [[], ["--help"], ["desgin"], ["catalog"], ["--nope", "design"]])
def test_all_commands_are_there_where_any_can_be_meant(words: list[str]) -> None:
    assert app_for(words) is app


def test_completion_needs_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_IBPLAN_COMPLETE", "complete_bash")
    assert app_for(["design"]) is app
