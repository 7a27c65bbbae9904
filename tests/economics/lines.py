"""Line items made by hand."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from ibplan.economics.items import LineItem

LINE = LineItem(
    network="compute",
    tier="leaf",
    category="switch",
    part="the-switch",
    manufacturer="Maker",
    part_number=None,
    description="a switch",
    quantity=10,
    unit_price_usd=Decimal(1000),
    price_kind="street",
    price_date="2026",
    price_source="the test",
    power_each_w=100.0,
    power_typical_each_w=60.0,
    power_in_host=False,
    where="leaf tier",
)


def line(part: str = "the-switch", **changes: Any) -> LineItem:
    """A line of ten pieces at 1,000 USD each, with changes."""
    return replace(LINE, part=part, **changes)
