"""A found fabric as tiers of switches over hosts: its links by what they join, its fabrics that nothing joins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ibplan.asbuilt.found import FoundEnd, FoundFabric, FoundLink
from ibplan.asbuilt.layers import host_flags, neighbors, tiers
from ibplan.asbuilt.resolve import MANAGEMENT
from ibplan.errors import UsageError

MOST_TIERS: Final = 3
_HEAD: Final = re.compile(r"(.*?)[-_.]?[0-9]+[^0-9]*")
_NAME_HOSTS: Final = "name the hosts: --hosts 'gpu*'"


@dataclass(slots=True)
class Tiered:
    """Links by the tiers they join: down[d] and up[d] = (own port, far end, link) of device d, sideways links, others.

    tier: 0 host, 1 leaf, 2 spine, 3 core; None = nothing leads from it to a host. fabric: of each switch.
    """

    found: FoundFabric
    tier: list[int | None]
    fabric: dict[int, int] = field(default_factory=dict)
    down: dict[int, list[FoundEnd]] = field(default_factory=dict)
    up: dict[int, list[FoundEnd]] = field(default_factory=dict)
    down_rates: Counter[tuple[int, float | None]] = field(default_factory=Counter)
    sideways: list[FoundLink] = field(default_factory=list)
    other: list[FoundLink] = field(default_factory=list)

    def of_tier(self, number: int) -> list[int]:
        """The devices of a tier that have a link."""
        return [d for d, tier in enumerate(self.tier) if tier == number and (self.down.get(d) or self.up.get(d))]

    @property
    def tiers(self) -> int:
        """Tiers of switches."""
        return max((tier for tier in self.tier if tier is not None), default=0)

    @property
    def fabrics(self) -> int:
        """Fabrics that nothing joins but hosts."""
        return max(self.fabric.values(), default=-1) + 1


def tiered(found: FoundFabric, is_host: Callable[[str], bool] | None) -> Tiered:
    """Tell hosts from switches, and the tiers of switches apart. Raises UsageError where it is not possible."""
    found = _without_management(found, host_flags(found, is_host))
    flags = host_flags(found, is_host)
    linked = {end.device for link in found.links for end in (link.a, link.b)}
    unclear = [found.devices[d].name for d in sorted(linked) if flags[d] is None]
    if unclear:
        some = ", ".join(unclear[:3]) + (f" and {len(unclear) - 3:,} more" if len(unclear) > 3 else "")
        raise UsageError(
            f"whether {some} are hosts or switches is not stated, and their names do not say; {_NAME_HOSTS}"
        )
    if not any(flags[d] for d in linked):
        raise UsageError(f"there is no host in it; {_NAME_HOSTS}")
    if all(flags[d] for d in linked):
        raise UsageError(f"there is no switch in it; {_NAME_HOSTS}")
    result = Tiered(found, tiers(neighbors(found), flags))
    _sort_links(result)
    if result.tiers > MOST_TIERS:
        raise UsageError(f"it has {result.tiers} tiers of switches; {MOST_TIERS} is the most that a spec can say")
    _number_fabrics(result)
    return result


def _without_management(found: FoundFabric, hosts: Sequence[bool | None]) -> FoundFabric:
    """Without the cables of management ports, which switches show by LLDP."""

    def managed(end: FoundEnd) -> bool:
        return not hosts[end.device] and MANAGEMENT.fullmatch(end.port or "") is not None

    kept = tuple(link for link in found.links if not managed(link.a) and not managed(link.b))
    if len(kept) == len(found.links):
        return found
    note = f"Left out: {len(found.links) - len(kept):,} cables of management ports."
    return replace(found, links=kept, notes=(*found.notes, note))


def _sort_links(result: Tiered) -> None:
    for link in result.found.links:
        a, b = result.tier[link.a.device], result.tier[link.b.device]
        if a is None or b is None or abs(a - b) > 1 or a == b == 0:
            result.other.append(link)
        elif a == b:
            result.sideways.append(link)
        else:
            lower, upper = (link.a, link.b) if a < b else (link.b, link.a)
            result.up.setdefault(lower.device, []).append(upper)
            result.down.setdefault(upper.device, []).append(lower)
            result.down_rates[max(a, b), None if link.rate is None else link.rate.gbps] += 1


def _number_fabrics(result: Tiered) -> None:
    """Switches that are joined by switches are of one fabric, numbered in the order of the devices."""
    around: dict[int, set[int]] = {d: set() for d, tier in enumerate(result.tier) if tier}
    for device, ends in result.up.items():
        if result.tier[device]:
            for end in ends:
                around[device].add(end.device)
                around[end.device].add(device)
    for link in result.sideways:
        around[link.a.device].add(link.b.device)
        around[link.b.device].add(link.a.device)
    number = 0
    for start in around:
        if start in result.fabric or not (result.down.get(start) or result.up.get(start)):
            continue
        edge = [start]
        result.fabric[start] = number
        while edge:
            for far in around[edge.pop()]:
                if far not in result.fabric:
                    result.fabric[far] = number
                    edge.append(far)
        number += 1


def head_of(name: str) -> str:
    """What a name starts with, without its number and its domain: `gpu` of `gpu-017.dc1`."""
    short = name.partition(".")[0]
    match = _HEAD.fullmatch(short)
    return (match[1] if match is not None else short).lower() or "host"


def host_groups(result: Tiered) -> Iterator[tuple[str, list[int]]]:
    """Hosts by what their names start with, the largest group first."""
    groups: dict[str, list[int]] = {}
    for device in result.of_tier(0):
        groups.setdefault(head_of(result.found.devices[device].name), []).append(device)
    weight = {head: sum(len(result.up.get(d, ())) for d in members) for head, members in groups.items()}
    yield from sorted(groups.items(), key=lambda item: (-weight[item[0]], item[0]))
