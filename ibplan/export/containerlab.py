"""A topology for containerlab: an Ethernet fabric in containers, port by port, to try a configuration on."""

from __future__ import annotations

import re
from itertools import compress
from typing import Any, Final

from ibplan.document import dump_yaml
from ibplan.errors import UsageError
from ibplan.export.interfaces import linux_ends
from ibplan.export.scheme import Scheme
from ibplan.export.target import Export, ExportFile, Target
from ibplan.fabric.wiring_model import KINDS, LEAF

SWITCH_IMAGE: Final = "frrouting/frr:latest"
HOST_IMAGE: Final = "alpine:latest"
# containerlab's own interface of every node.
_MANAGEMENT: Final = "eth0"
# What it takes for the machine itself or a network of it at the end of a link, in any case (links/link_brief.go).
_NO_NODES: Final = ("host", "macvlan", "mgmt-net")
_MANY: Final = 200


def _nodes(scheme: Scheme) -> dict[str, dict[str, str]]:
    """Every device by its name. Raises UsageError for a name that means something else in a link."""
    kinds = [KINDS[kind] for kind in scheme.wiring.devices.kind.tolist()]
    # The image stands at every node: releases before groups of nodes had images read it, too.
    nodes = {
        node: {"kind": "linux", "image": SWITCH_IMAGE if KINDS.index(kind) >= LEAF else HOST_IMAGE, "group": kind}
        for node, kind, alias in zip(scheme.names, kinds, scheme.aliases, strict=True)
        if not alias
    }
    others = compress(scheme.names, scheme.aliases)
    nodes |= {node: {"kind": "linux", "image": HOST_IMAGE, "group": "attached"} for node in others if node not in nodes}
    for node in nodes:
        if node.lower() in _NO_NODES:
            raise UsageError(f"containerlab has no node called {node!r}, which means its own machine: change naming")
    return nodes


def _containerlab(scheme: Scheme) -> Export:
    name = re.sub(r"[^a-z0-9-]+", "-", scheme.wired.name.lower()).strip("-") or "fabric"
    nodes = _nodes(scheme)
    links = []
    for link in linux_ends(scheme):
        if _MANAGEMENT in (link.a_port, link.b_port):
            raise UsageError(
                f"{_MANAGEMENT} is containerlab's own: set naming.host_port to a pattern such as eth{{port}}"
            )
        links.append({"endpoints": [f"{link.a_device}:{link.a_port}", f"{link.b_device}:{link.b_port}"]})
    data: dict[str, Any] = {"name": name, "topology": {"nodes": nodes, "links": links}}
    notes = (f"{len(nodes):,} nodes are more than one machine usually carries",) if len(nodes) > _MANY else ()
    head = f"# {scheme.title}\n"
    return Export((ExportFile(f"{name}.clab.yml", (head, dump_yaml(data))),), notes)


CONTAINERLAB = Target(
    "containerlab",
    "the fabric in containers, port by port",
    "containerlab deploy",
    ("<name>.clab.yml",),
    _containerlab,
    ("roce", "ethernet"),
)
