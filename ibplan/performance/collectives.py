"""Seconds of a collective over a group of GPUs, vectorised, and which algorithm gives them.

Every function takes `size_bytes` (S, defined with each function), `gpus` (n, the group's size) and `gpus_in_domain` (g,
its members in one NVLink domain), which broadcast against each other, and the `Interconnect`. `span_gpus`: GPUs of the
machine from the group's first member to the end of its last (default: whole domains side by side); it decides what
crosses spines. Times are those of calls that wait in a queue on the GPU, back to back: no host overhead.

`..._s` return an array of seconds of the broadcast shape, 0 for one GPU, NaN where the domain's rate is not known and
more than one member is in it. `..._algorithm` return the name of the fastest algorithm, such as `ring/simple`; `none`
for one GPU and `unknown` beside NaN. Sizes that cannot be raise ValueError. `algorithms` limits the choice to those
named: families (`ring`) or members of one (`ring/simple`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibplan.performance.collective_algorithms import ALL_REDUCE, GATHER, Times
from ibplan.performance.collective_exchange import EXCHANGE, SEND
from ibplan.performance.collective_group import FloatArray, Group, group_of
from ibplan.performance.interconnect import Interconnect

Names = NDArray[np.str_]
Collective = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send"]

_FAMILIES: dict[Collective, dict[str, Callable[[Group], Times]]] = {
    "all_reduce": ALL_REDUCE,
    "all_gather": GATHER,
    "reduce_scatter": GATHER,
    "all_to_all": EXCHANGE,
    "send": SEND,
}
# What the communication library runs by itself; `hierarchical` is built by frameworks and must be asked for.
LIBRARY = ("ring", "tree", "nvls", "nvls_tree", "sharp")
ROW_BYTES = (2**20, 2**24, 2**28, 2**30, 2**33)


def all_reduce_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
    algorithms: tuple[str, ...] = LIBRARY,
) -> FloatArray:
    """All-reduce; S = bytes of the buffer that every GPU holds before and after."""
    group = group_of(size_bytes, gpus, gpus_in_domain, net, span_gpus)
    return fastest_s(group, times("all_reduce", group, algorithms))


def all_reduce_algorithm(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
    algorithms: tuple[str, ...] = LIBRARY,
) -> Names:
    """The algorithm of `all_reduce_s`."""
    group = group_of(size_bytes, gpus, gpus_in_domain, net, span_gpus)
    return fastest(group, times("all_reduce", group, algorithms))


def all_gather_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """All-gather; S = bytes of the whole result on one GPU (each GPU brings S / n)."""
    group = group_of(size_bytes, gpus, gpus_in_domain, net, span_gpus)
    return fastest_s(group, times("all_gather", group))


def reduce_scatter_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """Reduce-scatter; S = bytes of the whole buffer that every GPU brings (each keeps S / n)."""
    group = group_of(size_bytes, gpus, gpus_in_domain, net, span_gpus)
    return fastest_s(group, times("reduce_scatter", group))


def all_to_all_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """All-to-all; S = bytes that one GPU sends in all, its own share (1 / n) included."""
    group = group_of(size_bytes, gpus, gpus_in_domain, net, span_gpus)
    return fastest_s(group, times("all_to_all", group))


def all_to_all_algorithm(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> Names:
    """The algorithm of `all_to_all_s`: `flat` or `rail_aligned`."""
    group = group_of(size_bytes, gpus, gpus_in_domain, net, span_gpus)
    return fastest(group, times("all_to_all", group))


def send_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """Every GPU of the group sends S bytes to the next one (pipeline neighbours), all at once."""
    group = group_of(size_bytes, gpus, gpus_in_domain, net, span_gpus)
    return fastest_s(group, times("send", group))


def times(collective: Collective, group: Group, algorithms: tuple[str, ...] | None = None) -> Times:
    """Seconds of each algorithm by its name: inf where it cannot run, NaN where links are not known.

    `algorithms` None = all that the library has. Raises KeyError for a family that the collective does not have.
    """
    families = _FAMILIES[collective]
    asked = algorithms if algorithms is not None else LIBRARY if collective == "all_reduce" else tuple(families)
    found: Times = {}
    for family in dict.fromkeys(name.partition("/")[0] for name in asked):
        found |= {n: t for n, t in families[family](group).items() if family in asked or n in asked}
    return found


def fastest_s(group: Group, found: Times) -> FloatArray:
    """The least of the times; 0 for one GPU, NaN where none is known."""
    best = _known(found).min(axis=0)
    return np.where(group.n > 1, np.where(np.isinf(best), np.nan, best), 0.0)


def fastest(group: Group, found: Times) -> Names:
    """The algorithm with the least time; `none` for one GPU, `unknown` where no time is known."""
    known = _known(found)
    names = np.array([*found, "none", "unknown"])
    best = np.where(np.isinf(known.min(axis=0)), len(found) + 1, known.argmin(axis=0))
    return names[np.where(group.n > 1, best, len(found))]


def _known(found: Times) -> FloatArray:
    stacked = np.stack(list(found.values()))
    return np.where(np.isnan(stacked), np.inf, stacked)


def transferred(net: Interconnect) -> bool:
    """Whether times rest on the constants of another kind of link, or on a usual latency instead of a measured one."""
    return (net.domain_generation is None and net.domain_gpus > 1) or net.latency_us is None


@dataclass(frozen=True, slots=True)
class AllReduceRow:
    """All-reduce of `bytes` over all GPUs of a machine; None where the domain's rate is not known.

    `busbw_gbytes_per_s` = 2 (n-1)/n bytes / time, as nccl-tests defines it (its PERFORMANCE.md); None for one GPU.
    """

    bytes: int
    time_us: float | None
    busbw_gbytes_per_s: float | None
    algorithm: str
    transferred: bool


def allreduce_rows(gpus: int, net: Interconnect, sizes: tuple[int, ...] = ROW_BYTES) -> tuple[AllReduceRow, ...]:
    """All-reduce of standard sizes over all GPUs of a machine."""
    group = group_of(sizes, gpus, min(gpus, net.domain_gpus), net, None)
    found = times("all_reduce", group)
    rows = zip(sizes, fastest_s(group, found), fastest(group, found), strict=True)
    return tuple(_row(size, gpus, float(seconds), str(name), transferred(net)) for size, seconds, name in rows)


def _row(size: int, gpus: int, seconds: float, algorithm: str, is_transferred: bool) -> AllReduceRow:
    if np.isnan(seconds):
        return AllReduceRow(size, None, None, algorithm, is_transferred)
    busbw = 2 * (gpus - 1) / gpus * size / seconds / 1e9 if gpus > 1 else None
    return AllReduceRow(size, 1e6 * seconds, busbw, algorithm, is_transferred)
