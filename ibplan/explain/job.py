"""Figures of what the job gets: collectives, the training step, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ibplan.explain.core import GPUS, Data, Figure, Get, Input, at, plain
from ibplan.explain.running import YEARS

# The all-reduce that the comparison shows; the JSON has others.
SHOWN_BYTES: Final = 2**30

_PARTS: Final = {
    "compute": "matrix products",
    "memory_bound": "other kernels, which memory holds up",
    "tensor": "tensor-parallel communication that nothing hides",
    "pipeline": "sends between pipeline stages that nothing hides",
    "context": "context-parallel communication that nothing hides",
    "expert": "expert-parallel communication that nothing hides",
    "data": "data-parallel communication that nothing hides",
    "bubble": "waiting for the pipeline to fill and to empty",
    "optimizer": "updating the weights",
}
_COMMUNICATION: Final = ("tensor", "pipeline", "context", "expert", "data")


def _training(*path: str) -> Get:
    return at("performance", "training", *path)


def _allreduce(key: str) -> Get:
    def get(design: Data, plan: Data) -> Any:
        rows = [row for row in design["performance"]["allreduce"] if row["bytes"] == SHOWN_BYTES]
        return rows[0][key] if rows else None

    return get


def _part(name: str) -> Input:
    return Input(f"{name}_s", "s", _PARTS[name], _training("step", f"{name}_s"))


_STEP = Input("step_s", "s", "seconds of a training step", _training("step_s"))
_TOKENS_PER_S = Input("tokens_per_s", "tokens/s", "trained in a second, no time lost", _training("tokens_per_s"))
_GOODPUT = Input(
    "goodput_fraction",
    "share",
    "of the time that trains, stops and checkpoints taken off (docs/training.md)",
    _training("lost", "goodput_fraction"),
)
_DAYS = Input("training_days", "days", "for all tokens, lost time in it", _training("days"))
_JOB_GPUS = Input("job_gpus", "GPUs", "of the job", _training("gpus"))


def _inference(*path: str) -> Get:
    return at("performance", "inference", *path)


def fabric_figures() -> Iterator[Figure]:
    """Load balancing, and the all-reduce over all GPUs."""
    for key, words in (("mean", "on average"), ("worst", "of the worst flow")):
        title = f"share of its rate that a flow across spines keeps {words}, before oversubscription"
        rule = "from the flow simulator's stored curves (docs/simulate.md)"
        yield plain(f"load_balancing_{key}_fraction", title, "share", at("performance", "load_balancing", key), rule)
    inputs = (
        Input("bytes", "bytes", "of the buffer on every GPU", _allreduce("bytes")),
        Input("time_us", "us", "for it, by the fastest algorithm (docs/collectives.md)", _allreduce("time_us")),
        GPUS,
    )
    title = "bus bandwidth of an all-reduce of 1 GiB over all GPUs, as NCCL tests define it"
    formula = "2 * (gpus - 1) / gpus * bytes / time_us / 1000 if gpus > 1 else None"
    get = _allreduce("busbw_gbytes_per_s")
    yield Figure("allreduce_busbw_gbytes_per_s", title, "GB/s", formula, get, inputs)


def step_figures() -> Iterator[Figure]:
    """The training step and its parts."""
    parts = tuple(_part(name) for name in _PARTS)
    yield Figure("step_s", "seconds of a training step", "s", " + ".join(p.name for p in parts), _STEP.get, parts)
    exposed = tuple(p for p in parts if p.name.removesuffix("_s") in _COMMUNICATION)
    formula = f"({' + '.join(p.name for p in exposed)}) / step_s"
    title = "share of a step in which GPUs only communicate"
    get = _training("exposed_communication_fraction")
    yield Figure("exposed_communication_fraction", title, "share", formula, get, (*exposed, _STEP))
    rule = "FLOPs of the model for a step, recomputation left out, / (GPUs x step) (docs/workload.md)"
    title = "TFLOP/s of a GPU that the model makes use of"
    tflops = plain("model_tflops_per_gpu", title, "TFLOP/s", _training("model_tflops_per_gpu"), rule)
    yield tflops
    inputs = (
        Input("model_tflops_per_gpu", "TFLOP/s", title, tflops.get),
        Input("peak_tflops", "TFLOP/s", "peak of the GPU, without sparsity", _training("peak_tflops")),
    )
    title = "model FLOPs utilization (MFU): attention counted in full, recomputation not"
    yield Figure("mfu_fraction", title, "share", "model_tflops_per_gpu / peak_tflops", _training("mfu"), inputs)
    rule = "weights, gradients, optimizer, activations and buffers of the fullest GPU (docs/workload.md)"
    yield plain("memory_gbytes", "memory that the job takes of a GPU", "GB", _training("memory_gbytes"), rule)
    rule = "all that a GPU sends over its NICs in a step (docs/workload.md)"
    title, get = "bytes that a GPU sends over the network in a step", _training("network_gbytes_per_gpu_step")
    yield plain("network_gbytes_per_gpu_step", title, "GB", get, rule)


def outcome_figures() -> Iterator[Figure]:
    """Tokens, days, energy and cost of the training job."""
    inputs = (
        Input("global_batch", "sequences", "of a step", _training("global_batch")),
        Input("sequence", "tokens", "of a sequence", _training("sequence")),
        _STEP,
    )
    title = "tokens trained in a second, no time lost"
    yield Figure("tokens_per_s", title, "tokens/s", "global_batch * sequence / step_s", _TOKENS_PER_S.get, inputs)
    rule = "from the rate of stops and the best checkpoint interval (docs/training.md)"
    yield plain("goodput_fraction", "share of the time that trains", "share", _GOODPUT.get, rule)
    tokens = Input("tokens", "tokens", "of the whole job", _training("tokens"))
    formula = "tokens / (tokens_per_s * goodput_fraction) / 86400"
    title = "days for all tokens, lost time in it"
    yield Figure("training_days", title, "days", formula, _DAYS.get, (tokens, _TOKENS_PER_S, _GOODPUT))
    yield _energy_figure()
    yield from _cost_figures()


def _energy_figure() -> Figure:
    inputs = (
        Input(
            "cluster_per_year_kwh",
            "kWh",
            "energy of network and servers a year at the meter",
            at("energy", "cluster_per_year_kwh"),
        ),
        _DAYS,
        _JOB_GPUS,
        GPUS,
    )
    formula = "cluster_per_year_kwh / 365 * training_days * job_gpus / gpus"
    title = "energy of the job at the meter, with its share of the network"
    return Figure("training_energy_kwh", title, "kWh", formula, _training("energy_kwh"), inputs)


def _of_either(key: str) -> Get:
    """A value of the job, whichever task it is."""

    def get(design: Data, plan: Data) -> Any:
        job = design["performance"]["training"] or design["performance"]["inference"]
        return None if job is None else job[key]

    return get


def _cost_figures() -> Iterator[Figure]:
    inputs = (
        Input("cluster_usd", "USD", "purchase price of network, servers and racks", at("totals", "cluster_usd")),
        Input(
            "cluster_per_year_usd", "USD", "their energy a year; none if unknown", at("energy", "cluster_per_year_usd")
        ),
        Input("support_usd", "USD", "support over the years; none if unknown", at("tco", "support_usd")),
        YEARS,
        GPUS,
    )
    formula = "(cluster_usd + (cluster_per_year_usd or 0) * years + (support_usd or 0)) / (gpus * years * 8760)"
    title = "what a GPU-hour costs: purchase, energy and support over the years, as far as known"
    usd = Figure("gpu_hour_usd", title, "USD", formula, _of_either("usd_per_gpu_hour"), inputs)
    yield usd
    each = Input(usd.id, "USD", title, usd.get)
    formula = "gpu_hour_usd * job_gpus / (3600 * tokens_per_s * goodput_fraction) * 1e6"
    title = "what training on a million tokens costs"
    get = _training("usd_per_million_tokens")
    yield Figure("million_tokens_usd", title, "USD", formula, get, (each, _JOB_GPUS, _TOKENS_PER_S, _GOODPUT))


def service_figures() -> Iterator[Figure]:
    """What users of a service get, and what it takes."""
    rule = "of the service with most requests a second within its limits (docs/inference.md)"
    for key, words, unit in (
        ("requests_per_s", "requests that all GPUs finish in a second", "requests/s"),
        ("concurrent_requests", "requests in the works at once", "requests"),
        ("tokens_per_s", "output tokens that all GPUs make in a second", "tokens/s"),
        ("user_tokens_per_s", "output tokens a second of one request", "tokens/s"),
        ("ttft_s", "seconds to the first token of a request", "s"),
        ("tpot_s", "seconds for each later token", "s"),
        ("cache_transfer_s", "seconds in which the cache of a request goes from prefill to decode", "s"),
        ("serving_gpus", "GPUs that serve", "GPUs"),
    ):
        yield plain(f"serving_{key.removeprefix('serving_')}", words, unit, _inference(key), rule)
    for phase in ("prefill", "decode"):
        inputs = tuple(
            Input(f"{kind}_gbps", "Gb/s", words, _inference("network", phase, f"{kind}_gbps"))
            for kind, words in (
                ("expert", "to experts and back"),
                ("tensor", "tensor-parallel"),
                ("pipeline", "between pipeline stages"),
                ("cache", "keys and values between prefill and decode"),
            )
        )
        title = f"what a GPU in {phase} sends out of its NVLink domain, on average"
        get = _sum_of(*(i.get for i in inputs))
        yield Figure(f"{phase}_network_gbps", title, "Gb/s", " + ".join(i.name for i in inputs), get, inputs)
    inputs = (
        Input("gpu_hour_usd", "USD", "what a GPU-hour costs", _inference("usd_per_gpu_hour")),
        Input("gpus", "GPUs", "that serve", _inference("serving_gpus")),
        Input("tokens_per_s", "tokens/s", "output tokens of all GPUs", _inference("tokens_per_s")),
    )
    formula, title = "gpu_hour_usd * gpus / (3600 * tokens_per_s) * 1e6", "what a million output tokens cost"
    get = _inference("usd_per_million_tokens")
    yield Figure("serving_million_tokens_usd", title, "USD", formula, get, inputs)


def _sum_of(*gets: Get) -> Get:
    def get(design: Data, plan: Data) -> Any:
        amounts = [each(design, plan) for each in gets]
        return None if None in amounts else sum(amounts)

    return get
