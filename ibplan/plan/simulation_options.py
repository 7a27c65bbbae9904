"""What to simulate: options and the spec's job, held against each other and against what there is time for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ibplan.errors import InputError, Problem, UsageError
from ibplan.findings import plural
from ibplan.performance.failure_words import FailureWord
from ibplan.performance.flows import CrossRail
from ibplan.performance.job_traffic import JobKind, Mapping, job_sets
from ibplan.performance.patterns import Pattern, Placement
from ibplan.performance.rates import HASHED, Routing
from ibplan.performance.simulate import FLOWLET_EPOCHS, Experiment
from ibplan.plan.results import Plan
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Parallelism
from ibplan.workload.job import data_parallel

# Flows between ports in one run (it takes up to 1 GB), and in all runs together (docs/simulate.md has the times).
MOST_FLOWS: Final = 2**21
MOST_FLOWS_OF_ALL_RUNS: Final = 2**24


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """What was asked for on the command line; None = a default of the design."""

    patterns: tuple[Pattern, ...] = ("permutation",)
    routings: tuple[Routing, ...] = ()
    flows: int | None = None
    seeds: int = 10
    placement: Placement = "contiguous"
    cross_rail: CrossRail | None = None
    fan_in: int | None = None
    group: int | None = None
    jobs: bool = False
    failures: tuple[FailureWord, ...] = ()


def check_options(options: SimulationOptions, gpus: int) -> None:
    """Raise UsageError with everything that does not go together."""
    wrong = list(_wrong(options, gpus))
    if wrong:
        raise UsageError("\n".join(wrong))


def _wrong(options: SimulationOptions, gpus: int) -> Iterator[str]:
    if options.fan_in is not None and "incast" not in options.patterns:
        yield "--fan-in goes with --pattern incast"
    if options.fan_in is not None and options.fan_in >= gpus:
        yield f"--fan-in: {options.fan_in:,} GPUs cannot send to one: there are {plural(gpus, 'GPU')}"
    if options.group is not None and options.jobs:
        yield "--group does not go with --jobs: the jobs are the groups"
    if options.group is not None and options.group > gpus:
        yield f"--group: {options.group:,} GPUs, but there are {gpus:,}"
    if "job" in options.patterns and (options.jobs or options.group is not None):
        yield f"--pattern job does not go with --{'jobs' if options.jobs else 'group'}: its mapping is of one job"
    if options.flows is not None and options.routings and not set(options.routings) & set(HASHED):
        names = ", ".join(options.routings)
        yield f"--flows changes nothing under --routing {names}: only {' and '.join(HASHED)} hash flows apart"


def job_mix(loaded: LoadedSpec, gpus: int) -> tuple[JobKind, ...]:
    """The kinds of jobs of the spec. Raises InputError where there are none, or they do not fit the GPUs."""
    jobs, document = loaded.spec.workload.jobs, loaded.document
    if not jobs:
        remedy = "state {gpus, share} of each kind: jobs: [{gpus: 256, share: 60%}, {gpus: 64, share: 40%}]"
        raise InputError([document.problem(("workload", "jobs"), "workload.jobs: --jobs needs a job mix", remedy)])
    problems: list[Problem] = []
    for index, job in enumerate(jobs):
        if job.gpus > gpus:
            message = f"workload.jobs: a job of {job.gpus:,} GPUs does not fit {gpus:,}"
            problems.append(document.problem(("workload", "jobs", index, "gpus"), message))
    total = sum(job.share for job in jobs)
    if total > 1:
        message = f"workload.jobs: the shares add up to {float(total * 100):g}%, more than 100%"
        problems.append(document.problem(("workload", "jobs"), message))
    if problems:
        raise InputError(problems)
    return tuple(JobKind(job.gpus, job.share) for job in jobs)


def stated_mapping(loaded: LoadedSpec, gpus: int) -> Mapping | None:
    """The mapping that the spec states; None: it is to be searched. Raises InputError where it does not fit."""
    found, document = loaded.spec.workload.parallelism, loaded.document
    if not isinstance(found, Parallelism):
        return None
    at = ("workload", "parallelism")
    mapping = Mapping(found.tp, found.pp, data_parallel(found, gpus), found.cp, found.ep, found.interleave)
    problems = []
    if mapping.gpus != gpus:
        message = f"workload.parallelism: tp x cp x dp x pp is {mapping.gpus:,} GPUs, but there are {gpus:,}"
        problems.append(document.problem(at, message, "leave dp out where the others divide the GPUs"))
    if mapping.cp * mapping.dp % mapping.ep:
        message = f"workload.parallelism: ep {mapping.ep:,} does not divide cp x dp, {mapping.cp * mapping.dp:,}"
        problems.append(document.problem((*at, "ep"), message))
    if problems:
        raise InputError(problems)
    return mapping


def searched_mapping(loaded: LoadedSpec, plan: Plan, design_id: str) -> Mapping:
    """The mapping that the plan found fastest for a design, or for the one whose form it has.

    Raises InputError where the plan has none.
    """
    design = next(d for d in plan.designs if design_id in (d.id, *(other.id for other in d.alternatives)))
    found = design.performance.training
    if found is not None:
        return Mapping(found.tp, found.pp, found.dp, found.cp, found.ep, found.interleave)
    task = loaded.spec.workload.task
    reasons = [f"{row.what}: {row.reason}" for row in design.performance.not_modelled]
    why = "; ".join(reasons) if task == "training" else "the job is inference, not training"
    message = f"workload.parallelism: --pattern job needs a mapping, and the plan found none ({why or 'no job to map'})"
    remedy = "state one: --set workload.parallelism='{tp: 8, pp: 1}'"
    raise InputError([loaded.document.problem(("workload", "parallelism"), message, remedy)])


def check_size(experiment: Experiment, gpus: int, lanes: int) -> None:
    """Refuse by counts alone what would take too much memory or time. Raises UsageError."""
    pairs = {pattern: pair_count(pattern, experiment, gpus) for pattern in experiment.patterns}
    largest = max(pairs, key=lambda pattern: pairs[pattern])
    parts = experiment.flows if set(experiment.routings) & set(HASHED) else 1
    flows = pairs[largest] * lanes * parts
    if flows > MOST_FLOWS:
        less = ["--flows"] if parts > 1 else []
        less += ["--group"] if largest == "all-to-all" and not experiment.jobs else []
        remedy = f"take fewer GPUs{''.join(f', or a smaller {option}' for option in less)}"
        remedy += ", or --pattern shift (one step at a time)" if largest == "all-to-all" else ""
        raise UsageError(
            f"--pattern {largest}: {flows:,} flows between ports in a run; up to {MOST_FLOWS:,} are simulated; {remedy}"
        )
    rounds = {"ecmp": experiment.flows, "flowlet": experiment.flows * FLOWLET_EPOCHS}
    passes = sum(rounds.get(routing, 1) for routing in experiment.routings) or 1
    total = sum(pairs.values()) * lanes * passes * experiment.seeds
    if total > MOST_FLOWS_OF_ALL_RUNS:
        raise UsageError(
            f"--seeds: {total:,} flows in all runs, patterns and routing schemes together; up to "
            f"{MOST_FLOWS_OF_ALL_RUNS:,} are simulated; take fewer seeds, patterns, schemes or flows of a pair"
        )


def pair_count(pattern: Pattern, experiment: Experiment, gpus: int) -> int:
    """The most pairs of GPUs that send at once."""
    if pattern == "job":
        mapping = experiment.mapping
        return gpus if mapping is None else gpus * max(1, mapping.ep - 1)
    if pattern != "all-to-all":
        return gpus
    if not experiment.jobs:
        return gpus * ((experiment.group or gpus) - 1)
    kinds = experiment.jobs
    sets = job_sets(kinds, gpus)
    return max(sum(n * k.gpus * (k.gpus - 1) for k, n in zip(kinds, jobs.counts, strict=True)) for jobs in sets)
