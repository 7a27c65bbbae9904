"""The prescribed topology: which neighbor every port must see, for PTM and its like to check by LLDP."""

from __future__ import annotations

from collections.abc import Iterator

from ibplan.export.interfaces import link_ends
from ibplan.export.scheme import Scheme
from ibplan.export.target import Export, ExportFile, Target
from ibplan.fabric.wiring_model import KINDS, LEAF


def _ptm(scheme: Scheme) -> Export:
    return Export((ExportFile("topology.dot", _dot(scheme)),))


def _dot(scheme: Scheme) -> Iterator[str]:
    yield f'# {scheme.title}\ngraph "fabric" {{\n'
    roles: dict[str, str] = {}
    for name, kind in zip(scheme.names, scheme.wiring.devices.kind.tolist(), strict=True):
        roles.setdefault(name, KINDS[kind] if kind >= LEAF else "host")
    yield from (f'  "{name}" [role="{role}"]\n' for name, role in roles.items())
    for link in link_ends(scheme):
        yield f'  "{link.a_device}":"{link.a_port}" -- "{link.b_device}":"{link.b_port}"\n'
    yield "}\n"


PTM = Target(
    "ptm",
    "which neighbor each port must see, to check the cabling by LLDP",
    "ptmd of Cumulus Linux, NVIDIA Air, UFM cable validation",
    ("topology.dot",),
    _ptm,
    ("roce", "ethernet"),
)
