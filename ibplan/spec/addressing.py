"""Addresses as the site deals them out: private AS numbers, loopbacks, host subnets, GUIDs that are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ibplan.spec.forms import FilePath, Strict, wrong_at

# Autonomous system numbers for private use: RFC 6996.
PRIVATE_ASNS: Final = (range(64512, 65534 + 1), range(4200000000, 4294967294 + 1))
_TIERS: Final = ("leaf", "spine", "core")


def parse_asns(text: str) -> range:
    """`4200000000-4200999999`, or one number. Raises ValueError for what RFC 6996 does not set aside."""
    found = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", text)
    if found is None:
        raise ValueError(f"AS numbers are written like 4200000000-4200999999, not {text[:40]!r}")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise ValueError(f"the range ends before it starts: {text}")
    if not any(first in private and last in private for private in PRIVATE_ASNS):
        ranges = " and ".join(f"{r.start} to {r.stop - 1}" for r in PRIVATE_ASNS)
        raise ValueError(f"{text} is not for private use, which is {ranges} (RFC 6996)")
    return range(first, last + 1)


def parse_prefix(text: str) -> IPv4Network:
    """An IPv4 prefix for hosts. Raises ValueError with what is wrong."""
    if not re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}", text):
        raise ValueError(f"an IPv4 prefix is written like 10.0.0.0/9, not {text[:40]!r}")
    try:
        prefix = IPv4Network(text, strict=False)
    except ValueError:
        raise ValueError(f"{text} is no IPv4 prefix") from None
    if str(prefix) != text:
        raise ValueError(f"{text} has bits set behind the prefix: {prefix}")
    if prefix.prefixlen < 8:
        raise ValueError(f"{text} is too large for a private network: /8 is the largest")
    special = prefix.is_loopback or prefix.is_multicast or prefix.is_link_local or prefix.is_reserved
    if special or prefix.network_address.packed[0] == 0:
        raise ValueError(f"{text} is not for addresses of hosts")
    return prefix


def _checked(parse: Callable[[str], Any]) -> AfterValidator:
    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_Text = Annotated[str, Field(min_length=1, max_length=40)]
AsnRange = Annotated[_Text, _checked(parse_asns), BeforeValidator(_as_text)]
Prefix = Annotated[_Text, _checked(parse_prefix)]


class TierAsns(Strict):
    """AS numbers of each tier: one for every leaf, one for the spines of a pod, one for the cores of a fabric."""

    leaf: AsnRange = "4201000000-4201999999"
    spine: AsnRange = "4202000000-4202999999"
    core: AsnRange = "4203000000-4203999999"

    @model_validator(mode="after")
    def _apart(self) -> TierAsns:
        ranges = [(tier, parse_asns(getattr(self, tier))) for tier in _TIERS]
        for at, (tier, numbers) in enumerate(ranges):
            for other, taken in ranges[:at]:
                if numbers.start < taken.stop and taken.start < numbers.stop:
                    raise wrong_at((tier,), f"overlaps the AS numbers of {other}: {getattr(self, other)}")
        return self


class TierPrefixes(Strict):
    """Where the loopbacks of each tier are taken from."""

    leaf: Prefix = "10.224.0.0/12"
    spine: Prefix = "10.240.0.0/13"
    core: Prefix = "10.248.0.0/13"


class AddressingSpec(Strict):
    """Addresses of one network. `hosts`: a subnet of it for every leaf. `guids`: a file of GUIDs and names."""

    asn: TierAsns = TierAsns()
    loopbacks: TierPrefixes = TierPrefixes()
    hosts: Prefix = "10.0.0.0/9"
    guids: FilePath | None = None

    @model_validator(mode="after")
    def _apart(self) -> AddressingSpec:
        keys: list[tuple[str, ...]] = [("hosts",), *(("loopbacks", tier) for tier in _TIERS)]
        prefixes = [(key, parse_prefix(self._at(key))) for key in keys]
        for at, (key, prefix) in enumerate(prefixes):
            for other, taken in prefixes[:at]:
                if prefix.overlaps(taken):
                    raise wrong_at(key, f"overlaps {'.'.join(other)}: {taken}")
        return self

    def _at(self, key: Iterable[str]) -> str:
        value: Any = self
        for part in key:
            value = getattr(value, part)
        return str(value)
