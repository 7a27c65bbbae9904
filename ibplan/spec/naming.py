"""What devices and ports are called: patterns such as `leaf-{number:3}`. Which names they give is export's work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, model_validator

from ibplan.spec.forms import Strict

MAX_PATTERN: Final = 120
MAX_NAME: Final = 63  # the longest label of a host name (RFC 1035)
MAX_PORTS: Final = 64
_TOKEN: Final = re.compile(r"\{(?P<name>[a-z_0-9]*)(?::0?(?P<width>[1-9]))?\}")
_LITERAL: Final = re.compile(r"[A-Za-z0-9._-]*")
_SEPARATORS: Final = "-_."
# The key of a Kubernetes label: a name, with the DNS name of its owner before it.
MAX_PREFIX: Final = 253
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_PREFIX: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")
NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")

_PLACE = ("rack", "rack_unit")
_FABRIC = ("network", "fabric", "plane", "rail")
TOKENS: Final[Mapping[str, tuple[str, ...]]] = {
    "server": ("number", "unit", "position", "pod", *_PLACE),
    "attached": ("group", "number", *_PLACE),
    "manager": ("number", *_FABRIC, *_PLACE),
    "leaf": ("number", "unit", "position", "pod", *_FABRIC, *_PLACE),
    "spine": ("number", "pod", "position", *_FABRIC, *_PLACE),
    "core": ("number", "core_group", *_FABRIC, *_PLACE),
    "unit": ("number",),
    "pod": ("number",),
    "port": ("port", "port0", "nic", "nic0", "plane", "rail"),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a pattern that differs from device to device; `width` = least digits of a number."""

    name: str
    width: int = 1


def parse_pattern(text: str) -> tuple[str | Token, ...]:
    """The literals and tokens of a pattern, in order. Raises ValueError for what is neither."""
    parts: list[str | Token] = []
    end = 0
    for found in (*_TOKEN.finditer(text), None):
        literal = text[end : found.start() if found else len(text)]
        if not _LITERAL.fullmatch(literal):
            odd = next(c for c in literal if not _LITERAL.fullmatch(c))
            raise ValueError(f"{odd!r} is not for names: letters, digits, '.', '-', '_', and {{tokens}}")
        parts += [literal] if literal else []
        if found:
            parts.append(Token(found["name"], int(found["width"] or 1)))
            end = found.end()
    return tuple(parts)


def render(parts: tuple[str | Token, ...], values: Mapping[str, int | str | None]) -> str:
    """The name that a pattern gives. A token without a text takes the separator behind it (else before it) along."""
    name = ""
    drop = False
    for part in parts:
        text = part if isinstance(part, str) else _text(part, values[part.name])
        if isinstance(part, Token) and not text:
            drop = True
            continue
        name += text[1:] if drop and text[:1] in _SEPARATORS else text
        drop = False
    return name[:-1] if drop and name[-1:] in _SEPARATORS else name


def _text(token: Token, value: int | str | None) -> str:
    return f"{value:0{token.width}d}" if isinstance(value, int) else value or ""


def _pattern(kind: str) -> AfterValidator:
    known = TOKENS[kind]

    def check(text: str) -> str:
        parts = parse_pattern(text)
        names = [part.name for part in parts if isinstance(part, Token)]
        for name in names:
            if name not in known:
                near = get_close_matches(name, known, 1) or known[:1]
                raise ValueError(f"there is no {{{name}}} here; nearest: {{{near[0]}}}; known: {', '.join(known)}")
        if not names:
            raise ValueError(f"every one would be called {text!r}: use a token such as {{{known[0]}}}")
        return text

    return AfterValidator(check)


def _ports(value: tuple[str, ...]) -> tuple[str, ...]:
    for name in value:
        if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._/:-]{0,62})", name):
            raise ValueError(f"{name[:80]!r} is not the name of a port")
    if len(set(value)) < len(value):
        raise ValueError("a port is listed twice")
    return value


def _labels(value: tuple[str, ...]) -> tuple[str, ...]:
    for key in value:
        prefix, slash, name = key.rpartition("/")
        if not _LABEL.fullmatch(name) or (slash and not (_PREFIX.fullmatch(prefix) and len(prefix) <= MAX_PREFIX)):
            raise ValueError(f"{key[:80]!r} is not the key of a Kubernetes label, such as example.com/leaf")
    if len(set(value)) < len(value):
        raise ValueError("a label is listed twice")
    return value


_Text = Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)]
ServerPattern = Annotated[_Text, _pattern("server")]
AttachedPattern = Annotated[_Text, _pattern("attached")]
ManagerPattern = Annotated[_Text, _pattern("manager")]
LeafPattern = Annotated[_Text, _pattern("leaf")]
SpinePattern = Annotated[_Text, _pattern("spine")]
CorePattern = Annotated[_Text, _pattern("core")]
UnitPattern = Annotated[_Text, _pattern("unit")]
PodPattern = Annotated[_Text, _pattern("pod")]
PortPattern = Annotated[_Text, _pattern("port")]
_Key = Annotated[str, Field(min_length=1, max_length=MAX_PREFIX + 1 + MAX_NAME)]


class NamingSpec(Strict):
    """Names of devices and of the ports of hosts. The defaults give the names of the cable schedule.

    `unit`, `pod`: what a scheduler calls the servers that share leaves, and the units that share spines.
    `host_port`: of NIC ports on the compute network; None = `mlx5_{port0}` on InfiniBand, `eth{port}` elsewhere.
    `server_ports`: those of a server one by one, where no pattern gives them. `tier_labels`: keys of the labels of
    Kubernetes nodes, from the lowest tier up, and `domain_label` that of their NVLink domain.
    """

    server: ServerPattern = "server-{number:3}"
    attached: AttachedPattern = "{group}-{number:3}"
    manager: ManagerPattern = "{network}-manager-{fabric}-{number:3}"
    leaf: LeafPattern = "{network}-leaf-{fabric}-{number:3}"
    spine: SpinePattern = "{network}-spine-{fabric}-{number:3}"
    core: CorePattern = "{network}-core-{fabric}-{number:3}"
    unit: UnitPattern = "unit-{number:3}"
    pod: PodPattern = "pod-{number:3}"
    host_port: PortPattern | None = None
    server_ports: Annotated[tuple[_Text, ...], Field(max_length=MAX_PORTS), AfterValidator(_ports)] = ()
    tier_labels: Annotated[tuple[_Key, ...], Field(min_length=1, max_length=3), AfterValidator(_labels)] = (
        "fabric.topograph.run/tier-0",
        "fabric.topograph.run/tier-1",
        "fabric.topograph.run/tier-2",
    )
    domain_label: Annotated[_Key, AfterValidator(lambda key: _labels((key,))[0])] = "accelerator.topograph.run/domain"

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.domain_label in self.tier_labels:
            raise ValueError(f"{self.domain_label} is both a tier and the NVLink domain: use two labels")
        return self
