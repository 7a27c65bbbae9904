"""Machines for the tests of training."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ibplan.performance.efficiency import Efficiency
from ibplan.performance.interconnect import Interconnect
from ibplan.performance.machine import Machine

NET = Interconnect(
    domain_gpus=8,
    domain_gbytes_per_s=450,
    domain_generation="nvlink4",
    nic_gbytes_per_s=50,
    link_layer="infiniband",
    latency_us=3.7,
    cross_rail=True,
    rail_optimized=True,
    in_network_reduction=False,
    spine_share=1.0,
    leaf_gpus=256,
)


def machine(gpus: int, *, net: Interconnect = NET, **changed: Any) -> Machine:
    """`gpus` H100 in servers of 8, efficiencies 0.6 and 0.85."""
    efficiency = Efficiency(0.6, 0.85, "", None)
    h100 = Machine("nvidia-h100-sxm", gpus, 8, 989, 989, 80, 3350, net, efficiency, efficiency)
    return replace(h100, **changed)
