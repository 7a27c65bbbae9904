"""Names in InfiniBand node descriptions: which host or switch, which adapter, which make."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ibplan.asbuilt.found import FoundDevice, FoundKind
from ibplan.document import printable

# A managed switch of NVIDIA calls itself `MF0;leaf-001:MQM9700/U1`; one that nobody named by its make and maker.
_MANAGED: Final = re.compile(r"[^;]{1,16};(?P<name>[^:;]{1,200}):(?P<model>[^/:;]{1,64})(?:/.{0,64})?")
_FACTORY: Final = re.compile(r"Mellanox|ConnectX|InfiniHost|NVIDIA|Infiniscale|MT\d{4,5} ", re.IGNORECASE)
AGGREGATION: Final = "Aggregation Node"


@dataclass(frozen=True, slots=True)
class Node:
    """A switch or an adapter: what the program calls it (`guid`), what it calls itself, and its ports."""

    kind: FoundKind
    guid: str
    description: str
    ports: int | None


@dataclass(frozen=True, slots=True)
class NodeName:
    """Device and adapter (None: not stated) of a node. `named`: whether the description tells it from others."""

    device: str
    adapter: str | None
    named: bool
    model: str | None = None


def bare_guid(text: str) -> str:
    """`0x0000000000005000`, `S-0000000000005000`, `5000`: `5000`."""
    return text.lower().rpartition("-")[2].removeprefix("0x").lstrip("0") or "0"


def node_names(nodes: Iterable[Node]) -> list[NodeName]:
    """The names of all nodes. A switch name that several bear tells none of them apart."""
    nodes = list(nodes)
    names = [_node_name(node) for node in nodes]
    seen: dict[tuple[str, str | None], int] = {}
    for node, name in zip(nodes, names, strict=True):
        key = (name.device.lower(), name.adapter if node.kind == "host" else None)
        seen[key] = seen.get(key, 0) + 1
    found = []
    for node, name in zip(nodes, names, strict=True):
        shared = seen[name.device.lower(), name.adapter if node.kind == "host" else None] > 1
        found.append(_by_guid(node, name) if shared and node.kind == "switch" else name)
    return found


def _node_name(node: Node) -> NodeName:
    text = " ".join(node.description.split())
    managed = _MANAGED.fullmatch(text)
    if managed is not None and node.kind == "switch":
        return NodeName(printable(managed["name"].strip()), None, True, printable(managed["model"].strip()))
    if not text or _FACTORY.search(text):
        return _by_guid(node, NodeName("", None, False, printable(text) or None))
    if node.kind == "switch":
        return NodeName(printable(text), None, True)
    host, _, adapter = text.partition(" ")
    return NodeName(printable(host), printable(adapter) or None, True)


def _by_guid(node: Node, name: NodeName) -> NodeName:
    model = name.model or (printable(name.device) if name.device else None)
    return NodeName(f"{'S' if node.kind == 'switch' else 'H'}-{node.guid}", None, False, model)


def adapter_port(node: Node, name: NodeName, port: str, nodes_of_host: int) -> str | None:
    """What a port is called: the number on a switch; on a host the adapter, with the port where it has several.

    None where a host has several adapters that do not say which they are.
    """
    if node.kind == "switch":
        return port
    if name.adapter is None:
        return port if nodes_of_host == 1 or not name.named else None
    return name.adapter if node.ports in (None, 1) else f"{name.adapter}/{port}"


def device_of(node: Node, name: NodeName) -> FoundDevice:
    """The device that a node belongs to."""
    ports = node.ports if node.kind == "switch" else None
    return FoundDevice(name.device, node.kind, name.named, ports, name.model, (node.guid,))
