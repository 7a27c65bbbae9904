"""Serving: the key-value cache and weights of a unit of GPUs, by published figures and by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.spec.models import Workload
from ibplan.workload.defaults import inference_defaults
from ibplan.workload.job import InferenceJob, inference_job
from ibplan.workload.parameters import total_parameters
from ibplan.workload.presets import load_presets
from ibplan.workload.serving import (
    Deployments,
    cache_bytes,
    fits_serving,
    kv_bytes,
    missing_serving_bytes,
    prompt_job,
    serving_bytes,
    weight_bytes,
)
from tests.workload.shapes import measured, preset


def service(model: str, **stated: Any) -> InferenceJob:
    return inference_job(Workload(task="inference", **stated), preset(model))


def unit(tp: int = 1, pp: int = 1, ep: int = 1, batch: int = 1) -> Deployments:
    return Deployments(*(np.array([value]) for value in (tp, pp, ep, batch)))


@pytest.mark.parametrize(("model", "cached"), measured("serving.yaml")["isca25"]["kv_bytes"].items())
def test_published_cache_of_a_token(model: str, cached: int) -> None:
    # arXiv 2505.09343 Table 1: 70.272, 327.680 and 516.096 KB a token in bf16.
    assert kv_bytes(service(model), 1) == cached
    assert kv_bytes(service(model, kv_cache="fp8"), 1) == cached / 2


def test_windowed_layers_keep_their_window() -> None:
    # GPT-OSS 120B: 18 of 36 layers keep 128 tokens; 2 x 8 x 64 values of 2 bytes a layer.
    job = service("gpt-oss-120b")
    assert kv_bytes(job, 100) == 36 * 100 * 2 * 8 * 64 * 2
    assert kv_bytes(job, 1000) == (18 * 1000 + 18 * 128) * 2 * 8 * 64 * 2


@pytest.mark.parametrize("name", load_presets())
@pytest.mark.parametrize(("precision", "bytes_"), [("bf16", 2), ("fp8", 1)])
def test_one_gpu_holds_all_weights(name: str, precision: str, bytes_: int) -> None:
    held = weight_bytes(service(name, precision=precision), unit())
    assert held[0] == pytest.approx(bytes_ * total_parameters(preset(name)))


def test_experts_are_whole_on_their_gpus() -> None:
    # DeepSeek-V3 with ep 32 and tp 4: 8 experts a GPU, attention split over 4, as with ep 32 and tp 1 over none.
    job = service("deepseek-v3", precision="fp8")
    routed = 58 * 256 * 3 * 7168 * 2048
    dense = total_parameters(job.shape) - routed
    apart = weight_bytes(job, unit(ep=32))[0]
    assert apart == pytest.approx(dense + routed / 32)
    assert routed / 32 + dense / 4 < weight_bytes(job, unit(tp=4, ep=32))[0] < apart
    # Split over tp as the rest, without expert parallelism.
    assert weight_bytes(job, unit(tp=8))[0] < (dense + routed) / 8 * 1.02
    sizes = unit(tp=4, pp=2, ep=32, batch=3)
    assert (sizes.stage_gpus[0], sizes.gpus[0], sizes.copies[0], sizes.requests[0]) == (32, 64, 8, 48)
    assert (unit(tp=4).gpus[0], unit(tp=4).copies[0]) == (4, 1)


def test_the_cache_is_split_over_key_value_heads_at_most() -> None:
    job = service("llama3.1-70b", input_tokens=1000, output_tokens=24)
    whole = cache_bytes(job, unit(batch=5))[0]
    assert whole == 5 * 1024 * 80 * 2 * 8 * 128 * 2
    assert cache_bytes(job, unit(tp=8, batch=5))[0] == whole / 8
    assert cache_bytes(job, unit(tp=16, batch=5))[0] == whole / 8
    # Each stage holds its layers of the requests of all microbatches.
    assert cache_bytes(job, unit(pp=4, batch=5))[0] == whole
    # Latent attention's cache is whole on each tensor rank.
    latent = service("deepseek-v3")
    assert cache_bytes(latent, unit(tp=8))[0] == cache_bytes(latent, unit())[0]
    assert cache_bytes(prompt_job(job), unit())[0] == 1000 / 1024 * cache_bytes(job, unit())[0]


def test_published_services_fit() -> None:
    # DeepSeek's decode on H800 of 80 GB: ep 144, some 88 requests a GPU of 4,989 tokens in the cache; TensorRT-LLM's
    # Llama 3.3 70B in fp8 on one H200 of 141 GB and two H100, 405B on eight H100.
    day = service("deepseek-v3", precision="fp8", input_tokens=4489, output_tokens=1000)
    assert fits_serving(day, unit(ep=144, batch=88), 80e9).all()
    assert not fits_serving(day, unit(batch=1), 80e9).any()
    llama = service("llama3.1-70b", precision="fp8", kv_cache="fp8", input_tokens=1000, output_tokens=1000)
    assert fits_serving(llama, unit(batch=64), 141e9).all()
    assert fits_serving(llama, unit(tp=2, batch=64), 80e9).all()
    large = service("llama3.1-405b", precision="fp8", kv_cache="fp8", input_tokens=1000, output_tokens=1000)
    assert fits_serving(large, unit(tp=8, batch=64), 80e9).all()


def test_how_much_is_missing() -> None:
    job = service("llama3.1-70b")
    tried = unit()
    least = serving_bytes(job, tried)[0]
    assert missing_serving_bytes(job, tried, 80e9) == pytest.approx(least - 0.92 * 80e9)
    assert missing_serving_bytes(job, tried, 8000e9) == 0
    with pytest.raises(ValueError, match="no deployment"):
        missing_serving_bytes(job, tried.take(np.array([False])), 80e9)


@given(
    name=st.sampled_from(["llama3.1-70b", "deepseek-v3", "mixtral-8x7b", "gpt-oss-120b"]),
    tp=st.sampled_from([1, 2, 4]),
    pp=st.sampled_from([1, 2, 3]),
    batch=st.integers(1, 100),
)
def test_what_takes_more_memory(name: str, tp: int, pp: int, batch: int) -> None:
    job = service(name)
    needed = serving_bytes(job, unit(tp, pp, batch=batch))[0]
    assert serving_bytes(job, unit(tp, pp, batch=batch + 1))[0] > needed
    assert serving_bytes(job, unit(2 * tp, pp, batch=batch))[0] < needed
    assert serving_bytes(replace(job, output_tokens=job.output_tokens + 500), unit(tp, pp, batch=batch))[0] > needed


def test_the_defaults_of_a_service() -> None:
    found = service("llama3.1-70b")
    assert (found.input_tokens, found.output_tokens, found.ttft_s, found.tpot_s) == (4096, 1024, 2, 0.05)
    assert (found.element_bytes.weights, found.kv_bytes, found.disaggregated) == (2, 2, None)
    assert found.assumed == (
        "requests of 4,096 input tokens",
        "answers of 1,024 tokens",
        "at most 2 s to the first token",
        "at most 0.05 s for each later token",
    )
    assert all(d.source for d in (inference_defaults().tpot_s, inference_defaults().usable_memory_fraction))


def test_what_is_stated_of_a_service_stands() -> None:
    stated = Workload.model_validate(
        {
            "task": "inference",
            "precision": "fp8",
            "input_tokens": 1000,
            "output_tokens": 200,
            "cached_fraction": "50%",
            "ttft": "500 ms",
            "tpot": "20 ms",
            "kv_cache": "fp8",
            "disaggregated": True,
        }
    )
    found = inference_job(stated, preset("llama3.1-70b"))
    assert (found.ttft_s, found.tpot_s, found.new_tokens, found.mean_context) == (0.5, 0.02, 500, 1100)
    assert (found.element_bytes.weights, found.element_bytes.dispatch, found.kv_bytes) == (1, 1, 1)
    assert found.disaggregated is True
    assert found.longest_context == 1200
    assert found.assumed == ()
