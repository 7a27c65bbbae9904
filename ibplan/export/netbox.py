"""A whole design for NetBox: files for its bulk import, in the order in which they are to be imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ibplan.cabling.runs import device_groups
from ibplan.errors import UsageError
from ibplan.export.netbox_cables import cable_rows, interface_rows
from ibplan.export.scheme import Scheme, all_schemes
from ibplan.export.target import Export, ExportFile, Target
from ibplan.fabric.wiring_model import KINDS, LEAF, SERVER
from ibplan.plan.runs import layout_of
from ibplan.plan.switches import SwitchModel
from ibplan.report.spreadsheet import csv_text
from ibplan.site.floor import PDU_HOSTS
from ibplan.site.model import Layout

_FILES: Final = (
    "1-manufacturers.csv",
    "2-device-roles.csv",
    "3-device-types.csv",
    "4-sites.csv",
    "5-racks.csv",
    "6-devices.csv",
    "7-interfaces.csv",
    "8-cables.csv",
)
_ROLES: Final = {
    "server": ("Server", "2196f3"),
    "leaf": ("Leaf switch", "4caf50"),
    "spine": ("Spine switch", "ff9800"),
    "core": ("Core switch", "f44336"),
    "manager": ("Fabric manager", "9c27b0"),
    "attached": ("Attached host", "607d8b"),
    PDU_HOSTS: ("Rack PDU", "795548"),
}
_UNKNOWN: Final = "Generic"


def _netbox(scheme: Scheme) -> Export:
    if scheme.network != "compute":
        raise UsageError("--to netbox takes all networks of a design at once: leave --network out")
    schemes = all_schemes(scheme)
    site = _slug(scheme.wired.name)
    floor = scheme.wired.evaluated.placed.floor
    layout = None if floor is None else layout_of(floor)
    # A device has its rows from the first network that has it.
    by_name: dict[str, tuple[Any, ...]] = {}
    for device in (device for one in schemes for device in _devices(one, layout)):
        by_name.setdefault(device[0], device)
    devices = list(by_name.values())
    types = list(dict.fromkeys((d[2], d[3], d[8], d[9]) for d in devices))
    makers = [(maker, _slug(maker)) for maker in dict.fromkeys(maker for maker, *_ in types)]
    roles = [(name, _slug(name), color) for name, color in _ROLES.values() if any(d[1] == name for d in devices)]
    racks = [] if layout is None else [(site, r.name, "planned", 19, r.rack_units) for r in layout.racks]
    tables: Sequence[tuple[Sequence[str], Iterable[Sequence[Any]]]] = (
        (("name", "slug"), makers),
        (("name", "slug", "color"), roles),
        (
            ("manufacturer", "model", "slug", "part_number", "u_height"),
            ((maker, model, _slug(f"{maker}-{model}"), number, units) for maker, model, number, units in types),
        ),
        (("name", "slug", "status"), [(site, site, "planned")]),
        (("site", "name", "status", "width", "u_height"), racks),
        (
            ("name", "role", "manufacturer", "device_type", "status", "site", "rack", "position", "face"),
            ((*d[:4], "planned", site, *d[5:8]) for d in devices),
        ),
        (_INTERFACE, (row for one in schemes for row in interface_rows(one))),
        (_CABLE, (row for one in schemes for row in cable_rows(one, layout))),
    )
    files = zip(_FILES, tables, strict=True)
    made = [ExportFile(name, _csv(*table)) for name, table in files if name != "5-racks.csv" or racks]
    return Export(tuple(made), tuple(_notes(scheme, layout)))


_INTERFACE: Final = ("device", "name", "type", "speed", "enabled", "mgmt_only", "description")
_CABLE: Final = (
    "side_a_device",
    "side_a_type",
    "side_a_name",
    "side_b_device",
    "side_b_type",
    "side_b_name",
    "type",
    "status",
    "profile",
    "label",
    "length",
    "length_unit",
)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield csv_text(head, rows)


def _notes(scheme: Scheme, layout: Layout | None) -> Iterator[str]:
    if layout is None:
        missing = ", ".join(scheme.wired.evaluated.placed.unknown)
        yield f"devices are in no rack: {missing} not known; state rack_units in the spec"
    if scheme.loaded.spec.site.cabling.structured:
        yield "trunks and panels are left out: cables go from device to device, as long as without them"


def _devices(scheme: Scheme, layout: Layout | None) -> Iterator[tuple[Any, ...]]:
    """(name, role, maker, model, -, rack, position, face, part number, rack units) of the devices of a network.

    Servers are those of the compute network; what another network has as a switch is not among its hosts again.
    """
    w = scheme.wiring
    for (kind, group), (label, first) in device_groups(w, scheme.network).items():
        word = KINDS[kind]
        if kind == SERVER and scheme.network != "compute":
            continue
        hosts = w.network.request.attached[group].name if word == "attached" else ""
        if scheme.aliases[first]:
            continue
        at = np.flatnonzero((w.devices.kind == kind) & (w.devices.group == group))
        facts = _facts(scheme, kind, group)
        for nth in range(len(at)):
            place = _place(layout, label, nth)
            if hosts == PDU_HOSTS:  # stands upright behind the frame
                place = (place[0], None, None)
            role = _ROLES[PDU_HOSTS if hosts == PDU_HOSTS else word][0]
            yield (scheme.names[first + nth], role, *facts[:2], None, *place, *facts[2:])


def _place(layout: Layout | None, label: str, nth: int) -> tuple[str | None, int | None, str | None]:
    """(rack, lowest unit, face); what is not known is left out."""
    if layout is None or label not in layout.rack_of:
        return None, None, None
    unit = float(layout.unit_of[label][nth])
    known = unit == unit and unit >= 1
    rack = layout.racks[int(layout.rack_of[label][nth])].name
    return rack, int(unit) if known else None, "front" if known else None


def _facts(scheme: Scheme, kind: int, group: int) -> tuple[str, str, str | None, float]:
    """(maker, model, part number, rack units) of devices of one kind. Rack units that are not known count as 0."""
    if kind >= LEAF:
        return _switch(_model(scheme, KINDS[kind]), scheme.loaded.spec.site.airflow)
    if kind == SERVER:
        spec = scheme.loaded.spec.server
        entry = scheme.catalog.servers.get(spec) if isinstance(spec, str) else None
        if entry is not None:
            return entry.vendor, entry.model, None, entry.rack_units or 0
        return _UNKNOWN, "Server", None, getattr(spec, "rack_units", None) or 0
    if KINDS[kind] == "manager":
        return _UNKNOWN, "Fabric manager", None, 1
    name = scheme.wiring.network.request.attached[group].name
    if name == PDU_HOSTS:
        return _UNKNOWN, "Rack PDU", None, 0
    units = {hosts.name: hosts.rack_units for hosts in scheme.loaded.spec.attached}
    return _UNKNOWN, f"Host {name}", None, units.get(name) or 0


def _model(scheme: Scheme, tier: str) -> SwitchModel:
    evaluated = scheme.wired.evaluated
    side = evaluated.side.named(scheme.network)
    models = evaluated.form.switches if side is None else side.switches
    return {"leaf": models.leaf, "spine": models.spine, "core": models.core}[tier]


def _switch(model: SwitchModel, airflow: str) -> tuple[str, str, str | None, float]:
    entry = model.entry
    if entry is None:
        return _UNKNOWN, model.id, None, model.rack_units or 0
    return entry.vendor, entry.model, None, entry.rack_units or model.rack_units or 0


def _slug(name: str) -> str:
    """A name as NetBox wants it in addresses: lower-case letters, digits, hyphens and underscores."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name.lower())
    return "-".join(part for part in kept.split("-") if part)[:100] or "site"


NETBOX = Target(
    "netbox",
    "racks, devices, interfaces and cables of all networks, to import in order",
    "NetBox 4.7 and later, bulk import of each file",
    _FILES,
    _netbox,
)
