"""Why a design is recommended, ranked where it is, or not ranked: short sentences that the table can check."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from ibplan.findings import plural
from ibplan.plan.judge import Judged
from ibplan.plan.site_bill import site_bill
from ibplan.spec.models import Spec
from ibplan.units import format_gbps, format_usd, format_watts


def reasons(judged: Judged, ranked: Sequence[Judged], best: Judged | None, pinned: bool, spec: Spec) -> list[str]:
    """The sentences for one design."""
    if not judged.priced:
        count = len(judged.design.capital.unpriced)
        return [f"Not ranked: {count} {'part has' if count == 1 else 'parts have'} no price.", *_broken(judged, spec)]
    if best is judged:
        return _recommended(judged, ranked, pinned, spec)
    sentences = _broken(judged, spec)
    if judged.verdict is not None:
        sentences.append(judged.verdict.reason)
    if best is not None:
        sentences.append(_beside(judged, best))
    return sentences


def _recommended(best: Judged, ranked: Sequence[Judged], pinned: bool, spec: Spec) -> list[str]:
    usd = best.design.capital.usd
    unknown = [name.replace("_", " ") for name in best.unknown_limits(spec)]
    sentences = [_reason_of_choice(best, ranked, pinned, spec)]
    if unknown:
        sentences.append(f"Whether it keeps the limit on {' and '.join(unknown)} cannot be known.")
    others = [j for j in ranked if j is not best and j.within_limits]
    if others:
        other = others[0]
        sentences.append(f"The next, {other.design.id}, {_beside(other, best, subject='').strip()}")
    for j in ranked:
        if not j.within_limits and j.per_gpu_gbps > best.per_gpu_gbps:
            broken = " ".join(_broken(j, spec))
            sentences.append(f"{j.design.id} gives {format_gbps(j.per_gpu_gbps)} per GPU, but: {broken}")
            break
    sentences += _reservations(best)
    budget = spec.budget.network
    if budget is not None:
        sentences.append(f"It leaves {format_usd(budget - usd)} of the {format_usd(budget)} network budget.")
    if best.verdict is not None:
        sentences.append(best.verdict.reason)
    return sentences


def _reservations(best: Judged) -> list[str]:
    """What the choice rests on: pairs of parts that no maker states, and switches that could not be compared."""
    sentences = []
    if any(p.recipe is not None and p.recipe.basis == "inferred" for p in best.design.parts):
        sentences.append("It pairs modules that no maker is known to state together: ask before ordering.")
    unpriced = [o for o in best.others if not o.capital.complete]
    if unpriced:
        many = plural(len(unpriced), "other switch", "other switches")
        sentences.append(f"{many} of this form could not be compared, for want of prices.")
    return sentences


def _reason_of_choice(best: Judged, ranked: Sequence[Judged], pinned: bool, spec: Spec) -> str:
    usd = format_usd(best.design.capital.usd)
    if best.last_usd is not None:
        usd += f" today, {format_usd(best.last_usd)} through all growth stages,"
    cost = f"{usd} for {_bandwidth(best)} across the bisection"
    if pinned:
        return f"Pinned by the spec: {cost}."
    rivals = [j for j in ranked if j.within_limits and j is not best and not j.too_slow]
    if not rivals:
        return f"The only fully priced form{_keeping(best, spec, 's')}: {cost}."
    if any(j.verdict is not None and j.verdict.enough for j in [best, *rivals]):
        return f"The cheapest that carries the job: {cost}."
    if all(j.per_gpu_gbps < best.per_gpu_gbps for j in rivals):
        return f"The most bandwidth of the designs{_keeping(best, spec)}: {cost}."
    return f"The cheapest of the designs with the most bandwidth{_keeping(best, spec)}: {cost}."


def _keeping(best: Judged, spec: Spec, ending: str = "") -> str:
    """What the design was chosen among: nothing to say where the spec sets no limit."""
    budget = spec.budget
    if not any((budget.network, budget.cluster, budget.power, budget.facility_power)):
        return ""
    return f" that break{ending} no known limit" if best.unknown_limits(spec) else f" that keep{ending} every limit"


def _bandwidth(judged: Judged) -> str:
    """Bandwidth per GPU; separate rails are named, because nothing joins them."""
    within = " within a rail (rails are not joined)" if judged.rails_apart else ""
    return f"{format_gbps(judged.per_gpu_gbps)} per GPU{within}"


def _beside(judged: Judged, best: Judged, subject: str = "It") -> str:
    """How a design compares with the recommended one in money and bandwidth."""
    money = _money_beside(judged, best)
    if (judged.per_gpu_gbps, judged.rails_apart) == (best.per_gpu_gbps, best.rails_apart):
        bandwidth = "for the same bandwidth per GPU"
    else:
        bandwidth = f"for {_bandwidth(judged)} instead of {_bandwidth(best)}"
    return f"{subject} {money} {bandwidth}."


def _money_beside(judged: Judged, best: Judged) -> str:
    """`costs $1 (2%) more than X`: today; where both grow, through all stages, with the difference of today."""
    today = _difference(judged.design.capital.usd - best.design.capital.usd, best.design.capital.usd)
    if judged.last_usd is None or best.last_usd is None:
        return f"costs {today} {best.design.id}"
    last = _difference(judged.last_usd - best.last_usd, best.last_usd)
    now = today.removesuffix(" than").removesuffix(" as")
    return f"costs {last} {best.design.id} through all growth stages (today: {now})"


def _difference(usd: Decimal, base: Decimal) -> str:
    """`$1 (2%) more than`, `the same as`."""
    if usd == 0:
        return "the same as"
    part = abs(usd) / base if base else 0
    share = f" ({part:.0%})" if part >= Decimal("0.01") else (" (under 1%)" if base else "")
    return f"{format_usd(abs(usd))}{share} {'more' if usd > 0 else 'less'} than"


def _broken(judged: Judged, spec: Spec) -> list[str]:
    """The limits it breaks, with both numbers."""
    design, budget, sentences = judged.design, spec.budget, []
    lower = "" if judged.priced else "at least "
    if judged.fits.network_budget is False and budget.network is not None:
        over = design.capital.usd - budget.network
        sentences.append(
            f"It costs {lower}{format_usd(design.capital.usd)}: {format_usd(over)} over the network budget of "
            f"{format_usd(budget.network)}."
        )
    if judged.fits.cluster_budget is False and budget.cluster is not None:
        racks = " and racks" if site_bill(design.placed.floor, spec.site.rack).items else ""
        sentences.append(
            f"With its servers{racks} it costs more than the cluster budget of {format_usd(budget.cluster)}."
        )
    for name, limit in (("power", budget.power), ("facility_power", budget.facility_power)):
        if getattr(judged.fits, name) is False and limit is not None:
            words = "facility power" if name == "facility_power" else "power"
            sentences.append(f"With its servers it draws more than the {words} limit of {format_watts(limit)}.")
    return sentences
