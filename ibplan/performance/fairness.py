"""Max-min fair rates by progressive filling, vectorised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

# Shares that differ by less are equal: what is left of a resource is a difference of sums of rounded numbers.
_EQUAL: Final = 1e-9
# A round that stops a smaller part of what is left is not worth its pass over everything.
_WORTH_A_ROUND: Final = 0.03


@dataclass(frozen=True, slots=True)
class Uses:
    """Which flow uses which resource, shape (uses,), sorted by flow.

    `weight`: resource taken for each unit of the flow's rate (a flow that is spread over two links has 0.5 at each);
    None = 1 everywhere.
    """

    flow: Indices
    resource: Indices
    weight: Floats | None = None

    def part(self, at: Bools) -> Uses:
        """Some of the uses."""
        return Uses(self.flow[at], self.resource[at], None if self.weight is None else self.weight[at])

    def of_flows(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Where the uses of every flow start, and how many there are."""
        starts = np.flatnonzero(np.diff(self.flow, prepend=-1))
        return starts, np.diff(starts, append=len(self.flow))


def max_min_rates(uses: Uses, capacity: Floats, flow_count: int) -> Floats:
    """The max-min fair rate of every flow, in the unit of `capacity`; infinite for a flow that uses no resource.

    Progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2): all rates rise together, and those on a
    full resource stop. What is left of a resource over what is left to share it never falls while others stop at less.
    So every resource that is the tightest of all its flows is a bottleneck, and all such are filled in one round: there
    are as many rounds as bottlenecks wait for each other. Where nearly all wait, they are filled one by one instead.
    """
    rates, left = np.full(flow_count, np.inf), capacity.astype(np.float64)
    while len(uses.flow):
        share = _shares(uses, left)[uses.resource]
        starts, sizes = uses.of_flows()
        least = np.minimum.reduceat(share, starts)
        of_use = np.repeat(least, sizes)
        tight = share <= of_use * (1 + _EQUAL)
        loose = np.bincount(uses.resource[~tight], minlength=len(left))
        stops = np.logical_or.reduceat(tight & (loose[uses.resource] == 0), starts)
        rates[uses.flow[starts[stops]]] = least[stops]
        stopped = np.repeat(stops, sizes)
        taken = of_use[stopped] if uses.weight is None else of_use[stopped] * uses.weight[stopped]
        left = np.maximum(left - np.bincount(uses.resource[stopped], taken, len(left)), 0.0)
        worth = np.count_nonzero(stopped) >= _WORTH_A_ROUND * len(stopped)
        uses = uses.part(~stopped)
        if not worth and len(uses.flow):
            _fill_one_by_one(uses, left, rates)
            break
    return rates


def _shares(uses: Uses, left: Floats) -> Floats:
    """What each resource still gives to each unit of weight on it; infinite where there is none."""
    counts = np.bincount(uses.resource, minlength=len(left))
    wanted = counts if uses.weight is None else np.bincount(uses.resource, uses.weight, len(left))
    share = np.full(len(left), np.inf)
    np.divide(left, wanted, out=share, where=counts > 0)
    return share


def _fill_one_by_one(uses: Uses, left: Floats, rates: Floats) -> None:
    """Fill the tightest resource, then the next, and write the rates of the flows that stop."""
    known, resource = np.unique(uses.resource, return_inverse=True)
    left = left[known]
    weight = np.ones(len(resource)) if uses.weight is None else uses.weight
    counts, wanted = np.bincount(resource), np.bincount(resource, weight)
    starts, sizes = uses.of_flows()
    row = np.repeat(np.arange(len(starts)), sizes)
    by_resource = row[np.argsort(resource, kind="stable")]
    first = np.concatenate([[0], np.cumsum(counts)])
    running = np.ones(len(starts), bool)
    share = left / wanted
    while np.isfinite(rate := share[tightest := int(share.argmin())]):
        stopping = np.unique(by_resource[first[tightest] : first[tightest + 1]])
        stopping = stopping[running[stopping]]
        running[stopping] = False
        rates[uses.flow[starts[stopping]]] = rate
        each = sizes[stopping]
        at = np.repeat(starts[stopping] - np.cumsum(each) + each, each) + np.arange(each.sum())
        touched = resource[at]
        np.subtract.at(left, touched, rate * weight[at])
        np.subtract.at(wanted, touched, weight[at])
        np.subtract.at(counts, touched, 1)
        share[touched] = np.where(
            counts[touched] > 0, np.maximum(left[touched], 0.0) / np.maximum(wanted[touched], 1e-300), np.inf
        )
