"""What a design costs beyond its bill: range of prices, energy, support, total cost, what moves it, licences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ibplan.catalog.entries import Cable, Module
from ibplan.economics.assumptions import assumptions
from ibplan.economics.capital import known_power_w
from ibplan.economics.items import LineItem
from ibplan.economics.licences import Licence
from ibplan.economics.price_spread import PriceSpread, list_sum, sum_at
from ibplan.economics.running import Energy, NetworkPower, Site, TotalCost, energy_of, support_cost, total_cost
from ibplan.economics.sensitivity import Sensitivity, cost_model, sensitivities
from ibplan.parts.offers import PartsBook
from ibplan.plan.extras import support_rates
from ibplan.plan.hosts import ServerModel
from ibplan.plan.judge import Judged, fits, in_order
from ibplan.spec.models import Spec


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of one design; `items` are its lines with the range of their prices."""

    items: tuple[LineItem, ...]
    spread: PriceSpread
    energy: Energy
    tco: TotalCost
    sensitivity: tuple[Sensitivity, ...]
    licences: tuple[Licence, ...]


def costs_of(designs: Sequence[Judged], spec: Spec, server: ServerModel, book: PartsBook) -> dict[str, Costs]:
    """The costs of all designs that are shown, by id."""
    lines = {j.design.id: with_ranges(j.design.items, book) for j in designs}
    low = {name: sum_at(items, "low") for name, items in lines.items()}
    high = {name: sum_at(items, "high") for name, items in lines.items()}
    low_ranks, high_ranks = (_ranks(designs, usd, spec, server) for usd in (low, high))
    found = {}
    for j in designs:
        name = j.design.id
        ranks = (low_ranks.get(name), high_ranks.get(name))
        spread = PriceSpread(list_sum(lines[name]), low[name], high[name], *ranks)
        found[name] = _costs(j, lines[name], spread, spec, server)
    return found


def _ranks(designs: Sequence[Judged], usd: Mapping[str, Decimal], spec: Spec, server: ServerModel) -> dict[str, int]:
    """The rank of every fully priced design if its purchase price were another."""
    other = []
    for j in designs:
        design = replace(j.design, capital=replace(j.design.capital, usd=usd[j.design.id]))
        kept = replace(fits(design, spec, server), memory=j.fits.memory, latency=j.fits.latency)
        other.append(replace(j, design=design, fits=kept))
    return {j.design.id: rank for rank, j in enumerate(in_order(other, spec), 1)}


def with_ranges(items: Sequence[LineItem], book: PartsBook) -> tuple[LineItem, ...]:
    """The priced lines with the lowest and the highest price known of their part, or of one that may stand for it."""
    known = {item.part: _ranges(item.part, book) for item in items}
    return tuple(item if item.unit_price_usd is None else _ranged(item, known[item.part]) for item in items)


def _ranged(item: LineItem, known: Sequence[tuple[Decimal, Decimal]]) -> LineItem:
    now = item.unit_price_usd or Decimal(0)
    low, high = min((now, *(r[0] for r in known))), max((now, *(r[1] for r in known)))
    return replace(item, low_price_usd=low, high_price_usd=high)


def _ranges(part: str, book: PartsBook) -> list[tuple[Decimal, Decimal]]:
    """The ranges of a part and of all that are compatible; only its own where the user quotes it."""
    catalog = book.catalog
    entry: Module | Cable | None = catalog.modules.get(part) or catalog.cables.get(part)
    parts = [part]
    quoted = any(row.own for row in catalog.prices.usable(part))
    if entry is not None and book.optics == "compatible" and not quoted:
        named = entry.compatible_with or part
        parts = [named, *(e.id for e in book.stand_ins.get(named, ()) if e.status != "retired")]
    return [found for name in parts if (found := catalog.prices.range_usd(name)) is not None]


def _costs(judged: Judged, items: tuple[LineItem, ...], spread: PriceSpread, spec: Spec, server: ServerModel) -> Costs:
    design = judged.design
    site = Site(spec.site.pue, spec.site.electricity, float(spec.site.utilization), spec.site.years)
    servers_w = None if server.power_w is None else server.power_w * design.network.request.servers
    known = assumptions()
    swing = known.power_swing.fraction_of_maximum if spec.workload.task == "training" else None
    power = NetworkPower(design.power_w, design.power_typical_w, known_power_w(design.items))
    energy = energy_of(power, servers_w, site, swing)
    rates = support_rates(spec)
    support = support_cost(items, rates, site.years)
    tco = total_cost(design.capital, (spread.low_usd, spread.high_usd), energy, support, site)
    moved = sensitivities(items, cost_model(items, rates, energy, site), known.ranges)
    return Costs(items, spread, energy, tco, moved, design.licences)
