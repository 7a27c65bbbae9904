"""A wiring as a graph: the only user of networkx, and the writers of GraphML and node-link JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import networkx as nx  # type: ignore[import-untyped]  # its stubs are a package that nothing else needs
import numpy as np

from ibplan.fabric.ports import PortName, class_port_names
from ibplan.fabric.wiring_model import KINDS, LEAF, Side, Wiring

_HOST_KINDS = ("server-leaf", "attached")


def switch_graph(wiring: Wiring) -> nx.Graph:
    """nx.Graph as nodes, and one edge for all links between two of them.

    Nodes: kind, fabric, unit, pod, position where they apply, and `endpoint_gbps` of the hosts below. Edges: `links`,
    `gbps` of one link, `capacity_gbps` of all, one direction.
    """
    graph: nx.Graph = nx.Graph()
    w, names, d = wiring, wiring.device_names(), wiring.devices
    below = np.zeros(len(d), np.int64)
    gbps = np.array([c.gbps for c in w.classes], np.int64)[w.links.link_class]
    hosts = np.array([c.kind in _HOST_KINDS for c in w.classes], bool)[w.links.link_class]
    np.add.at(below, w.links.a_device[hosts], gbps[hosts])
    for device in np.flatnonzero(d.kind >= LEAF).tolist():
        graph.add_node(names[device], **_attributes(w, device), endpoint_gbps=int(below[device]))
    between = d.kind[w.links.b_device] >= LEAF
    ends = np.stack([w.links.a_device[between], w.links.b_device[between], gbps[between].astype(np.int32)])
    pairs, counts = np.unique(ends, axis=1, return_counts=True)
    for (a, b, speed), links in zip(pairs.T.tolist(), counts.tolist(), strict=True):
        graph.add_edge(names[a], names[b], links=links, gbps=speed, capacity_gbps=links * speed)
    return graph


@dataclass(frozen=True, slots=True)
class Called:
    """Other names than the wiring's: of every device, and of the ports at both ends of every link."""

    devices: Sequence[str]
    a_ports: Sequence[str]
    b_ports: Sequence[str]


def full_graph(wiring: Wiring, system: str | None = None, called: Called | None = None) -> nx.MultiGraph:
    """Every device as a node and every link as an edge, with the names of both ports (`port_a` at `a`).

    Meant for tools that read graphs; a million links take minutes and gigabytes. `system`: whose port names.
    """
    graph: nx.MultiGraph = nx.MultiGraph()
    w, links = wiring, wiring.links
    if called is None:
        called = Called(w.device_names(), _port_names(w, "a", system), _port_names(w, "b", system))
    names = called.devices
    for device, name in enumerate(names):
        if name not in graph:  # a host with a second set of ports stays what it is
            graph.add_node(name, **_attributes(w, device))
    devices = (links.link_class.tolist(), links.a_device.tolist(), links.b_device.tolist())
    for k, a, b, port_a, port_b in zip(*devices, called.a_ports, called.b_ports, strict=True):
        link = w.classes[k]
        graph.add_edge(
            names[a], names[b], kind=link.kind, gbps=link.gbps, a=names[a], port_a=port_a, b=names[b], port_b=port_b
        )
    return graph


def _port_names(wiring: Wiring, side: Side, system: str | None) -> list[str]:
    """The name of the port at one end of every link."""
    known = [class_port_names(wiring, k, side, system) for k in range(len(wiring.classes))]
    ports = wiring.links.end(side)[1].tolist()
    return [_text(known[k], port) for k, port in zip(wiring.links.link_class.tolist(), ports, strict=True)]


def _text(names: list[PortName | None], port: int) -> str:
    found = names[port]
    return "" if found is None else found.name


def _attributes(wiring: Wiring, device: int) -> dict[str, str | int]:
    """What is known of a device; numbers from 1, and what does not apply is left out."""
    d = wiring.devices
    found: dict[str, str | int] = {"kind": KINDS[d.kind[device]]}
    for key in ("fabric", "unit", "pod", "position"):
        value = int(getattr(d, key)[device])
        if value >= 0:
            found[key] = value + 1
    return found


def graphml(graph: nx.Graph) -> str:
    """A graph as GraphML. The same graph gives the same text."""
    # The writer on top of the standard library: the default one changes with what else is installed.
    writer = nx.readwrite.graphml.GraphMLWriter(graph=graph, encoding="utf-8")
    ElementTree.indent(writer.xml, " ")
    text: str = ElementTree.tostring(writer.xml, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text.rstrip()}\n'


def node_link(graph: nx.Graph) -> str:
    """A graph as the node-link JSON of networkx and D3 (`nodes`, `links`). The same graph gives the same text."""
    multigraph = graph.is_multigraph()
    links: list[dict[str, Any]] = []
    for a, b, *rest in graph.edges(data=True, keys=True) if multigraph else graph.edges(data=True):
        key = {"key": rest[0]} if multigraph else {}
        links.append({**rest[-1], "source": a, "target": b, **key})
    data = {
        "directed": False,
        "multigraph": multigraph,
        "graph": {},
        "nodes": [{**attributes, "id": name} for name, attributes in graph.nodes(data=True)],
        "links": links,
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def max_flow_gbps(graph: nx.Graph, sources: Iterable[str], sinks: Iterable[str]) -> int:
    """What the endpoints of some leaves can send to those of others at once, Gb/s: a maximum flow.

    Each endpoint sends and receives as much as its port carries; links carry their capacity in either direction.
    """
    flow = nx.DiGraph()
    for a, b, capacity in graph.edges(data="capacity_gbps"):
        flow.add_edge(a, b, capacity=capacity)
        flow.add_edge(b, a, capacity=capacity)
    _join(flow, "source", {n: graph.nodes[n]["endpoint_gbps"] for n in sources}, outward=True)
    _join(flow, "sink", {n: graph.nodes[n]["endpoint_gbps"] for n in sinks}, outward=False)
    if "source" not in flow or "sink" not in flow:
        return 0
    return int(nx.maximum_flow_value(flow, "source", "sink"))


def _join(flow: nx.DiGraph, end: str, below: Mapping[str, int], *, outward: bool) -> None:
    for name, capacity in below.items():
        flow.add_edge(*((end, name) if outward else (name, end)), capacity=capacity)


def min_cut_links(graph: nx.Graph, a: str, b: str) -> int:
    """The fewest links whose loss parts two switches."""
    flow = nx.Graph()
    for x, y, links in graph.edges(data="links"):
        flow.add_edge(x, y, capacity=links)
    return int(nx.minimum_cut_value(flow, a, b))
