"""Power, energy and total cost of ownership: closed form, with what is unknown left unknown.

A year has 8,760 hours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from ibplan.economics.capital import Capital
from ibplan.economics.items import LineItem
from ibplan.economics.licences import LICENCES_TIER
from ibplan.economics.spares import SPARES_TIER

HOURS_A_YEAR = 8760
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Site:
    """What energy costs where the cluster stands. `utilization` = mean power of the servers over their maximum."""

    pue: float
    usd_per_kwh: Decimal
    utilization: float
    years: int


Basis = Literal["typical", "maximum", "known"]


@dataclass(frozen=True, slots=True)
class NetworkPower:
    """Power of the network in W: maximum and typical, None if that of a part is unknown; `known_w` = of the others."""

    maximum_w: float | None
    typical_w: float | None
    known_w: float


@dataclass(frozen=True, slots=True)
class Energy:
    """Power in W, energy in kWh a year at the meter (PUE in it), cost in USD a year. None = not known at all.

    `network_mean_w` is the typical power of the network where all of it is known (`network_basis`: typical), else its
    maximum, else the maximum of the parts of which it is known (`known`): what follows is then a lower bound. `it_w`
    and `facility_w` are maxima of network and servers, without and with PUE. `swing_w` = an estimate of how far the
    servers' power falls in each step of a synchronous job, `swing_fraction` of their maximum; None also for other jobs.
    """

    network_mean_w: float | None
    network_basis: Basis | None
    servers_w: float | None
    it_w: float | None
    facility_w: float | None
    swing_fraction: float | None
    swing_w: float | None
    network_per_year_kwh: float | None
    network_per_year_usd: Decimal | None
    cluster_per_year_kwh: float | None
    cluster_per_year_usd: Decimal | None


def energy_of(power: NetworkPower, servers_w: float | None, site: Site, swing: float | None) -> Energy:
    """Energy from the power of the network and the maximum of the servers in W, None = unknown.

    `swing` = share of the servers' maximum that a synchronous job's phases differ by; None = no such job.
    """
    basis: Basis = "typical" if power.typical_w is not None else "known" if power.maximum_w is None else "maximum"
    mean = power.known_w if power.typical_w is None else power.typical_w
    if not mean:
        return Energy(None, None, servers_w, None, None, swing, _share(servers_w, swing), None, None, None, None)
    it = power.known_w + servers_w if power.known_w and servers_w is not None else None
    network_kwh = _kwh(mean, site.pue)
    cluster_kwh = None
    if servers_w is not None:
        cluster_kwh = _kwh(mean + servers_w * site.utilization, site.pue)
    return Energy(
        mean,
        basis,
        servers_w,
        it,
        None if it is None else it * site.pue,
        swing,
        _share(servers_w, swing),
        network_kwh,
        _cost(network_kwh, site.usd_per_kwh),
        cluster_kwh,
        _cost(cluster_kwh, site.usd_per_kwh),
    )


def _share(servers_w: float | None, swing: float | None) -> float | None:
    return servers_w * swing if servers_w is not None and swing is not None else None


def _kwh(mean_w: float, pue: float) -> float:
    return mean_w * pue * HOURS_A_YEAR / 1000


def _cost(kwh: float | None, usd_per_kwh: Decimal) -> Decimal | None:
    return None if kwh is None else (Decimal(str(kwh)) * usd_per_kwh).quantize(_CENT)


def support_cost(items: Iterable[LineItem], rates: Mapping[str, Fraction], years: int) -> Decimal | None:
    """Support in USD: each line's price times the rate of its category a year, spares apart; None if none is stated.

    A category without a rate has no support.
    """
    if not rates:
        return None
    total = Decimal(0)
    for item in items:
        rate = rates.get(item.category)
        if rate is not None and item.tier != SPARES_TIER and item.extended_usd is not None:
            total += item.extended_usd * years * rate.numerator / rate.denominator
    return total.quantize(_CENT)


@dataclass(frozen=True, slots=True)
class TotalCost:
    """Total cost of ownership of the network over `years`, USD. The total adds what is known; `complete`: all of it is.

    `low_usd` and `high_usd` are the same at the lowest and the highest known prices.
    """

    years: int
    energy_usd: Decimal | None
    support_usd: Decimal | None
    total_usd: Decimal
    complete: bool
    low_usd: Decimal
    high_usd: Decimal


def total_cost(
    capital: Capital, low_high: tuple[Decimal, Decimal], energy: Energy, support_usd: Decimal | None, site: Site
) -> TotalCost:
    """Purchase price, energy and support over the site's years, USD.

    Support follows the purchase price: at other prices it is scaled with it.
    """
    kwh = energy.network_per_year_kwh
    energy_usd = _cost(None if kwh is None else kwh * site.years, site.usd_per_kwh)
    usd = capital.usd.quantize(_CENT)
    total = usd + (energy_usd or 0) + (support_usd or 0)
    low, high = (
        (x + (energy_usd or 0) + ((support_usd or 0) * x / usd if usd else 0)).quantize(_CENT) for x in low_high
    )
    known = energy_usd is not None and energy.network_basis != "known"
    complete = capital.complete and known and support_usd is not None
    return TotalCost(site.years, energy_usd, support_usd, total, complete, low, high)


def is_hardware(item: LineItem) -> bool:
    """Whether a line is hardware that is built in: no licence, no spare."""
    return item.tier not in (SPARES_TIER, LICENCES_TIER)
