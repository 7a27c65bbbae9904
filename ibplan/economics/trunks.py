"""The lines of structured cabling in a bill: trunks by length, and panels."""

from __future__ import annotations

from ibplan.cabling.trunks import Structured, panel_part, panel_words, trunk_part, trunk_words
from ibplan.catalog.prices import PriceBook
from ibplan.economics.bill import line_item
from ibplan.economics.items import LineItem, NetworkName

CABLING_TIER = "cabling"
_PASSIVE = (0.0, 0.0, False)


def structured_items(network: NetworkName, structured: Structured, prices: PriceBook) -> tuple[LineItem, ...]:
    """Trunks, one line a kind and length, then panels, one a kind. Without a price in the book they have none."""
    trunks: dict[tuple[str, str, int], int] = {}
    for row in structured.trunks:
        key = (
            trunk_part(row.glass, structured.rules),
            trunk_words(row.glass, row.plugs, structured.rules),
            row.length_m,
        )
        trunks[key] = trunks.get(key, 0) + row.count
    panels: dict[tuple[str, str], int] = {}
    for rack in structured.panels:
        kind = (panel_part(rack.glass, structured.rules), panel_words(rack.glass, structured.rules))
        panels[kind] = panels.get(kind, 0) + rack.panels
    found = []
    for (part, words, length_m), count in sorted(trunks.items()):
        price, identity = prices.choose(part, length_m), (part, None, None, words)
        where, length = "between racks", float(length_m)
        found.append(
            line_item(network, CABLING_TIER, "trunk", identity, count, price, _PASSIVE, where, length_m=length)
        )
    for (part, words), count in sorted(panels.items()):
        what = (part, None, None, words)
        found.append(line_item(network, CABLING_TIER, "panel", what, count, prices.choose(part), _PASSIVE, "in racks"))
    return tuple(found)
