"""Limits and order: which designs keep the budget, which is ranked where, which is recommended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from ibplan.economics.capital import known_power_w
from ibplan.performance.bandwidth import per_gpu_gbps
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.hosts import ServerModel
from ibplan.plan.results import Fits, Shortfall
from ibplan.plan.site_bill import cluster_cost
from ibplan.spec.models import Budget, Spec
from ibplan.workload.need import Verdict


@dataclass(frozen=True, slots=True)
class JobFits:
    """Whether the job fits the GPUs' memory, and keeps its limits on latency; None = no such limit, or not known."""

    memory: bool | None = None
    latency: bool | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A form's representative with the others of its form, whether it keeps the limits, and the Ethernet verdict.

    `last_usd`: purchase price of the last growth stage, USD; None = it does not grow, or parts lack prices then.
    """

    design: Evaluated
    others: tuple[Evaluated, ...]
    fits: Fits
    per_gpu_gbps: float
    verdict: Verdict | None
    last_usd: Decimal | None = None

    @property
    def ranking_usd(self) -> Decimal:
        """The price that ranks it: of all stages together, because what is bought for one serves the next."""
        return self.design.capital.usd if self.last_usd is None else self.last_usd

    @property
    def priced(self) -> bool:
        """Whether every part has a price."""
        return self.design.capital.complete

    @property
    def rails_apart(self) -> bool:
        """Whether its rails are fabrics of their own, joined only inside the servers."""
        return self.design.form.choices.rail_only

    @property
    def within_limits(self) -> bool:
        """Whether no limit is known to be broken."""
        fits = self.fits
        limits = (fits.network_budget, fits.cluster_budget, fits.power, fits.facility_power, fits.memory, fits.latency)
        return False not in limits

    def unknown_limits(self, spec: Spec) -> tuple[str, ...]:
        """Limits of the spec of which it cannot be known whether the design keeps them."""
        return tuple(name for name, limit, _ in _limits(spec.budget) if limit and getattr(self.fits, name) is None)

    @property
    def too_slow(self) -> bool:
        """Whether it is plain Ethernet that is not known to carry the job."""
        return self.verdict is not None and self.verdict.enough is not True


def judge(
    design: Evaluated,
    others: tuple[Evaluated, ...],
    spec: Spec,
    server: ServerModel,
    gpus: int,
    verdict: Verdict | None,
    job: JobFits,
    last_usd: Decimal | None = None,
) -> Judged:
    """Hold a design against the limits of the spec."""
    per_gpu = float(per_gpu_gbps(design.network, design.nic_gbps_per_gpu(gpus)))
    kept = replace(fits(design, spec, server), memory=job.memory, latency=job.latency)
    return Judged(design, others, kept, per_gpu, verdict, last_usd)


def fits(design: Evaluated, spec: Spec, server: ServerModel) -> Fits:
    """Each limit: kept, broken, or None where none was set or it cannot be known.

    The network's price is a lower bound while parts or required licences lack prices: a broken limit is certain, a
    kept one is not. A cluster's price holds servers and racks, too: it is one as long as any of them has no price.
    """
    budget, servers = spec.budget, design.network.request.servers
    cluster = cluster_cost(design, spec, server)
    server_w = None if server.power_w is None else server.power_w * servers
    known_w = known_power_w(design.items) + (server_w or 0.0)
    all_known = design.power_w is not None and server_w is not None
    return Fits(
        _within(design.capital.usd, budget.network, design.price_is_certain),
        _within(cluster.known_usd, budget.cluster, cluster.complete),
        _within(known_w, budget.power, all_known),
        _within(known_w * spec.site.pue, budget.facility_power, all_known),
        design.out_of_reach is None if design.form.later_servers else None,
    )


def _within(lower_bound: Decimal | float, limit: Decimal | float | None, exact: bool) -> bool | None:
    if limit is None:
        return None
    if lower_bound > limit:
        return False
    return True if exact else None


def in_order(judged: list[Judged], spec: Spec) -> list[Judged]:
    """Fully priced designs in rank order.

    Those that keep every limit come first, of them those that can grow to the last stage; plain Ethernet that does not
    carry the job comes last. Among the rest the one with more bandwidth per GPU comes first, then joined rails before
    separate ones, then the cheaper through all growth stages; where plain Ethernet carries the job, bandwidth beyond it
    is worth nothing, so only the price counts.
    """
    enough = any(j.priced and j.verdict is not None and j.verdict.enough for j in judged)

    def key(j: Judged) -> tuple[bool, bool, bool, float, bool, Decimal, str]:
        wanted = 0.0 if enough and not j.too_slow else -j.per_gpu_gbps
        stuck = j.fits.growth is False
        return (not j.within_limits, stuck, j.too_slow, wanted, j.rails_apart, j.ranking_usd, j.design.id)

    return sorted((j for j in judged if j.priced), key=key)


def recommended(ranked: list[Judged], spec: Spec) -> Judged | None:
    """The first that keeps every limit; plain Ethernet that does not carry the job only if nothing else is asked."""
    only_ethernet = tuple(spec.fabrics) == ("ethernet",)
    for j in ranked:
        if j.within_limits and (only_ethernet or not j.too_slow):
            return j
    return None


def shortfalls(judged: list[Judged], spec: Spec, server: ServerModel) -> tuple[Shortfall, ...]:
    """For every limit that all fully priced designs break: what was asked and the best there is.

    Where each limit is kept by some design but no design keeps them all, every broken limit is listed.
    """
    able = [j for j in judged if not j.too_slow] or judged
    pool = [j for j in able if j.priced] or able
    common = _broken(pool, spec, server, everywhere=True)
    return common or _broken(pool, spec, server, everywhere=False)


def _broken(pool: list[Judged], spec: Spec, server: ServerModel, *, everywhere: bool) -> tuple[Shortfall, ...]:
    found = []
    for name, limit, low in _limits(spec.budget):
        broken = [getattr(j.fits, name) is False for j in pool]
        if limit is None or not (all(broken) if everywhere else any(broken)) or not broken:
            continue
        best = min(pool, key=lambda j: (_amount(j.design, low, spec, server), j.design.id))
        amount = _amount(best.design, low, spec, server)
        found.append(Shortfall(name, float(limit), float(amount), best.design.id))
    return tuple(found)


def _limits(budget: Budget) -> list[tuple[str, Decimal | float | None, str]]:
    return [
        ("network_budget", budget.network, "network"),
        ("cluster_budget", budget.cluster, "cluster"),
        ("power", budget.power, "power"),
        ("facility_power", budget.facility_power, "facility"),
    ]


def _amount(design: Evaluated, what: str, spec: Spec, server: ServerModel) -> Decimal | float:
    """The lower bound of a design against one kind of limit, USD or W."""
    servers = design.network.request.servers
    if what == "network":
        return design.capital.usd
    if what == "cluster":
        return cluster_cost(design, spec, server).known_usd
    watts = known_power_w(design.items) + (server.power_w or 0.0) * servers
    return watts * spec.site.pue if what == "facility" else watts
