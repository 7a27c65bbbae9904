"""make_plan: from a loaded spec and a catalogue to all designs with the choice. The front door."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches

from ibplan.catalog.store import Catalog
from ibplan.errors import InputError, Reason, Unbuildable
from ibplan.findings import Finding
from ibplan.parts.offers import PartsBook
from ibplan.plan.describe import describe_network
from ibplan.plan.evaluate import Evaluated, evaluate
from ibplan.plan.forms import Form, Refused, enumerate_forms
from ibplan.plan.hosts import ServerModel, resolve_server, server_count
from ibplan.plan.judge import Judged, in_order, judge, recommended, shortfalls
from ibplan.plan.names import form_id
from ibplan.plan.nearest import nearest_changes
from ibplan.plan.notes import design_findings, spec_findings
from ibplan.plan.results import (
    Alternative,
    Design,
    Inputs,
    Nearest,
    Networks,
    Performance,
    Plan,
    PriceBookId,
    Rejected,
    RejectReason,
    Tco,
    Totals,
    Unpriced,
)
from ibplan.plan.why import reasons
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Spec
from ibplan.workload.need import UNKNOWN_MODEL, JobScale, Verdict, ethernet_verdict
from ibplan.workload.presets import load_presets

SCHEMA_VERSION = "1"
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class _Context:
    """What every step needs: the spec, the catalogue, the resolved server and its numbers."""

    loaded: LoadedSpec
    catalog: Catalog
    server: ServerModel
    servers: int
    gpus: int
    book: PartsBook

    @property
    def spec(self) -> Spec:
        return self.loaded.spec


def make_plan(loaded: LoadedSpec, catalog: Catalog) -> Plan:
    """Plan a spec: every design, ranked, with a recommendation where one can be made.

    Raises InputError where the spec names something that does not exist or contradicts itself. A spec that no design
    can meet is not an error: the plan says what is short.
    """
    server = resolve_server(loaded, catalog)
    servers, gpus = server_count(loaded, server)
    book = PartsBook.of(catalog, loaded.spec.optics)
    context = _Context(loaded, catalog, server, servers, gpus, book)
    _check_model(context)
    forms = list(enumerate_forms(loaded, catalog, server, servers))
    evaluated, rejected = _evaluate_all(forms, context)
    judged = [_judge(group, context) for group in _grouped(evaluated, loaded.spec.design)]
    pinned = _pinned(judged, rejected, context)
    ranked = in_order(judged, loaded.spec)
    best = _best(ranked, pinned, loaded.spec)
    findings = list(spec_findings(loaded, server, servers, gpus))
    for j in [*ranked, *_unranked(judged)]:
        findings += design_findings(j)
    return _plan(context, forms, judged, ranked, best, pinned, rejected, findings)


def _check_model(context: _Context) -> None:
    model = context.spec.model
    if model is None or model.preset is None or model.preset in load_presets():
        return
    near = get_close_matches(model.preset, load_presets(), 1)
    remedy = f"did you mean {near[0]}?" if near else "give a size such as 70B"
    raise InputError([context.loaded.document.problem(("model",), f"unknown model preset {model.preset!r}", remedy)])


def _evaluate_all(forms: Iterable[Form | Refused], context: _Context) -> tuple[list[Evaluated], tuple[Rejected, ...]]:
    """Evaluate every form; equal ids are one design. Rejected ones keep their reasons."""
    evaluated: dict[str, Evaluated] = {}
    rejected: dict[str, Rejected] = {}
    for form in forms:
        if isinstance(form, Refused):
            found: tuple[Reason, ...] = (form.reason,)
        else:
            try:
                design = evaluate(form, context.spec, context.book)
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

    def key(design: Evaluated) -> tuple[bool, bool, Decimal, str]:
        return (design.id != pinned, not design.capital.complete, design.capital.usd, design.id)

    return [sorted(group, key=key) for group in groups.values()]


def _judge(group: list[Evaluated], context: _Context) -> Judged:
    first, *others = group
    verdict = _verdict(first, context) if first.form.fabric == "ethernet" else None
    return judge(first, tuple(others), context.spec, context.server, context.gpus, verdict)


def _verdict(design: Evaluated, context: _Context) -> Verdict:
    model, server = context.spec.model, context.server
    preset = load_presets().get(model.preset) if model is not None and model.preset is not None else None
    if preset is not None:
        total, active = preset.params_total, preset.params_active
    elif model is not None and model.parameters is not None:
        total = active = model.parameters
    else:
        return UNKNOWN_MODEL
    gpu = context.catalog.gpus.get(server.entry.gpu) if server.entry is not None and server.entry.gpu else None
    peak = None if gpu is None else (gpu.bf16_tflops if context.spec.workload.precision == "bf16" else gpu.fp8_tflops)
    memory = None if gpu is None else gpu.memory_gbytes
    job = JobScale(total, active, context.servers, server.gpus, peak, memory)
    return ethernet_verdict(job, context.spec.workload, design.form.hosts.gbps * design.form.hosts.ports)


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
) -> Plan:
    spec, prices = context.spec, context.catalog.prices
    ranks: dict[str, int | None] = {j.design.id: rank for rank, j in enumerate(ranked, 1)}
    designs = [
        _design(j, ranks.get(j.design.id), j is pinned, reasons(j, ranked, best, j is pinned, spec), context)
        for j in [*ranked, *_unranked(judged)]
    ]
    short = shortfalls(judged, spec, context.server) if best is None else ()
    return Plan(
        SCHEMA_VERSION,
        spec.name or "spec",
        spec.model_dump(mode="json"),
        context.loaded.defaults,
        Inputs(context.catalog.digest, PriceBookId(prices.name, prices.date)),
        None if best is None else best.design.id,
        tuple(designs),
        rejected,
        short,
        _nearest(judged, forms, context) if best is None and (short or not judged) else (),
        tuple(dict.fromkeys(findings)),
    )


def _nearest(judged: list[Judged], forms: list[Form | Refused], context: _Context) -> tuple[Nearest, ...]:
    """Nearest changes: to the priced designs, or to every form where none could be built; and the other fabrics."""
    asked = set(context.spec.fabrics)
    missing = tuple(f for f in ("infiniband", "roce") if f not in asked)
    others: list[Form] = []
    if missing:
        spec = context.spec.model_copy(update={"fabrics": missing})
        loaded = replace(context.loaded, spec=spec)
        found = enumerate_forms(loaded, context.catalog, context.server, context.servers)
        others = [f for f in found if isinstance(f, Form)]
    tried = [j.design.form for j in judged if j.priced and not j.design.form.added]
    if not judged:
        tried = [f for f in forms if isinstance(f, Form) and not f.added]
    return nearest_changes(tried, others, context.spec, context.server, context.book)


def _design(judged: Judged, rank: int | None, pinned: bool, why: list[str], context: _Context) -> Design:
    design = judged.design
    return Design(
        id=design.id,
        rank=rank,
        pinned=pinned,
        why=tuple(why),
        fabric=design.form.fabric,
        totals=_totals(design, context),
        networks=Networks(describe_network(design, context.gpus)),
        line_items=design.items,
        tco=Tco(context.spec.site.years, None, None, None, False),
        performance=Performance(),
        fits=judged.fits,
        alternatives=tuple(
            Alternative(o.id, o.form.switches.name, o.capital.usd.quantize(_CENT), o.capital.complete)
            for o in judged.others
        ),
    )


def _totals(design: Evaluated, context: _Context) -> Totals:
    counts = describe_network(design, context.gpus).counts
    known = counts.modules_switch is not None and counts.modules_server is not None
    modules = (counts.modules_switch or 0) + (counts.modules_server or 0)
    capital = design.capital
    return Totals(
        gpus=context.gpus,
        servers=context.servers,
        switches=counts.switches,
        links=counts.links,
        cables=counts.cables,
        modules=modules if known else None,
        capex_usd=capital.usd.quantize(_CENT),
        complete=capital.complete,
        estimated_fraction=capital.estimated_fraction,
        unpriced=tuple(Unpriced(part, quantity) for part, quantity in capital.unpriced),
        capex_per_gpu_usd=(capital.usd / context.gpus).quantize(_CENT),
        capex_by_category_usd={key: usd.quantize(_CENT) for key, usd in capital.by_category.items()},
        capex_by_tier_usd={key: usd.quantize(_CENT) for key, usd in capital.by_tier.items()},
        power_w=design.power_w,
        power_typical_w=design.power_typical_w,
        racks=None,
    )
