"""The tier of every found device: hosts are 0, what joins them 1, and so on upward."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from ibplan.asbuilt.found import FoundEnd, FoundFabric

_SPINE, _CORE = 2, 3
Neighbors = Sequence[Sequence[tuple[str | None, FoundEnd, int]]]
# Words that names of hosts and of switches start with, where the source does not say what a device is.
_HOST: Final = re.compile(
    r"(?:[a-z]+[-_])?(?:server|gpu|node|host|dgx|hgx|compute|cn|cu|worker|storage|login|head|mgmt|manager|nfs|oss|mds)",
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
    """The tier of every device: the distance from the nearest host; None where no host can be reached.

    A switch that is joined to the same spines as a leaf is a leaf, too, though it has no host yet.
    """
    tier: list[int | None] = [0 if host else None for host in hosts]
    edge = [device for device, host in enumerate(hosts) if host]
    while edge:
        following = []
        for device in edge:
            for _, far, _ in around[device]:
                if tier[far.device] is None:
                    tier[far.device] = (tier[device] or 0) + 1
                    following.append(far.device)
        edge = following
    above = {_above(device, around, tier) for device, its in enumerate(tier) if its == 1}
    bare = [device for device, its in enumerate(tier) if its == _CORE and _above(device, around, tier) in above]
    for device in bare:
        tier[device] = 1
    return tier


def _above(device: int, around: Neighbors, tier: Sequence[int | None]) -> frozenset[int]:
    """The spines that a device is joined to."""
    return frozenset(far.device for _, far, _ in around[device] if tier[far.device] == _SPINE)
