"""The best service: it keeps its limits, uses its GPUs, and is no worse than any other way that was tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ibplan.performance.inference import best_service, transfer_times_s
from ibplan.performance.serving_candidates import layouts, shallow, with_batches
from ibplan.performance.serving_network import NetworkNeed, network_need, network_sentences, network_value
from ibplan.performance.serving_passes import decode_pass, prefill_pass
from ibplan.performance.serving_results import Phase, Service, Unserved
from ibplan.spec.models import Workload
from ibplan.workload.job import InferenceJob, inference_job
from ibplan.workload.serving import kv_bytes
from tests.performance.machines import NET, machine
from tests.performance.serving_measurements import deployments
from tests.workload.shapes import measured, preset

CASES: list[tuple[str, int]] = [("llama3.1-8b", 8), ("llama3.1-70b", 64), ("deepseek-v3", 256), ("gpt-oss-120b", 16)]


def service(model: str, **stated: Any) -> InferenceJob:
    return inference_job(Workload(task="inference", precision="fp8", **stated), preset(model))


def served(job: InferenceJob, gpus: int, **changed: Any) -> Service:
    found = best_service(job, machine(gpus, **changed))
    assert isinstance(found, Service), found
    return found


def unserved(job: InferenceJob, gpus: int, **changed: Any) -> Unserved:
    found = best_service(job, machine(gpus, **changed))
    assert isinstance(found, Unserved), found
    return found


@pytest.mark.parametrize(("model", "gpus"), CASES)
@pytest.mark.parametrize("apart", [True, False, None])
def test_a_service_keeps_what_it_promises(model: str, gpus: int, apart: bool | None) -> None:
    job = replace(service(model), disaggregated=apart)
    found = served(job, gpus)
    assert apart in (None, found.disaggregated)
    assert found.ttft_s <= job.ttft_s
    assert found.tpot_s <= job.tpot_s
    assert found.gpus <= gpus
    assert found.tokens_per_s == pytest.approx(found.requests_per_s * 1024)
    assert found.tokens_per_s_per_gpu * found.gpus == pytest.approx(found.tokens_per_s)
    for phase in (found.prefill, found.decode):
        assert phase.memory_bytes <= 0.92 * 80e9
        assert phase.units * phase.gpus <= found.gpus
    assert again(job, found) == pytest.approx((found.prefill.total_s, found.decode.total_s))


def again(job: InferenceJob, found: Service) -> tuple[float, float]:
    """The seconds of both passes, computed from what the result says of its units."""

    def batch(phase: Phase) -> int:
        return phase.requests // (phase.pp * max(1, phase.ep // phase.tp))

    p, d = found.prefill, found.decode
    prefill = prefill_pass(job, deployments(p.tp, p.ep, [batch(p)], p.pp), machine(8))
    decode = decode_pass(job, deployments(d.tp, d.ep, [batch(d)], d.pp), machine(8))
    return float(prefill.total_s[0]), float(decode.total_s[0])


@pytest.mark.parametrize(("model", "gpus"), CASES)
def test_the_better_of_both_ways_is_taken(model: str, gpus: int) -> None:
    job = service(model)
    apart, together = (replace(job, disaggregated=value) for value in (True, False))
    rates = [served(one, gpus).requests_per_s for one in (apart, together)]
    assert served(job, gpus).requests_per_s == pytest.approx(max(rates))


@pytest.mark.parametrize(("model", "gpus"), [*CASES, ("deepseek-v3", 1000), ("llama3.1-405b", 77)])
def test_units_share_the_gpus_as_their_rates_ask(model: str, gpus: int) -> None:
    # Neither phase could give a unit to the other and serve more.
    job = replace(service(model), disaggregated=True)
    found = served(job, gpus)
    p, d = found.prefill, found.decode
    assert found.requests_per_s == pytest.approx(min(p.units * p.requests_per_s, d.units * d.requests_per_s))
    for units in range(1, gpus // p.gpus):
        others = (gpus - units * p.gpus) // d.gpus
        assert min(units * p.requests_per_s, others * d.requests_per_s) <= found.requests_per_s * (1 + 1e-9)


def test_units_that_do_both_lose_time_to_prefill() -> None:
    # A request costs a unit its prefill and its tokens: the rate is the harmonic sum, the tokens come slower.
    job = replace(service("llama3.1-8b"), disaggregated=False)
    found = served(job, 8)
    p, d = found.prefill, found.decode
    assert (p.tp, p.pp, p.ep, p.units) == (d.tp, d.pp, d.ep, d.units)
    assert found.requests_per_s == pytest.approx(d.units / (1 / p.requests_per_s + 1 / d.requests_per_s))
    assert found.tpot_s == pytest.approx(d.total_s * (1 + d.requests_per_s / p.requests_per_s))
    assert found.transfer_s == 0


def test_the_cache_is_sent_between_phases() -> None:
    # 4,096 tokens of Llama-3.1 70B are 1.34 GB in bf16: 27 ms and more over one NIC of 50 GB/s, a quarter over four.
    job = service("llama3.1-70b")
    assert kv_bytes(job, 4096) == 4096 * 327680
    one, four = (
        transfer_times_s(job, machine(64), deployments(1, 1, [1])),
        transfer_times_s(job, machine(64), deployments(4, 1, [1])),
    )
    assert one[0] * 50e9 == pytest.approx(kv_bytes(job, 4096), rel=0.1)
    assert four[0] == pytest.approx(one[0] / 4, rel=0.05)
    found = served(replace(job, disaggregated=True), 64)
    assert found.ttft_s == pytest.approx(found.prefill.total_s + found.transfer_s)


@pytest.mark.parametrize(("model", "gpus"), CASES)
def test_tighter_limits_serve_less(model: str, gpus: int) -> None:
    job = service(model)
    loose = served(job, gpus).requests_per_s
    assert served(replace(job, tpot_s=0.035), gpus).requests_per_s <= loose
    assert served(replace(job, ttft_s=1.0), gpus).requests_per_s <= loose
    assert served(job, 2 * gpus).requests_per_s >= 2 * loose * (1 - 1e-9)


def test_limits_that_cannot_be_kept() -> None:
    found = unserved(service("llama3.1-70b", tpot="500 us"), 64)
    assert found.missing_bytes is None
    assert found.best_tpot_s is not None
    assert found.best_tpot_s > 0.0005
    assert "0.0005 s for each later one cannot be kept" in found.reason


def test_a_model_that_does_not_fit_is_short_of_bytes() -> None:
    # DeepSeek-V3 in fp8: 671 GB and more on 8 GPUs of 73.6 usable.
    found = unserved(service("deepseek-v3"), 8)
    assert found.missing_bytes is not None
    assert found.missing_bytes > 671e9 / 8 - 73.6e9
    assert f"{found.missing_bytes / 1e9:.1f} GB a GPU too large" in found.reason


def test_too_few_gpus_for_both_phases() -> None:
    found = unserved(replace(service("deepseek-v3"), disaggregated=True), 16)
    assert "16 GPUs are too few" in found.reason


def test_an_unknown_gpu_is_not_guessed() -> None:
    found = unserved(service("llama3.1-8b"), 8, memory_gbytes=None, peak_tflops=None)
    assert found.reason == "cannot be known without the GPU's peak at the job's precision and the GPU's memory"


def test_layouts_divide_the_model_and_fit_the_machine() -> None:
    found = layouts(preset("deepseek-v3"), machine(64))
    assert set(found.tp.tolist()) == {1, 2, 4, 8}
    assert set(found.ep.tolist()) == {1, 2, 4, 8, 16, 32, 64}
    assert (found.gpus <= 64).all()
    assert ((found.ep == 1) | (found.ep % found.tp == 0)).all()
    # Qwen2.5 7B: 28 heads, 4 key-value heads.
    assert set(layouts(preset("qwen2.5-7b"), machine(64)).tp.tolist()) == {1, 2, 4}
    assert len(with_batches(found, (1, 2, 3))) == 3 * len(found)


def test_deep_pipelines_are_left_out() -> None:
    kept = shallow(deployments(1, 1, [1], pp=4).take(np.array([0, 0, 0])))
    assert len(kept) == 3
    mixed = layouts(preset("llama3.1-8b"), machine(64))
    assert shallow(mixed).pp.max() == 4


def test_the_service_of_deepseek() -> None:
    # What the pace is calibrated on: averages of a day, so both phases are held together, not each.
    day = measured("serving.yaml")["deepseek_day"]
    cost = day["nodes"] * 8 * day["usd_per_gpu_hour"] * 24
    assert cost == pytest.approx(day["usd_per_day"])


def test_a_service_inside_servers_needs_no_network() -> None:
    job = replace(service("llama3.1-8b"), disaggregated=False)
    found = served(job, 64)
    need = network_need(job, machine(64), found)
    assert need.prefill.total_gbps == need.decode.total_gbps == need.nic_fraction == 0
    values = {v.network: v.change_fraction for v in network_value(job, machine(64), found)}
    assert values["no network between NVLink domains"] == pytest.approx(0)
    assert values["NICs half as fast"] == pytest.approx(0)
    sentences = network_sentences(need, network_value(job, machine(64), found))
    assert "NICs half as fast: as many tokens a second." in sentences


def test_what_the_network_carries_by_hand() -> None:
    job = replace(service("llama3.1-70b"), disaggregated=True)
    found = served(job, 64)
    need = network_need(job, machine(64), found)
    bits = 8 * kv_bytes(job, 4096) * found.requests_per_s / 1e9
    assert need.prefill.cache_gbps * found.prefill.units * found.prefill.gpus == pytest.approx(bits)
    assert need.decode.cache_gbps * found.decode.units * found.decode.gpus == pytest.approx(bits)
    assert need.nic_gbps == 400


def test_expert_traffic_by_hand() -> None:
    # Each decoded token goes to 8 experts and back, 1 + 2 bytes, in 58 layers; of 64 GPUs 8 share the server.
    job = replace(service("deepseek-v3"), disaggregated=True)
    found = served(job, 512)
    d = found.decode
    assert (d.tp, d.pp) == (1, 1)
    tokens = found.tokens_per_s / (d.units * d.gpus)
    expected = tokens * 58 * 8 * 7168 * 3 * (1 - 8 / d.ep) * 8 / 1e9
    assert network_need(job, machine(512), found).decode.expert_gbps == pytest.approx(expected)


def test_what_other_networks_are_worth() -> None:
    job = service("deepseek-v3")
    found = served(job, 512)
    values = {v.network: v for v in network_value(job, machine(512), found)}
    assert set(values) == {
        "NICs twice as fast",
        "NICs half as fast",
        "half the bandwidth across spines",
        "rails that no spine joins",
        "no rails",
        "no network between NVLink domains",
    }
    faster, slower = values["NICs twice as fast"].change_fraction, values["NICs half as fast"].change_fraction
    assert faster is not None
    assert slower is not None
    assert slower < 0 <= faster
    # 8 GPUs cannot hold the model.
    assert values["no network between NVLink domains"].change_fraction is None


def test_networks_that_are_not_there_are_not_varied() -> None:
    job = service("llama3.1-8b")
    alone = machine(8, net=replace(NET, rail_optimized=False))
    names = {v.network for v in network_value(job, alone, served(job, 8))}
    assert names == {"NICs twice as fast", "NICs half as fast"}


def test_sentences_carry_their_numbers() -> None:
    job = service("deepseek-v3")
    found = served(job, 512)
    need = network_need(job, machine(512), found)
    assert isinstance(need, NetworkNeed)
    first, *others = network_sentences(need, network_value(job, machine(512), found))
    most = max(need.prefill.total_gbps, need.decode.total_gbps)
    assert f"{most:,.3g} Gb/s" in first
    assert f"{need.nic_fraction:.0%} of its 400 Gb/s" in first
    assert others[-1] == "No network between NVLink domains: the model cannot be served within the limits."
    assert others[1].startswith("NICs half as fast: -")
