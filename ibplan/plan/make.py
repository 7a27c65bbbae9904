"""make_plan: from a loaded spec and a catalogue to all designs with the choice. The front door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches

from ibplan.catalog.store import Catalog
from ibplan.errors import InputError, Reason, Unbuildable
from ibplan.findings import Finding
from ibplan.plan.assemble import Outcome, assemble
from ibplan.plan.context import Context, context_of
from ibplan.plan.cost_notes import cost_findings
from ibplan.plan.costs import Costs, costs_of
from ibplan.plan.evaluate import Evaluated, evaluate
from ibplan.plan.extent import check_designs, check_forms
from ibplan.plan.forms import Form, Refused
from ibplan.plan.judge import Judged, in_order, judge, recommended, shortfalls
from ibplan.plan.names import form_id
from ibplan.plan.notes import design_findings, spec_findings
from ibplan.plan.performance import job_findings
from ibplan.plan.results import Plan, Rejected, RejectReason, Shortfall
from ibplan.plan.tcp import tcp_verdict
from ibplan.plan.trunk_notes import trunk_findings
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Spec


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
    context = context_of(loaded, catalog)
    check_forms(loaded, catalog, context.named)
    forms = list(context.forms())
    evaluated, rejected = _evaluate_all(forms, context)
    groups = _grouped(evaluated, loaded.spec.design)
    check_designs(loaded, len(groups), context.named)
    judged = [_judge(group, context) for group in groups]
    pinned = _pinned(judged, rejected, context)
    ranked = in_order(judged, loaded.spec)
    best = _best(ranked, pinned, loaded.spec)
    short = _shortfalls(judged if pinned is None else [pinned], context) if best is None else ()
    outcome = Outcome(forms, judged, ranked, best, pinned, rejected, short)
    costs = costs_of(outcome.shown, loaded.spec, context.named.server, context.means.book)
    plan = assemble(context, outcome, costs, _findings(context, outcome, costs))
    return plan, {design.id: design for design in evaluated}


def _evaluate_all(forms: Iterable[Form | Refused], context: Context) -> tuple[list[Evaluated], tuple[Rejected, ...]]:
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


def _judge(group: list[Evaluated], context: Context) -> Judged:
    first, *others = group
    verdict = tcp_verdict(first, context.spec, context.named) if first.form.fabric == "ethernet" else None
    last_usd = None
    if first.form.later_servers:
        from ibplan.plan.growth import last_stage_usd  # most specs have no stages

        last_usd = last_stage_usd(first, context.spec, context.means)
    job = context.job.fits(first)
    return judge(first, tuple(others), context.spec, context.named.server, context.gpus, verdict, job, last_usd)


def _pinned(judged: list[Judged], rejected: tuple[Rejected, ...], context: Context) -> Judged | None:
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


def _shortfalls(judged: list[Judged], context: Context) -> tuple[Shortfall, ...]:
    of_job = context.job.shortfalls([j.design for j in judged])
    return (*of_job, *shortfalls(judged, context.spec, context.named.server))


def _findings(context: Context, outcome: Outcome, costs: Mapping[str, Costs]) -> list[Finding]:
    """What is to be said of the spec, the job and every design; of growth, the plan says more."""
    loaded, spec = context.loaded, context.spec
    found = [*spec_findings(loaded, context.named.server, context.named.servers, context.gpus)]
    found += job_findings(context.job, outcome.short)
    for j in outcome.shown:
        found += [*design_findings(j), *trunk_findings(j.design, spec.site.cabling.structured)]
        found += cost_findings(j, costs[j.design.id], spec, context.catalog.prices)
    return found
