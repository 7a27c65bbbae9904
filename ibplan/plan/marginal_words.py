"""Marginal values in sentences."""

from __future__ import annotations

from decimal import Decimal

from ibplan.plan.value_results import Benefit, MarginalValue
from ibplan.units import format_gbps, format_usd

_TIMES: dict[Benefit, str] = {"step_s": "step time", "tokens_per_s": "time a token"}


def words(record: MarginalValue, beyond: str | None) -> str:
    """One sentence. `beyond`: the next costlier design that is the best choice at some price."""
    gained = _bandwidth(record) if record.axis == "per_gpu_gbps" else _time(record)
    worth = f"{beyond} gives more for each dollar" if record.verdict == "outdone" else _worth(record)
    return f"{record.design} {_costs(record)} {gained}{f': {worth}' if worth else ''}."


def _costs(record: MarginalValue) -> str:
    """`costs $1,000 more to buy than X`; `costs $1,000 more than X in 4 years (purchase, energy)`."""
    alone = record.costs == ("purchase",)
    if record.extra_usd == 0:
        return f"costs as much as {record.against}"
    amount = format_usd(record.extra_usd)
    if alone:
        return f"costs {amount} more to buy than {record.against}"
    return f"costs {amount} more than {record.against} in {record.years} years ({', '.join(record.costs)})"


def _time(record: MarginalValue) -> str:
    time, saved = _TIMES[record.axis], record.saved_fraction or 0.0
    if record.verdict == "no gain":
        return f"and saves no {time}"
    if record.verdict == "loss":
        return f"and takes {_percent(-saved)} more {time}"
    hours = f"{record.saved_gpu_hours:,.0f} GPU-hours in {record.years} years"
    return f"and saves {_percent(saved)} of the {time}, {hours}"


def _bandwidth(record: MarginalValue) -> str:
    if record.verdict == "no gain":
        return "for the same bandwidth per GPU"
    return f"for {format_gbps(record.value)} per GPU instead of {format_gbps(record.against_value)}"


def _worth(record: MarginalValue) -> str:
    if record.break_even_usd is not None:
        return f"not worth it below {_small(record.break_even_usd)} per GPU-hour"
    if record.usd_per_gbps is not None:
        return f"{_small(record.usd_per_gbps)} for each Gb/s of a GPU"
    return ""


def _small(usd: Decimal) -> str:
    return "$0.01" if usd < Decimal("0.01") else format_usd(usd)


def _percent(share: float) -> str:
    """`0.4%`, `12%`: two significant digits; a smaller share than one in ten thousand is only said to be so."""
    if share < 0.0001:
        return "under 0.01%"
    return f"{share * 100:.2g}%" if share < 0.1 else f"{share * 100:,.0f}%"
