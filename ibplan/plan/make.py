"""make_plan: from a loaded spec and a catalogue to all designs with the choice. The front door."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ibplan.catalog.store import Catalog
from ibplan.errors import InputError, Reason, Unbuildable
from ibplan.findings import Finding
from ibplan.parts.offers import PartsBook
from ibplan.plan.assumed import server_price, used_side_defaults
from ibplan.plan.cost_notes import cost_findings, survival
from ibplan.plan.costs import Costs, costs_of
from ibplan.plan.describe import describe_network, describe_side
from ibplan.plan.evaluate import Evaluated, evaluate
from ibplan.plan.extent import check_designs, check_forms
from ibplan.plan.extras import extras_of
from ibplan.plan.forms import Form, Refused, enumerate_forms
from ibplan.plan.hosts import growth_stages
from ibplan.plan.job import planned_job
from ibplan.plan.judge import Judged, in_order, judge, recommended, shortfalls
from ibplan.plan.marginal import marginal_values
from ibplan.plan.means import Means
from ibplan.plan.names import form_id
from ibplan.plan.nearest import Search, nearest_changes
from ibplan.plan.notes import design_findings, spec_findings
from ibplan.plan.pareto import comparable, pareto_set
from ibplan.plan.performance import JobOnDesigns, job_findings
from ibplan.plan.place import describe_site
from ibplan.plan.pricing import priced_catalog
from ibplan.plan.resolve import Resolved, resolve
from ibplan.plan.results import (
    Alternative,
    Design,
    Inputs,
    Missing,
    Nearest,
    Networks,
    Plan,
    PriceBookId,
    Rejected,
    RejectReason,
    Shortfall,
)
from ibplan.plan.scorecard import scorecard
from ibplan.plan.side_networks import SidePlanner
from ibplan.plan.site_bill import site_bill
from ibplan.plan.structured import structured_rules
from ibplan.plan.tcp import tcp_verdict
from ibplan.plan.totals import totals
from ibplan.plan.trunk_notes import trunk_findings
from ibplan.plan.why import reasons
from ibplan.site.ground import Ground
from ibplan.site.rules import site_rules
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Spec

if TYPE_CHECKING:
    from ibplan.plan.growth_results import Growth

SCHEMA_VERSION = "1"
_CENT = Decimal("0.01")
_LAYOUT_KEYS = frozenset({"placement", "hall", "tray_above_rack", "slack"})
_RACK_PRICES = frozenset({"price", "pdu_price"})


@dataclass(frozen=True, slots=True)
class _Context:
    """What every step needs: the spec, the catalogue, what the spec names, and the parts that can be bought."""

    loaded: LoadedSpec
    catalog: Catalog
    named: Resolved
    means: Means
    job: JobOnDesigns

    @property
    def spec(self) -> Spec:
        return self.loaded.spec

    @property
    def gpus(self) -> int:
        return self.named.gpus

    def forms(self, spec: Spec | None = None) -> Iterator[Form | Refused]:
        """All forms of the spec, or of a variant of it."""
        loaded = self.loaded if spec is None else replace(self.loaded, spec=spec)
        named = self.named
        return enumerate_forms(loaded, self.catalog, named.server, named.servers, named.switches)


def make_plan(loaded: LoadedSpec, catalog: Catalog) -> Plan:
    """Plan a spec: every design, ranked, with a recommendation where one can be made.

    Raises InputError where the spec names something that does not exist, contradicts itself or asks for more designs
    than are planned at once, StaleLockError where its lock says otherwise. A spec that no design can meet is not an
    error: the plan says what is short.
    """
    return make_evaluated_plan(loaded, catalog)[0]


def make_evaluated_plan(loaded: LoadedSpec, catalog: Catalog) -> tuple[Plan, dict[str, Evaluated]]:
    """The plan, and the evaluated form behind every id in it, alternatives included. Raises as `make_plan` does."""
    if loaded.lock is not None:
        from ibplan.plan.locked import plan_under_lock  # most plans have no lock

        return plan_under_lock(loaded, catalog, loaded.lock, make_evaluated_plan)
    context = _context(loaded, catalog)
    check_forms(loaded, catalog, context.named)
    forms = list(context.forms())
    evaluated, rejected = _evaluate_all(forms, context)
    groups = _grouped(evaluated, loaded.spec.design)
    check_designs(loaded, len(groups), context.named)
    judged = [_judge(group, context) for group in groups]
    pinned = _pinned(judged, rejected, context)
    ranked = in_order(judged, loaded.spec)
    best = _best(ranked, pinned, loaded.spec)
    costs = costs_of([*ranked, *_unranked(judged)], loaded.spec, context.named.server, context.means.book)
    findings = list(spec_findings(loaded, context.named.server, context.named.servers, context.gpus))
    short = _shortfalls(judged if pinned is None else [pinned], context) if best is None else ()
    findings += job_findings(context.job, short)
    for j in [*ranked, *_unranked(judged)]:
        findings += [*design_findings(j), *trunk_findings(j.design, loaded.spec.site.cabling.structured)]
        findings += [*cost_findings(j, costs[j.design.id], loaded.spec, context.catalog.prices)]
    plan = _plan(context, forms, judged, ranked, best, pinned, rejected, findings, costs, short)
    return plan, {design.id: design for design in evaluated}


def _context(loaded: LoadedSpec, catalog: Catalog) -> _Context:
    catalog = priced_catalog(loaded, catalog)
    named, book = resolve(loaded, catalog), PartsBook.of(catalog, loaded.spec.optics)
    planner = SidePlanner(loaded.spec, named.server, catalog, book)
    extras = extras_of(loaded, named.server.gpus)
    ground, stated = Ground(site_rules(loaded.spec.site)), _site_stated(loaded)
    means = Means(book, planner, extras, ground, stated, structured=structured_rules(loaded.spec.site))
    job = JobOnDesigns(loaded.spec, named.server, named.gpus, planned_job(loaded, named.gpus))
    return _Context(loaded, catalog, named, means, job)


def _site_stated(loaded: LoadedSpec) -> bool:
    """Whether the spec says anything of racks and rows but their prices."""
    site = loaded.document.data.get("site")
    if not isinstance(site, Mapping):
        return False
    rack = site.get("rack")
    measured = isinstance(rack, Mapping) and not _RACK_PRICES.issuperset(rack)
    return measured or not _LAYOUT_KEYS.isdisjoint(site)


def _evaluate_all(forms: Iterable[Form | Refused], context: _Context) -> tuple[list[Evaluated], tuple[Rejected, ...]]:
    """Evaluate every form; equal ids are one design. Rejected ones keep their reasons."""
    evaluated: dict[str, Evaluated] = {}
    rejected: dict[str, Rejected] = {}
    for form in forms:
        if isinstance(form, Refused):
            found: tuple[Reason, ...] = (form.reason,)
        else:
            try:
                design = evaluate(form, context.spec, context.means)
                if design.capital.complete or not form.added:
                    evaluated.setdefault(design.id, design)
                continue
            except Unbuildable as refusal:
                found = refusal.reasons
                if form.added:
                    continue
        name = form_id(form, None)
        rejected.setdefault(
            name, Rejected(name, tuple(RejectReason(r.code, r.text, r.need, r.have) for r in dict.fromkeys(found)))
        )
    return list(evaluated.values()), tuple(rejected.values())


def _grouped(evaluated: list[Evaluated], pinned: str | None) -> list[list[Evaluated]]:
    """Designs of one form together, the one that stands for it first: the pinned, else the cheapest fully priced."""
    groups: dict[tuple[object, ...], list[Evaluated]] = {}
    for design in evaluated:
        groups.setdefault(design.form_key, []).append(design)

    def key(design: Evaluated) -> tuple[bool, int, Decimal, str]:
        return (design.id != pinned, len(design.capital.unpriced), design.capital.usd, design.id)

    return [sorted(group, key=key) for group in groups.values()]


def _judge(group: list[Evaluated], context: _Context) -> Judged:
    first, *others = group
    verdict = tcp_verdict(first, context.spec, context.named) if first.form.fabric == "ethernet" else None
    last_usd = None
    if first.form.later_servers:
        from ibplan.plan.growth import last_stage_usd  # most specs have no stages

        last_usd = last_stage_usd(first, context.spec, context.means)
    job = context.job.fits(first)
    return judge(first, tuple(others), context.spec, context.named.server, context.gpus, verdict, job, last_usd)


def _pinned(judged: list[Judged], rejected: tuple[Rejected, ...], context: _Context) -> Judged | None:
    """The design that the spec pins. Raises InputError if there is none of that id."""
    wanted = context.spec.design
    if wanted is None:
        return None
    for j in judged:
        if j.design.id == wanted:
            return j
    refused = next((r for r in rejected if r.id == wanted), None)
    names = [j.design.id for j in judged]
    if refused is not None:
        message = f"design {wanted!r} cannot be built: {refused.reasons[0].text}"
        raise InputError([context.loaded.document.problem(("design",), message)])
    near = get_close_matches(wanted, names, 3, 0.3) or names[:3]
    remedy = f"nearest: {', '.join(near)}" if near else "no design can be built"
    raise InputError([context.loaded.document.problem(("design",), f"no design has the id {wanted!r}", remedy)])


def _best(ranked: list[Judged], pinned: Judged | None, spec: Spec) -> Judged | None:
    if pinned is None:
        return recommended(ranked, spec)
    return pinned if pinned.priced and pinned.within_limits else None


def _unranked(judged: list[Judged]) -> list[Judged]:
    return sorted((j for j in judged if not j.priced), key=lambda j: j.design.id)


def _plan(
    context: _Context,
    forms: list[Form | Refused],
    judged: list[Judged],
    ranked: list[Judged],
    best: Judged | None,
    pinned: Judged | None,
    rejected: tuple[Rejected, ...],
    findings: list[Finding],
    costs: Mapping[str, Costs],
    short: tuple[Shortfall, ...],
) -> Plan:
    spec, prices = context.spec, context.catalog.prices
    ranks: dict[str, int | None] = {j.design.id: rank for rank, j in enumerate(ranked, 1)}
    designs = [
        _design(
            j,
            ranks.get(j.design.id),
            j is pinned,
            [*reasons(j, ranked, best, j is pinned, spec), *(survival(j, ranked, costs) if j is best else ())],
            context,
            costs[j.design.id],
        )
        for j in [*ranked, *_unranked(judged)]
    ]
    compared = comparable(designs)
    growth, said = _growth(pinned or best, [*ranked, *_unranked(judged)], context)
    findings = [*findings, *said]
    return Plan(
        SCHEMA_VERSION,
        spec.name or "spec",
        spec.model_dump(mode="json"),
        context.loaded.defaults,
        Inputs(
            context.catalog.digest,
            PriceBookId(prices.name, prices.date),
            context.means.ground.rules.measures,
            server_price=server_price(context.named.server, prices),
            side_defaults=used_side_defaults(spec, context.named.server, designs),
        ),
        None if best is None else best.design.id,
        tuple(designs),
        rejected,
        short,
        _nearest(judged, ranked, forms, pinned, context)
        if best is None and (short or not judged) and not _of_the_job(short)
        else (),
        tuple(dict.fromkeys(findings)),
        growth,
        pareto_set(compared),
        marginal_values(compared),
    )


_JOB_LIMITS = ("gpu_memory", "ttft_s", "tpot_s")


def _of_the_job(short: tuple[Shortfall, ...]) -> bool:
    """Whether the job is what is short: no change to the network mends that."""
    return any(row.limit in _JOB_LIMITS for row in short)


def _shortfalls(judged: list[Judged], context: _Context) -> tuple[Shortfall, ...]:
    of_job = context.job.shortfalls([j.design for j in judged])
    return (*of_job, *shortfalls(judged, context.spec, context.named.server))


def _growth(chosen: Judged | None, judged: list[Judged], context: _Context) -> tuple[Growth | None, list[Finding]]:
    """The stages of the chosen design, and what is to be said of them and of those of others."""
    stages = growth_stages(context.spec, context.named.server, context.named.servers)
    if len(stages) == 1:
        return None, []
    from ibplan.plan.growth import grow
    from ibplan.plan.growth_notes import growth_findings, over_budget_findings

    spec, growth = context.spec, None
    if chosen is not None:
        growth = grow(chosen.design, stages, context.named.server.gpus, spec, context.means)
    over = over_budget_findings(judged, growth, stages[-1][0], spec.budget.network)
    return growth, [*(growth_findings(growth) if growth is not None else ()), *over]


def _nearest(
    judged: list[Judged],
    ranked: list[Judged],
    forms: list[Form | Refused],
    pinned: Judged | None,
    context: _Context,
) -> tuple[Nearest, ...]:
    """Nearest changes: to the priced designs, or to every form where none could be built; and the other fabrics."""
    spec = context.spec
    search = Search(context.loaded, context.named.server, context.means, spec.design)
    if pinned is not None:
        other = recommended(ranked, spec)
        unpin = () if other is None else (Nearest("design", other.design.id, other.design.id, _cents(other)),)
        return (*unpin, *nearest_changes(search, [pinned.design.form], []))
    missing = tuple(f for f in ("infiniband", "roce") if f not in spec.fabrics)
    others = context.forms(spec.model_copy(update={"fabrics": missing})) if missing else ()
    tried = [j.design.form for j in judged if j.priced and not j.design.form.added]
    if not judged:
        tried = [f for f in forms if isinstance(f, Form) and not f.added]
    return nearest_changes(search, tried, (f for f in others if isinstance(f, Form) and not f.added))


def _cents(judged: Judged) -> Decimal:
    return judged.design.capital.usd.quantize(_CENT)


def _design(judged: Judged, rank: int | None, pinned: bool, why: list[str], context: _Context, costs: Costs) -> Design:
    design = judged.design
    networks = _networks(design, context.gpus)
    total = totals(design, networks, context.spec, context.named)
    return Design(
        id=design.id,
        rank=rank,
        pinned=pinned,
        why=tuple(why),
        fabric=design.form.fabric,
        totals=total,
        site=None if design.placed.floor is None else describe_site(design.placed.floor),
        networks=networks,
        left_out=tuple(Missing(row.what, row.reason) for row in design.side.left_out),
        line_items=costs.items,
        site_items=site_bill(design.placed.floor, context.spec.site.rack).items,
        licences=costs.licences,
        price_spread=costs.spread,
        energy=costs.energy,
        tco=costs.tco,
        sensitivity=costs.sensitivity,
        scorecard=scorecard(design, networks, context.means.book),
        performance=context.job.performance(design, total, costs),
        fits=judged.fits,
        alternatives=tuple(
            Alternative(o.id, o.form.switches.name, o.capital.usd.quantize(_CENT), o.capital.complete)
            for o in judged.others
        ),
    )


def _networks(design: Evaluated, gpus: int) -> Networks:
    side = {network.name: describe_side(network, gpus) for network in design.side.planned}
    return Networks(describe_network(design, gpus), side.get("storage"), side.get("inband"), side.get("oob"))
