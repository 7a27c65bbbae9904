"""From judged designs to the plan that is shown: ranks, reasons, costs, what is short and what would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from ibplan.findings import Finding
from ibplan.plan.assumed import server_price, used_side_defaults
from ibplan.plan.context import Context
from ibplan.plan.cost_notes import survival
from ibplan.plan.costs import Costs
from ibplan.plan.describe import describe_network, describe_side
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.forms import Form, Refused
from ibplan.plan.hosts import growth_stages
from ibplan.plan.judge import Judged, recommended
from ibplan.plan.marginal import marginal_values
from ibplan.plan.nearest import Search, nearest_changes
from ibplan.plan.pareto import comparable, pareto_set
from ibplan.plan.place import describe_site
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
    Shortfall,
)
from ibplan.plan.scorecard import scorecard
from ibplan.plan.site_bill import site_bill
from ibplan.plan.totals import totals
from ibplan.plan.why import reasons
from ibplan.spec.models import Spec

if TYPE_CHECKING:
    from ibplan.plan.growth_results import Growth

SCHEMA_VERSION = "1"
_CENT = Decimal("0.01")
_JOB_LIMITS = ("gpu_memory", "ttft_s", "tpot_s")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the designs of a spec came to. `ranked` in order; `best` = the one to recommend, `pinned` = the spec's.

    `short`: the limits that nothing keeps, where there is no best.
    """

    forms: Sequence[Form | Refused]
    judged: list[Judged]
    ranked: list[Judged]
    best: Judged | None
    pinned: Judged | None
    rejected: tuple[Rejected, ...]
    short: tuple[Shortfall, ...]

    @property
    def shown(self) -> list[Judged]:
        """All designs, those without a rank last, because they lack a price."""
        return [*self.ranked, *sorted((j for j in self.judged if not j.priced), key=lambda j: j.design.id)]

    @property
    def wants_other_network(self) -> bool:
        """Whether nothing can be built or kept within limits that a change to the network could mend."""
        of_the_job = any(row.limit in _JOB_LIMITS for row in self.short)
        return self.best is None and bool(self.short or not self.judged) and not of_the_job


def assemble(context: Context, outcome: Outcome, costs: Mapping[str, Costs], findings: Sequence[Finding]) -> Plan:
    """The plan that is shown."""
    spec, prices, best = context.spec, context.catalog.prices, outcome.best
    ranks: dict[str, int | None] = {j.design.id: rank for rank, j in enumerate(outcome.ranked, 1)}
    designs = [
        _design(j, ranks.get(j.design.id), j is outcome.pinned, _why(j, outcome, costs, spec), context, costs)
        for j in outcome.shown
    ]
    compared = comparable(designs)
    growth, of_growth = _growth(outcome.pinned or best, outcome.shown, context)
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
        outcome.rejected,
        outcome.short,
        _nearest(outcome, context) if outcome.wants_other_network else (),
        tuple(dict.fromkeys([*findings, *of_growth])),
        growth,
        pareto_set(compared),
        marginal_values(compared),
    )


def _growth(chosen: Judged | None, judged: list[Judged], context: Context) -> tuple[Growth | None, list[Finding]]:
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


def _nearest(outcome: Outcome, context: Context) -> tuple[Nearest, ...]:
    """Nearest changes: to the priced designs, or to every form where none could be built; and the other fabrics."""
    spec, pinned = context.spec, outcome.pinned
    search = Search(context.loaded, context.named.server, context.means, spec.design)
    if pinned is not None:
        other = recommended(outcome.ranked, spec)
        unpin = () if other is None else (Nearest("design", other.design.id, other.design.id, _cents(other)),)
        return (*unpin, *nearest_changes(search, [pinned.design.form], []))
    missing = tuple(f for f in ("infiniband", "roce") if f not in spec.fabrics)
    others = context.forms(spec.model_copy(update={"fabrics": missing})) if missing else ()
    tried = [j.design.form for j in outcome.judged if j.priced and not j.design.form.added]
    if not outcome.judged:
        tried = [f for f in outcome.forms if isinstance(f, Form) and not f.added]
    return nearest_changes(search, tried, (f for f in others if isinstance(f, Form) and not f.added))


def _cents(judged: Judged) -> Decimal:
    return judged.design.capital.usd.quantize(_CENT)


def _why(judged: Judged, outcome: Outcome, costs: Mapping[str, Costs], spec: Spec) -> tuple[str, ...]:
    """Why a design stands where it does; of the best also whether it does at other prices."""
    ranked, best = outcome.ranked, outcome.best
    more = survival(judged, ranked, costs) if judged is best else ()
    return (*reasons(judged, ranked, best, judged is outcome.pinned, spec), *more)


def _design(
    judged: Judged,
    rank: int | None,
    pinned: bool,
    why: tuple[str, ...],
    context: Context,
    all_costs: Mapping[str, Costs],
) -> Design:
    design, costs = judged.design, all_costs[judged.design.id]
    networks = _networks(design, context.gpus)
    total = totals(design, networks, context.spec, context.named)
    return Design(
        id=design.id,
        rank=rank,
        pinned=pinned,
        why=why,
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
