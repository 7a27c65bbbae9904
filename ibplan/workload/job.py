"""The job: a model, how it is trained or served, and the bytes of what it keeps and sends. Defaults from data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2

from ibplan.spec.models import Parallelism, Workload
from ibplan.workload.defaults import Precision, inference_defaults, training_defaults
from ibplan.workload.flops import Recompute
from ibplan.workload.parameters import total_parameters
from ibplan.workload.shape_model import ModelShape


@dataclass(frozen=True, slots=True)
class ElementBytes:
    """Bytes of one value: kept for each parameter (`weights`, `gradients`, `optimizer`), and sent.

    `activations` is also what tensor, pipeline and context parallelism send; `dispatch` and `combine` go to experts
    and back. Gradients are reduced as they are kept, weights gathered as they are kept.
    """

    weights: float = 2.0
    gradients: float = 4.0
    optimizer: float = 12.0
    activations: float = 2.0
    dispatch: float = 2.0
    combine: float = 2.0


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """A training job. `tokens`: of the whole run. `assumed`: what the spec did not say, in sentences.

    `fused_attention`: scores are never kept in memory (FlashAttention); `dropout`: its masks are kept, as in models of
    GPT-3's time. `batch_assumed`: the batch may be another, because the spec does not state it.
    """

    shape: ModelShape
    sequence: int
    global_batch: int
    tokens: int | None
    precision: Precision
    recompute: Recompute
    element_bytes: ElementBytes = ElementBytes()
    fused_attention: bool = True
    dropout: bool = False
    batch_assumed: bool = False
    assumed: tuple[str, ...] = ()

    @property
    def step_tokens(self) -> int:
        """Tokens in a step."""
        return self.global_batch * self.sequence


@dataclass(frozen=True, slots=True)
class InferenceJob:
    """An inference service. `assumed`: what the spec did not say, in sentences.

    A request brings `input_tokens`, of which `cached_fraction` need no prefill because their keys and values are kept
    from earlier requests, and gets `output_tokens`. Limits: `ttft_s` to the first token, `tpot_s` for each later one.
    `kv_bytes` of a value in the key-value cache. `disaggregated`: prefill and decode on GPUs of their own; None:
    whichever serves more.
    """

    shape: ModelShape
    input_tokens: int
    output_tokens: int
    ttft_s: float
    tpot_s: float
    precision: Precision
    element_bytes: ElementBytes
    kv_bytes: float = 2.0
    cached_fraction: float = 0.0
    disaggregated: bool | None = None
    assumed: tuple[str, ...] = ()

    @property
    def new_tokens(self) -> float:
        """Input tokens of a request that are not in the cache."""
        return self.input_tokens * (1 - self.cached_fraction)

    @property
    def mean_context(self) -> float:
        """Tokens that a request has in the key-value cache while it decodes, on average."""
        return self.input_tokens + self.output_tokens / 2

    @property
    def longest_context(self) -> int:
        """Tokens that it has there in the end."""
        return self.input_tokens + self.output_tokens


def training_job(workload: Workload, shape: ModelShape) -> TrainingJob:
    """The spec's training job of a model; what it does not state is as published recipes have it, by size."""
    defaults = training_defaults()
    row = defaults.batch_of(total_parameters(shape), shape.experts is not None)
    assumed = list(shape.assumed)
    sequence = workload.sequence
    if sequence is None:
        sequence = shape.pretrain_sequence or row.sequence
        assumed.append(f"sequences of {sequence:,} tokens")
    batch = workload.global_batch
    if batch is None:
        # The nearest power of two: most mappings divide it.
        batch = int(2 ** max(0, round(log2(row.step_tokens / sequence))))
        assumed.append(f"{batch:,} sequences a step ({batch * sequence / 1e6:,.1f}M tokens)")
    tokens = workload.tokens
    if tokens is None:
        tokens = shape.pretrain_tokens or int(total_parameters(shape) * defaults.tokens_per_parameter.value)
        assumed.append(f"{tokens / 1e12:,.4g}T tokens in all")
    return TrainingJob(
        shape=shape,
        sequence=sequence,
        global_batch=batch,
        tokens=tokens,
        precision=workload.precision,
        recompute=workload.recompute,
        element_bytes=element_bytes(workload.precision),
        batch_assumed=workload.global_batch is None,
        assumed=tuple(assumed),
    )


def element_bytes(precision: Precision) -> ElementBytes:
    """Bytes of each value in mixed-precision training with AdamW."""
    defaults = training_defaults()
    return ElementBytes(
        weights=defaults.weight_bytes.value,
        gradients=defaults.gradient_bytes.value,
        optimizer=defaults.optimizer_bytes.value,
        activations=defaults.activation_bytes.value,
        dispatch=defaults.dispatch_bytes.of(precision),
        combine=defaults.combine_bytes.of(precision),
    )


def data_parallel(given: Parallelism, gpus: int) -> int:
    """The stated data-parallel ranks, else as many as `gpus` allow: at least one."""
    return given.dp or max(1, gpus // (given.tp * given.pp * given.cp))


def inference_job(workload: Workload, shape: ModelShape) -> InferenceJob:
    """The spec's inference service of a model; what it does not state are the defaults of the data."""
    defaults = inference_defaults()
    assumed = list(shape.assumed)

    def stated(value: float | None, default: float, text: str) -> float:
        if value is not None:
            return value
        assumed.append(text.format(default))
        return default

    input_tokens = stated(workload.input_tokens, defaults.input_tokens.value, "requests of {:,.0f} input tokens")
    output_tokens = stated(workload.output_tokens, defaults.output_tokens.value, "answers of {:,.0f} tokens")
    ttft_s = stated(workload.ttft, defaults.ttft_s.value, "at most {:g} s to the first token")
    tpot_s = stated(workload.tpot, defaults.tpot_s.value, "at most {:g} s for each later token")
    sent = element_bytes(workload.precision)
    return InferenceJob(
        shape=shape,
        input_tokens=int(input_tokens),
        output_tokens=int(output_tokens),
        ttft_s=ttft_s,
        tpot_s=tpot_s,
        precision=workload.precision,
        element_bytes=replace(sent, weights=defaults.weight_bytes.of(workload.precision), gradients=0, optimizer=0),
        kv_bytes=defaults.kv_bytes.of(workload.kv_cache or "bf16"),
        cached_fraction=float(workload.cached_fraction or 0),
        disaggregated=workload.disaggregated,
        assumed=tuple(assumed),
    )
