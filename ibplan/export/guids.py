"""GUIDs of InfiniBand devices: those that are known, and locally administered ones for the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ibplan.document import MAX_BYTES, open_regular, printable
from ibplan.economics.items import NetworkName
from ibplan.errors import InputError, Problem
from ibplan.fabric.wiring_model import ATTACHED, LEAF, Wiring

# 02: an identifier that no maker has assigned (the universal/local bit of EUI-64). Then, in bits: network 4, kind 4,
# fabric or group 16, number of the device from 1 24, and 8 for the NIC ports of a host: an adapter has an even number
# from 2, its port the odd one behind it, as ibsim deals them.
_LOCAL: Final = 0x02 << 56
_NETWORKS: Final[tuple[NetworkName, ...]] = ("compute", "storage", "inband", "oob")
_LINE: Final = re.compile(r'\s*(0x[0-9a-fA-F]{1,16})\s+"([^"]*)"\s*(?:#.*)?')
_MOST_PROBLEMS: Final = 20
_MOST_BYTES: Final = 64 * MAX_BYTES


@dataclass(frozen=True, slots=True)
class Guids:
    """GUIDs of one network: `switches` by device; by link, `adapters` and `ports` of the NIC at end b (0: no NIC).

    Every NIC port is an adapter of its own, as operating systems show it. Known ones have one GUID for both.
    `planned`: how many devices have made-up ones, because no file states them.
    """

    switches: Mapping[int, int]
    adapters: tuple[int, ...]
    ports: tuple[int, ...]
    planned: int


def read_guids(path: Path) -> dict[str, int]:
    """GUIDs by name from a file in the form of OpenSM's node-name map: `0x… "name"`, `#` starts a comment.

    Raises InputError with every line that is wrong.
    """
    source = printable(path)
    with open_regular(path, source) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise InputError([Problem(source, 0, 0, f"larger than {_MOST_BYTES // 1024**2} MiB, the limit for GUIDs")])
    found: dict[str, int] = {}
    names: dict[int, str] = {}
    problems: list[Problem] = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        message = _add(match, found, names)
        if message and len(problems) < _MOST_PROBLEMS:
            problems.append(Problem(source, number, 1, message))
    if problems:
        raise InputError(problems)
    return found


def _add(match: re.Match[str] | None, found: dict[str, int], names: dict[int, str]) -> str:
    """Enter a line; what is wrong with it, or nothing."""
    if match is None:
        return 'a line is a GUID and a name: 0x0002c90300000001 "leaf-001"'
    guid, name = int(match[1], 16), match[2]
    if not guid:
        return "0 is no GUID"
    if name in found:
        return f"{name!r} stands in two lines"
    if guid in names:
        return f"{match[1]} is that of {names[guid]!r}, too"
    found[name], names[guid] = guid, name
    return ""


def make_guids(
    wiring: Wiring, network: NetworkName, names: tuple[str, ...], descriptions: Iterator[str], known: Mapping[str, int]
) -> Guids:
    """GUIDs of all switches and NIC ports. `descriptions`: of the NIC port at the end b of every link, in order."""
    d, links = wiring.devices, wiring.links
    local = _local(wiring, network)
    switches = {i: known.get(names[i], local[i]) for i in np.flatnonzero(d.kind >= LEAF).tolist()}
    planned = sum(names[i] not in known for i in switches)
    adapters, ports = [], []
    hosts = (d.kind[links.b_device] < LEAF).tolist()
    rows = zip(hosts, links.b_device.tolist(), links.b_port.tolist(), descriptions, strict=True)
    for host, device, port, text in rows:
        stated = known.get(text)
        made_up = local[device] + 2 * (port + 1)
        adapters.append((made_up if stated is None else stated) if host else 0)
        ports.append((made_up + 1 if stated is None else stated) if host else 0)
        planned += host and stated is None
    return Guids(switches, tuple(adapters), tuple(ports), planned)


def _local(wiring: Wiring, network: NetworkName) -> list[int]:
    """The locally administered GUID of every device."""
    d = wiring.devices
    where = np.where(d.kind == ATTACHED, d.group, np.maximum(d.fabric, 0)).astype(np.int64)
    number = (d.index.astype(np.int64) + 1) << 8
    guid = _LOCAL + (_NETWORKS.index(network) << 52) + (d.kind.astype(np.int64) << 48) + (where << 32) + number
    return [int(g) for g in guid]
