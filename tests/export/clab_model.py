"""What containerlab asks of the topology files that are written: keys, types, patterns, ends of links.

Facts of containerlab's JSON Schema, schemas/clab.schema.json, and, where it is silent, of its program
(links/link_brief.go, core/config.go). Two states of the schema, which do not ask the same:

- 2025: github:srl-labs/containerlab b11ef1add1ee7a51e37f092d18526d8768e66098
- 2026: github:orrious/containerlab 02322105199bd85c686f6c33fc78594308878fc0, a copy that is ahead of it

A file must satisfy both. The newer one bounds names of nodes and keys of links; what it says of the two ends stands in
a keyword that its dialect does not have (`prefixItems` in draft 7), so only the older one looks at these. Neither is in
a package, and neither is here. Only the keys that are written are allowed: the schema knows more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

# A container's name (`name` and the keys of `nodes`), and an end of a link.
_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")
_END: Final = re.compile(r"\S+:\S+")
_NODE_KEYS: Final = frozenset({"kind", "image", "group"})
_KINDS: Final = frozenset({"linux"})
# In a link these mean the machine, whatever their case.
_NOT_NODES: Final = frozenset({"host", "macvlan", "mgmt-net"})
_MANAGEMENT: Final = "eth0"
_LINUX_LIMIT: Final = 15


def complaints(data: Any) -> list[str]:
    """All that containerlab would refuse."""
    found = list(_keys("file", data, {"name", "topology"}, {"name", "topology"}))
    if found:
        return found
    name, topology = data["name"], data["topology"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        found.append(f"name: {name!r}")
    found += _keys("topology", topology, {"nodes", "links"}, {"nodes", "links"})
    if not found:
        found += _nodes(topology["nodes"])
        found += _links(topology["links"], topology["nodes"])
    return found


def _keys(where: str, value: Any, allowed: set[str] | frozenset[str], needed: set[str]) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{where}: no mapping"
        return
    yield from (f"{where}: {key!r} is not known" for key in value if key not in allowed)
    yield from (f"{where}: {key} is missing" for key in sorted(needed) if key not in value)


def _nodes(nodes: Any) -> Iterator[str]:
    if not isinstance(nodes, Mapping):
        yield "nodes: no mapping"
        return
    for name, node in nodes.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name.lower() in _NOT_NODES:
            yield f"nodes: {name!r}"
        wrong = list(_keys(str(name), node, _NODE_KEYS, {"kind", "image"}))
        yield from wrong
        if not wrong:
            yield from (
                f"{name}: {key}: {text!r} is no text" for key, text in node.items() if not isinstance(text, str)
            )
            if node["kind"] not in _KINDS:
                yield f"{name}: kind {node['kind']!r}"


def _links(links: Any, nodes: Any) -> Iterator[str]:
    if not isinstance(links, Sequence) or isinstance(links, str) or not links:
        yield "links: none"
        return
    taken: set[str] = set()
    for number, link in enumerate(links):
        wrong = list(_keys(f"link {number}", link, {"endpoints"}, {"endpoints"}))
        yield from wrong
        if wrong:
            continue
        ends = link["endpoints"]
        if not isinstance(ends, Sequence) or isinstance(ends, str) or len(ends) != 2:
            yield f"link {number}: not two ends"
            continue
        for end in ends:
            yield from (f"link {number}: {end!r}: {text}" for text in _end(end, nodes, taken))


def _end(end: Any, nodes: Any, taken: set[str]) -> Iterator[str]:
    if not isinstance(end, str) or not _END.fullmatch(end):
        yield "no node:port"
        return
    if end in taken:
        yield "the end of two links"
    taken.add(end)
    node, _, port = end.partition(":")
    if node not in nodes:
        yield "no such node"
    if port == _MANAGEMENT or len(port) > _LINUX_LIMIT or "/" in port or ":" in port:
        yield "no port for a link"
