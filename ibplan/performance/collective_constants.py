"""Constants of the collective models: NCCL's published ones, and those fitted on published measurements."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.performance.interconnect import Interconnect, LinkGeneration

_FILE = Path(__file__).parent / "data" / "collectives.yaml"

Protocol = Literal["ll", "ll128", "simple"]
Medium = Literal["nvlink", "pcie", "network"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Cited(_Model):
    """A number from a publication."""

    value: float
    source: str


class Fitted(_Model):
    """A number computed from measurements, named by the ids of their sets."""

    value: float
    fitted_on: tuple[str, ...] = Field(min_length=1)


class ByProtocol(_Model):
    """One number per NCCL protocol."""

    ll: float
    ll128: float
    simple: float


class Corrections(_Model):
    """Shares of a tree's bandwidth for messages of 64 B x 2^i, per protocol."""

    ll: tuple[float, ...]
    ll128: tuple[float, ...]
    simple: tuple[float, ...]


class ByMedium(_Model):
    """Microseconds of one step, by what it crosses and protocol."""

    nvlink: ByProtocol
    pcie: ByProtocol
    network: ByProtocol

    def of(self, medium: Medium) -> ByProtocol:
        """The steps over one medium."""
        steps: ByProtocol = getattr(self, medium)
        return steps


class Protocols(_Model):
    """NCCL's tuning constants: latencies in us, shares of a ring's bandwidth."""

    source: str
    ring_base_us: ByProtocol
    tree_base_us: ByProtocol
    ring_step_us: ByMedium
    tree_step_us: ByMedium
    network_crossings: ByProtocol
    network_overhead_us: ByProtocol
    ring_share: ByProtocol
    tree_share: ByProtocol
    tree_derate: float
    tree_correction: Corrections
    nvls_us: float
    nvls_network_us: float
    nvls_tree_step_us: float
    sharp_chain_step_us: float
    sharp_network_us: float
    pat_base_us: float
    pat_network_step_us: float
    pat_gpu_us: float
    pat_share: float
    message_us: float


class Wire(_Model):
    """Shares of a NIC's line rate that collectives reach."""

    rdma: Cited
    tcp: Cited
    rdma_all_to_all: Fitted


class NetworkLatency(_Model):
    """Microseconds one way, by link layer; and what NCCL's step latencies already hold."""

    infiniband: Cited
    roce: Cited
    ethernet: Cited
    assumed_by_nccl: Cited


class Nvls(_Model):
    """Reduction in the switches of the domain; used from `min_gpus` GPUs on."""

    efficiency: Fitted
    min_gpus: int


class Generation(_Model):
    """One kind of link between the GPUs of a domain.

    `ll_gbytes_per_s`: caps of LL rings over 1, 2, and more domains.
    """

    medium: Literal["nvlink", "pcie"]
    nominal_gbytes_per_s: float
    ring_efficiency: Fitted
    all_to_all_efficiency: Cited
    ll_gbytes_per_s: tuple[float, float, float]
    launch_us: Cited
    nvls: Nvls | None


class Constants(_Model):
    """All constants."""

    wire: Wire
    network_latency_us: NetworkLatency
    protocols: Protocols
    nvls_fill_bytes: Fitted
    nvls_fill_gbytes_per_s: Fitted
    nvls_network_share: Fitted
    nvls_measured_gpus: Cited
    hierarchical_chunk_bytes: Cited
    all_to_all_us: Fitted
    all_to_all_inside_us: Cited
    send_us: Cited
    generations: dict[LinkGeneration, Generation]


@lru_cache(maxsize=1)
def constants() -> Constants:
    """The packaged constants."""
    return validate(Constants, read_document(_FILE))


def generation(net: Interconnect, known: Constants) -> Generation:
    """The constants of the domain's links.

    Where the generation is not known they are those of the nearest nominal rate, without sums in the switches: a domain
    of another maker need not have them.
    """
    if net.domain_generation is not None:
        return known.generations[net.domain_generation]
    rate = net.domain_gbytes_per_s or 1.0
    nearest = min(known.generations.values(), key=lambda g: abs(math.log(rate / g.nominal_gbytes_per_s)))
    return nearest.model_copy(update={"nvls": None})
