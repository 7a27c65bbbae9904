"""The tier of every found device: hosts are 0, what joins them 1, and so on upward."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from ibplan.asbuilt.found import FoundEnd, FoundFabric

_SPINE, _CORE = 2, 3
_SHARE, _HALF = 0.25, 0.5
_MOST_SETS = 64
Neighbors = Sequence[Sequence[tuple[str | None, FoundEnd, int]]]
# Words that names of hosts and of switches start with, where the source does not say what a device is.
_HOST: Final = re.compile(
    r"(?:[a-z]+[-_])?(?:server|gpu|node|host|dgx|hgx|compute|cn|cu|worker|storage|login|head|mgmt|manage|admin|infra|control|nfs|oss|mds|ufm)",
    re.IGNORECASE,
)
_SWITCH: Final = re.compile(
    r"(?:[a-z]+[-_])?(?:leaf|spine|super-?spine|core|switch|sw|tor|eor|agg|ib-?sw|isw|l1|l2)(?![a-z])", re.IGNORECASE
)


def neighbors(found: FoundFabric) -> list[list[tuple[str | None, FoundEnd, int]]]:
    """By device: (own port, far end, index of the link) of every link."""
    result: list[list[tuple[str | None, FoundEnd, int]]] = [[] for _ in found.devices]
    for number, link in enumerate(found.links):
        result[link.a.device].append((link.a.port, link.b, number))
        result[link.b.device].append((link.b.port, link.a, number))
    return result


def host_flags(found: FoundFabric, is_host: Callable[[str], bool] | None = None) -> list[bool | None]:
    """Whether each device is a host: as `is_host` says of its name, the source of its kind, or else the name alone."""
    return [
        is_host(device.name)
        if is_host is not None
        else (device.kind == "host" if device.kind is not None else _by_name(device.name))
        for device in found.devices
    ]


def _by_name(name: str) -> bool | None:
    host, switch = _HOST.match(name) is not None, _SWITCH.match(name) is not None
    return host if host != switch else None


def tiers(around: Neighbors, hosts: Sequence[bool | None]) -> list[int | None]:
    """The tier of every device; None where it hangs together with no host.

    Most of a device's links say what it is, so that a few wrong cables do not mislead: a switch is a leaf if a quarter
    of its links go to hosts, a spine if a quarter go to leaves. Of the others, one that is joined to the same spines as
    a leaf is a leaf with few hosts, another one a core. What is left is one tier above its lowest neighbor.
    """
    tier: list[int | None] = [0 if host else None for host in hosts]
    _add(tier, around, 0, 1, _SHARE)
    if 1 not in tier:
        _add(tier, around, 0, 1, 0)
    _add(tier, around, 1, _SPINE, _SHARE)
    spine_sets = Counter(_above(device, around, tier) for device, its in enumerate(tier) if its == 1)
    usual = [spines for spines, _ in spine_sets.most_common(_MOST_SETS) if spines]
    for device, its in enumerate(tier):
        if its is None and _share(device, around, tier, _SPINE) > _HALF:
            there = _above(device, around, tier)
            tier[device] = 1 if any(_alike(there, spines) for spines in usual) else _CORE
    return _above_neighbors(tier, around)


def _add(tier: list[int | None], around: Neighbors, below: int, number: int, share: float) -> None:
    """Give a number to devices without one, of whose links at least a share, and one, go to the tier below."""
    new = [
        device
        for device, its in enumerate(tier)
        if its is None and (there := _share(device, around, tier, below)) >= share and there > 0
    ]
    for device in new:
        tier[device] = number


def _share(device: int, around: Neighbors, tier: Sequence[int | None], wanted: int) -> float:
    """The share of a device's links that go to a tier."""
    links = around[device]
    return sum(tier[far.device] == wanted for _, far, _ in links) / len(links) if links else 0.0


def _above(device: int, around: Neighbors, tier: Sequence[int | None]) -> frozenset[int]:
    """The spines that a device is joined to."""
    return frozenset(far.device for _, far, _ in around[device] if tier[far.device] == _SPINE)


def _alike(one: frozenset[int], other: frozenset[int]) -> bool:
    """Whether two sets have three quarters of their members in common."""
    return 4 * len(one & other) >= 3 * len(one | other)


def _above_neighbors(tier: list[int | None], around: Neighbors) -> list[int | None]:
    edge = [device for device, its in enumerate(tier) if its is not None]
    while edge:
        following = []
        for device in edge:
            for _, far, _ in around[device]:
                if tier[far.device] is None:
                    tier[far.device] = (tier[device] or 0) + 1
                    following.append(far.device)
        edge = following
    return tier
