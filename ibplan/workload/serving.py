"""How a model is laid over GPUs to serve it, and what it keeps there: weights and the key-value cache.

A unit of GPUs holds the model once: `pp` stages of layers; in each the attention is split over `tp` GPUs, and experts
are spread over `ep` GPUs, whole (1: they are split over tp as the rest is). With ep above tp the attention is copied
ep / tp times, and each copy has its own requests (DeepSeek's EP144 with DP144 is ep 144, tp 1).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ibplan.workload.defaults import inference_defaults
from ibplan.workload.mapping import Mappings
from ibplan.workload.presets import Attention
from ibplan.workload.stages import stages_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ibplan.workload.arrays import Bools, Floats, Ints
    from ibplan.workload.job import InferenceJob
    from ibplan.workload.shape_model import ModelShape


@dataclass(frozen=True, slots=True)
class Deployments:
    """Units, arrays of shape (deployments,). ep is 1 or a multiple of tp.

    `batch`: requests that a copy of the attention works on at once; with a pipeline, in each of pp microbatches.
    """

    tp: Ints
    pp: Ints
    ep: Ints
    batch: Ints

    def __len__(self) -> int:
        return len(self.tp)

    @property
    def stage_gpus(self) -> Ints:
        """GPUs of a pipeline stage."""
        return np.maximum(self.tp, self.ep)

    @property
    def gpus(self) -> Ints:
        """GPUs of a unit."""
        return self.stage_gpus * self.pp

    @property
    def copies(self) -> Ints:
        """Copies of the attention, each with requests of its own."""
        return self.stage_gpus // self.tp

    @property
    def requests(self) -> Ints:
        """Requests that a unit works on at once."""
        return self.batch * self.copies * self.pp

    def take(self, index: NDArray[np.intp] | Bools) -> Deployments:
        """The deployments of that index or mask."""
        return Deployments(**{field.name: getattr(self, field.name)[index] for field in fields(self)})

    def mappings(self) -> Mappings:
        """The same as mappings of training: an expert that is whole on a GPU of copies x tp is 1 / tp on tp of each."""
        ones = np.ones_like(self.tp)
        copies = self.copies
        return Mappings(
            tp=self.tp,
            pp=self.pp,
            dp=copies,
            cp=ones,
            ep=copies,
            micro_batch=self.batch,
            interleave=ones,
            zero=0 * ones,
            recompute=0 * ones,
            sequence_parallel=self.tp > 1,
        )


def kv_values(shape: ModelShape, tokens: float) -> float:
    """Values in the key-value cache of all layers after so many tokens: layers with a window keep the window."""
    a = shape.attention
    windowed = shape.windowed_layers
    kept = min(tokens, a.window) if a.window is not None else tokens
    return a.kv_values_per_token * ((shape.layers - windowed) * tokens + windowed * kept)


def kv_bytes(job: InferenceJob, tokens: float) -> float:
    """Bytes of the key-value cache of a request after so many tokens."""
    return job.kv_bytes * kv_values(job.shape, tokens)


def kv_shards(attention: Attention, tp: Ints) -> Ints:
    """Over how many of tp GPUs a request's cache is split. Latent attention's is the same on each."""
    return np.ones_like(tp) if attention.type == "mla" else np.minimum(tp, attention.kv_heads)


def prompt_job(job: InferenceJob) -> InferenceJob:
    """The same requests while they prefill: their cache holds the input alone."""
    return replace(job, output_tokens=0)


def weight_bytes(job: InferenceJob, deployments: Deployments) -> Floats:
    """Bytes of the weights on a GPU of the fullest stage."""
    stages = stages_of(job.shape, deployments.mappings(), np.ones_like(deployments.tp))
    most = np.max([stage.dense_parameters + stage.expert_parameters for stage in stages], axis=0)
    whole: Floats = job.element_bytes.weights * most
    return whole


def cache_bytes(job: InferenceJob, deployments: Deployments) -> Floats:
    """Bytes of the cache on a GPU: all requests in the works, as long as they get, on the stage with most layers."""
    share = -(-job.shape.layers // deployments.pp) / job.shape.layers
    requests = deployments.batch * deployments.pp
    each = np.asarray(share * kv_bytes(job, job.longest_context) / kv_shards(job.shape.attention, deployments.tp))
    return requests.astype(np.float64) * each


def serving_bytes(job: InferenceJob, deployments: Deployments) -> Floats:
    """Bytes on a GPU of the fullest stage: weights and cache."""
    return weight_bytes(job, deployments) + cache_bytes(job, deployments)


def usable_serving_bytes(memory_bytes_per_gpu: float) -> float:
    """The part of a GPU's memory that weights and cache can fill."""
    return memory_bytes_per_gpu * inference_defaults().usable_memory_fraction.value


def fits_serving(job: InferenceJob, deployments: Deployments, memory_bytes_per_gpu: float) -> Bools:
    """Which deployments fit, weights and cache together."""
    return serving_bytes(job, deployments) <= usable_serving_bytes(memory_bytes_per_gpu)


def missing_serving_bytes(job: InferenceJob, deployments: Deployments, memory_bytes_per_gpu: float) -> float:
    """How many bytes a GPU the best of the deployments is short; 0 if one fits. Raises ValueError without any."""
    if not len(deployments):
        raise ValueError("no deployment to look at")
    return max(0.0, float(serving_bytes(job, deployments).min()) - usable_serving_bytes(memory_bytes_per_gpu))
