"""Racks as plain data and as CSV: one row a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ibplan.plan.sited import SitedDesign
from ibplan.report.data import plain
from ibplan.report.spreadsheet import csv_text
from ibplan.site.elevation import RackContent, Standing

_CSV: Final = (
    "rack",
    "hall",
    "row",
    "position",
    "purpose",
    "unit",
    "rack_units",
    "device",
    "part",
    "power_w",
    "weight_kg",
)


def racks_data(sited: SitedDesign, racks: Sequence[RackContent]) -> dict[str, Any]:
    """The racks of a design as dicts, lists, texts and numbers: every rack with everything in it."""
    return {
        "name": sited.name,
        "design": sited.id,
        "recommended": sited.recommended,
        "placement": sited.floor.rules.placement,
        "site": plain(sited.site),
        "measures": plain(sited.floor.rules.measures),
        "not_placed": list(sited.not_placed),
        "racks": [_rack(content) for content in racks],
    }


def _rack(content: RackContent) -> dict[str, Any]:
    rack = content.rack
    return {
        "rack": rack.name,
        "hall": rack.hall,
        "row": rack.row,
        "position": rack.position,
        "x_m": plain(rack.x_m),
        "y_m": plain(rack.y_m),
        "purpose": rack.purpose,
        "assembled": content.assembled,
        "rack_units": None if content.assembled else rack.rack_units,
        "units_used": content.units_used,
        "units_free": content.units_free,
        "units_reserved": content.units_reserved,
        "power_w": plain(content.power_w),
        "power_known_w": plain(content.power_known_w),
        "power_limit_w": plain(content.power_limit_w),
        "weight_kg": plain(content.weight_kg),
        "weight_known_kg": plain(content.weight_known_kg),
        "weight_limit_kg": plain(content.weight_limit_kg),
        "pdus": content.pdus,
        "devices": [_device(device) for device in content.devices],
    }


def _device(device: Standing) -> dict[str, Any]:
    return {
        "device": device.name,
        "part": device.box.name,
        "unit": device.unit,
        "rack_units": device.box.units,
        "power_w": plain(device.box.power_w),
        "weight_kg": plain(device.box.weight_kg),
        "cooling": device.box.cooling,
    }


def racks_csv(racks: Sequence[RackContent]) -> str:
    """One row a device, from the top of each rack down. Unknown is an empty cell."""
    return csv_text(list(_CSV), _rows(racks))


def _rows(racks: Sequence[RackContent]) -> Iterator[list[Any]]:
    for content in racks:
        rack = content.rack
        for device in content.devices:
            found = {**_device(device)}
            row = [rack.name, rack.hall, rack.row, rack.position, rack.purpose, found["unit"], found["rack_units"]]
            yield [*row, found["device"], found["part"], found["power_w"], found["weight_kg"]]
