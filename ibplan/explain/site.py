"""Figures of racks and floor."""

from __future__ import annotations

from collections.abc import Iterator

from ibplan.explain.core import Data, Figure, Get, Input, at, plain

_SERVER_RACKS = Input("server_racks", "racks", "racks that hold servers", at("site", "racks", "server"))
_NETWORK_RACKS = Input(
    "network_racks", "racks", "racks of switches and other devices alone", at("site", "racks", "network")
)


def _measure(name: str) -> Get:
    def get(design: Data, plan: Data) -> float:
        return next(float(row["value"]) for row in plan["inputs"]["measures"] if row["name"] == name)

    return get


def site_figures() -> Iterator[Figure]:
    """Racks, rows, floor and rack PDUs. All are unknown where no layout can be made."""
    racks = (_SERVER_RACKS, _NETWORK_RACKS)
    yield Figure("racks", "racks", "racks", "server_racks + network_racks", at("totals", "racks"), racks)
    yield Figure(
        "server_racks",
        "racks that hold servers",
        "racks",
        "-(-servers // servers_per_rack)",
        at("site", "racks", "server"),
        (
            Input("servers", "servers", "of the design", at("totals", "servers")),
            Input("servers_per_rack", "servers", "of one rack", at("site", "servers_per_rack")),
        ),
    )
    yield plain(
        "network_racks",
        "racks of switches and other devices alone",
        "racks",
        at("site", "racks", "network"),
        "racks in the middle of rows (or where site.placement says) with the leaves of the units that begin there, and "
        "racks of the network area with spines, cores and managers; filled by height, power and weight",
    )
    yield plain(
        "servers_per_rack",
        "servers of one rack",
        "servers",
        at("site", "servers_per_rack"),
        "the most that height, power and weight allow, at least 1; servers of a rack that comes assembled",
    )
    rule = "maximum power of a server x servers of a rack; of a rack that comes assembled, its own"
    yield plain("server_rack_w", "maximum power of a full server rack", "W", at("site", "server_rack_w"), rule)
    yield plain("rack_rows", "rows with racks", "rows", at("site", "rows"), "rows of servers and of the network area")
    yield Figure(
        "floor_m2",
        "floor of the rows with their aisles; without walls, power and cooling",
        "m2",
        "rows * row_places * rack_width_m * aisle_pitch_m / 2",
        at("site", "floor_m2"),
        (
            Input("rows", "rows", "rows with racks", at("site", "rows")),
            Input(
                "row_places", "places", "from the first to the last that is used in any row", at("site", "row_places")
            ),
            Input("rack_width_m", "m", "of one rack", _measure("rack_width_m")),
            Input("aisle_pitch_m", "m", "two rows and two aisles", _measure("aisle_pitch_m")),
        ),
    )
    rule = "site.rack.pdus of every rack; those of racks that come assembled are not counted"
    yield plain("rack_pdus", "rack PDUs", "PDUs", at("site", "pdus"), rule)
