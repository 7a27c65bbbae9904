"""Patterns of names, private AS numbers and prefixes: what is taken, and what is refused where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.document import parse_document, validate
from ibplan.errors import InputError
from ibplan.spec.addressing import parse_asns, parse_prefix
from ibplan.spec.models import Spec
from ibplan.spec.naming import NamingSpec, Token, parse_pattern, render


@pytest.mark.parametrize(
    ("pattern", "values", "name"),
    [
        ("gpu{number:3}", {"number": 7}, "gpu007"),
        ("gpu{number:03}", {"number": 1234}, "gpu1234"),
        ("{network}-leaf-{fabric}-{number:2}", {"network": "", "fabric": "", "number": 1}, "leaf-01"),
        (
            "{network}-leaf-{fabric}-{number:2}",
            {"network": "storage", "fabric": "p1r2", "number": 1},
            "storage-leaf-p1r2-01",
        ),
        ("sw{number}-{fabric}", {"number": 3, "fabric": ""}, "sw3"),
        ("{rack}.u{rack_unit:2}", {"rack": "R01-02", "rack_unit": 4}, "R01-02.u04"),
        ("{fabric}leaf{number}", {"fabric": "", "number": 3}, "leaf3"),
    ],
)
def test_patterns_give_names(pattern: str, values: dict[str, int | str | None], name: str) -> None:
    assert render(parse_pattern(pattern), values) == name


@given(st.integers(1, 9), st.integers(0, 10**7))
def test_width_is_the_least(width: int, number: int) -> None:
    text = render((Token("number", width),), {"number": number})
    assert int(text) == number
    assert len(text) == max(width, len(str(number)))


def _problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        validate(Spec, parse_document(f"gpus: 8\n{text}", "s.yaml"))
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("naming: {leaf: 'leaf'}", "s.yaml:2:16: naming.leaf: every one would be called 'leaf'"),
        ("naming: {leaf: 'leaf {number}'}", "' ' is not for names"),
        ("naming: {leaf: 'leaf{numbr}'}", "there is no {numbr} here; nearest: {number}"),
        ("naming: {leaf: 'leaf{number'}", "'{' is not for names"),
        ("naming: {server: 'gpu{number:0}'}", "is not for names"),
        ("naming: {server: '{fabric}{number}'}", "there is no {fabric} here"),
        ("naming: {leafs: 'x{number}'}", "leafs"),
        ("naming: {server_ports: [a, a]}", "a port is listed twice"),
        ("naming: {server_ports: ['a b']}", "'a b' is not the name of a port"),
        ("naming: {tier_labels: []}", "naming.tier_labels"),
        ("naming: {tier_labels: [a, a]}", "a label is listed twice"),
        ("naming: {tier_labels: [Example.com/a]}", "'Example.com/a' is not the key of a Kubernetes label"),
        ("naming: {domain_label: a/}", "'a/' is not the key of a Kubernetes label"),
        ("naming: {tier_labels: [a], domain_label: a}", "a is both a tier and the NVLink domain"),
        ("addressing: {asn: {leaf: 65000-65100}}", ""),
        (
            "addressing: {asn: {leaf: 64000-65000}}",
            "s.yaml:2:26: addressing.asn.leaf: 64000-65000 is not for private use",
        ),
        ("addressing: {asn: {leaf: 65100-65000}}", "ends before it starts"),
        ("addressing: {asn: {leaf: 4202000000-4202000009}}", "overlaps the AS numbers of leaf"),
        ("addressing: {hosts: 10.0.0.1/9}", "10.0.0.1/9 has bits set behind the prefix: 10.0.0.0/9"),
        ("addressing: {hosts: 10.0.0.0}", "an IPv4 prefix is written like"),
        ("addressing: {hosts: 127.0.0.0/8}", "127.0.0.0/8 is not for addresses of hosts"),
        ("addressing: {hosts: 0.0.0.0/4}", "is too large"),
        ("addressing: {hosts: 10.0.0.0/8}", "overlaps hosts: 10.0.0.0/8"),
        ("addressing: {loopbacks: {leaf: 10.240.0.0/16}}", "loopbacks.leaf"),
    ],
)
def test_what_is_wrong_is_said_where(text: str, said: str) -> None:
    if not said:
        validate(Spec, parse_document(f"gpus: 8\n{text}", "s.yaml"))
        return
    found = _problems(text)
    assert any(said in problem for problem in found), found
    assert all(problem.startswith("s.yaml:2:") for problem in found)


def test_private_ranges_are_those_of_rfc_6996() -> None:
    assert parse_asns("64512-65534") == range(64512, 65535)
    assert parse_asns("4200000000-4294967294").stop == 4294967295
    for text in ("64511", "65535", "4199999999", "4294967295"):
        with pytest.raises(ValueError, match="RFC 6996"):
            parse_asns(text)
    assert str(parse_prefix("100.64.0.0/10")) == "100.64.0.0/10"


def test_defaults_are_the_names_of_the_cable_schedule() -> None:
    naming = NamingSpec()
    plain = {"network": "", "fabric": "p2", "number": 12, "group": "storage"}
    for kind, name in {"server": "server-012", "leaf": "leaf-p2-012", "attached": "storage-012"}.items():
        assert render(parse_pattern(getattr(naming, kind)), plain) == name
