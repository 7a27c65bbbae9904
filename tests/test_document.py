# ruff: noqa: E501  # tables of messages read best with one in a line
"""The strict reader: what it reads, what it refuses, and where it says the problem is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.document import dump_yaml, parse_document, parse_value, read_document, validate
from ibplan.document.build import MAX_ITEMS, MAX_KEYS, MAX_PROBLEMS, MAX_SCALAR
from ibplan.errors import InputError, Problem
from ibplan.spec.models import Spec
from tests.examples import share


def problems(text: str | bytes) -> list[str]:
    """Every problem of a spec, as shown."""
    with pytest.raises(InputError) as caught:
        validate(Spec, parse_document(text, "s.yaml"))
    return [str(problem) for problem in caught.value.problems]


def places(text: str) -> list[tuple[int, int]]:
    with pytest.raises(InputError) as caught:
        validate(Spec, parse_document(text, "s.yaml"))
    return [(problem.line, problem.column) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("1024", 1024),
        ("1.5", 1.5),
        (".5", 0.5),
        ("4e9", 4e9),
        ("400e9", 400e9),
        ("1E-3", 1e-3),
        # Other YAML readers make numbers, truth values or dates of these.
        ("2:1", "2:1"),
        ("1:30", "1:30"),
        ("08:00:2b:01:02:03", "08:00:2b:01:02:03"),
        ("0123", "0123"),
        ("0o17", "0o17"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("1,000", "1,000"),
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("no", "no"),
        ("True", "True"),
        ("NULL", "NULL"),
        ("2025-01-31", "2025-01-31"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("-.inf", "-.inf"),
        ("1e999", "1e999"),
        ("=", "="),
        ("400G", "400G"),
        ("$6M", "$6M"),
        ("'1024'", "1024"),
        ('"true"', "true"),
    ],
)
def test_scalars(written: str, value: Any) -> None:
    read = parse_document(f"key: {written}\n", "s.yaml").data["key"]
    assert read == value
    assert type(read) is type(value)


def test_keys_are_text_as_written() -> None:
    assert parse_document("on: 1\n0.50: 2\n3: 3\nnull: 4\n", "s").data == {"on": 1, "0.50": 2, "3": 3, "null": 4}


def test_lists_are_tuples_and_aliases_are_values() -> None:
    data = parse_document("a: &x [1, {b: 2}]\nc: *x\n", "s").data
    assert data == {"a": (1, {"b": 2}), "c": (1, {"b": 2})}


def test_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    document = parse_document(b"\xef\xbb\xbfgpus: 8\r\nbudget: 3\r\n", "s")
    assert document.data == {"gpus": 8, "budget": 3}
    assert document.position(("budget",), key=True) == (2, 1)


def test_a_ratio_is_never_a_number_to_base_sixty() -> None:
    spec = validate(Spec, parse_document("gpus: 8\nnetwork: {oversubscription: 2:1}\n", "s"))
    assert spec.network.oversubscription.leaf == (2,)


DOCUMENT = parse_document("gpus: 8\nnetwork:\n  tiers: [2, 3]\n  switch: {ports: 64}\nb: &x\n  k: 1\nc: *x\n", "s")


@pytest.mark.parametrize(
    ("loc", "key", "place"),
    [
        ((), False, (1, 1)),
        (("gpus",), False, (1, 7)),
        (("gpus",), True, (1, 1)),
        (("network",), False, (3, 3)),
        (("network",), True, (2, 1)),
        (("network", "tiers", 1), False, (3, 14)),
        (("network", "tiers", 7), False, (3, 10)),
        (("network", "switch", "leaf", 0, "inline", "ports"), False, (4, 19)),  # tags and indices of wrapping
        (("network", "switch", "ports", 0), False, (4, 19)),
        (("network", "absent"), True, (2, 1)),
        (("c",), False, (7, 4)),
        (("c", "k"), False, (6, 6)),
    ],
)
def test_positions(loc: tuple[str | int, ...], key: bool, place: tuple[int, int]) -> None:
    assert DOCUMENT.position(loc, key) == place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.yaml: there is nothing in it"),
        ("# only a comment\n", "s.yaml: there is nothing in it"),
        ("- a\n", "s.yaml:1:1: expected keys with values at the top level, got a list (write `key: value` lines)"),
        ("text\n", "s.yaml:1:1: expected keys with values at the top level, got text (write `key: value` lines)"),
        ("a: 1\n---\nb: 2\n", "s.yaml:2:1: a second document starts here (one file holds one document: remove the '---')"),
        ("<<: {a: 1}\n", "s.yaml:1:1: merge keys ('<<') are not allowed (write the keys out)"),
        ("a: !!str 1\n", "s.yaml:1:4: the tag '!!str' is not allowed (write the value without it)"),
        ("a: !!python/name:os.system x\n", "s.yaml:1:4: the tag '!!python/name:os.system' is not allowed (write the value without it)"),
        ("? [a]\n: 1\n", "s.yaml:1:3: a list or a mapping cannot be a key (put a text that starts with [ or { in quotes)"),
        ("?\n: 1\n", "s.yaml:1:2: a key is missing before the ':'"),
        ("a: &x [*x]\n", "s.yaml:1:8: '*x' stands inside the value that it names"),
        ("a: *x\n", "s.yaml:1:4: nothing before this line is named '&x' (put a text that starts with * in quotes)"),
        ("a:\n\tb: 1\n", "s.yaml:2:1: a tab is used for indentation (indent with spaces)"),
        ("a: [1\nb: 2\n", "s.yaml:1:4: a list opened with '[' is not closed, or a ',' is missing"),
        ("a: 'x\n", "s.yaml:1:4: a quote is opened and never closed"),
        ("a: @x\n", "s.yaml:1:4: a value cannot start with '@' (put it in quotes)"),
        ("a: b: c\n", "s.yaml:1:5: a ': ' does not belong here (check the indentation, or put the text in quotes)"),
        ("a: 1\nb\nc: 2\n", "s.yaml:3:1: a ':' is missing after this key (write `key: value`)"),
        (b"a: 1\nb: \xff\n", "s.yaml:2:4: not UTF-8 text (save the file as UTF-8)"),
        ("a: 1\nb: x\x1b[31m\n", "s.yaml:2:5: the character U+001B is not allowed (remove it)"),
        ("a: x\u202ey\n", "s.yaml:1:5: the character U+202E is not allowed (remove it)"),
        ('a: "x\\e[31m"\n', "s.yaml:1:4: this text holds a control character (remove the escape that writes it)"),
        ('a: "\\q"\n', "s.yaml:1:5: unknown escape after '\\' (write \\\\, or use single quotes)"),
        ("a: " + "9" * 41, "s.yaml:1:4: a number of 41 digits; 40 is the limit"),
    ],
)  # fmt: skip
def test_what_is_not_read(text: str | bytes, message: str) -> None:
    assert problems(text) == [message]


def test_all_duplicate_keys_at_once() -> None:
    assert problems("gpus: 8\nnetwork:\n  tiers: 2\n  tiers: 3\ngpus: 9\n'gpus': 10\n") == [
        "s.yaml:4:3: the key 'tiers' is given twice; first at line 3, column 3",
        "s.yaml:5:1: the key 'gpus' is given twice; first at line 1, column 1",
        "s.yaml:6:1: the key 'gpus' is given twice; first at line 1, column 1",
    ]


def test_three_typos_are_three_problems_at_their_places() -> None:
    text = "model: 70B\ngpus: 0123\noversubscription: 2:1\nnetwork:\n  tires: 2\n  planes: 0\n"
    assert problems(text) == [
        "s.yaml:2:7: gpus: expected a whole number, got text '0123' (leading zeros are not a number)",
        "s.yaml:3:1: unknown key 'oversubscription' (did you mean network.oversubscription or storage.oversubscription "
        "or management.inband.oversubscription?)",
        "s.yaml:5:3: unknown key 'tires' in network (did you mean tiers?)",
        "s.yaml:6:11: network.planes: must be at least 1, got 0",
    ]


@pytest.mark.parametrize("key", ["on", "off", "yes", "no"])
def test_an_old_truth_value_as_key_explains_the_versions_of_yaml(key: str) -> None:
    (message,) = problems(f"gpus: 8\n{key}: 1\n")
    assert message.startswith(f"s.yaml:2:1: unknown key '{key}' (YAML 1.1 read on, off, yes and no as true or false")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gpus: 1:30", "1:7: gpus: expected a whole number, got text '1:30' (YAML 1.1 read this as a number to base 60; ibplan does not)"),
        ("gpus: 1.5", "1:7: gpus: expected a whole number, got 1.5"),
        ("gpus: 4e3", "1:7: gpus: expected a whole number, got 4e3 (write 4000)"),
        ("gpus: 1e30", "1:7: gpus: expected a whole number, got 1e30"),
        ("gpus: .nan", "1:7: gpus: expected a whole number, got text '.nan'"),
        ("gpus: '8'", "1:7: gpus: expected a whole number, got text '8' (remove the quotes)"),
        ("gpus: 1,024", "1:7: gpus: expected a whole number, got text '1,024' (write 1024, without quotes or separators)"),
        ("gpus: true", "1:7: gpus: expected a whole number, got true"),
        ("gpus: [8]", "1:7: gpus: expected a whole number, got a list"),
        ("gpus: 5000000", "1:7: gpus: must be at most 4,194,304, got 5000000"),
        ("gpus: 8\nname: 5", "2:7: name: expected text, got 5 (put it in quotes)"),
        ("gpus: 8\nbudget: 6M", "2:9: budget: an amount of money is written like $6M, $36,000 or 6M USD, not '6M'"),
        ("gpus: 8\noptics: vendors", "2:9: optics: expected one of compatible, vendor, got text 'vendors' (did you mean vendor?)"),
        ("gpus: 8\nnetwork: {rail_only: on}", "2:22: network.rail_only: expected true or false, got text 'on' (write true or false; YAML 1.1 read on, off, yes and no as true or false; YAML 1.2 and ibplan read them as text)"),
        ("gpus: 8\nnetwork: {tiers: true}", "2:18: network.tiers: expected a number, got true"),
        ("gpus: 8\nnetwork:\n", "2:9: network: expected keys with values, got nothing (write keys below it, or remove it)"),
        ("gpus: 8\nnetwork: {planes: []}", "2:19: network.planes: needs at least one entry, got 0"),
        ("gpus: 8\nnetwork: {planes: [1, 2, 1]}", "2:19: network.planes: a value is listed twice"),
        ("gpus: 8\nnetwork.tiers: 2", "2:1: unknown key 'network.tiers' (nest it: one level of keys for each dot of network.tiers)"),
        ("gpus: 8\nrail-optimised: true", "2:1: unknown key 'rail-optimised' (did you mean network.rail_optimized?)"),
        ("gpus: 8\nnetwork: {switch: {leef: a}}", "2:20: unknown key 'leef' in network.switch (did you mean leaf?)"),
        ("gpus: 8\nnetwork: {switch: {portz: 4, port_gbps: 400, ports: 8}}", "2:20: unknown key 'portz' in network.switch (did you mean ports?)"),
        ("gpus: 8\nserver: {gpus: 8, nics: 8}", "2:9: the key 'port_gbps' is missing in server"),
        ("gpus: 8\nworkload: {parallelism: {tpp: 8}}", "2:26: unknown key 'tpp' in workload.parallelism (did you mean tp?)"),
        ("gpus: 8\nworkload: {parallelism: manual}", "2:25: workload.parallelism: expected auto or keys with values, such as {tp: 8, pp: 8}"),
        ("gpus: 8\nstorage: some", "2:10: storage: expected none or keys with values, such as {gbps_per_gpu: 16}"),
        ("gpus: 8\ngrowth: [{year: 1, gpus: 4}]", "2:26: growth[0].gpus: stages never shrink: 4 GPUs after 8"),
        ("budget: $6M", "1:1: state gpus or servers"),
    ],
)  # fmt: skip
def test_one_problem_in_plain_words(text: str, message: str) -> None:
    assert problems(text) == [f"s.yaml:{message}"]


def test_no_words_of_the_libraries_reach_the_user() -> None:
    text = "gpus: x\nserver: [1]\nattached: 3\nnetwork: {switch: 5, medium: [a]}\nworkload: {jobs: [1, {gpus: a}]}\n"
    shown = "\n".join(problems(text)).lower()
    for word in ("pydantic", "input should", "value error", "http", "literal", "instance", "tuple", "dictionary"):
        assert word not in shown


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
BIG = 2 * 1024 * 1024
HOSTILE = {
    "alias bomb": (BOMB, "more than 200,000 values"),
    "many aliases": ("a: &a 1\nb: [" + "*a, " * 101 + "]\n", "more than 100 aliases"),
    "brackets": ("[" * BIG, "nested too deep"),
    "deep lists": ("- " * 1000, "nested more than 32 levels deep"),
    "deep mappings": ("".join(" " * i + "a:\n" for i in range(200)), "nested more than 32 levels deep"),
    "deep by alias": ("a: &a " + "[" * 20 + "]" * 20 + "\nb: " + "[" * 20 + "*a" + "]" * 20, "nested more than 32"),
    "many values": ("a:\n" + ("- [" + "1, " * 9999 + "]\n") * 30, "more than 200,000 values"),
    "long list": ("a: [" + "1," * (MAX_ITEMS + 1) + "]", f"more than {MAX_ITEMS:,} entries"),
    "many keys": ("".join(f"k{i}: 1\n" for i in range(MAX_KEYS + 1)), f"more than {MAX_KEYS} keys"),
    "long text": ("a: " + "x" * (MAX_SCALAR + 1), "65,536 is the limit"),
    "long number": ("a: " + "9" * 60_000, "40 is the limit"),
    "too large": ("a: " + "x" * BIG, "larger than 2 MiB"),
    "twice a thousand times": ("a: 1\n" * 1000, "is given twice"),
    "explored too much": ("gpus: 8\nnetwork: {planes: [" + "1," * 9000 + "]}", "at most 16 entries, got 9,000"),
    "too many wrong items": ("gpus: 8\nattached: [" + "1," * 9000 + "]", "at most 100 entries, got 9,000"),
    "control": ("a: \x00", "U+0000"),
    "huge number": ("gpus: " + "9" * 40, "at most 4,194,304"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_refused_at_once(name: str) -> None:
    text, part = HOSTILE[name]
    before = time.process_time()
    found = problems(text)
    assert time.process_time() - before < 2  # a second, with room for a loaded machine
    assert part in "\n".join(found)
    assert len(found) <= MAX_PROBLEMS + 1


def test_a_flood_of_problems_is_cut_and_says_so() -> None:
    entry = "- {" + ", ".join(f"k{i}: 1" for i in range(200)) + "}\n"
    found = problems("gpus: 8\nattached:\n" + entry * 20)
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1].endswith("more problems")


def test_files_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    big = tmp_path / "big"
    big.write_bytes(b"a: 1\n" * BIG)
    for name, part in (
        ("absent", "no such file"),
        ("", "is a directory"),
        ("a", "cannot be read: Too many levels of symbolic links"),
        ("pipe", "is not a regular file"),
        ("big", "larger than 2 MiB"),
        ("x\0y", "cannot be read: embedded null byte"),
        ("big/x", "cannot be read: Not a directory"),
        ("n" * 300, "cannot be read: File name too long"),
    ):
        with pytest.raises(InputError, match=part):
            read_document(tmp_path / name)
    with pytest.raises(InputError, match="is not a regular file"):
        read_document(Path("/dev/zero"))


def test_a_file_name_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_document(tmp_path / "x\x1b[31m\n\udcff")
    assert str(caught.value).endswith("x\\x1b[31m\\x0a\\xff: no such file")


def test_a_setting_is_named_without_a_line() -> None:
    document = parse_document("gpus: 8\n", "s.yaml").with_data({"gpus": "x"}, ("gpus",), "--set gpus=x")
    with pytest.raises(InputError) as caught:
        validate(Spec, document)
    assert caught.value.problems == (Problem("--set gpus=x", 0, 0, "gpus: expected a whole number, got text 'x'"),)


SCALARS = st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12)
TRICKY = st.sampled_from(["2:1", "1:30", "0123", "4e9", "-1E5", ".5", "on", "no", "null", "~", "", "true", "<<", "=", "1_0", "!x", "0x1f", "2025-01-31", "a: b", "- a", "#", "*a", "&a", "%", "@", "`", "a\nb", " a "])  # fmt: skip
VALUES = st.recursive(
    SCALARS | WORDS | TRICKY,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.dictionaries(WORDS | TRICKY, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(WORDS | TRICKY, VALUES, min_size=1, max_size=5))
@settings(max_examples=share(300), deadline=None)
def test_what_is_written_is_read_back(data: dict[str, Any]) -> None:
    assert parse_document(dump_yaml(data), "s").data == data


@given(st.binary(max_size=400))
@settings(max_examples=share(400), deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    _read_or_refuse(data)


PIECES = st.sampled_from(["gpus", "model", "network", "tiers", "switch", ": ", ":", "\n", "\n  ", "- ", "[", "]", "{", "}", ", ", "&a ", "*a", "8", "70B", "$6M", "2:1", "'", '"', "|", ">", "!", "? ", "#", "%", "\t", "---", "null", "<<", "\\", "x"])  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join))
@settings(max_examples=share(800), deadline=None)
def test_any_pieces_of_a_spec_are_read_or_refused(text: str) -> None:
    _read_or_refuse(text)


@given(VALUES, st.sampled_from(sorted(Spec.model_fields)), st.data())
@settings(max_examples=share(800), deadline=None)
def test_any_value_of_any_key_is_read_or_refused(value: Any, key: str, data: st.DataObject) -> None:
    inner = Spec.model_fields[key].annotation
    names = sorted(getattr(inner, "model_fields", ())) or [key]
    nested = {data.draw(st.sampled_from(names)): value}
    _read_or_refuse(dump_yaml({"gpus": 8} | {key: value}))
    _read_or_refuse(dump_yaml({"gpus": 8} | {key: nested}))


def _read_or_refuse(text: str | bytes) -> None:
    for problem in _problems_of(lambda: validate(Spec, parse_document(text, "s"))):
        assert problem.message


def _problems_of(read: Callable[[], object]) -> tuple[Problem, ...]:
    try:
        read()
    except InputError as error:
        return error.problems
    return ()


@given(st.text(max_size=40))
def test_any_text_of_a_setting_is_read_or_refused(text: str) -> None:
    assert all(problem.line == 0 for problem in _problems_of(lambda: parse_value(text, "--set x")))
