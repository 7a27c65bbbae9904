"""Published throughput of serving (tests/measured/serving.yaml), and what the model says of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ibplan.catalog.store import load_catalog
from ibplan.performance.machine import Machine, machine_of
from ibplan.performance.serving_passes import decode_pass, prefill_pass
from ibplan.spec.models import Workload
from ibplan.workload.job import InferenceJob, inference_job
from ibplan.workload.serving import Deployments, fits_serving, prompt_job
from tests.performance.machines import NET
from tests.workload.shapes import measured, preset

DATA = measured("serving.yaml")
# TensorRT-LLM's defaults: requests at once, and tokens of a prefill.
_MOST_REQUESTS, _PREFILL_TOKENS = 2048, 8192
_BATCHES = np.unique((2 ** np.arange(0, 11.01, 0.125)).astype(np.int64))


@dataclass(frozen=True)
class Row:
    """A published figure: output tokens a second, of all GPUs of the deployment or of one."""

    model: str
    gpu: str
    tp: int
    ep: int
    role: str
    input_tokens: int
    output_tokens: int
    tokens_per_s: float

    @property
    def deployment(self) -> str:
        """Model, GPU and split."""
        split = f"ep {self.ep}" if self.ep > 1 else f"tp {self.tp}"
        return f"{self.model}, {self.gpu.removeprefix('nvidia-').removesuffix('-sxm').upper()}, {split}"


def rows() -> list[Row]:
    """All figures of TensorRT-LLM; those of a GPU as of all."""
    found = []
    for table in ("trtllm_1_0", "trtllm_per_gpu"):
        for row in DATA[table]["rows"]:
            gpus = max(row["tp"], row["ep"]) if table == "trtllm_per_gpu" else 1
            requests = row.get("requests", DATA[table].get("requests"))
            for (input_tokens, output_tokens), value in zip(requests, row["tokens_per_s"], strict=True):
                if value is not None:
                    keys = {key: row[key] for key in ("model", "gpu", "tp", "ep", "role")}
                    found.append(
                        Row(**keys, input_tokens=input_tokens, output_tokens=output_tokens, tokens_per_s=gpus * value)
                    )
    return found


@cache
def published_machine(gpu: str) -> Machine:
    """A server of eight of that GPU, which sends half of what its links carry in both directions."""
    catalog = load_catalog()
    entry, server = catalog.gpus[gpu], next(s for s in catalog.servers.values() if s.gpus == 8)
    assert entry.link_gbytes_per_s is not None
    net = replace(NET, domain_gbytes_per_s=entry.link_gbytes_per_s / 2)
    return machine_of(entry, server, 8, net, "fp8")


def fp8_job(model: str, input_tokens: int, output_tokens: int, kv_cache: str = "fp8") -> InferenceJob:
    """A service in fp8."""
    workload = Workload(
        task="inference",
        precision="fp8",
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        kv_cache=kv_cache,  # type: ignore[arg-type]
    )
    return inference_job(workload, preset(model))


def deployments(tp: int, ep: int, batches: Any, pp: int = 1) -> Deployments:
    """The same sizes with several batches."""
    batch = np.atleast_1d(np.asarray(batches, dtype=np.int64))
    return Deployments(np.full_like(batch, tp), np.full_like(batch, pp), np.full_like(batch, ep), batch)


def modelled(row: Row) -> float:
    """Output tokens a second of full batches: a request takes its prefill and its tokens from the same GPUs.

    Memory holds each request as long as it gets, as TensorRT-LLM's scheduler guarantees by default.
    """
    machine = published_machine(row.gpu)
    assert machine.memory_gbytes is not None
    job = fp8_job(row.model, row.input_tokens, row.output_tokens)
    tried = deployments(row.tp, row.ep, _BATCHES[_BATCHES <= _MOST_REQUESTS])
    tried = tried.take(fits_serving(job, tried, machine.memory_gbytes * 1e9))
    decode_s = decode_pass(job, tried, machine).total_s / tried.requests
    prompts = deployments(row.tp, row.ep, max(1, _PREFILL_TOKENS // row.input_tokens))
    prefill_s = (prefill_pass(prompt_job(job), prompts, machine).total_s / prompts.requests)[0]
    return float((row.output_tokens / (prefill_s + row.output_tokens * decode_s)).max())
