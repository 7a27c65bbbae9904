"""A flow-level simulation over the wiring: patterns x routing schemes x seeds, to mean and worst flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ibplan.fabric.wiring_model import Wiring
from ibplan.performance.failures import Failure, RandomFailure, working_links
from ibplan.performance.fairness import Floats, Indices
from ibplan.performance.flow_network import Bools, flow_network
from ibplan.performance.flows import Cluster, CrossRail, Lanes, cluster_of, port_flows
from ibplan.performance.job_traffic import JobKind, JobSet, Mapping, job_sets, job_traffic
from ibplan.performance.patterns import (
    Pairs,
    Pattern,
    Placement,
    all_to_all,
    cross_leaf,
    incast,
    members_of,
    permutation,
    random_pairs,
    ranked_gpus,
    ring,
    shift,
)
from ibplan.performance.rates import HASHED, Fabric, Routing, flow_rates
from ibplan.performance.simulation_rows import Label, Row, Runs

# Times that a flow is sent another way while it lasts, where it is balanced by flowlets.
FLOWLET_EPOCHS: Final = 8


@dataclass(frozen=True, slots=True)
class Experiment:
    """What to simulate. `flows` of a pair of ports count for hashed routing alone. Runs have the seeds 0 to seeds - 1.

    `group`: GPUs that talk among themselves, None = all. `jobs`: the pattern runs in each job of the mix instead.
    `mapping`: for the pattern `job`.
    """

    patterns: tuple[Pattern, ...] = ("permutation",)
    routings: tuple[Routing, ...] = ("adaptive",)
    flows: int = 1
    seeds: int = 10
    placement: Placement = "contiguous"
    cross_rail: CrossRail = "network"
    fan_in: int = 8
    group: int | None = None
    failures: tuple[Failure, ...] = ()
    jobs: tuple[JobKind, ...] = ()
    mapping: Mapping | None = None


@dataclass(frozen=True, slots=True)
class Traffic:
    """Pairs that send at once; `part` of each pair = index of its label."""

    labels: tuple[Label, ...]
    pairs: Pairs
    part: Indices


def simulate(wiring: Wiring, server_gpus: int, domain_gpus: int, experiment: Experiment) -> tuple[Row, ...]:
    """Simulate an experiment; rows by pattern (axis, kind of jobs), then routing.

    Every run draws traffic, placement and failures from its seed alone, so that all schemes see the same ones. Raises
    TooManyPathsError.
    """
    runs: dict[tuple[Label, Routing], Runs] = {}
    fixed = not any(isinstance(failure, RandomFailure) for failure in experiment.failures)
    fabric: Fabric | None = None
    cluster = cluster_of(wiring, server_gpus, domain_gpus)
    for seed in range(experiment.seeds):
        if fabric is None or not fixed:
            works = working_links(wiring, experiment.failures, np.random.default_rng([seed, 0]))
            fabric = Fabric(flow_network(wiring, works))
        for traffic in _traffic(cluster, experiment, seed):
            _run(cluster, fabric, experiment, traffic, seed, runs)
    return tuple(
        found.row(label, routing, experiment.flows if routing in HASHED else 1)
        for (label, routing), found in runs.items()
    )


def _run(
    cluster: Cluster,
    fabric: Fabric,
    experiment: Experiment,
    traffic: Traffic,
    seed: int,
    runs: dict[tuple[Label, Routing], Runs],
) -> None:
    pairs = traffic.pairs
    domain = cluster.places.domain
    away = domain[pairs.source] != domain[pairs.target]
    lanes = port_flows(cluster, pairs.source[away], pairs.target[away], experiment.cross_rail)
    flows = lanes.flows.chosen(lanes.joined)
    for routing in experiment.routings:
        generator = np.random.default_rng([seed, 2])
        rates = flow_rates(fabric, flows, routing, generator, parts=experiment.flows, epochs=FLOWLET_EPOCHS)
        path, gbps = np.zeros(len(lanes.pair), bool), np.zeros(len(lanes.pair))
        path[lanes.joined], gbps[lanes.joined] = rates.path, rates.gbps
        for number, label in enumerate(traffic.labels):
            found = runs.setdefault((label, routing), Runs())
            mine = traffic.part == number
            _count(cluster, lanes, mine, away, (path, gbps), found)


def _count(
    cluster: Cluster, lanes: Lanes, mine: Bools, away: Bools, outcome: tuple[Bools, Floats], found: Runs
) -> None:
    """Add what one run gave for the pairs that are `mine`. `outcome`: of every lane, whether it has a path; Gb/s."""
    path, gbps = outcome
    count = int(away.sum())
    own = mine[away]
    reached = own & (np.bincount(lanes.pair[path], minlength=count) > 0)
    found.pairs.append(int(mine.sum()))
    found.nvlink.append(int((mine & ~away).sum()))
    found.unreachable.append(int((own & ~reached).sum()))
    if not reached.any():
        return
    flows, pod = lanes.flows, cluster.wiring.devices.pod
    over = path & own[lanes.pair]
    found.cross_leaf.append(float((flows.source_leaf != flows.target_leaf)[over].mean()))
    found.cross_pod.append(float((pod[flows.source_leaf] != pod[flows.target_leaf])[over].mean()))
    rate = np.bincount(lanes.pair, gbps, count)[reached] / cluster.nic_gbps_per_gpu
    _, source, sends = np.unique(lanes.source[reached], return_inverse=True, return_counts=True)
    found.mean.append(float(rate.sum() / len(sends)))
    found.worst.append(float((rate * sends[source]).min()))


def _traffic(cluster: Cluster, experiment: Experiment, seed: int) -> Iterator[Traffic]:
    """The traffic of one run: each pattern by itself, all jobs of a set at once."""
    gpus = cluster.gpus
    first = np.arange(0, gpus, cluster.domain_gpus) // cluster.server_gpus
    unit = cluster.wiring.devices.unit[cluster.wiring.of_kind("server")][first]
    generator = np.random.default_rng([seed, 1])
    gpu = ranked_gpus(experiment.placement, gpus, cluster.domain_gpus, unit, generator)
    for pattern in experiment.patterns:
        generator = np.random.default_rng([seed, 1])
        if pattern == "job":
            assert experiment.mapping is not None
            for axis in job_traffic(experiment.mapping, gpu, cluster.places, generator):
                yield Traffic((Label(pattern, axis.axis),), axis.pairs, np.zeros(len(axis.pairs.source), np.int32))
        elif experiment.jobs:
            for jobs in job_sets(experiment.jobs, gpus):
                yield _of_jobs(cluster, experiment, pattern, gpu, jobs, generator)
        else:
            size = experiment.group or gpus
            pairs = _pairs(cluster, experiment, pattern, gpu, np.arange(gpus, dtype=np.int32) // size, generator)
            yield Traffic((Label(pattern),), pairs, np.zeros(len(pairs.source), np.int32))


def _of_jobs(
    cluster: Cluster,
    experiment: Experiment,
    pattern: Pattern,
    gpu: Indices,
    jobs: JobSet,
    generator: np.random.Generator,
) -> Traffic:
    kinds = experiment.jobs
    group = jobs.groups(kinds, cluster.gpus)
    pairs = _pairs(cluster, experiment, pattern, gpu, group, generator)
    running = [(kind, count) for kind, count in zip(kinds, jobs.counts, strict=True) if count]
    labels = tuple(Label(pattern, None, kind.gpus, count) for kind, count in running)
    kind_of_job = np.repeat(np.arange(len(running), dtype=np.int32), [count for _, count in running])
    job_of_gpu = np.full(cluster.gpus, -1, np.int32)
    job_of_gpu[gpu] = group
    return Traffic(labels, pairs, kind_of_job[job_of_gpu[pairs.source]])


def _pairs(
    cluster: Cluster,
    experiment: Experiment,
    pattern: Pattern,
    gpu: Indices,
    group: Indices,
    generator: np.random.Generator,
) -> Pairs:
    made = {
        "permutation": permutation,
        "cross-leaf": cross_leaf,
        "pairs": random_pairs,
        "ring": ring,
        "shift": shift,
        "all-to-all": all_to_all,
        "incast": incast(experiment.fan_in),
    }[pattern]
    return made(members_of(gpu, cluster.places, group), generator)
