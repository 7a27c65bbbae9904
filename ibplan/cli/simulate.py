"""`ibplan simulate`: what traffic gets from the compute network of one design."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ibplan.cli.common import (
    DesignOption,
    Format,
    FormatOption,
    LockOption,
    NoLockOption,
    OutputOption,
    OverlaysOption,
    PricesOption,
    SettingsOption,
    SpecArgument,
    WidthOption,
    ascii_only,
    page,
)
from ibplan.cli.output import emit
from ibplan.system import readable


class Pattern(StrEnum):
    """Who sends to whom."""

    PERMUTATION = "permutation"
    CROSS_LEAF = "cross-leaf"
    PAIRS = "pairs"
    RING = "ring"
    SHIFT = "shift"
    ALL_TO_ALL = "all-to-all"
    INCAST = "incast"
    JOB = "job"


class Routing(StrEnum):
    """How paths are chosen."""

    ADAPTIVE = "adaptive"
    STATIC = "static"
    ECMP = "ecmp"
    FLOWLET = "flowlet"
    SPRAY = "spray"


class Placement(StrEnum):
    """Where the ranks of a job stand."""

    CONTIGUOUS = "contiguous"
    RANDOM = "random"
    SPREAD = "spread"


class CrossRail(StrEnum):
    """How traffic gets from one rail to another."""

    NETWORK = "network"
    NVLINK = "nvlink"


PatternOption = Annotated[
    list[Pattern] | None,
    typer.Option(
        "--pattern",
        metavar="NAME",
        help="permutation (the default), cross-leaf, pairs, ring, shift, all-to-all, incast or job. May be given more "
        "than once.",
    ),
]
RoutingOption = Annotated[
    list[Routing] | None,
    typer.Option(
        "--routing",
        metavar="NAME",
        help="adaptive, static, ecmp, flowlet or spray; default: what the fabric does. May be given more than once.",
    ),
]
FlowsOption = Annotated[
    int | None,
    typer.Option("--flows", metavar="N", min=1, max=1024, help="Flows of a pair of ports that are hashed apart."),
]
SeedsOption = Annotated[
    int, typer.Option("--seeds", metavar="N", min=1, max=10_000, help="Runs, with seeds from 0 on.")
]
FailOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        metavar="WHAT",
        parser=readable,
        help="What has failed: leaf=1,link=3 at random (leaf, spine, core, link, nic), or by name: spine-002, "
        "leaf-001:spine-002. May be given more than once.",
    ),
]
PlacementOption = Annotated[
    Placement, typer.Option("--placement", metavar="NAME", help="contiguous, random or spread: where ranks stand.")
]
CrossRailOption = Annotated[
    CrossRail | None,
    typer.Option(
        "--cross-rail",
        metavar="NAME",
        help="network or nvlink: how traffic gets to another rail; default: the network where it joins the rails.",
    ),
]
GroupOption = Annotated[
    int | None,
    typer.Option("--group", metavar="N", min=2, help="GPUs that talk among themselves; default: all of them."),
]
FanInOption = Annotated[
    int | None, typer.Option("--fan-in", metavar="N", min=1, help="GPUs that send to one in an incast; default: 8.")
]
JobsOption = Annotated[bool, typer.Option("--jobs", help="Run the pattern in each job of the spec's workload.jobs.")]


def simulate(
    spec: SpecArgument,
    patterns: PatternOption = None,
    routings: RoutingOption = None,
    flows: FlowsOption = None,
    seeds: SeedsOption = 10,
    fail: FailOption = None,
    placement: PlacementOption = Placement.CONTIGUOUS,
    cross_rail: CrossRailOption = None,
    group: GroupOption = None,
    fan_in: FanInOption = None,
    jobs: JobsOption = False,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
    width: WidthOption = None,
) -> None:
    """Simulate traffic on a design: mean and slowest flow by pattern and routing, with failures."""
    from ibplan.cli.planning import load_inputs
    from ibplan.performance.failure_words import parse_failures
    from ibplan.plan.simulated import simulate_design
    from ibplan.plan.simulation_options import SimulationOptions
    from ibplan.report.data import to_json, to_yaml
    from ibplan.report.simulation import simulation_markdown, simulation_text
    from ibplan.report.simulation_data import simulation_csv, simulation_data

    options = SimulationOptions(
        tuple(dict.fromkeys(p.value for p in patterns or (Pattern.PERMUTATION,))),
        tuple(dict.fromkeys(r.value for r in routings or ())),
        flows,
        seeds,
        placement.value,
        None if cross_rail is None else cross_rail.value,
        fan_in,
        group,
        jobs,
        parse_failures(tuple(fail or ())),
    )
    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, lock, no_lock)
    done = simulate_design(loaded, catalog, options, design_id)
    if form is Format.CSV:
        text = simulation_csv(done)
    elif form is Format.MARKDOWN:
        text = simulation_markdown(done)
    elif form is Format.TABLE:
        shown, color = page(output, width)
        text = simulation_text(done, width=shown, color=color, ascii_only=ascii_only(output))
    else:
        data = simulation_data(done)
        text = to_json(data) if form is Format.JSON else to_yaml(data)
    emit(text, output)
