"""The rows of a simulation: what several runs gave for one pattern under one routing scheme."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean

from ibplan.performance.estimates import Estimate, estimate
from ibplan.performance.patterns import Pattern
from ibplan.performance.rates import Routing


@dataclass(frozen=True, slots=True)
class Row:
    """One pattern (an axis of the job, or one kind of jobs) under one routing scheme. Counts are means over the runs.

    `pairs` send to another GPU; `nvlink_pairs` of them within an NVLink domain, not over the network;
    `unreachable_pairs` have no path. `cross_leaf_fraction`, `cross_pod_fraction`: of the flows over the network.
    `mean`: what a GPU sends over its NIC bandwidth; `worst`: that of a GPU all of whose pairs were as slow as the
    slowest, which is what a collective sees that waits for it. Of pairs with a path; None = there is none.
    """

    pattern: Pattern
    axis: str | None
    job_gpus: int | None
    job_count: int | None
    routing: Routing
    flows: int
    pairs: float
    nvlink_pairs: float
    unreachable_pairs: float
    cross_leaf_fraction: float | None
    cross_pod_fraction: float | None
    mean: Estimate | None
    worst: Estimate | None


@dataclass(frozen=True, slots=True)
class Label:
    """What a row is about, apart from routing."""

    pattern: Pattern
    axis: str | None = None
    job_gpus: int | None = None
    job_count: int | None = None


@dataclass(slots=True)
class Runs:
    """What the runs of one row gave."""

    pairs: list[int] = field(default_factory=list)
    nvlink: list[int] = field(default_factory=list)
    unreachable: list[int] = field(default_factory=list)
    cross_leaf: list[float] = field(default_factory=list)
    cross_pod: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    worst: list[float] = field(default_factory=list)

    def row(self, label: Label, routing: Routing, flows: int) -> Row:
        """The row of all runs."""
        return Row(
            label.pattern,
            label.axis,
            label.job_gpus,
            label.job_count,
            routing,
            flows,
            fmean(self.pairs),
            fmean(self.nvlink),
            fmean(self.unreachable),
            fmean(self.cross_leaf) if self.cross_leaf else None,
            fmean(self.cross_pod) if self.cross_pod else None,
            estimate(self.mean) if self.mean else None,
            estimate(self.worst) if self.worst else None,
        )
