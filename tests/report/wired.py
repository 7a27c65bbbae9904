"""Designs with their links: the example specs, wired once."""

from __future__ import annotations

from functools import cache

from ibplan.fabric.topology import topology
from ibplan.fabric.topology_model import Topology
from ibplan.plan.wired import WiredDesign, chosen_design, wire_chosen
from tests.report import samples

NAMES = sorted(path.stem for path in samples.SPECS.glob("*.yaml"))
UNPRICED = "infiniband-nvidia-q3400-ra-2t-1to1"
INLINE_ID = "roce-inline-128x400g-1t-1to1"
RAIL_ONLY = "infiniband-nvidia-qm9700-1t-1to1-railonly"


@cache
def wired(name: str, design: str | None = None, settings: tuple[str, ...] = ()) -> WiredDesign:
    return wire_chosen(samples.spec(name, *settings), *chosen_design(*samples.evaluated(name, *settings), design))


@cache
def described(name: str, design: str | None = None, settings: tuple[str, ...] = ()) -> Topology:
    return topology(wired(name, design, settings).wiring)


# An example spec, a design or None, and settings: the examples, and forms that none of them recommends.
Case = tuple[str, str | None, tuple[str, ...]]
_QM9700 = ("network.switch=nvidia-qm9700", "fabrics=infiniband")
RAIL_PODS: Case = ("three-tiers-16384", None, ("gpus=4096", "network.tiers=3", "network.second_tier=rail", *_QM9700))
ODD: Case = ("three-tiers-16384", None, ("gpus=5000", "network.tiers=3", *_QM9700))
TWO_LEAVES: Case = (
    "one-switch",
    None,
    ("servers=4", "network.single_tier=two_leaves", "network.switch=nvidia-sn5610"),
)
KEPT: Case = (
    "h100-pod-127",
    None,
    ("servers=100", "network.reserved_ports={total: 4, per_leaf: 2, per_spine: 1}"),
)
INLINE: Case = ("one-switch", INLINE_ID, ("network.switch={ports: 128, port_gbps: 400}",))
CASES: tuple[Case, ...] = (
    *((name, None, ()) for name in NAMES),
    ("rail-only-512", RAIL_ONLY, ()),
    ("gb300-nvl72", UNPRICED, ()),
    RAIL_PODS,
    ODD,
    TWO_LEAVES,
    KEPT,
    INLINE,
)


def case_id(case: Case) -> str:
    """A name for a case in the list of tests."""
    return "-".join([case[0], *([case[1]] if case[1] else []), *case[2]])[:60]
