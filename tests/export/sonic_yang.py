"""SONiC's tables as the data of its YANG models, for whoever has these models: docs/export-ethernet.md.

In the models a table is a container, and an entry stands in a list called `<table>_LIST`, its key cut at `|` into the
list's keys; where a key may stop early there is a list for each length (`INTERFACE_LIST`, `INTERFACE_IPPREFIX_LIST`).
A map from one number to another is a list inside the entry. All is written as XML, in which every value is a text, as
in the tables.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape

from tests.export.sonic_models import Tables


class Place(NamedTuple):
    """Where a table is: module, keys of its entries, of entries with an address too; of an inner list key and value."""

    module: str
    keys: tuple[str, ...]
    addressed: bool = False
    inner: tuple[str, str] | None = None


PLACES: Final[dict[str, Place]] = {
    "DEVICE_METADATA": Place("sonic-device_metadata", ()),
    "PORT": Place("sonic-port", ("name",)),
    "LOOPBACK_INTERFACE": Place("sonic-loopback-interface", ("name",), addressed=True),
    "INTERFACE": Place("sonic-interface", ("name",), addressed=True),
    "VLAN": Place("sonic-vlan", ("name",)),
    "VLAN_MEMBER": Place("sonic-vlan", ("name", "port")),
    "VLAN_INTERFACE": Place("sonic-vlan", ("name",), addressed=True),
    "DEVICE_NEIGHBOR": Place("sonic-device_neighbor", ("peer_name",)),
    "DSCP_TO_TC_MAP": Place("sonic-dscp-tc-map", ("name",), inner=("dscp", "tc")),
    "TC_TO_QUEUE_MAP": Place("sonic-tc-queue-map", ("name",), inner=("tc", "qindex")),
    "TC_TO_PRIORITY_GROUP_MAP": Place("sonic-tc-priority-group-map", ("name",), inner=("tc", "pg")),
    "MAP_PFC_PRIORITY_TO_QUEUE": Place("sonic-pfc-priority-queue-map", ("name",), inner=("pfc_priority", "qindex")),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": Place(
        "sonic-pfc-priority-priority-group-map", ("name",), inner=("pfc_priority", "pg")
    ),
    "PORT_QOS_MAP": Place("sonic-port-qos-map", ("ifname",)),
    "SCHEDULER": Place("sonic-scheduler", ("name",)),
    "WRED_PROFILE": Place("sonic-wred-profile", ("name",)),
    "QUEUE": Place("sonic-queue", ("ifname", "qindex")),
    "PFC_WD": Place("sonic-pfcwd", ("ifname",)),
    "CABLE_LENGTH": Place("sonic-cable-length", ("name",), inner=("port", "length")),
    "BUFFER_POOL": Place("sonic-buffer-pool", ("name",)),
    "BUFFER_PROFILE": Place("sonic-buffer-profile", ("name",)),
    "BUFFER_PG": Place("sonic-buffer-pg", ("port", "pg_num")),
    "BUFFER_QUEUE": Place("sonic-buffer-queue", ("port", "qindex")),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": Place("sonic-default-lossless-buffer-parameter", ("name",)),
}
_ADDRESS: Final = "ip-prefix"


class Models:
    """A directory with the models, templates rendered. Raises OSError where one that is needed is not there."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        names = sorted({place.module for place in PLACES.values()})
        self._files = [directory / f"{name}.yang" for name in names]
        self._spaces = {
            file.stem: re.findall(r'namespace\s+"([^"]+)"', file.read_text(encoding="utf-8"))[0] for file in self._files
        }

    def complaints(self, tables: Tables, file: Path) -> list[str]:
        """What yanglint says against the tables, written to `file` on the way."""
        file.write_text("\n".join(self._xml(tables)), encoding="utf-8")
        command = [
            "yanglint",
            "-Q",
            "-ii",
            "-t",
            "config",
            "-p",
            str(self._directory),
            *map(str, self._files),
            str(file),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.stderr.splitlines() or ([] if done.returncode == 0 else [f"yanglint ended with {done.returncode}"])

    def _xml(self, tables: Tables) -> Iterator[str]:
        for module, space in self._spaces.items():
            own = {name: rows for name, rows in tables.items() if PLACES[name].module == module}
            if own:
                yield f'<{module} xmlns="{escape(space)}">'
                for name, rows in own.items():
                    yield f"<{name}>"
                    for key, row in rows.items():
                        yield from _entry(name, key, row)
                    yield f"</{name}>"
                yield f"</{module}>"


def _leaf(name: str, text: Any) -> str:
    return f"<{name}>{escape(str(text))}</{name}>"


def _entry(table: str, key: str, row: dict[str, Any]) -> Iterator[str]:
    place = PLACES[table]
    if not place.keys:
        yield f"<{key}>{''.join(_leaf(*field) for field in row.items())}</{key}>"
        return
    parts, names, name = key.split("|"), place.keys, f"{table}_LIST"
    if place.addressed and len(parts) > len(names):
        names, name = (*names, _ADDRESS), f"{table}_IPPREFIX_LIST"
    keys = [_leaf(*pair) for pair in zip(names, parts, strict=True)]
    if place.inner is None:
        fields = [_leaf(*field) for field in row.items()]
    else:
        inside = [_leaf(place.inner[0], one) + _leaf(place.inner[1], other) for one, other in row.items()]
        fields = [f"<{table}>{text}</{table}>" for text in inside]
    yield f"<{name}>{''.join([*keys, *fields])}</{name}>"
