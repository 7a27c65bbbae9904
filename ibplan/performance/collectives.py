"""Seconds of a collective over a group of GPUs, vectorised.

Every function takes `size_bytes` (S, defined with each function), `gpus` (n, the group's size) and `gpus_in_domain` (g,
its members in one NVLink domain; n must be a multiple of g), which broadcast against each other, and the
`Interconnect`. It returns an array of seconds of the broadcast shape; NaN where the machine's links are not known.
`span_gpus`: GPUs of the machine from the group's first member to the end of its last (default: the densest, whole
domains side by side); it decides what crosses spines.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.performance.interconnect import Interconnect

FloatArray = NDArray[np.float64]
_FILE = Path(__file__).parent / "data" / "collectives.yaml"


class Constants(BaseModel):
    """Constants of the models."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    rdma_efficiency: float = Field(gt=0, le=1)
    tcp_efficiency: float = Field(gt=0, le=1)


@lru_cache(maxsize=1)
def constants() -> Constants:
    """The packaged constants."""
    return validate(Constants, read_document(_FILE))


def all_reduce_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """All-reduce; S = bytes of the buffer that every GPU holds before and after."""
    return 2 * all_gather_s(size_bytes, gpus, gpus_in_domain, net, span_gpus=span_gpus)


def all_gather_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """All-gather; S = bytes of the whole result on one GPU (each GPU brings S / n)."""
    size, n, g = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (size_bytes, gpus, gpus_in_domain)))
    rate = _ring_bytes_per_s(n, g, net)
    latency = (n - 1) * _step_s(n, g, net)
    return np.where(n > 1, latency + (n - 1) / n * size / rate, 0.0)


def reduce_scatter_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """Reduce-scatter; S = bytes of the whole buffer that every GPU brings (each keeps S / n)."""
    return all_gather_s(size_bytes, gpus, gpus_in_domain, net, span_gpus=span_gpus)


def all_to_all_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """All-to-all; S = bytes that one GPU sends in all, its own share (1 / n) included."""
    size, n, g = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (size_bytes, gpus, gpus_in_domain)))
    inside = size * (g - 1) / n / _domain_bytes_per_s(net)
    outside = size * (n - g) / n / _nic_bytes_per_s(net)
    return np.where(n > 1, _step_s(n, g, net) + np.fmax(np.where(g > 1, inside, 0.0), outside), 0.0)


def send_s(
    size_bytes: ArrayLike,
    gpus: ArrayLike,
    gpus_in_domain: ArrayLike,
    net: Interconnect,
    *,
    span_gpus: ArrayLike | None = None,
) -> FloatArray:
    """Every GPU of the group sends S bytes to the next one (pipeline neighbours), all at once."""
    size, n, g = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (size_bytes, gpus, gpus_in_domain)))
    rate = np.where(n > g, _nic_bytes_per_s(net), _domain_bytes_per_s(net))
    return np.where(n > 1, _step_s(n, g, net) + size / rate, 0.0)


def _domain_bytes_per_s(net: Interconnect) -> float:
    return np.nan if net.domain_gbytes_per_s is None else net.domain_gbytes_per_s * 0.82e9


def _nic_bytes_per_s(net: Interconnect) -> float:
    share = constants().tcp_efficiency if net.link_layer == "ethernet" else constants().rdma_efficiency
    return net.nic_gbytes_per_s * 1e9 * share


def _ring_bytes_per_s(n: FloatArray, g: FloatArray, net: Interconnect) -> FloatArray:
    across = np.where(n > g, _nic_bytes_per_s(net) * g, np.inf)
    return np.minimum(across, np.where(g > 1, _domain_bytes_per_s(net), np.inf))


def _step_s(n: FloatArray, g: FloatArray, net: Interconnect) -> FloatArray:
    return np.where(n > g, (net.latency_us or 20.0) * 1e-6, 3e-6)
