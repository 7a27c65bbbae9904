"""The text that ibnetdiscover prints, which ibsim reads, too: a block for each node, every cable at both its ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ibplan.asbuilt.found import FoundEnd, FoundKind, FoundLink, Place, Problems, Read
from ibplan.asbuilt.nodes import AGGREGATION, Node, NodeName, adapter_port, bare_guid, device_of, node_names
from ibplan.asbuilt.rates import Rate, named_rate

_NODE: Final = re.compile(r'(Switch|Ca|Hca|Rt)\s+([0-9]{1,5})\s+"([^"]{1,64})"\s*(?:#\s*(.*))?')
_PORT: Final = re.compile(
    r'\[([0-9]{1,5})\](?:\[ext [0-9]+\])?\s*(?:\([0-9a-fx]+\))?\s*"([^"]{1,64})"\[([0-9]{1,5})\](?:\[ext [0-9]+\])?'
    r"\s*(?:\([0-9a-fx]+\))?\s*(?:#\s*(.*))?"
)
_RATE: Final = re.compile(r"\b([0-9]{1,2})x([A-Z]{2,3}[0-9]{0,2})\b")
_QUOTED: Final = re.compile(r'"(.*)"')
# Lines that say nothing of nodes and links.
_IDS: Final = ("vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=")
_OTHER: Final = ("#", *_IDS, "Chassis ", "Hostname:", "ibwarn:")
_KIND: Final[dict[str, FoundKind]] = {"Switch": "switch", "Ca": "host", "Hca": "host", "Rt": "host"}
CUT_OFF: Final = "the file is cut off, or was changed by hand: ibnetdiscover writes every cable at both of its ends"


class _Half(NamedTuple):
    """A cable as one of its ends tells of it: (node, port) here and there, by node id."""

    here: tuple[str, int]
    there: tuple[str, int]
    rate: Rate | None
    line: int


@dataclass(slots=True)
class _Text:
    """What the lines say."""

    nodes: dict[str, Node]
    halves: dict[tuple[str, int], _Half]


def looks_like(text: str) -> bool:
    """Whether a text has blocks of this form."""
    return re.search(r'^(?:Switch|Ca|Hca|Rt)\s+[0-9]+\s+"', text, re.MULTILINE) is not None


def read_ibnetdiscover(text: str, source: str) -> Read:
    """Read a whole text. Raises InputError with every line that is not of the form, or whose other end is not there."""
    problems = Problems(source)
    found = _lines(text, problems)
    _check_mirrors(found, problems)
    problems.check()
    return _read(found, source)


def _lines(text: str, problems: Problems) -> _Text:
    found = _Text({}, {})
    node: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()
        if not line or line.startswith(_OTHER):
            continue
        if line.startswith("["):
            _port_line(line, number, node, found, problems)
            continue
        match = _NODE.fullmatch(line)
        if match is None:
            problems.add(number, f"is no line of ibnetdiscover: {line[:60]!r}")
            node = None
            continue
        node = match[3]
        if node in found.nodes:
            problems.add(number, f"node {node!r} has a second block")
        quoted = _QUOTED.match(match[4] or "")
        # The description is quoted, and may hold quotes; what follows it on the line of a switch holds none.
        description = "" if quoted is None else quoted[1]
        found.nodes[node] = Node(_KIND[match[1]], bare_guid(node), description, int(match[2]))
    return found


def _port_line(line: str, number: int, node: str | None, found: _Text, problems: Problems) -> None:
    match = _PORT.fullmatch(line)
    if match is None:
        problems.add(number, f"is no port line of ibnetdiscover: {line[:60]!r}", "the line may be cut off")
        return
    if node is None:
        problems.add(number, "a port stands before any node")
        return
    here, there = (node, int(match[1])), (match[2], int(match[3]))
    if here == there:
        problems.add(number, f"port {here[1]} of {node!r} is joined to itself")
    elif here in found.halves:
        problems.add(number, f"port {here[1]} of {node!r} has a second cable; the first is in line {_at(found, here)}")
    else:
        rate = _RATE.search((match[4] or "").rpartition('"')[2])
        rated = None if rate is None else named_rate(int(rate[1]), rate[2])
        found.halves[here] = _Half(here, there, rated, number)


def _at(found: _Text, end: tuple[str, int]) -> int:
    return found.halves[end].line


def _check_mirrors(found: _Text, problems: Problems) -> None:
    """Every node that a line names has a block, every port exists, and every cable stands at both ends."""
    for half in found.halves.values():
        (node, port), (other, other_port) = half.here, half.there
        most = found.nodes[node].ports or 0
        if not 1 <= port <= most:
            problems.add(half.line, f"{node!r} has {most} ports, but this is port {port}")
        if other not in found.nodes:
            problems.add(half.line, f"node {other!r} has no block of its own", CUT_OFF)
            continue
        back = found.halves.get(half.there)
        if back is None:
            problems.add(half.line, f"this cable is not told of at port {other_port} of {other!r}", CUT_OFF)
        elif back.there != half.here:
            at = f"{back.there[0]!r} port {back.there[1]}"
            problems.add(half.line, f"port {other_port} of {other!r} is joined to {at} in line {back.line}")
    if not found.nodes:
        problems.add(0, "there is no node in it")


def _read(found: _Text, source: str) -> Read:
    ids = [i for i, node in found.nodes.items() if AGGREGATION not in node.description]
    nodes = [found.nodes[i] for i in ids]
    names = node_names(nodes)
    per_host = Counter(name.device.lower() for name in names)
    index = {i: number for number, i in enumerate(ids)}
    links = []
    for half in found.halves.values():
        if half.here <= half.there and half.here[0] in index and half.there[0] in index:
            back = found.halves[half.there].rate
            rates = [rate for rate in (half.rate, back) if rate is not None]
            a, b = (_end(end, index, nodes, names, per_host) for end in (half.here, half.there))
            links.append(FoundLink(a, b, min(rates, default=None), None, Place(0, half.line)))
    return Read(source, "ibnetdiscover", tuple(map(device_of, nodes, names)), tuple(links), {}, left_out(found.nodes))


def left_out(nodes: dict[str, Node]) -> tuple[str, ...]:
    """What is said of the nodes inside switches, which have no cable."""
    count = sum(AGGREGATION in node.description for node in nodes.values())
    return (f"Left out: {count:,} aggregation nodes, which are inside the switches.",) if count else ()


def _end(
    end: tuple[str, int],
    index: dict[str, int],
    nodes: Sequence[Node],
    names: Sequence[NodeName],
    per_host: Counter[str],
) -> FoundEnd:
    number = index[end[0]]
    node, name = nodes[number], names[number]
    return FoundEnd(number, adapter_port(node, name, str(end[1]), per_host[name.device.lower()]))
