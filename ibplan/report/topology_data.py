"""The topology of a design, or one device of it, as plain data: what `ibplan show --format json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from ibplan.fabric.device_ports import DeviceView
from ibplan.fabric.free_ports import PortUse
from ibplan.fabric.topology_model import Topology
from ibplan.plan.wired import WiredDesign

SCHEMA_VERSION: Final = "1"


def topology_data(wired: WiredDesign, topology: Topology) -> dict[str, Any]:
    """A folded topology with the design that it is of."""
    return {**_head(wired), "switches": wired.switch_ids, "topology": _plain(topology)}


def device_data(wired: WiredDesign, view: DeviceView) -> dict[str, Any]:
    """One device with all its ports."""
    return {**_head(wired), "device": _plain(view)}


def _head(wired: WiredDesign) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "name": wired.name,
        "design": wired.id,
        "network": wired.network,
        "fabric": wired.fabric,
        "recommended": wired.recommended,
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        data = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {**data, "total": value.total} if isinstance(value, PortUse) else data
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
