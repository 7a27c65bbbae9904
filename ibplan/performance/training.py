"""Step time of a training job for each parallel mapping, with its parts (docs/training.md)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ibplan.performance.exchanges import exchange_seconds
from ibplan.performance.kernels import LayerWork, Work, head_work, layer_work, optimizer_s
from ibplan.performance.machine import Machine
from ibplan.performance.overlap import data_exposed_s, layer_exposed_s, sends_exposed_s
from ibplan.performance.practice import CURRENT, Practice, practices
from ibplan.workload.job import TrainingJob
from ibplan.workload.mapping import Mappings
from ibplan.workload.stages import busiest_layers, stages_of
from ibplan.workload.traffic import Traffic, traffic_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ibplan.workload.arrays import Bools, Floats


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Seconds of a step by cause, on the critical path only: what hides behind something else is not counted.

    Arrays of shape (mappings,); NaN where the machine is not known well enough.
    """

    compute_s: Floats
    memory_bound_s: Floats
    tensor_s: Floats
    pipeline_s: Floats
    context_s: Floats
    expert_s: Floats
    data_s: Floats
    bubble_s: Floats
    optimizer_s: Floats

    def take(self, index: NDArray[np.intp] | Bools) -> StepTimes:
        """Those of that index or mask."""
        return StepTimes(**{field.name: getattr(self, field.name)[index] for field in fields(self)})

    @property
    def communication_s(self) -> Floats:
        """All exposed communication."""
        return self.tensor_s + self.pipeline_s + self.context_s + self.expert_s + self.data_s

    @property
    def exposed_communication_fraction(self) -> Floats:
        """Its share of the step."""
        return self.communication_s / self.total_s

    @property
    def total_s(self) -> Floats:
        """The step."""
        return self.communication_s + self.compute_s + self.memory_bound_s + self.bubble_s + self.optimizer_s


def step_times(
    job: TrainingJob,
    mappings: Mappings,
    machine: Machine,
    *,
    practice: Practice | None = None,
    traffic: Traffic | None = None,
) -> StepTimes:
    """Step time of each mapping, by the overlap rules of `practice` (None = those of current software).

    `traffic`: what `traffic_bytes` gives for the machine's NVLink domain, if it is at hand.
    """
    rules = practices()[CURRENT] if practice is None else practice
    if traffic is None:
        traffic = traffic_bytes(job, mappings, machine.interconnect.domain_gpus)
    busiest = busiest_layers(job.shape, mappings)
    seconds = exchange_seconds(mappings, traffic, machine.interconnect, rules.sharded_weights, busiest)
    layers = _layers(job, mappings, machine)
    microbatches = mappings.microbatches(job.global_batch)
    exposed = layer_exposed_s(seconds, microbatches * busiest, layers.mean, rules)
    pipeline = _pipeline(job, mappings, layers, exposed.sum_s)
    layer_passes = microbatches * pipeline.layers
    return StepTimes(
        compute_s=microbatches * pipeline.work.products_s,
        memory_bound_s=microbatches * pipeline.work.memory_s,
        tensor_s=layer_passes * exposed.tensor_s,
        pipeline_s=sends_exposed_s(mappings, microbatches, pipeline.pace_s, seconds.send_s, rules),
        context_s=layer_passes * exposed.context_s,
        expert_s=layer_passes * exposed.expert_s,
        data_s=data_exposed_s(mappings, microbatches, pipeline.layers, layers.mean, seconds, rules),
        bubble_s=pipeline.bubble_s,
        optimizer_s=optimizer_s(job, mappings, machine, pipeline.dense, pipeline.expert),
    )


@dataclass(frozen=True, slots=True)
class _Layers:
    """Work of a layer of each kind and microbatch, their mean over the model, and that of the output."""

    dense: LayerWork
    moe: LayerWork
    mean: LayerWork
    head: Work


def _layers(job: TrainingJob, mappings: Mappings, machine: Machine) -> _Layers:
    shape, head = job.shape, head_work(job, mappings, machine)
    if not shape.moe_layers:
        dense = layer_work(job, mappings, machine, moe=False)
        return _Layers(dense, dense, dense, head)
    moe = layer_work(job, mappings, machine, moe=True)
    if not shape.dense_layers:
        return _Layers(moe, moe, moe, head)
    dense = layer_work(job, mappings, machine, moe=False)
    return _Layers(dense, moe, dense.mix(moe, shape.moe_layers / shape.layers), head)


@dataclass(frozen=True, slots=True)
class _Pipeline:
    """The slowest stage, which sets the pace: its work and seconds for one microbatch, its layers; and the bubble.

    `dense`, `expert`: most parameters that a GPU of any stage has.
    """

    work: Work
    layers: Floats
    pace_s: Floats
    bubble_s: Floats
    dense: Floats
    expert: Floats


def _pipeline(job: TrainingJob, mappings: Mappings, layers: _Layers, exposed_s: Floats) -> _Pipeline:
    """The pace of the pipeline, and its bubble: one microbatch's way through all other stages, over the interleave."""
    stages = stages_of(job.shape, mappings, mappings.microbatches(job.global_batch))
    dense, moe = layers.dense.all_passes, layers.moe.all_passes
    works = [
        dense * (stage.layers - stage.moe_layers) + moe * stage.moe_layers + layers.head * (1.0 * stage.last)
        for stage in stages
    ]
    totals = [work.total_s + stage.layers * exposed_s for work, stage in zip(works, stages, strict=True)]
    pace, slowest = np.max(totals, axis=0), np.argmax(totals, axis=0)
    shape = job.shape
    whole = (dense * shape.dense_layers + moe * shape.moe_layers + layers.head).total_s + shape.layers * exposed_s
    return _Pipeline(
        work=Work(
            np.choose(slowest, [work.products_s for work in works]),
            np.choose(slowest, [work.memory_s for work in works]),
        ),
        layers=np.choose(slowest, [1.0 * stage.layers for stage in stages]),
        pace_s=pace,
        bubble_s=np.where(mappings.pp > 1, (whole - pace) / mappings.interleave, 0.0),
        dense=np.max([stage.dense_parameters for stage in stages], axis=0),
        expert=np.max([stage.expert_parameters for stage in stages], axis=0),
    )
