"""Growth: what is bought and re-cabled at every stage, with and without planning ahead for the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ibplan.economics.items import LineItem
from ibplan.errors import Unbuildable
from ibplan.plan.evaluate import Evaluated, evaluate
from ibplan.plan.forms import Form
from ibplan.plan.growth_results import Growth, GrowthPath, Purchase, Stage, Surplus
from ibplan.plan.means import Means
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
    moved = [None if s.links_moved is None else s.links_moved + (s.links_removed or 0) for s in found]
    return GrowthPath(
        tuple(found),
        sum((stage.purchase_usd for stage in found), Decimal(0)),
        all(stage.complete for stage in found),
        None if None in moved else sum(m or 0 for m in moved),
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
    moves = _moves(before, now)
    return Stage(
        year=year,
        gpus=gpus,
        servers=now.network.request.servers,
        tiers=now.network.fabric.tiers,
        switches=now.network.switch_count,
        links=sum(link.count for link in now.network.links),
        capex_usd=now.capital.usd.quantize(_CENT),
        purchases=purchases,
        purchase_usd=sum((p.extended_usd or Decimal(0) for p in purchases), Decimal(0)).quantize(_CENT),
        complete=all(p.unit_price_usd is not None for p in purchases),
        surplus=surplus,
        links_added=moves[0],
        links_moved=moves[1],
        links_removed=moves[2],
    )


def _moves(before: Evaluated | None, now: Evaluated) -> tuple[int | None, int | None, int | None]:
    """Links (added, moved, removed) since the stage before."""
    links = sum(link.count for link in now.network.links)
    if before is None:
        return links, 0, 0
    from ibplan.fabric.rewiring import rewiring  # numpy only where links are compared
    from ibplan.plan.wires import MOST_LINKS, wire_evaluated

    if max(links, sum(link.count for link in before.network.links)) > MOST_LINKS:
        return None, None, None
    found = rewiring(wire_evaluated(before), wire_evaluated(now))
    return found.added, found.moved, found.removed


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
