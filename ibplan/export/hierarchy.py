"""How near servers are to each other, as a tree: what schedulers place jobs by.

Where rails are on different leaves, a server is on several of them, which a tree cannot say. So the lowest level is not
the leaf but the servers that share all their leaves: those of a unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
import numpy.typing as npt

from ibplan.errors import InputError, UsageError
from ibplan.export.scheme import Scheme
from ibplan.fabric.wiring_model import SERVER
from ibplan.spec.naming import NamingSpec, parse_pattern, render

ROOT: Final = "fabric"
_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """Servers, by number, that share all leaves (then also units), or groups that share spines, by name."""

    name: str
    servers: tuple[int, ...]
    children: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The levels from the lowest up; the highest has one group. `servers`: names; `domains`: NVLink domains of several.

    Levels: servers that share all leaves; where there are several sets of spines, those that share spines; all of them.
    """

    servers: tuple[str, ...]
    levels: tuple[tuple[Group, ...], ...]
    domains: tuple[tuple[int, ...], ...]

    def names(self, numbers: Iterable[int]) -> list[str]:
        """The names of some servers."""
        return [self.servers[number] for number in numbers]


def make_hierarchy(scheme: Scheme) -> Hierarchy:
    """The tree of a compute network. Raises UsageError for another one, InputError for names that are not unique."""
    if scheme.network != "compute":
        raise UsageError(f"jobs are placed by the compute network, not by the {scheme.network} network")
    d, links = scheme.wiring.devices, scheme.wiring.links
    at = np.flatnonzero(d.kind[links.b_device] == SERVER)
    at = at[np.lexsort((links.a_device[at], links.b_device[at]))]
    servers = scheme.wiring.network.request.servers
    leaves = links.a_device[at].reshape(servers, -1).astype(np.int64)
    units = _alike(leaves)
    pods = _alike(np.sort(d.pod[leaves] * np.int64(scheme.wiring.network.fabrics) + d.fabric[leaves], axis=1))
    lowest = _lowest(scheme, units, leaves)
    levels = [lowest]
    if 1 < int(pods.max()) + 1 < len(lowest):
        levels.append(_pods(scheme, lowest, pods))
    if len(levels[-1]) > 1:
        everything = Group(ROOT, tuple(range(servers)), tuple(group.name for group in levels[-1]))
        levels.append((everything,))
    found = Hierarchy(scheme.names[:servers], tuple(levels), _domains(scheme, servers))
    _check_unique(scheme, found)
    return found


def _alike(rows: _Ints) -> _Ints:
    """Numbers of the different rows, from 0, in the order in which they first come, one a row."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[inverse.reshape(-1)]


def _lowest(scheme: Scheme, units: _Ints, leaves: _Ints) -> tuple[Group, ...]:
    """Called as the leaf where all ports of a server are on one."""
    pattern = parse_pattern((scheme.loaded.spec.naming or NamingSpec()).unit)
    found = []
    for number in range(int(units.max()) + 1):
        members = np.flatnonzero(units == number)
        mine = np.unique(leaves[members[0]]).tolist()
        name = scheme.names[mine[0]] if len(mine) == 1 else render(pattern, {"number": number + 1})
        found.append(Group(name, tuple(members.tolist())))
    return tuple(found)


def _pods(scheme: Scheme, lowest: Sequence[Group], pods: _Ints) -> tuple[Group, ...]:
    pattern = parse_pattern((scheme.loaded.spec.naming or NamingSpec()).pod)
    found = []
    for number in range(int(pods.max()) + 1):
        children = tuple(group.name for group in lowest if pods[group.servers[0]] == number)
        members = tuple(np.flatnonzero(pods == number).tolist())
        found.append(Group(render(pattern, {"number": number + 1}), members, children))
    return tuple(found)


def _domains(scheme: Scheme, servers: int) -> tuple[tuple[int, ...], ...]:
    """Servers that NVLink joins, one domain after the other; none where every server is a domain of its own."""
    size = scheme.wiring.network.request.domain_servers
    if size == 1:
        return ()
    return tuple(tuple(range(first, min(first + size, servers))) for first in range(0, servers, size))


def _check_unique(scheme: Scheme, found: Hierarchy) -> None:
    seen = set(found.servers)
    for level, key in zip(found.levels, ("unit", "pod", "pod"), strict=False):
        for group in level:
            if group.name in seen:
                message = f"naming.{key}: {group.name!r} is the name of something else, too"
                raise InputError([scheme.loaded.document.problem(("naming", key), message, "change the pattern")])
            seen.add(group.name)


def host_list(names: Sequence[str]) -> str:
    """Names in the short form of Slurm: `gpu-[001-032,064],login`. In the order given; numbers keep their digits."""
    parts = []
    for (head, _), run in groupby(map(_split, names), key=lambda split: (split[0], split[1] is None)):
        numbers = [digits for _, digits in run]
        parts += [head] * len(numbers) if numbers[0] is None else [_bracketed(head, [n for n in numbers if n])]
    return ",".join(parts)


def _split(name: str) -> tuple[str, str | None]:
    found = re.fullmatch(r"(.*?)(\d{1,9})", name)
    return (name, None) if found is None else (found[1], found[2])


def _bracketed(head: str, numbers: Sequence[str]) -> str:
    ranges: list[list[str]] = []
    for number in numbers:
        last = ranges[-1][-1] if ranges else ""
        if last and len(last) == len(number) and int(number) == int(last) + 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    if len(numbers) == 1:
        return head + numbers[0]
    return f"{head}[{','.join('-'.join(part) for part in ranges)}]"
