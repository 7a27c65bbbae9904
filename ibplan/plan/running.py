"""What the cluster of a design draws and costs while a job runs on it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ibplan.economics.running import HOURS_A_YEAR
from ibplan.plan.costs import Costs
from ibplan.plan.results import Totals

_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Running:
    """What a cluster costs and draws while it works; None = not known.

    `server_w`: mean power of a server with its share of the network, W. `usd_per_gpu_hour`: purchase, energy and
    support over the years of the spec by all GPU-hours; `usd_complete`: every price is in it.
    """

    server_w: float | None
    pue: float
    usd_per_gpu_hour: Decimal | None
    usd_complete: bool


def running_of(totals: Totals, costs: Costs, pue: float) -> Running:
    """Power and cost of a design's cluster."""
    energy, tco = costs.energy, costs.tco
    server_w = None
    if energy.cluster_per_year_kwh is not None:
        server_w = energy.cluster_per_year_kwh / pue / HOURS_A_YEAR * 1000 / totals.servers
    if totals.cluster_usd is None:
        return Running(server_w, pue, None, False)
    spent = totals.cluster_usd + (energy.cluster_per_year_usd or 0) * tco.years + (tco.support_usd or 0)
    usd = (spent / (totals.gpus * tco.years * HOURS_A_YEAR)).quantize(_CENT)
    complete = totals.cluster_complete and energy.network_basis != "known" and tco.support_usd is not None
    return Running(server_w, pue, usd, complete)
