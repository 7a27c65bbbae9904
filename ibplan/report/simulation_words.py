"""The words of a simulation: what was asked of the network, how traffic was routed, what is assumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ibplan.document import printable
from ibplan.findings import plural
from ibplan.performance.estimates import CONFIDENCE, Estimate
from ibplan.performance.failures import NamedFailure, RandomFailure
from ibplan.performance.rates import HASHED, Routing
from ibplan.performance.simulate import FLOWLET_EPOCHS, Experiment
from ibplan.performance.simulation_rows import Row
from ibplan.plan.simulated import SimulatedDesign
from ibplan.report.text import ABSENT, number, percent

_AXES: Final = {"tp": "tensor", "cp": "context", "ep": "expert", "dp": "data", "pp": "pipeline"}
_PLACEMENTS: Final = {
    "contiguous": "ranks stand in the order of the servers",
    "random": "servers (NVLink domains) in random order, drawn anew in every run",
    "spread": "servers (NVLink domains) are dealt out over the units one by one, so that neighbors never share a leaf",
}
_ETHERNET_ONLY: Final = ("ecmp", "flowlet", "spray")


def headline(done: SimulatedDesign) -> str:
    """The spec and the design."""
    chosen = " (recommended)" if done.wired.recommended else ""
    return f"{printable(done.wired.name)}: {printable(done.wired.id)}{chosen}"


def size(done: SimulatedDesign) -> str:
    """Size of the network in a line."""
    network, hosts = done.wired.wiring.network, done.wired.wiring.hosts
    fabric = "fabric" if hosts.planes == 1 else "plane"
    separate = f", {hosts.rails} separate rails" if hosts.rails > 1 else ""
    servers, tiers = plural(network.request.servers, "server"), plural(network.fabric.tiers, "tier")
    return (
        f"{plural(done.gpus, 'GPU')} in {servers}, {tiers}, {plural(hosts.planes, fabric)}{separate}; "
        f"NIC bandwidth of a GPU {number(done.nic_gbps_per_gpu)} Gb/s"
    )


def runs(done: SimulatedDesign) -> str:
    """Placement, runs and failures in a line."""
    experiment = done.experiment
    seeds = "seed 0" if experiment.seeds == 1 else f"seeds 0 to {experiment.seeds - 1}"
    failed = f"; failed: {', '.join(map(printable, done.failures))}" if done.failures else ""
    return f"Placement {experiment.placement}; {plural(experiment.seeds, 'run')} ({seeds}){failed}"


def traffic(row: Row) -> str:
    """What a row is about: `permutation`, `job: data (dp)`, `ring, 4 x 256 GPUs`."""
    if row.axis is not None:
        return f"{row.pattern}: {_AXES[row.axis]} ({row.axis})"
    if row.job_gpus is not None:
        return f"{row.pattern}, {row.job_count:,} x {row.job_gpus:,} GPUs"
    return row.pattern


def routing(row: Row) -> str:
    """The scheme, with the flows of a pair where they count."""
    return f"{row.routing}, {plural(row.flows, 'flow')}" if row.routing in HASHED else row.routing


def count(value: float) -> str:
    """A mean of counts: whole, or with one place."""
    return number(round(value, 1))


def share(value: float | None) -> str:
    """A share in percent."""
    return ABSENT if value is None else percent(value)


def interval(found: Estimate | None) -> str:
    """`84.5 ±0.2` percent; without the interval where there was one run, or where all runs agree."""
    if found is None:
        return ABSENT
    half = "" if not found.half_width or found.half_width < 5e-5 else f" ±{percent(max(found.half_width, 1e-3))}"
    return f"{percent(found.mean)}{half}"


def meanings(done: SimulatedDesign) -> Iterator[str]:
    """How to read the columns."""
    nic = number(done.nic_gbps_per_gpu)
    yield f"Mean: what a GPU that sends gets through, over its NIC bandwidth ({nic} Gb/s), one direction."
    yield (
        "Worst: the same if all its pairs were as slow as the slowest of all, which is what a collective sees that "
        "waits for it."
    )
    if done.experiment.seeds > 1:
        yield f"Both are means over the runs; ± is the half width of their {CONFIDENCE:.0%} interval."
    if any(row.nvlink_pairs for row in done.rows):
        inside = f"an NVLink domain of {done.domain_gpus}" if done.domain_gpus > 1 else "a server"
        yield f"NVLink: pairs inside {inside}; they send nothing over the network."
    if any(row.unreachable_pairs for row in done.rows):
        yield "No path: pairs that cannot reach each other. They are not in mean and worst: for them both are 0."


def assumptions(done: SimulatedDesign) -> Iterator[str]:
    """Everything that the figures rest on."""
    experiment = done.experiment
    yield from (f"{pattern}: {_pattern(pattern, done)}" for pattern in experiment.patterns)
    yield f"placement {experiment.placement}: {_PLACEMENTS[experiment.placement]}"
    if experiment.jobs:
        yield (
            "jobs: of each kind as many at once as its share of the GPUs gives, then one more of the kind furthest "
            "below its share while GPUs are free; a job larger than its share runs in a set of its own, the others "
            "beside it"
        )
    for scheme in experiment.routings:
        yield f"{scheme}: {_scheme(scheme, experiment)}{_why(scheme, done)}"
    yield from _rails(done)
    yield from _failures(experiment)
    if done.wired.wiring.hosts.planes > 1:
        yield "planes: a pair sends over all planes at once, each plane as fast as it can"
    yield (
        "flow level: links are shared max-min fairly; packets, queues, flow control and protocol overhead are not "
        "modelled, so what is measured is below these figures"
    )


def _pattern(pattern: str, done: SimulatedDesign) -> str:
    experiment = done.experiment
    within = f" in groups of {plural(experiment.group, 'GPU')} that follow each other" if experiment.group else ""
    if pattern == "job":
        mapping = experiment.mapping
        assert mapping is not None
        searched = " (the fastest that the plan found for this design)" if done.mapping_searched else ""
        return (
            f"tp {mapping.tp} x cp {mapping.cp} x dp {mapping.dp} x pp {mapping.pp}, ep {mapping.ep}, in this order of "
            f"ranks{searched}; tp, cp and dp (with cp) run rings, ep sends all to all, pp sends forward; one axis at a "
            "time"
        )
    words = {
        "permutation": "every GPU sends to one other and receives from one, at random",
        "cross-leaf": "every GPU sends to one behind another leaf and receives from one, at random",
        "pairs": "GPUs in random pairs that send to each other",
        "ring": "every GPU sends to the one at its place in the next server (NVLink domain): one ring a rail",
        "shift": "one step of an all-to-all: every GPU sends to the one a random number of places on",
        "all-to-all": "every GPU sends to all others at once",
        "incast": f"{experiment.fan_in} GPUs send to one, all of them in such sets at random",
    }
    return words[pattern] + within


def _scheme(scheme: Routing, experiment: Experiment) -> str:
    flows = f"{plural(experiment.flows, 'flow')} of a pair of ports"
    return {
        "adaptive": "traffic is shared out over all shortest paths so that the fullest link is least full, as adaptive "
        "routing does in the limit of many packets",
        "static": "one path for each destination port, as a subnet manager sets it in a fat tree (D-mod-K)",
        "ecmp": f"{flows}, each hashed to one of the shortest paths by every switch for itself",
        "flowlet": f"{flows}, sent another way {FLOWLET_EPOCHS} times while they last: leaves deal them round over "
        "their uplinks, spines and cores hash",
        "spray": "packet by packet, every switch evenly over the shortest paths",
    }[scheme]


def _why(scheme: Routing, done: SimulatedDesign) -> str:
    found = []
    if not done.routing_asked:
        found.append(f"the default: {done.scheme.source}")
    if scheme in HASHED and not done.flows_asked:
        found.append(f"{plural(done.scheme.flows, 'flow')} by default: {done.scheme.flows_source}")
    infiniband = done.wired.fabric == "infiniband"
    if infiniband == (scheme in _ETHERNET_ONLY):
        found.append(f"{'InfiniBand' if infiniband else 'Ethernet'} does not route so: for comparison")
    return f" ({'; '.join(found)})" if found else ""


def _rails(done: SimulatedDesign) -> Iterator[str]:
    separate = done.wired.wiring.hosts.rails > 1
    if done.experiment.cross_rail == "nvlink":
        default = "" if done.cross_rail_asked else "; the default where nothing else joins the rails"
        yield (
            "between rails: over NVLink to the GPU of the far rail in the same server, and out by its NIC (NVLink "
            f"itself is taken to be no limit{default})"
        )
    elif separate:
        yield "between rails: no path over the network; --cross-rail nvlink sends such traffic over NVLink first"
    else:
        yield "between rails: over the network, from the NIC of one GPU to that of the other"


def _failures(experiment: Experiment) -> Iterator[str]:
    if not experiment.failures:
        return
    drawn = [f for f in experiment.failures if isinstance(f, RandomFailure)]
    named = [f for f in experiment.failures if isinstance(f, NamedFailure)]
    how = (
        "drawn anew in every run"
        if not named
        else "named"
        if not drawn
        else "named, and others drawn anew in every run"
    )
    yield (
        f"failures ({how}): routing has converged: traffic takes the shortest paths that are left, and no other port "
        "stands in for a NIC port that is cut off"
    )
