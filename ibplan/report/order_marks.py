"""Which figures of an order are lower bounds and which rest on estimates: the marks that `design` shows for them.

They follow from the lines and figures of the order, so that specs, locks and plans have them alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ibplan.plan.difference import Order
from ibplan.report.rows import ESTIMATE, LEGEND, LOWER_BOUND

_PRICES: Final = frozenset({"capex_usd", "capex_per_gpu_usd"})
_POWER: Final = frozenset({"power_known_w", "facility_w"})
_ENERGY: Final = frozenset(
    {
        "network_per_year_kwh",
        "network_per_year_usd",
        "cluster_per_year_kwh",
        "cluster_per_year_usd",
        "tco_energy_usd",
    }
)
_TOTAL: Final = "tco_total_usd"


def lower_bounds(order: Order) -> frozenset[str]:
    """Ids of the figures that something unknown would add to; unknown figures themselves are not among them."""
    energy_open = order.figures.get("power_w") is None and order.figures.get("power_typical_w") is None
    support_open = any(order.figures.get(figure) is None for figure in ("tco_energy_usd", "tco_support_usd"))
    found = {_TOTAL} if not order.complete or energy_open or support_open else set()
    found |= set() if order.complete else _PRICES
    found |= _POWER if order.figures.get("power_w") is None else set()
    found |= _ENERGY if energy_open else set()
    return frozenset(figure for figure in found if order.figures.get(figure) is not None)


def estimates(order: Order) -> frozenset[str]:
    """Ids of the figures in which an estimated price is."""
    found = {*_PRICES, _TOTAL} if any(line.estimated for line in order.lines) else set()
    return frozenset(figure for figure in found if order.figures.get(figure) is not None)


def marks(*, lower_bound: bool, estimated: bool) -> str:
    """The marks before an amount."""
    return (LOWER_BOUND if lower_bound else "") + (ESTIMATE if estimated else "")


def figure_marks(order: Order, figure_id: str) -> str:
    """The marks before a figure of an order."""
    return marks(lower_bound=figure_id in lower_bounds(order), estimated=figure_id in estimates(order))


def legend(cells: Iterable[str]) -> Iterator[str]:
    """What the marks that occur in the cells mean."""
    begins = {mark for cell in cells for words in cell.split(" -> ") for mark in words[:2]}
    yield from (f"{mark} {words}" for mark, words in LEGEND if mark in begins and mark in (ESTIMATE, LOWER_BOUND))
