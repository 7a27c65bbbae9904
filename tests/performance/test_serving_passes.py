"""Prefill and decode: rooflines by hand, the published floor of expert exchanges, and what must hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.performance.collectives import all_reduce_s, all_to_all_s, send_s
from ibplan.performance.efficiency import Efficiency
from ibplan.performance.machine import Machine
from ibplan.performance.serving_passes import PassTimes, constants, decode_pass, expert_floor_s, prefill_pass
from ibplan.spec.models import Workload
from ibplan.workload.flops import layer_flops_per_token
from ibplan.workload.job import InferenceJob, inference_job
from ibplan.workload.parameters import active_parameters, embedding, total_parameters
from ibplan.workload.serving import kv_bytes
from tests.performance.machines import NET, machine
from tests.performance.serving_measurements import deployments
from tests.workload.shapes import measured, preset

# An H100 whose peaks are reached.
IDEAL = Efficiency(1.0, 1.0, "", None)


def ideal(**changed: Any) -> Machine:
    return machine(1024, efficiency=IDEAL, bf16_efficiency=IDEAL, **changed)


def service(model: str, **stated: Any) -> InferenceJob:
    return inference_job(Workload(task="inference", **stated), preset(model))


def pace(job: InferenceJob) -> float:
    return (constants().pace if job.shape.experts is None else constants().pace_with_experts).value


def test_the_published_floor_of_expert_exchanges() -> None:
    # arXiv 2505.09343 section 2.3.2: 120.96 us an exchange; two microbatches over 61 layers 14.76 ms.
    row = measured("serving.yaml")["isca25"]
    seconds = expert_floor_s(row["hidden"], row["experts"], row["tokens"], row["bytes"], row["gbytes_per_s"])
    assert seconds * 1e6 == pytest.approx(row["exchange_us"], rel=1e-9)
    assert 2 * row["layers"] * seconds * 1e3 == pytest.approx(row["step_ms"], abs=0.005)


def test_exchanges_of_a_pass_are_above_the_floor() -> None:
    # DeepSeek-V3, 256 tokens a GPU on 144: 8 routed experts, 58 layers; 8 of 144 GPUs are in the same server. The line
    # rate is not reached, and each of the exchanges of both halves takes a start.
    job = service("deepseek-v3", precision="fp8")
    found = decode_pass(job, deployments(1, 144, [256]), ideal())
    floor = 58 * expert_floor_s(7168, 8, 256, 3, 50) * (136 / 144)
    assert 1.1 * floor < found.expert_s[0] * pace(job) < 1.4 * floor


def test_a_small_decode_batch_reads_all_weights() -> None:
    # One request of one token in its cache: 2 bytes of each parameter but the input embedding's, over 3.35 TB/s.
    job = service("llama3.1-70b", input_tokens=1, output_tokens=2)
    found = decode_pass(job, deployments(1, 1, [1]), ideal())
    read = 2 * (total_parameters(job.shape) - embedding(job.shape))
    assert found.matrices_s[0] * pace(job) == pytest.approx(read / 3.35e12, rel=1e-3)
    overhead = 80 * constants().layer_overhead_us.value * 1e-6
    assert found.overhead_s[0] * pace(job) == pytest.approx(overhead)
    assert found.total_s[0] == pytest.approx(found.matrices_s[0] + found.scores_s[0] + found.overhead_s[0])


def test_a_long_prefill_computes() -> None:
    # 8,192 tokens: 2 FLOPs for each active parameter, and scores of half the sequence, over 989 TFLOP/s.
    job = service("llama3.1-70b", input_tokens=8192)
    found = prefill_pass(job, deployments(1, 1, [1]), ideal())
    flops = 8192 * layer_flops_per_token(job.shape, 8192, "causal") + 2 * embedding(job.shape)
    assert (found.matrices_s + found.scores_s)[0] * pace(job) == pytest.approx(flops / 989e12, rel=1e-3)


def test_tokens_in_the_cache_are_not_computed_but_seen() -> None:
    whole = service("llama3.1-70b", input_tokens=8192)
    half = replace(whole, cached_fraction=0.5)
    both = [prefill_pass(job, deployments(1, 1, [1]), ideal()) for job in (whole, half)]
    assert both[1].matrices_s[0] == pytest.approx(both[0].matrices_s[0] / 2, rel=0.01)
    # Of n^2 / 2 pairs the first half's n^2 / 8 are left out.
    assert both[1].scores_s[0] == pytest.approx(both[0].scores_s[0] * 3 / 4)


def test_decode_reads_the_cache() -> None:
    # 64 requests of 5,000 tokens on average: their cache over 3.35 TB/s.
    job = service("llama3.1-8b", input_tokens=4500, output_tokens=1000)
    found = decode_pass(job, deployments(1, 1, [64]), ideal())
    assert found.scores_s[0] * pace(job) == pytest.approx(64 * kv_bytes(job, 5000) / 3.35e12)


def test_latent_attention_decodes_in_the_latent_space() -> None:
    # DeepSeek-V3: 128 heads score 512 + 64 values a key and sum 512; at 128 requests that takes longer than reading.
    job = service("deepseek-v3", precision="fp8", input_tokens=4500, output_tokens=1000)
    found = decode_pass(job, deployments(1, 1, [128]), ideal())
    flops = 61 * 2 * 128 * 128 * (2 * 512 + 64) * 5000
    read = 128 * kv_bytes(job, 5000)
    assert found.scores_s[0] * pace(job) == pytest.approx(max(flops / 989e12, read / 3.35e12))


def test_only_chosen_experts_are_read() -> None:
    # Mixtral, one token: 2 of 8 experts; many tokens: all.
    job = service("mixtral-8x7b", input_tokens=1, output_tokens=2)
    one = decode_pass(job, deployments(1, 1, [1]), ideal()).matrices_s[0] * pace(job)
    active = active_parameters(job.shape, input_embedding=False)
    assert one == pytest.approx(2 * active / 3.35e12, rel=1e-3)
    many = decode_pass(job, deployments(1, 1, [100]), ideal()).matrices_s[0] * pace(job)
    everything = total_parameters(job.shape) - embedding(job.shape)
    assert many == pytest.approx(2 * everything / 3.35e12, rel=1e-3)


def test_exchanges_are_those_of_the_collectives() -> None:
    job = service("llama3.1-70b", input_tokens=2048)
    split = decode_pass(job, deployments(8, 1, [32], pp=2), machine(16))
    each = all_reduce_s(32 * 8192 * 2, 8, 8, NET)
    assert split.tensor_s[0] * pace(job) == pytest.approx(2 * 80 * each)
    send = send_s(32 * 8192 * 2 / 8, 2, 1, NET)
    assert split.pipeline_s[0] * pace(job) == pytest.approx(float(send))
    assert split.total_s[0] == pytest.approx(
        sum(getattr(split, name)[0] for name in ("matrices_s", "scores_s", "overhead_s", "tensor_s", "pipeline_s"))
    )
    sparse = service("mixtral-8x7b")
    spread = decode_pass(sparse, deployments(2, 8, [1]), machine(16))
    ways = sum(all_to_all_s(0.5 * 2 * 4096 * q, 8, 8, NET) for q in (2, 2))
    assert spread.expert_s[0] * pace(sparse) == pytest.approx(32 * ways)
    # Experts that are whole need no all-reduce: only attention's is left.
    assert spread.tensor_s[0] * pace(sparse) == pytest.approx(32 * all_reduce_s(4096 * 2, 2, 2, NET))


def test_halves_hide_exchanges() -> None:
    # In turn: work + exchange. Beside each other two halves take the longer of both, but read the weights twice.
    job = service("deepseek-v3", precision="fp8")
    found = decode_pass(job, deployments(1, 128, [1, 2, 128]), machine(1024))
    busy = found.matrices_s + found.scores_s + found.overhead_s + found.tensor_s
    assert found.total_s[0] == pytest.approx(busy[0] + found.expert_s[0])  # one request has no halves
    assert found.total_s[2] == pytest.approx(max(busy[2], found.expert_s[2]))


def parts(found: PassTimes) -> Any:
    return found.matrices_s + found.scores_s + found.overhead_s + found.tensor_s + found.expert_s + found.pipeline_s


@given(
    name=st.sampled_from(["llama3.1-70b", "deepseek-v3", "mixtral-8x7b", "gpt-oss-120b"]),
    tp=st.sampled_from([1, 2, 8]),
    copies=st.sampled_from([0, 1, 4]),
    pp=st.sampled_from([1, 2, 4]),
    batch=st.integers(1, 300),
    prefill=st.booleans(),
)
def test_what_always_holds(name: str, tp: int, copies: int, pp: int, batch: int, prefill: bool) -> None:
    job = service(name)
    ep = tp * copies if copies and job.shape.experts is not None and tp * copies > 1 else 1
    run = prefill_pass if prefill else decode_pass
    found = run(job, deployments(tp, ep, [batch, batch + 1], pp), machine(1024))
    # Hiding never costs, nothing is negative, more requests never take less time.
    assert (found.total_s <= parts(found) * (1 + 1e-12)).all()
    assert (found.communication_s >= 0).all()
    assert found.total_s[1] >= found.total_s[0] * (1 - 1e-12)
    # A stage is at least its share of the pass, and no more than all of it.
    assert (found.interval_s <= found.total_s * (1 + 1e-12)).all()
    assert (pp * found.interval_s >= (found.total_s - found.pipeline_s) * (1 - 1e-12)).all()
    # Faster links are never slower.
    faster = machine(1024, net=replace(NET, nic_gbytes_per_s=400))
    assert (run(job, deployments(tp, ep, [batch], pp), faster).total_s[0]) <= found.total_s[0] * (1 + 1e-9)


def test_an_unknown_memory_rate_is_no_number() -> None:
    unknown = machine(8, memory_gbytes_per_s=None)
    assert np.isnan(decode_pass(service("llama3.1-8b"), deployments(1, 1, [1]), unknown).total_s).all()
