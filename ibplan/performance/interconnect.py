"""What joins the GPUs of a machine, as far as a collective can tell: the domain, the NICs, the fabric between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LinkGeneration = Literal["nvlink2", "nvlink3", "nvlink4", "nvlink5", "pcie4", "pcie5", "pcie6"]
FabricKind = Literal["infiniband", "roce", "ethernet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interconnect:
    """The links that a GPU sends over; every rate is one direction, per GPU, before any loss in protocols.

    `domain_gpus` GPUs are joined inside a server or rack at `domain_gbytes_per_s` (the links' nominal rate; None =
    unknown, and every time that rests on it is then NaN) by links of `domain_generation` (None = another kind or
    unknown: the efficiencies are then those of the nearest known generation, and results are called transferred).
    `nic_gbytes_per_s` is the wire rate of all compute NIC ports of one GPU, `latency_us` one way over the farthest
    path of the network (None = not measured for this fabric: the constants of the link layer stand in).
    `leaf_gpus` GPUs reach each other without crossing a spine (on rails: those of a unit), and a GPU keeps the share
    `spine_share` of its NIC rate for traffic of all GPUs at once across spines: oversubscription x load balancing.
    `rail_optimized`: NICs of one server hang on different leaves. `cross_rail` False: rails are joined only inside
    the domain. `in_network_reduction`: the switches of the network add up (SHARP). `wire_efficiency`: the share of the
    line rate that collectives get where it was measured on the machine; None = what the link layer usually gives.
    """

    domain_gpus: int
    domain_gbytes_per_s: float | None
    domain_generation: LinkGeneration | None
    nic_gbytes_per_s: float
    link_layer: FabricKind
    latency_us: float | None
    cross_rail: bool
    rail_optimized: bool
    in_network_reduction: bool
    spine_share: float
    leaf_gpus: int
    wire_efficiency: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be a machine; raises ValueError."""
        if self.domain_gpus < 1 or self.leaf_gpus < 1:
            raise ValueError("a domain and a leaf hold at least one GPU")
        if self.nic_gbytes_per_s <= 0 or not 0 < self.spine_share <= 1:
            raise ValueError("nic_gbytes_per_s is above 0, spine_share above 0 and at most 1")
        if self.domain_gbytes_per_s is not None and self.domain_gbytes_per_s <= 0:
            raise ValueError("domain_gbytes_per_s is above 0, or None where it is not known")
        if self.wire_efficiency is not None and not 0 < self.wire_efficiency <= 1:
            raise ValueError("wire_efficiency is above 0 and at most 1, or None for what is usual")
