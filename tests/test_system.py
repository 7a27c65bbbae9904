"""Arguments and file names, whatever the locale has read them as."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.system import escaped, readable, system_path

# What Python makes of bytes where the locale is ASCII.
UNREAD = "é中".encode().decode("ascii", "surrogateescape")


def test_bytes_that_the_locale_cannot_read_are_utf_8() -> None:
    assert readable(UNREAD) == "é中"
    assert readable(f"a{UNREAD}é") == "aé中é"


@pytest.mark.parametrize("text", ["", "a", "é中", "\udcff", "a\udcc3", f"{UNREAD}\udcff"])
def test_what_is_text_or_never_will_be_stays(text: str) -> None:
    assert readable(text) == text


@given(st.text(st.characters(exclude_categories=[])))
def test_what_is_shown_is_printable(text: str) -> None:
    shown = escaped(text)
    assert shown.isprintable()
    assert shown == text or not text.isprintable()
    assert escaped(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31m\n", "a\\x1b[31m\\x0a"),
        ("\u202ex", "\\u202ex"),
        (UNREAD, "é中"),
        ("\udcff", "\\xff"),
        ("\ud800\U000e0041", "\\ud800\\U000e0041"),
    ],
)
def test_what_cannot_be_shown_is_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_line_ends_are_kept_where_asked() -> None:
    assert escaped("a\nb\tc", keep="\n") == "a\nb\\x09c"


@given(st.binary(min_size=1).filter(lambda b: b"/" not in b))
def test_a_name_from_the_system_goes_back_as_it_came(name: bytes) -> None:
    path = Path(os.fsdecode(name))
    assert system_path(path) == path


def test_a_name_that_the_locale_lacks_is_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsencode", lambda path: str(path).encode("ascii", "surrogateescape"))
    monkeypatch.setattr(os, "fsdecode", lambda name: name.decode("ascii", "surrogateescape"))
    assert system_path(Path("d/é中")) == Path(f"d/{UNREAD}")
    assert system_path(Path(f"d/{UNREAD}")) == Path(f"d/{UNREAD}")
