"""The layout of a floor as arrays: every device in its rack, for the cable schedule."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ibplan.site.floor import Floor
from ibplan.site.model import PANEL_CORDS, PANEL_TRUNKS, Layout, Rack

_UM: Final = 1e6


def make_layout(floor: Floor) -> Layout:
    """All racks in the order of the floor, and every device in one of them."""
    index = {place: number for number, place in enumerate(floor.places)}
    served = np.array([index[place] for place in floor.server_places], np.int32)
    number, per_rack = np.arange(floor.servers.count, dtype=np.int32), floor.rows.servers_per_rack
    units = number % per_rack * floor.servers.box.units + 1.0
    rack_of = {"server": served[number // per_rack]}
    unit_of = {"server": (np.full_like(units, np.nan) if floor.servers.whole_rack else units).astype(np.float32)}
    for group, spots in (*floor.spots.items(), *floor.hosts.items()):
        rack_of[group] = np.array([index[place] for place in spots.places], np.int32)
        unit_of[group] = np.array(spots.units, np.float32)
    return Layout(make_racks(floor), rack_of, unit_of, floor.rules.run)


def with_panels(layout: Layout, lowest_unit: int) -> Layout:
    """The layout with panels in every rack, between `lowest_unit` and the top, as groups PANEL_CORDS and PANEL_TRUNKS.

    Both are measured to the unit that is farther away, so that a length is rather too long than too short.
    """
    every = np.arange(len(layout.racks), dtype=np.int32)
    top = np.array([rack.rack_units for rack in layout.racks], np.float32)
    return replace(
        layout,
        rack_of={**layout.rack_of, PANEL_CORDS: every, PANEL_TRUNKS: every},
        unit_of={**layout.unit_of, PANEL_CORDS: top, PANEL_TRUNKS: np.minimum(top, np.float32(lowest_unit))},
    )


def make_racks(floor: Floor) -> tuple[Rack, ...]:
    """The racks alone, in the order of `Floor.places`."""
    served = set(floor.server_places)
    racks = []
    for place in floor.places:
        hall, row, position = floor.ground.hall_of(place)
        _, x, y, cross = floor.ground.point(place)
        racks.append(
            Rack(
                floor.ground.name(place),
                hall,
                row,
                position,
                x / _UM,
                y / _UM,
                floor.rules.rack_units,
                "server" if place in served else "network",
                cross / _UM,
            )
        )
    return tuple(racks)
