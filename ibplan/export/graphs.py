"""GraphML and node-link JSON: every device and every link, for programs that read graphs."""

from __future__ import annotations

from ibplan.export.scheme import Scheme
from ibplan.export.target import Export, Target, one_file
from ibplan.fabric.graph import Called, full_graph, graphml, node_link


def _called(scheme: Scheme) -> Called:
    return Called(scheme.names, scheme.port_names("a"), scheme.port_names("b"))


def _graphml(scheme: Scheme) -> Export:
    return one_file("fabric.graphml", graphml(full_graph(scheme.wiring, called=_called(scheme))))


def _node_link(scheme: Scheme) -> Export:
    return one_file("fabric.json", node_link(full_graph(scheme.wiring, called=_called(scheme))))


GRAPHML = Target(
    "graphml",
    "every device and link as a graph, in GraphML",
    "Gephi, yEd, networkx, igraph",
    ("fabric.graphml",),
    _graphml,
)
NODE_LINK = Target(
    "node-link",
    "every device and link as a graph, in node-link JSON",
    "networkx, D3",
    ("fabric.json",),
    _node_link,
)
