"""Real plans to render: the example specs, planned once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ibplan.catalog.store import Catalog, load_catalog
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.results import Plan
from ibplan.report.data import plan_data
from ibplan.spec.load import LoadedSpec, load_spec

SPECS = Path(__file__).parents[2] / "specs"
POD = "h100-pod-127"
BOTH = "three-lines"
UNPRICED = "gb300-nvl72"
ETHERNET = "small-team"
THREE_TIERS = "three-tiers-16384"
ATTACHED = "storage-attached"
COSTS = "full-cost"
CONVERGED = "converged-pair-16"
ALL = (POD, BOTH, UNPRICED, ETHERNET, THREE_TIERS, ATTACHED, COSTS, "budget-forces-2to1", "rail-only-512")

# Only the compute network: the power of other networks' optics is not always known, and so that of the whole.
COMPUTE_ONLY = ("storage=none", "management.inband=false", "management.oob=false")


@cache
def catalog() -> Catalog:
    return load_catalog()


@cache
def spec(name: str, *settings: str) -> LoadedSpec:
    return load_spec(SPECS / f"{name}.yaml", settings)


@cache
def evaluated(name: str, *settings: str) -> tuple[Plan, dict[str, Evaluated]]:
    return make_evaluated_plan(spec(name, *settings), catalog())


def plan(name: str, *settings: str) -> Plan:
    return evaluated(name, *settings)[0]


@cache
def data(name: str, *settings: str) -> dict[str, Any]:
    return plan_data(plan(name, *settings))


def compute_only(name: str) -> dict[str, Any]:
    """The plan of an example spec without other networks than that of the GPUs."""
    return data(name, *COMPUTE_ONLY)


def over_budget() -> Plan:
    return plan(BOTH, "budget=$1M")


def unbuildable() -> Plan:
    return plan(BOTH, "network.tiers=1")


def hostile(text: str) -> Plan:
    """A plan whose names come from someone who means harm."""
    good = plan(BOTH)
    designs = tuple(
        replace(
            design,
            line_items=tuple(
                replace(item, description=text, part_number=text, manufacturer=text) for item in design.line_items
            ),
        )
        for design in good.designs
    )
    findings = tuple(replace(found, message=text) for found in good.findings)
    return replace(good, name=text, designs=designs, findings=findings)
