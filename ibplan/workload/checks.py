"""What is wrong with the model and the job that a spec states, each with its place in the spec. Nothing is raised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ibplan.catalog.devices import Gpu
from ibplan.spec.models import ModelSpec, Parallelism, Workload
from ibplan.workload.job import InferenceJob, TrainingJob, data_parallel
from ibplan.workload.presets import Experts
from ibplan.workload.shape import ModelShape, ShapeError, shape_of


class WorkloadProblem(NamedTuple):
    """Where in the spec, what is wrong, and what to do: the arguments of `Document.problem`."""

    at: tuple[str, ...]
    message: str
    remedy: str = ""


def model_problems(model: ModelSpec | None) -> list[WorkloadProblem]:
    """What is wrong with the model."""
    if model is None:
        return []
    try:
        shape_of(model)
    except ShapeError as error:
        return [WorkloadProblem(error.at, error.message, error.remedy)]
    return []


def precision_problems(workload: Workload, gpu: Gpu | None) -> list[WorkloadProblem]:
    """A precision that the GPU is not known to have. A GPU of which no peak is known has none that could be missed."""
    peaks = {} if gpu is None else {"bf16": gpu.bf16_tflops, "fp8": gpu.fp8_tflops}
    known = [name for name, peak in peaks.items() if peak is not None]
    if gpu is None or not known or workload.precision in known:
        return []
    message = f"the catalogue has no {workload.precision} peak of the GPU {gpu.name}"
    remedy = f"it has: {', '.join(known)}"
    return [WorkloadProblem(("workload", "precision"), message, remedy)]


_TRAINING_KEYS = ("tokens", "sequence", "global_batch", "recompute", "parallelism")
_INFERENCE_KEYS = ("input_tokens", "output_tokens", "cached_fraction", "ttft", "tpot", "kv_cache", "disaggregated")


def task_problems(workload: Workload) -> list[WorkloadProblem]:
    """Keys that are stated, but are of the other task."""
    others, task = (_INFERENCE_KEYS, "inference") if workload.task == "training" else (_TRAINING_KEYS, "training")
    return [
        WorkloadProblem(("workload", key), f"{key} is of {task}, and the task is {workload.task}", f"task: {task}")
        for key in others
        if key in workload.model_fields_set and getattr(workload, key) is not None
    ]


def job_problems(workload: Workload, job: TrainingJob | InferenceJob) -> list[WorkloadProblem]:
    """A sequence, or a request with its answer, that the model has no positions for."""
    if isinstance(job, TrainingJob):
        key, length = "sequence", job.sequence
    else:
        key, length = "input_tokens", job.longest_context
    positions = job.shape.learned_positions
    if not positions or length <= positions:
        return []
    at = ("workload", key) if getattr(workload, key) is not None else ("workload",)
    message = f"a sequence of {length:,} tokens is longer than the {positions:,} positions that the model learned"
    return [WorkloadProblem(at, message, f"at most {positions:,}")]


def parallelism_problems(workload: Workload, job: TrainingJob, gpus: int) -> list[WorkloadProblem]:
    """What is wrong with the stated parallel mapping on so many GPUs. Nothing if it is searched for."""
    given = workload.parallelism
    if not isinstance(given, Parallelism):
        return []
    found = [
        *_cluster_problems(given, gpus),
        *_pipeline_problems(given, job.shape),
        *_tensor_problems(given, job.shape),
        *_context_problems(given, job),
    ]
    # What follows from the number of data-parallel ranks is only of use where that can be right.
    return found or [*_expert_problems(given, job.shape, gpus), *_batch_problems(given, workload, job, gpus)]


def _at(key: str) -> tuple[str, ...]:
    return ("workload", "parallelism", key)


def _cluster_problems(given: Parallelism, gpus: int) -> Iterator[WorkloadProblem]:
    product = given.tp * given.pp * given.cp * (given.dp or 1)
    names = "tp x pp x cp" if given.dp is None else "tp x pp x cp x dp"
    if product > gpus:
        message = f"{names} = {product:,} GPUs, and the cluster has {gpus:,}"
        yield WorkloadProblem(_at("tp")[:2], message, "lower one of them")
    elif gpus % product:
        message = f"{names} = {product:,} does not divide the {gpus:,} GPUs of the cluster"
        yield WorkloadProblem(_at("tp")[:2], message, f"{gpus % product:,} GPUs would idle")


def _pipeline_problems(given: Parallelism, shape: ModelShape) -> Iterator[WorkloadProblem]:
    if given.pp > shape.layers:
        message = f"pp {given.pp:,} is more than the {shape.layers:,} layers of the model"
        yield WorkloadProblem(_at("pp"), message, f"at most {shape.layers:,}")
    elif given.interleave > 1 and given.pp == 1:
        message = f"interleave {given.interleave} is said of pipelines, and pp is 1"
        yield WorkloadProblem(_at("interleave"), message, "leave it out")
    elif given.pp * given.interleave > shape.layers:
        message = f"pp {given.pp} x interleave {given.interleave} is more than the {shape.layers:,} layers of the model"
        yield WorkloadProblem(_at("interleave"), message, f"at most {shape.layers // given.pp}")


def _tensor_problems(given: Parallelism, shape: ModelShape) -> Iterator[WorkloadProblem]:
    tp, a = given.tp, shape.attention
    widths = [("ffn", shape.ffn.width)] if shape.dense_layers else []
    if shape.experts is not None:
        widths.append(("expert_ffn", shape.experts.ffn_width))
    if a.heads % tp:
        yield WorkloadProblem(_at("tp"), f"tp {tp} does not divide the {a.heads} heads of the model", _nearest(a.heads))
    elif a.type != "mla" and a.kv_heads % tp and tp % a.kv_heads:
        message = f"tp {tp} neither divides the {a.kv_heads} key-value heads of the model nor is a multiple of them"
        yield WorkloadProblem(_at("tp"), message)
    for name, width in widths:
        if width % tp:
            yield WorkloadProblem(_at("tp"), f"tp {tp} does not divide the model's {name} of {width:,}")


def _nearest(heads: int) -> str:
    divisors = [n for n in (1, 2, 4, 8, 16, 32, 64) if heads % n == 0]
    return f"such as {divisors[-1]}"


def _context_problems(given: Parallelism, job: TrainingJob) -> Iterator[WorkloadProblem]:
    if job.sequence % given.cp:
        message = f"cp {given.cp} does not divide the sequence of {job.sequence:,} tokens"
        yield WorkloadProblem(_at("cp"), message)


def _expert_problems(given: Parallelism, shape: ModelShape, gpus: int) -> Iterator[WorkloadProblem]:
    experts, ranks = shape.experts, data_parallel(given, gpus) * given.cp
    if given.ep == 1:
        return
    if experts is None:
        yield WorkloadProblem(_at("ep"), f"ep {given.ep} spreads experts, and the model has none", "leave it out")
    elif experts.routed % given.ep:
        message = f"ep {given.ep} does not divide the {experts.routed} experts of the model"
        yield WorkloadProblem(_at("ep"), message, _divisor(experts, ranks))
    elif ranks % given.ep:
        message = f"ep {given.ep} does not divide dp x cp = {ranks:,}, over which experts are spread"
        yield WorkloadProblem(_at("ep"), message, _divisor(experts, ranks))


def _divisor(experts: Experts, ranks: int) -> str:
    best = max(n for n in range(1, experts.routed + 1) if experts.routed % n == 0 and ranks % n == 0)
    return f"such as {best}"


def _batch_problems(given: Parallelism, workload: Workload, job: TrainingJob, gpus: int) -> Iterator[WorkloadProblem]:
    parts = data_parallel(given, gpus) * given.micro_batch
    if job.global_batch % parts == 0:
        return
    what = f"dp x micro_batch = {data_parallel(given, gpus):,} x {given.micro_batch}"
    near = max(1, round(job.global_batch / parts)) * parts
    if workload.global_batch is not None:
        message = f"global_batch {job.global_batch:,} is not a multiple of {what}"
        yield WorkloadProblem(("workload", "global_batch"), message, f"such as {near:,}")
    else:
        message = f"the batch of {job.global_batch:,} sequences that is assumed is not a multiple of {what}"
        yield WorkloadProblem(_at("dp")[:2], message, f"state workload.global_batch, such as {near:,}")
