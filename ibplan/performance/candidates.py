"""All parallel mappings that a job could be run with on a machine, before memory is looked at."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.workload.job import TrainingJob
from ibplan.workload.mapping import Mappings
from ibplan.workload.stages import busiest_layers

if TYPE_CHECKING:
    from ibplan.workload.arrays import Ints

_FILE = Path(__file__).parent / "data" / "search.yaml"


class Bounds(BaseModel):
    """What the search leaves out (data/search.yaml)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    micro_batches: tuple[int, ...] = Field(min_length=1)
    micro_batches_source: str
    context_tokens_min: int = Field(ge=1)
    context_tokens_min_source: str
    pipeline_zero_max: int = Field(ge=0, le=3)
    pipeline_zero_max_source: str


@lru_cache(maxsize=1)
def bounds() -> Bounds:
    """The packaged bounds."""
    return validate(Bounds, read_document(_FILE))


def candidate_mappings(job: TrainingJob, gpus: int, domain_gpus: int) -> Mappings:
    """Every choice of tp, pp, cp, ep, dp, micro-batch and interleave on all `gpus`; ZeRO 0, nothing computed again.

    tp stays inside the NVLink domain and divides heads and widths; every stage has a layer; a sequence keeps enough
    tokens on a context rank; experts divide over their ranks; each pipeline has a microbatch, an interleaved one as
    many as stages, and layers that divide over its chunks. Sequence parallel wherever tp is above 1.
    """
    degrees = _degrees(job, gpus, domain_gpus)
    batches = np.array(bounds().micro_batches)
    layers = -(-job.shape.layers // np.unique(degrees["pp"]))
    interleaves = np.array(sorted({v for count in layers for v in _divisors(int(count))}))
    grid = np.meshgrid(np.arange(len(degrees["tp"])), batches, interleaves, indexing="ij")
    index, micro_batch, interleave = (axis.ravel() for axis in grid)
    tp, pp, cp, ep = (degrees[name][index] for name in ("tp", "pp", "cp", "ep"))
    zeros = np.zeros(len(index), dtype=np.int64)
    mappings = Mappings(
        tp=tp,
        pp=pp,
        dp=gpus // (tp * pp * cp),
        cp=cp,
        ep=ep,
        micro_batch=micro_batch,
        interleave=interleave,
        zero=zeros,
        recompute=zeros,
        sequence_parallel=tp > 1,
    )
    divides = busiest_layers(job.shape, mappings) % interleave == 0
    interleaved = (interleave == 1) | (
        (pp > 1) & divides & (pp * interleave <= job.shape.layers) & (mappings.microbatches(job.global_batch) >= pp)
    )
    return mappings.take((mappings.dp * micro_batch <= job.global_batch) & interleaved)


def _degrees(job: TrainingJob, gpus: int, domain_gpus: int) -> dict[str, Ints]:
    """Each tp, pp, cp and ep that go together."""
    shape = job.shape
    experts = 1 if shape.experts is None else shape.experts.routed
    contexts = [cp for cp in _divisors(job.sequence) if cp == 1 or job.sequence // cp >= bounds().context_tokens_min]
    rows = [
        (tp, pp, cp, ep)
        for tp in _tensor_degrees(job, gpus, domain_gpus)
        for cp in contexts
        if gpus % (tp * cp) == 0
        for pp in _divisors(gpus // (tp * cp))
        if pp <= shape.layers
        for ep in _divisors(experts)
        if gpus // (tp * pp) % ep == 0
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return dict(zip(("tp", "pp", "cp", "ep"), columns, strict=True))


def _tensor_degrees(job: TrainingJob, gpus: int, domain_gpus: int) -> list[int]:
    shape, a = job.shape, job.shape.attention
    widths = [shape.ffn.width] if shape.dense_layers else []
    if shape.experts is not None:
        widths.append(shape.experts.ffn_width)
    return [
        tp
        for tp in _divisors(a.heads)
        if tp <= domain_gpus
        and domain_gpus % tp == 0
        and gpus % tp == 0
        and (a.type == "mla" or a.kv_heads % tp == 0 or tp % a.kv_heads == 0)
        and all(width % tp == 0 for width in widths)
    ]


@lru_cache(maxsize=1024)
def _divisors(number: int) -> tuple[int, ...]:
    small = [n for n in range(1, int(number**0.5) + 1) if number % n == 0]
    return tuple(sorted({*small, *(number // n for n in small)}))
