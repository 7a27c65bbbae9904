"""The text that iblinkinfo prints, in blocks or one line a link (-l): every port with its state, rate and far end."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ibplan.asbuilt.found import FoundEnd, FoundKind, FoundLink, Place, Problems, Read
from ibplan.asbuilt.ibnetdiscover import left_out
from ibplan.asbuilt.nodes import AGGREGATION, Node, adapter_port, bare_guid, device_of, node_names
from ibplan.asbuilt.rates import Rate, printed_rate

_HEAD: Final = re.compile(r"(Switch|CA|Router): (?:(0x[0-9a-f]{1,16}) )?(.*):")
_LINE: Final = re.compile(
    r'(?:(0x[0-9a-f]{1,16}) )?(?:"(.*?)" )?\s*([0-9]+)\s+([0-9]+)\[[ 0-9]*\] ==\((.*)\)==>\s+(.*)'
)
_FAR: Final = re.compile(r'(?:(0x[0-9a-f]{1,16})\s+)?([0-9]+)\s+([0-9]+)\[[ 0-9]*\] "(.*)" \(.*\)')
_RUNNING: Final = re.compile(
    r"\s*([0-9]{1,2})X\s*([0-9]{1,4}(?:\.[0-9]{1,8})?) Gbps(?: \(FDR10\))?\s+(\w+)/\s*(\w+)\)?.*"
)
_STOPPED: Final = re.compile(r"\s*(\w+)/\s*(\w+)\)?.*")
_NOTHING: Final = ('[  ] "" ( )', '"Port not available"')
_UP: Final = "Active"
_NO_LID: Final = "print it with `iblinkinfo -l`, or start a subnet manager first"
_CUT_OFF: Final = "the file is cut off: iblinkinfo tells of every cable at both ends"


class _Half(NamedTuple):
    here: tuple[str, str]
    there: tuple[str, str]
    rate: Rate | None
    state: str | None
    line: int


@dataclass(slots=True)
class _Text:
    """What the lines say. Nodes by key: in blocks the LID tells which node is meant, else the GUID of the port."""

    problems: Problems
    nodes: dict[str, Node] = field(default_factory=dict)
    halves: dict[tuple[str, str], _Half] = field(default_factory=dict)
    down: dict[tuple[str, str], str] = field(default_factory=dict)
    adapters: bool = False
    switches: set[str] = field(default_factory=set)


def looks_like(text: str) -> bool:
    """Whether a text has lines of this form."""
    return re.search(r"\] ==\(.*\)==>", text) is not None


def read_iblinkinfo(text: str, source: str) -> Read:
    """Read a whole text. Raises InputError with every line that is not of the form, or whose other end is not there."""
    problems = Problems(source)
    found = _Text(problems)
    head: Node | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith(("#", "ibwarn:")):
            continue
        match = _HEAD.fullmatch(line.rstrip())
        if match is not None:
            kind: FoundKind = "switch" if match[1] == "Switch" else "host"
            head = Node(kind, bare_guid(match[2] or ""), match[3], None)
            continue
        _port_line(line.strip(), number, head, found)
    if not text.endswith("\n"):
        problems.add(text.count("\n") + 1, "the last line does not end", "the file is cut off")
    _check_mirrors(found)
    problems.check()
    return _read(found, source)


def _port_line(line: str, number: int, head: Node | None, found: _Text) -> None:
    match = _LINE.fullmatch(line)
    if match is None:
        found.problems.add(number, f"is no line of iblinkinfo: {line[:60]!r}", "the line may be cut off")
        return
    guid, name, lid, port, link, far = match.groups()
    if name is None and head is None:
        found.problems.add(number, "a port stands before any node")
        return
    key = _key(guid if name is not None else None, lid, number, found)
    if key is None:
        return
    if key not in found.nodes:
        node = head if name is None or head is not None else None
        found.nodes[key] = node or _line_node(bare_guid(guid or ""), name or "")
    found.adapters |= found.nodes[key].kind == "host"
    _link((key, port), link, far, number, found)


def _key(guid: str | None, lid: str, number: int, found: _Text) -> str | None:
    if guid is not None:
        return bare_guid(guid)
    if lid == "0":
        found.problems.add(number, "the LID is 0, so that nothing tells which node this is", _NO_LID)
        return None
    return f"lid {lid}"


def _line_node(guid: str, name: str) -> Node:
    """A node of which only the name is known: an adapter says so (`gpu01 mlx5_0`, `gpu01 HCA-1`)."""
    adapter = re.search(r"\S+\s+\S*(?:mlx[45]_|HCA-|hfi1_|ibp|bnxt_re)\S*$|ConnectX|InfiniHost|" + AGGREGATION, name)
    return Node("host" if adapter else "switch", guid, name.strip(), None)


def _link(here: tuple[str, str], link: str, far: str, number: int, found: _Text) -> None:
    running = _RUNNING.fullmatch(link)
    stopped = None if running is not None else _STOPPED.fullmatch(link)
    if running is None and stopped is None:
        found.problems.add(number, f"says no state of the link that can be read: {link[:60]!r}")
        return
    state = f"{running[3]}/{running[4]}" if running is not None else f"{stopped[1]}/{stopped[2]}"  # type: ignore[index]
    if far in _NOTHING:
        found.down[here] = state
        return
    match = _FAR.fullmatch(far)
    if match is None:
        found.problems.add(number, f"says no far end that can be read: {far[:60]!r}", "the line may be cut off")
        return
    key = _key(match[1], match[2], number, found)
    if key is None:
        return
    if here in found.halves or (key, match[3]) == here:
        said = "has a second line" if here in found.halves else "is joined to itself"
        found.problems.add(number, f"port {here[1]} of {found.nodes[here[0]].description!r} {said}")
        return
    rate = None if running is None else printed_rate(int(running[1]), float(running[2]))
    up = running is not None and running[3] == _UP
    found.halves[here] = _Half(here, (key, match[3]), rate, None if up else state, number)
    found.nodes.setdefault(key, _line_node(key, match[4]))
    found.switches.add(here[0])


def _check_mirrors(found: _Text) -> None:
    """Every cable stands at both ends; with `--switches-only` at those that are switches."""
    for half in found.halves.values():
        there = half.there
        back = found.halves.get(there)
        if back is None:
            if found.adapters or there[0] in found.switches:
                name = found.nodes[there[0]].description
                found.problems.add(half.line, f"this cable is not told of at port {there[1]} of {name!r}", _CUT_OFF)
        elif back.there != half.here:
            found.problems.add(half.line, f"line {back.line} says that the far port is joined to another one")
    if not found.halves and not found.down:
        found.problems.add(0, "there is no link in it")


def _read(found: _Text, source: str) -> Read:
    ends = {half.there for half in found.halves.values()} | set(found.halves) | set(found.down)
    # The ports of an adapter have a LID each, and stand here as nodes of one description.
    ports = Counter(text for text, _ in {(found.nodes[key].description, port) for key, port in ends})
    keys = [key for key, node in found.nodes.items() if AGGREGATION not in node.description]
    nodes = [_sized(found.nodes[key], ports) for key in keys]
    names = node_names(nodes)
    per_host = Counter(name.device.lower() for name in names)
    index = {key: number for number, key in enumerate(keys)}

    def end(at: tuple[str, str]) -> FoundEnd:
        number = index[at[0]]
        name = names[number]
        return FoundEnd(number, adapter_port(nodes[number], name, at[1], per_host[name.device.lower()]))

    links = []
    for half in found.halves.values():
        first = half.here <= half.there or half.there not in found.halves
        if first and half.here[0] in index and half.there[0] in index:
            back = found.halves.get(half.there, half)
            rates = [rate for rate in (half.rate, back.rate) if rate is not None]
            slower, state = min(rates, default=None), half.state or back.state
            links.append(FoundLink(end(half.here), end(half.there), slower, state, Place(0, half.line)))
    down = {end(at): state for at, state in found.down.items() if at[0] in index}
    devices = tuple(map(device_of, nodes, names))
    return Read(source, "iblinkinfo", devices, tuple(links), down, left_out(found.nodes))


def _sized(node: Node, ports: Counter[str]) -> Node:
    """A node with its ports, as many as there are lines: all of a switch, those of an adapter that are joined."""
    return Node(node.kind, node.guid, node.description, ports[node.description])
