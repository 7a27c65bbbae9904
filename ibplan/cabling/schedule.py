"""Every row of the schedule of a network: its cables, or cords and trunks where it has structured cabling."""

from __future__ import annotations

from collections.abc import Iterator

from ibplan.cabling.cords import Panels, cord_rows, trunk_rows
from ibplan.cabling.rows import CabledNetwork, CableRow, cable_rows, sheets
from ibplan.cabling.structured import plan_structured
from ibplan.catalog.entries import Cable


def schedule_rows(network: CabledNetwork) -> Iterator[CableRow]:
    """All rows: by class of links, then in the order of the wiring; trunks last."""
    if network.structured is None or network.places is None:
        yield from cable_rows(network)
        return
    planned = plan_structured(network.wiring, network.parts, network.places, network.name, network.structured)
    panels = Panels(network.name, planned, network.places.racks)
    for number, rows in enumerate(sheets(network)):
        offer = network.parts[number].cable
        cable = None if offer is None or not isinstance(offer.entry, Cable) else offer.entry
        yield from cord_rows(rows, number, planned, cable, panels)
    yield from trunk_rows(network.name, planned, panels)
