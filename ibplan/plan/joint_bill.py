"""A joint bill: the designs of one or several specs that are bought together, with what they cost in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ibplan.plan.results import Design, Plan, Unpriced


@dataclass(frozen=True, slots=True)
class Share:
    """One spec's share: its plan and the design of it that is bought. `name` is unique in the joint bill."""

    name: str
    plan: Plan
    design: Design


@dataclass(frozen=True, slots=True)
class JointTotals:
    """What a joint bill costs, USD. Fields mean what they mean in the totals of a design."""

    capex_usd: Decimal
    complete: bool
    estimated_fraction: float
    unpriced: tuple[Unpriced, ...]
    site_usd: Decimal | None
    site_complete: bool


@dataclass(frozen=True, slots=True)
class JointBill:
    """What is bought together."""

    shares: tuple[Share, ...]
    totals: JointTotals


def make_joint_bill(bought: Sequence[tuple[str, Plan, Design]]) -> JointBill:
    """The joint bill of (source, plan, design) of each spec.

    A share is named as its plan; where plans share a name, the source of the spec stands behind it.
    """
    names = [plan.name for _, plan, _ in bought]
    shares = tuple(
        Share(plan.name if names.count(plan.name) == 1 else f"{plan.name} ({source})", plan, design)
        for source, plan, design in bought
    )
    return JointBill(shares, _totals([share.design for share in shares]))


def _totals(designs: Sequence[Design]) -> JointTotals:
    if len(designs) == 1:  # as the design states them, without a detour over sums
        own = designs[0].totals
        return JointTotals(
            own.capex_usd, own.complete, own.estimated_fraction, own.unpriced, own.site_usd, own.site_complete
        )
    usd = sum((d.totals.capex_usd for d in designs), Decimal(0))
    estimated = sum(d.totals.estimated_fraction * float(d.totals.capex_usd) for d in designs)
    site = [d.totals.site_usd for d in designs if d.totals.site_usd is not None]
    unpriced: dict[str, int] = {}
    for row in (row for design in designs for row in design.totals.unpriced):
        unpriced[row.part] = unpriced.get(row.part, 0) + row.quantity
    return JointTotals(
        usd,
        all(d.totals.complete for d in designs),
        estimated / float(usd) if usd else 0.0,
        tuple(Unpriced(part, quantity) for part, quantity in unpriced.items()),
        sum(site, Decimal(0)) if site else None,
        all(d.totals.site_complete for d in designs),
    )
