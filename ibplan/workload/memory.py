"""Bytes that a GPU of the fullest pipeline stage keeps in training: state by ZeRO stage, activations, buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ibplan.workload.activations import activation_bytes
from ibplan.workload.defaults import training_defaults
from ibplan.workload.stages import layer_parameters_per_gpu, stages_of

if TYPE_CHECKING:
    from ibplan.workload.arrays import Bools, Floats
    from ibplan.workload.job import TrainingJob
    from ibplan.workload.mapping import Mappings
    from ibplan.workload.stages import Stage


@dataclass(frozen=True, slots=True)
class MemoryBreakdown:
    """Bytes on a GPU of the stage that needs most. Arrays of shape (mappings,)."""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    activations: Floats
    buffers: Floats

    @property
    def total(self) -> Floats:
        """All of it."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.buffers


def memory_bytes(job: TrainingJob, mappings: Mappings) -> MemoryBreakdown:
    """What each mapping keeps on a GPU of its fullest stage.

    ZeRO shards over data x context ranks (experts: over the ranks with the same experts) the optimizer's state from
    stage 1 on, gradients from 2 on, weights at 3 (arXiv 1910.02054).
    """
    buffers = _gathered_bytes(job, mappings)
    stages = stages_of(job.shape, mappings, mappings.microbatches(job.global_batch))
    found = [_stage_bytes(job, mappings, stage, buffers) for stage in stages]
    best = found[0]
    for other in found[1:]:
        worse = other.total > best.total
        best = MemoryBreakdown(
            weights=np.where(worse, other.weights, best.weights),
            gradients=np.where(worse, other.gradients, best.gradients),
            optimizer=np.where(worse, other.optimizer, best.optimizer),
            activations=np.where(worse, other.activations, best.activations),
            buffers=buffers,
        )
    return best


def usable_bytes(memory_bytes_per_gpu: float) -> float:
    """The part of a GPU's memory that a job can fill."""
    return memory_bytes_per_gpu * training_defaults().usable_memory_fraction.value


def fits_memory(job: TrainingJob, mappings: Mappings, memory_bytes_per_gpu: float) -> Bools:
    """Which mappings fit. Shape (mappings,)."""
    return memory_bytes(job, mappings).total <= usable_bytes(memory_bytes_per_gpu)


def missing_bytes(job: TrainingJob, mappings: Mappings, memory_bytes_per_gpu: float) -> float:
    """How many bytes a GPU the best of the mappings is short; 0 if one fits. Raises ValueError without mappings."""
    if not len(mappings):
        raise ValueError("no mapping to look at")
    return max(0.0, float(memory_bytes(job, mappings).total.min()) - usable_bytes(memory_bytes_per_gpu))


def _stage_bytes(job: TrainingJob, mappings: Mappings, stage: Stage, buffers: Floats) -> MemoryBreakdown:
    q, zero = job.element_bytes, mappings.zero
    whole = stage.dense_parameters + stage.expert_parameters
    sharded = stage.dense_parameters / mappings.data_ranks + stage.expert_parameters / mappings.expert_data_ranks
    return MemoryBreakdown(
        weights=q.weights * np.where(zero >= 3, sharded, whole),
        gradients=q.gradients * np.where(zero >= 2, sharded, whole),
        optimizer=q.optimizer * np.where(zero >= 1, sharded, whole),
        activations=activation_bytes(job, mappings, stage),
        buffers=buffers,
    )


def _gathered_bytes(job: TrainingJob, mappings: Mappings) -> Floats:
    """ZeRO 3: the layer in use and the next one gathered, and the gradient of one before it is scattered."""
    layer = layer_parameters_per_gpu(job.shape, mappings)
    largest = np.maximum(layer.dense if job.shape.dense_layers else 0.0, layer.moe + layer.expert)
    q = job.element_bytes
    return np.where(mappings.zero >= 3, (2 * q.weights + q.gradients) * largest, 0.0)
