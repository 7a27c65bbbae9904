"""simulate_design: from a loaded spec to what traffic gets from the compute network of one design."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ibplan.catalog.store import Catalog
from ibplan.errors import UsageError
from ibplan.performance.failure_words import resolve_failures
from ibplan.performance.flows import CrossRail
from ibplan.performance.load_balancing import DefaultScheme
from ibplan.performance.simulate import Experiment, simulate
from ibplan.performance.simulation_rows import Row
from ibplan.performance.spreading import TooManyPathsError
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.hosts import ServerModel, resolve_server, server_count
from ibplan.plan.interconnect import scheme_of
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.simulation_options import (
    SimulationOptions,
    check_options,
    check_size,
    job_mix,
    searched_mapping,
    stated_mapping,
)
from ibplan.plan.wired import WiredDesign, chosen_design, wire_chosen
from ibplan.spec.load import LoadedSpec

DEFAULT_FAN_IN = 8


@dataclass(frozen=True, slots=True)
class SimulatedDesign:
    """What traffic gets from a design. `scheme`: how the fabric balances load if nobody asks otherwise, and why.

    `domain_gpus`: GPUs that NVLink joins, or of a server. `nic_gbps_per_gpu` is what the shares in `rows` are of.
    `mapping_searched`: the mapping is the plan's, not the spec's. `routing_asked`, `flows_asked`, `cross_rail_asked`:
    whether the command line said so.
    """

    wired: WiredDesign
    gpus: int
    domain_gpus: int
    nic_gbps_per_gpu: float
    experiment: Experiment
    scheme: DefaultScheme
    mapping_searched: bool
    routing_asked: bool
    flows_asked: bool
    cross_rail_asked: bool
    failures: tuple[str, ...]
    rows: tuple[Row, ...]


def simulate_design(
    loaded: LoadedSpec, catalog: Catalog, options: SimulationOptions, design_id: str | None = None
) -> SimulatedDesign:
    """Simulate traffic on the recommended design, or on any design or alternative by its id.

    Raises as `wire_design` does; UsageError for options that do not go together, for more failures than there is to
    fail, and for more flows than are simulated; InputError for a mapping or a job mix that does not fit the GPUs.
    """
    server = resolve_server(loaded, catalog)
    _, gpus = server_count(loaded, server)
    check_options(options, gpus)
    asked = Experiment(
        patterns=options.patterns,
        routings=options.routings,
        flows=options.flows or 1,
        seeds=options.seeds,
        placement=options.placement,
        fan_in=options.fan_in or DEFAULT_FAN_IN,
        group=options.group,
        jobs=job_mix(loaded, gpus) if options.jobs else (),
        mapping=stated_mapping(loaded, gpus) if "job" in options.patterns else None,
    )
    check_size(asked, gpus, 1)  # by the spec alone, before a plan is made
    plan, evaluated = make_evaluated_plan(loaded, catalog)
    name, design, recommended = chosen_design(plan, evaluated, design_id)
    scheme = scheme_of(design)
    searched = "job" in options.patterns and asked.mapping is None
    experiment = replace(
        asked,
        mapping=searched_mapping(loaded, plan, design.id) if searched else asked.mapping,
        routings=options.routings or (scheme.scheme,),
        flows=options.flows or scheme.flows,
        cross_rail=options.cross_rail or _cross_rail(design, server),
    )
    check_size(experiment, gpus, max(1, design.form.hosts.ports // server.gpus))
    wired = wire_chosen(loaded, name, design, recommended, doing="simulated")
    experiment = replace(experiment, failures=resolve_failures(wired.wiring, options.failures))
    return SimulatedDesign(
        wired,
        gpus,
        server.gpus * server.domain_servers,
        float(design.nic_gbps_per_gpu(gpus)),
        experiment,
        scheme,
        searched,
        bool(options.routings),
        options.flows is not None,
        options.cross_rail is not None,
        tuple(str(word) for word in options.failures),
        _rows(wired, server, experiment),
    )


def _cross_rail(design: Evaluated, server: ServerModel) -> CrossRail:
    """Over NVLink where the network does not join the rails and the server is known to have it."""
    known = server.entry.nvlink_domain_gpus if server.entry else server.inline and server.inline.nvlink_domain_gpus
    return "nvlink" if design.form.choices.rail_only and known else "network"


def _rows(wired: WiredDesign, server: ServerModel, experiment: Experiment) -> tuple[Row, ...]:
    try:
        return simulate(wired.wiring, server.gpus, server.gpus * server.domain_servers, experiment)
    except TooManyPathsError as error:
        raise UsageError(
            f"--fail: the failures leave {error.count:,} different paths between leaves or more, too many to share "
            "traffic out over; let fewer fail, take fewer GPUs, or --routing ecmp or static"
        ) from None
