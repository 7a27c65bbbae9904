"""Variations: values parted at commas, and what is wrong with those that cannot be."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.document import parse_value
from ibplan.errors import InputError
from ibplan.spec.variations import MAX_COMBINATIONS, Variation, combinations, parse_variations


def _values(text: str) -> tuple[str, ...]:
    (variation,) = parse_variations([f"key={text}"])
    return variation.values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("512", ("512",)),
        ("512,1024,2048", ("512", "1024", "2048")),
        (" 1:1 , 2:1 ", ("1:1", "2:1")),
        ("[1:1, 2:1],3:1", ("[1:1, 2:1]", "3:1")),
        ("{leaf: 1:1, spine: [2:1, 4:1]},1:1", ("{leaf: 1:1, spine: [2:1, 4:1]}", "1:1")),
        ("[{a: 1, b: 2}, {a: 3}],none", ("[{a: 1, b: 2}, {a: 3}]", "none")),
        ("'a,b',c", ("'a,b'", "c")),
        ('["a,b]", c],d', ('["a,b]", c]', "d")),
        ('"a\\",b",c', ('"a\\",b"', "c")),
        ('"a\\\\",b', ('"a\\\\"', "b")),
        ("'a\\',b", ("'a\\'", "b")),
        ("'it''s, a',b", ("'it''s, a'", "b")),
        ("it's,that's", ("it's", "that's")),
        ("=,a=b", ("=", "a=b")),
    ],
)
def test_commas_in_brackets_and_quotes_part_nothing(text: str, values: tuple[str, ...]) -> None:
    assert _values(text) == values


leaves = st.integers(-99, 99) | st.sampled_from(["1:1", "a b", "'x, y'", '"[p, q"', "it's"])
flows = st.recursive(
    leaves.map(str),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(inner, max_size=3).map(lambda v: "{" + ", ".join(f"k{i}: {x}" for i, x in enumerate(v)) + "}")
    ),
    max_leaves=6,
)


@given(st.lists(flows, min_size=1, max_size=5, unique=True))
def test_values_are_found_again_and_mean_what_they_meant(values: list[str]) -> None:
    assert _values(",".join(values)) == tuple(values)
    assert [parse_value(v, "x") for v in _values(",".join(values))] == [parse_value(v, "x") for v in values]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["gpus"], "--vary gpus: is not of the form key=value,value (such as gpus=512,1024)"),
        (["=1,2"], "--vary =1,2: is not of the form"),
        (["a..b=1"], "--vary a..b=1: is not of the form"),
        (["gpus=1,,2"], "--vary gpus=1,,2: value 2 of 3 is empty"),
        (["gpus="], "--vary gpus=: value 1 of 1 is empty"),
        (["gpus=1,2,1"], "--vary gpus=1,2,1: value 3, 1, is there before"),
        (["gpus=1", "gpus=2"], "--vary gpus=2: gpus is given twice (it stands under --vary, too)"),
        (["a[0].b=1", "a.0.b=2"], "--vary a.0.b=2: a.0.b is given twice"),
    ],
)
def test_what_cannot_be_is_said_with_its_option(texts: list[str], said: str) -> None:
    with pytest.raises(InputError) as error:
        parse_variations(texts)
    assert said in str(error.value)


def test_a_key_that_is_set_is_not_varied() -> None:
    with pytest.raises(InputError, match=r"--vary gpus=1,2: gpus is given twice \(it stands under --set, too\)"):
        parse_variations(["gpus=1,2"], ["gpus=4"])
    assert parse_variations(["network.tiers=1,2"], ["network.planes=2"])


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as error:
        parse_variations(["gpus", "network.tiers=1,,1"])
    assert len(error.value.problems) == 3


def test_too_many_combinations_are_refused_with_their_numbers() -> None:
    many = [f"a={','.join(map(str, range(20)))}", f"b={','.join(map(str, range(13)))}"]
    with pytest.raises(InputError, match=rf"there are 260 combinations, {MAX_COMBINATIONS} is the limit: a 20 x b 13"):
        parse_variations(many)
    assert len(list(combinations(parse_variations([f"a={','.join(map(str, range(MAX_COMBINATIONS)))}"])))) == 256


def test_the_last_key_changes_first() -> None:
    found = list(combinations((Variation("a", ("1", "2")), Variation("b", ("x", "y")))))
    assert found == [("1", "x"), ("1", "y"), ("2", "x"), ("2", "y")]
    assert all(first < second for first, second in pairwise(found))
