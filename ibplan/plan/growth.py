"""Growth: what is bought and re-cabled at every stage, with and without planning ahead for the last one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from ibplan.economics.items import LineItem, NetworkName
from ibplan.errors import Unbuildable
from ibplan.fabric.network import NetworkSize
from ibplan.plan.evaluate import Evaluated, evaluate
from ibplan.plan.forms import Form
from ibplan.plan.growth_results import Growth, GrowthPath, Purchase, Stage, StageNetwork, Surplus
from ibplan.plan.means import Means
from ibplan.plan.wires import MOST_LINKS, link_count, wire_evaluated
from ibplan.spec.models import Spec

_CENT = Decimal("0.01")


def grow(
    design: Evaluated,
    stages: Sequence[tuple[int, int]],
    gpus_per_server: int,
    spec: Spec,
    means: Means,
) -> Growth:
    """A design through stages of (year, servers), the first of them built now."""
    planned = _path(design.form, stages, gpus_per_server, spec, means)
    unplanned = _path(replace(design.form, later_servers=()), stages, gpus_per_server, spec, means)
    reserved: tuple[Purchase, ...] = ()
    reserved_usd = None
    if planned.stages and unplanned.stages:
        reserved, _ = _difference(planned.stages[0].purchases, unplanned.stages[0].purchases)
        reserved_usd = planned.stages[0].capex_usd - unplanned.stages[0].capex_usd
    refusal = design.out_of_reach
    reason = None if refusal is None else refusal.text
    return Growth(design.id, refusal is None, reason, planned, unplanned, reserved_usd, reserved)


def last_stage_usd(design: Evaluated, spec: Spec, means: Means) -> Decimal | None:
    """Purchase price of the last stage in USD; None where there is none, it is out of reach, or parts lack prices."""
    later = design.form.later_servers
    if not later or design.out_of_reach is not None:
        return None
    last = evaluate(_at(design.form, later[-1]), spec, means)
    return last.capital.usd if last.capital.complete else None


def _path(
    form: Form,
    stages: Sequence[tuple[int, int]],
    gpus_per_server: int,
    spec: Spec,
    means: Means,
) -> GrowthPath:
    found: list[Stage] = []
    before: Evaluated | None = None
    stock: dict[tuple[str, str], Purchase] = {}
    refusal = None
    for year, servers in stages:
        try:
            now = evaluate(_at(form, servers), spec, means)
        except Unbuildable as no:
            refusal = f"year {year}: {no.reasons[0].text}"
            break
        found.append(_stage(year, servers * gpus_per_server, before, now, stock))
        before = now
    return GrowthPath(
        tuple(found),
        sum((stage.purchase_usd for stage in found), Decimal(0)),
        all(stage.complete for stage in found),
        _sum(stage.links_recabled for stage in found),
        refusal,
    )


def _at(form: Form, servers: int) -> Form:
    """The form with the servers of a stage, and the stages after it."""
    later = tuple(count for count in form.later_servers if count >= servers)
    return replace(form, request=replace(form.request, servers=servers), later_servers=later)


def _stage(
    year: int, gpus: int, before: Evaluated | None, now: Evaluated, stock: dict[tuple[str, str], Purchase]
) -> Stage:
    """One stage, whose purchases are added to the stock."""
    wanted = _parts(now.items)
    purchases, surplus = _difference(wanted, tuple(stock.values()))
    for bought in purchases:
        key = (bought.network, bought.part)
        had = stock[key].quantity if key in stock else 0
        stock[key] = bought.of(had + bought.quantity)
    networks = tuple(_network(name, before, now) for name in _names(now))
    return Stage(
        year=year,
        gpus=gpus,
        servers=now.network.request.servers,
        networks=networks,
        links_recabled=_sum(network.recabled for network in networks),
        capex_usd=now.capital.usd.quantize(_CENT),
        purchases=purchases,
        purchase_usd=sum((p.extended_usd or Decimal(0) for p in purchases), Decimal(0)).quantize(_CENT),
        complete=all(p.unit_price_usd is not None for p in purchases),
        surplus=surplus,
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """The sum; None if any is."""
    found = list(counts)
    return None if None in found else sum(count or 0 for count in found)


def _names(design: Evaluated) -> tuple[NetworkName, ...]:
    return ("compute", *(network.name for network in design.side.planned))


def _network(name: NetworkName, before: Evaluated | None, now: Evaluated) -> StageNetwork:
    """One network at a stage. A network that was not planned at the stage before is new."""
    size = _size(now, name)
    links = link_count(now, name)
    old = None if before is None or name not in _names(before) else before
    if old is None:
        return StageNetwork(name, size.fabric.tiers, size.switch_count, links, links, 0, 0)
    from ibplan.fabric.rewiring import rewiring  # numpy only where links are compared

    if max(links, link_count(old, name)) > MOST_LINKS:
        return StageNetwork(name, size.fabric.tiers, size.switch_count, links, None, None, None)
    found = rewiring(wire_evaluated(old, name), wire_evaluated(now, name))
    return StageNetwork(name, size.fabric.tiers, size.switch_count, links, found.added, found.moved, found.removed)


def _size(design: Evaluated, name: NetworkName) -> NetworkSize:
    side = design.side.named(name)
    return design.network if side is None else side.network


def _parts(items: Sequence[LineItem]) -> tuple[Purchase, ...]:
    """The bill by network and part."""
    found: dict[tuple[str, str], Purchase] = {}
    for i in items:
        key = (i.network, i.part)
        had = found[key].quantity if key in found else 0
        part = Purchase(i.network, i.category, i.part, i.part_number, i.description, 0, i.unit_price_usd, None)
        found[key] = part.of(had + i.quantity)
    return tuple(found.values())


def _difference(
    wanted: Sequence[Purchase], there: Sequence[Purchase]
) -> tuple[tuple[Purchase, ...], tuple[Surplus, ...]]:
    """What is wanted beyond what is there, and what is there beyond what is wanted."""
    have = {(p.network, p.part): p.quantity for p in there}
    want = {(p.network, p.part): p.quantity for p in wanted}
    more = ((p, p.quantity - have.get((p.network, p.part), 0)) for p in wanted)
    bought = tuple(p.of(count) for p, count in more if count > 0)
    left = ((p, p.quantity - want.get((p.network, p.part), 0)) for p in there)
    return bought, tuple(Surplus(p.network, p.part, count) for p, count in left if count > 0)
