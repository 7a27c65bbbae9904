"""Totals of a design over all of its networks, its racks and its servers."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from ibplan.economics.capital import known_power_w
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.resolve import Resolved
from ibplan.plan.results import Counts, NetworkResult, Networks, Totals, Unpriced
from ibplan.plan.site_bill import cluster_cost, site_bill
from ibplan.spec.models import Spec

_CENT: Final = Decimal("0.01")


def totals(design: Evaluated, networks: Networks, spec: Spec, named: Resolved) -> Totals:
    """Counts, money, power and racks of a design; None where a part of a sum is unknown."""
    found = (networks.compute, networks.storage, networks.inband, networks.oob)
    planned = [network for network in found if network is not None]
    capital = design.capital
    site = site_bill(design.placed.floor, spec.site.rack)
    cluster = cluster_cost(design, spec, named.server)
    return Totals(
        gpus=named.gpus,
        servers=named.servers,
        switches=sum(network.counts.switches for network in planned),
        links=sum(network.counts.links for network in planned),
        cables=_sum(planned, lambda counts: counts.cables),
        modules=_sum(planned, _modules),
        capex_usd=capital.usd.quantize(_CENT),
        complete=capital.complete,
        estimated_fraction=capital.estimated_fraction,
        unpriced=tuple(Unpriced(part, quantity) for part, quantity in capital.unpriced),
        capex_per_gpu_usd=(capital.usd / named.gpus).quantize(_CENT),
        capex_by_category_usd={key: usd.quantize(_CENT) for key, usd in capital.by_category.items()},
        capex_by_tier_usd={key: usd.quantize(_CENT) for key, usd in capital.by_tier.items()},
        capex_by_network_usd={key: usd.quantize(_CENT) for key, usd in capital.by_network.items()},
        power_w=design.power_w,
        power_typical_w=design.power_typical_w,
        power_known_w=known_power_w(design.items),
        racks=None if design.placed.floor is None else len(design.placed.floor.places),
        site_usd=None if site.usd is None else site.usd.quantize(_CENT),
        site_complete=site.complete,
        server_usd=cluster.server_usd,
        server_price_kind=cluster.server_price_kind,
        cluster_usd=None if cluster.usd is None else cluster.usd.quantize(_CENT),
        cluster_complete=cluster.complete,
    )


def _sum(networks: list[NetworkResult], count: Callable[[Counts], int | None]) -> int | None:
    """A count over all networks; None if it is unknown in any of them."""
    total = 0
    for network in networks:
        found = count(network.counts)
        if found is None:
            return None
        total += found
    return total


def _modules(counts: Counts) -> int | None:
    if counts.modules_switch is None or counts.modules_server is None:
        return None
    return counts.modules_switch + counts.modules_server
