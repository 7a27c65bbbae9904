"""Failures: as they are written, and what they take away."""

from __future__ import annotations

import numpy as np
import pytest

from ibplan.errors import UsageError
from ibplan.fabric.wiring_model import LEAF
from ibplan.performance.failure_words import parse_failures, resolve_failures
from ibplan.performance.failures import working_links
from tests.performance.nets import three_tiers, two_tiers

W = two_tiers(4, 4, 4)


def failed(*texts: str, seed: int = 0) -> list[int]:
    """The links that fail."""
    failures = resolve_failures(W, parse_failures(texts))
    return np.flatnonzero(~working_links(W, failures, np.random.default_rng(seed))).tolist()


def names(links: list[int]) -> set[tuple[str, str]]:
    return {(W.device_name(int(W.links.a_device[k])), W.device_name(int(W.links.b_device[k]))) for k in links}


def test_a_switch_takes_its_links_with_it() -> None:
    assert len(failed("leaf-002")) == 8  # four hosts, four spines
    assert {spine for _, spine in names(failed("spine-003"))} == {"spine-003"}
    assert len(failed("spine-003")) == 4


def test_links_by_the_two_devices_that_they_join() -> None:
    assert names(failed("leaf-001:spine-002")) == names(failed("spine-002:leaf-001=1")) == {("leaf-001", "spine-002")}


def test_random_failures_follow_the_seed() -> None:
    first = failed("link=3,nic=2")
    assert first == failed("link=3", "nic=2")
    assert len(first) == 5
    between = W.devices.kind[W.links.b_device] >= LEAF
    assert between[first].sum() == 3
    assert any(failed("link=3,nic=2", seed=seed) != first for seed in range(1, 4))
    assert len(failed("leaf=2")) == 16
    w = three_tiers(2, 2, 2, 2)
    works = working_links(w, resolve_failures(w, parse_failures(("core=1",))), np.random.default_rng(0))
    assert set(w.devices.kind[w.links.b_device[~works]].tolist()) == {5}


def test_what_is_named_does_not_fail_by_chance_again() -> None:
    assert len(failed("leaf-001,leaf=3")) == len(W.links)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leaf", "say how many: leaf=1"),
        ("lefa=2", "'lefa' is no kind of failure; did you mean leaf=2?"),
        ("leaf=1,leaf=2", "leaf is given twice"),
        ("leaf=0", "state 1 or more"),
        ("leaf=x", "'leaf=x' is no failure"),
        ("", "'' is no failure"),
        ("a:b:c", "'a:b:c' is no failure"),
        ("=" * 100, "..."),
        ("leaf=5", "leaf=5: there are 4 leaves"),
        ("leaf-001,leaf=4", "there are 3 leaves besides those named"),
        ("core=1", "there are 0 cores"),
        ("link=17", "there are 16 links between switches"),
        ("leaf-001:spine-001,link=16", "there are 15 links between switches besides those named"),
        ("nic=17", "there are 16 links of servers"),
        ("server-001", "'server-001' is no switch"),
        ("leaf-009", "there is no 'leaf-009'; nearest: leaf-00"),
        ("leaf-001:spine-001=2", "1 link between the two"),
        ("leaf-001:leaf-002", "0 links between the two"),
    ],
)
def test_what_cannot_fail_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        failed(text)
    assert said in str(error.value)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(UsageError) as error:
        failed("leaf-009,spine-009,link=99")
    assert str(error.value).count("--fail") == 3
