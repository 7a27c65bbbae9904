"""Whether latency, bandwidth or congestion decides how long a collective, or a job's communication, takes.

The time splits into three parts that add up to it: latency = the time of an empty message by the algorithm that an
uncongested network would use; congestion = what spines take that carry less than the NICs (`spine_share` below 1);
bandwidth = the rest, the bytes at the links' rate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ibplan.performance.collective_group import group_of
from ibplan.performance.collectives import Collective, fastest, fastest_s, times
from ibplan.performance.interconnect import Interconnect

Part = Literal["latency", "bandwidth", "congestion"]


@dataclass(frozen=True, slots=True)
class Call:
    """A collective as a job makes it: `count` times S = `size_bytes` over a group (docs/collectives.md)."""

    collective: Collective
    size_bytes: float
    gpus: int
    gpus_in_domain: int
    count: float = 1.0
    span_gpus: int | None = None


@dataclass(frozen=True, slots=True)
class TimeParts:
    """Seconds by what they are spent on; NaN where the domain's rate is not known."""

    latency_s: float
    bandwidth_s: float
    congestion_s: float

    @property
    def total_s(self) -> float:
        """All three."""
        return self.latency_s + self.bandwidth_s + self.congestion_s

    def share(self, part: Part) -> float | None:
        """A part of the total, 0 to 1; None where nothing is sent or nothing is known."""
        seconds: float = getattr(self, f"{part}_s")
        return seconds / self.total_s if self.total_s > 0 else None

    @property
    def decides(self) -> Part | None:
        """The largest part; None where nothing is sent or nothing is known."""
        if not self.total_s > 0:
            return None
        by_part: dict[Part, float] = {
            "latency": self.latency_s,
            "bandwidth": self.bandwidth_s,
            "congestion": self.congestion_s,
        }
        return max(by_part, key=lambda part: by_part[part])


def time_parts(calls: Iterable[Call], net: Interconnect) -> TimeParts:
    """The parts of the time of all calls, one after the other."""
    parts = [_parts(call, net) for call in calls]
    return TimeParts(
        sum(p.latency_s for p in parts), sum(p.bandwidth_s for p in parts), sum(p.congestion_s for p in parts)
    )


def _parts(call: Call, net: Interconnect) -> TimeParts:
    if call.gpus == 1:
        return TimeParts(0.0, 0.0, 0.0)
    free_net = replace(net, spine_share=1.0)
    free_s, name = _fastest(call, free_net)
    if np.isnan(free_s):
        return TimeParts(np.nan, np.nan, np.nan)
    total_s, _ = _fastest(call, net)
    empty = group_of(0.0, call.gpus, call.gpus_in_domain, free_net, call.span_gpus)
    latency_s = float(times(call.collective, empty)[name])
    return TimeParts(call.count * latency_s, call.count * (free_s - latency_s), call.count * max(total_s - free_s, 0.0))


def _fastest(call: Call, net: Interconnect) -> tuple[float, str]:
    group = group_of(call.size_bytes, call.gpus, call.gpus_in_domain, net, call.span_gpus)
    found = times(call.collective, group)
    return float(fastest_s(group, found)), str(fastest(group, found))


def half_speed_bytes(call: Call, net: Interconnect) -> float | None:
    """The message size at which half the time is latency, by the algorithm of the call's own size, without congestion.

    Smaller messages of the same algorithm gain from fewer hops, larger ones from faster links. None where not known.
    """
    parts = _parts(replace(call, count=1.0), replace(net, spine_share=1.0))
    if not parts.bandwidth_s > 0:
        return None
    return call.size_bytes * parts.latency_s / parts.bandwidth_s


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule of the field held against the job: whether it is true here (None = cannot be known), and the numbers."""

    rule: str
    holds: bool | None
    numbers: str


def field_rules(task: Literal["training", "inference"], calls: Iterable[Call], net: Interconnect) -> list[RuleCheck]:
    """What the field says of a job's communication, held against its own numbers."""
    calls = list(calls)
    checks = [_decided_by(task, time_parts(calls, net))]
    neighbours = [c for c in calls if c.collective != "all_to_all"]
    exchanges = [c for c in calls if c.collective == "all_to_all"]
    if neighbours:
        checks.append(_uncongested("Rings, trees and neighbours do not feel oversubscribed spines", neighbours, net))
    if exchanges:
        checks.append(_uncongested("All-to-all does not feel the spines", exchanges, net))
    return checks


def _decided_by(task: Literal["training", "inference"], parts: TimeParts) -> RuleCheck:
    rules: dict[str, tuple[str, Part]] = {
        "training": ("Training sends large messages, so bandwidth decides", "bandwidth"),
        "inference": ("Decoding sends small messages, so latency decides", "latency"),
    }
    rule, expected = rules[task]
    holds = None if parts.decides is None else parts.decides == expected
    return RuleCheck(rule, holds, _numbers(parts))


def _uncongested(rule: str, calls: list[Call], net: Interconnect) -> RuleCheck:
    """True if congestion takes at most one part in twenty: less than the models' own error at large messages."""
    parts = time_parts(calls, net)
    share = parts.share("congestion")
    return RuleCheck(rule, None if share is None else share <= 0.05, _numbers(parts))


def _numbers(parts: TimeParts) -> str:
    if np.isnan(parts.total_s):
        return "not known: the rate of the links inside the domain is not known"
    if not parts.total_s > 0:
        return "nothing is sent"
    shares = {part: parts.share(part) or 0.0 for part in ("latency", "bandwidth", "congestion")}
    listed = ", ".join(f"{part} {share:.0%}" for part, share in shares.items())
    return f"{listed} of {parts.total_s:.3g} s"
