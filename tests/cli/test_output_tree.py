"""Directories of files: whole or not at all, and nothing of anybody else's is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibplan.cli.output_tree import MANIFEST, write_tree
from ibplan.errors import OutputError, UsageError

ABOUT = {"design": "d"}


def _tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def _write(folder: Path, target: str = "t", *, force: bool = False, **files: str) -> None:
    write_tree(folder, target, ABOUT, [(k.replace("__", "/"), [v]) for k, v in files.items()], force=force)


def _nothing_left(folder: Path) -> None:
    assert list(folder.rglob(".ibplan-*")) == []


def test_a_new_directory_has_the_files_and_a_list_of_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _write(out, a="1", p1__b="2")
    assert _tree(out) == {"a": "1", "p1/b": "2"}
    listed = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
    assert set(listed["t"]["files"]) == {"a", "p1/b"}
    assert listed["t"]["design"] == "d"
    _nothing_left(tmp_path)


def test_the_same_again_and_fewer_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _write(out, a="1", p1__b="2", p1__c="3")
    first = (out / MANIFEST).read_bytes()
    _write(out, a="1", p1__b="2", p1__c="3")
    assert (out / MANIFEST).read_bytes() == first
    _write(out, a="new")
    assert _tree(out) == {"a": "new"}
    assert not (out / "p1").exists()
    _nothing_left(out)


def test_targets_share_a_directory_with_each_other_and_with_people(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    _write(out, "one", a="1", b="1")
    _write(out, "two", c="2")
    _write(out, "one", a="3")
    assert _tree(out) == {"a": "3", "c": "2", "notes.txt": "mine"}
    with pytest.raises(UsageError, match=r"out: c: not written by `ibplan export` for this target"):
        _write(out, "one", c="4")


def test_what_others_wrote_or_changed_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _write(out, a="1", b="2")
    (out / "a").write_text("edited", encoding="utf-8")
    before = _tree(out)
    with pytest.raises(UsageError, match="or changed since"):
        _write(out, a="3", b="4")
    assert _tree(out) == before
    _write(out, force=True, a="3", b="4")
    assert _tree(out) == {"a": "3", "b": "4"}
    _write(out, a="5")
    (out / "a").write_text("edited", encoding="utf-8")
    _write(out, c="6")
    assert _tree(out) == {"a": "edited", "c": "6"}, "what was changed stays where it is no longer written"


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"t": 1}', '{"t": {"files": {"../../x": "0"}}}', '{"t": {}}'])
def test_a_list_that_is_not_ours(text: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=MANIFEST):
        _write(out, a="1")
    assert _tree(out) == {}
    _write(out, force=True, a="1")
    assert _tree(out) == {"a": "1"}


def _failing() -> Iterator[str]:
    yield "half"
    raise RuntimeError("made up")


def test_nothing_is_written_if_a_file_cannot_be_made(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        before = _tree(out)
        with pytest.raises(RuntimeError, match="made up"):
            write_tree(out, "t", ABOUT, [("a", ["new"]), ("b", _failing())])
        assert _tree(out) == before
        _nothing_left(tmp_path)
        _write(out, a="old", b="old")


def test_everything_goes_back_if_a_file_cannot_be_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    _write(out, a="1", b="2", d__c="3")
    before = _tree(out)
    real, calls = os.replace, 0

    def replace(source: Path, destination: Path) -> None:
        nonlocal calls
        calls += 1
        if calls == 7:
            raise PermissionError(13, "made up")
        real(source, destination)

    monkeypatch.setattr("ibplan.cli.output_tree.os.replace", replace)
    with pytest.raises(OutputError, match="made up"):
        _write(out, a="x", b="y", e__f="z")
    assert _tree(out) == before
    assert not (out / "e").exists()
    _nothing_left(out)


def test_places_that_are_no_directories(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="it is a file"):
        _write(file, a="1")
    assert file.read_text(encoding="utf-8") == "mine"
    with pytest.raises(OutputError, match="cannot be written"):
        _write(tmp_path / "no" / "such", a="1")
    with pytest.raises(OutputError, match="cannot be written"):
        _write(file / "below", a="1")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def test_a_directory_in_the_way_of_a_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "a").mkdir(parents=True)
    with pytest.raises(UsageError, match="out: a: not written"):
        _write(out, a="1")
