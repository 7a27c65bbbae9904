"""The job of a spec: its model and how it is run, with all that is wrong with it at its place in the spec."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ibplan.errors import Problem
from ibplan.plan.hosts import ServerModel
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Parallelism
from ibplan.workload.checks import (
    WorkloadProblem,
    job_problems,
    model_problems,
    parallelism_problems,
    precision_problems,
    task_problems,
)
from ibplan.workload.flops import Recompute
from ibplan.workload.job import InferenceJob, TrainingJob, inference_job, training_job
from ibplan.workload.shape import ModelShape, shape_of


@dataclass(frozen=True, slots=True)
class PlannedTraining:
    """A training job on `gpus` GPUs. `given`: the mapping that the spec states; None = the fastest is searched for.

    `recomputes`: the modes to choose from; None = any.
    """

    job: TrainingJob
    gpus: int
    given: Parallelism | None
    recomputes: tuple[Recompute, ...] | None


@dataclass(frozen=True, slots=True)
class PlannedInference:
    """A service on `gpus` GPUs."""

    job: InferenceJob
    gpus: int


def model_shape(loaded: LoadedSpec) -> ModelShape | None:
    """The shape of the spec's model; None if it names none. Raises ShapeError."""
    model = loaded.spec.model
    return None if model is None else shape_of(model)


def planned_job(loaded: LoadedSpec, gpus: int) -> PlannedTraining | PlannedInference | None:
    """The job to model: on all GPUs, or the largest of the job mix. None without a model.

    The spec must have no `workload_problems`.
    """
    workload, shape = loaded.spec.workload, model_shape(loaded)
    if shape is None:
        return None
    if workload.task == "inference":
        return PlannedInference(inference_job(workload, shape), job_gpus(loaded, gpus))
    given = workload.parallelism if isinstance(workload.parallelism, Parallelism) else None
    modes = (workload.recompute,) if "recompute" in workload.model_fields_set else None
    return PlannedTraining(training_job(workload, shape), job_gpus(loaded, gpus), given, modes)


def job_gpus(loaded: LoadedSpec, gpus: int) -> int:
    """GPUs of the job that is modelled: the largest of the mix, else all."""
    return max((job.gpus for job in loaded.spec.workload.jobs), default=gpus)


def workload_problems(loaded: LoadedSpec, server: ServerModel | None, gpus: int | None) -> Iterator[Problem]:
    """All that is wrong with model and workload. `server`, `gpus` None = they are wrong themselves."""
    spec, problem = loaded.spec, loaded.document.problem
    for found in _problems(loaded, server, gpus):
        yield problem(found.at, found.message, found.remedy)
    for index, mixed in enumerate(spec.workload.jobs):
        if gpus is not None and mixed.gpus > gpus:
            message = f"a job of {mixed.gpus:,} GPUs, and the cluster has {gpus:,}"
            yield problem(("workload", "jobs", index, "gpus"), message)


def _problems(loaded: LoadedSpec, server: ServerModel | None, gpus: int | None) -> Iterator[WorkloadProblem]:
    spec = loaded.spec
    wrong = model_problems(spec.model)
    yield from wrong
    if server is not None:
        yield from precision_problems(spec.workload, server.gpu)
    yield from task_problems(spec.workload)
    shape = None if wrong else model_shape(loaded)
    if gpus is None or shape is None:
        return
    if spec.workload.task == "inference":
        yield from job_problems(spec.workload, inference_job(spec.workload, shape))
        return
    job = training_job(spec.workload, shape)
    yield from job_problems(spec.workload, job)
    yield from parallelism_problems(spec.workload, job, min(gpus, job_gpus(loaded, gpus)))
