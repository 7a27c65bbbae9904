"""Bytes on each axis: by hand, published proportions, and what must hold whatever the mapping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.workload.mapping import RECOMPUTE
from ibplan.workload.parameters import expert_parameters, total_parameters
from ibplan.workload.traffic import Exchange, Traffic, traffic_bytes
from tests.workload.shapes import gpt, job, mapping, preset

AXES = ("tp", "pp", "cp", "ep", "dp")


def test_the_published_run_of_one_trillion_parameters() -> None:
    # arXiv 2104.04473 Table 1: tensor 8, pipeline 64, data 6, 3,072 sequences of 2,048. Each tensor rank sends its part
    # of b s h to the next stage (section 4.1); an all-reduce of b s h sends 2 b s h (t-1)/t elements.
    traffic = traffic_bytes(
        job(gpt(128, 25600, 160), 2048, 3072), mapping(tp=8, pp=64, dp=6, zero=0, recompute="full"), 8
    )
    bsh = 2048 * 25600
    assert traffic.pp.message_bytes[0] == 2 * bsh / 8
    assert traffic.pp.calls[0] == 2 * 512
    # Two layers a stage, 512 microbatches, four all-reduces and two more of the recomputation.
    assert traffic.tp.calls[0] == 6 * 2 * 512
    assert traffic.sent_bytes("tp")[0] == pytest.approx(512 * 2 * 6 * 2 * (7 / 8) * 2 * bsh)
    # Tensor ranks stay in the server, the others leave it.
    assert traffic.network_bytes("tp")[0] == 0
    assert traffic.network_bytes("pp")[0] == traffic.sent_bytes("pp")[0]
    assert traffic.network_bytes("dp")[0] == traffic.sent_bytes("dp")[0]
    # Why tensor ranks belong inside a server: they send tens of times what the others do.
    assert traffic.sent_bytes("tp")[0] > 20 * (traffic.sent_bytes("dp")[0] + traffic.sent_bytes("pp")[0])


def test_the_pipelines_share_of_the_published_bisection() -> None:
    # The same run: 892 GB/s effective for the pipeline's sends. All GPUs' sends of a step with two chunks a GPU, over
    # the 102.6 s that Table 1 implies, are a tenth below. The paper does not say how it averages, so this is a bound.
    shape = gpt(128, 25600, 160)
    traffic = traffic_bytes(job(shape, 2048, 3072), mapping(tp=8, pp=64, dp=6, interleave=2), 8)
    rate = 3072 * traffic.network_bytes("pp")[0] / 102.63 / 1e9
    assert 0.85 * 892 < rate < 892


def test_gradients_by_zero_stage() -> None:
    # 8 data-parallel ranks, N parameters, 4 microbatches; gradients of 4 bytes, weights of 2.
    shape = gpt(16, 2048, 16)
    n, share = total_parameters(shape), 7 / 8
    traffic = traffic_bytes(job(shape, 2048, 32), mapping(dp=8, zero=[0, 1, 2, 3]), 1)
    # All-reduce; scatter and gather once; scatter for each microbatch; gather twice for each, too.
    expected = [2 * 4 * n, (4 + 2) * n, (4 * 4 + 2) * n, (4 * 4 + 2 * 4 * 2) * n]
    assert traffic.sent_bytes("dp") == pytest.approx([share * bytes_ for bytes_ in expected])
    assert traffic.sent_bytes("ep").max() == 0


def test_context_ring_by_hand() -> None:
    # Llama-3.1 405B, 131,072 tokens on 16 ranks, tensor 8: of 8 key-value heads of 128 each GPU has one. A block is
    # 8,192 x 2 x 128 x 2 bytes; 15 of them a layer forward, twice as many backward; 8 layers, 16 microbatches.
    training = job(preset("llama3.1-405b"), 131072, 128)
    traffic = traffic_bytes(training, mapping(tp=8, pp=16, dp=8, cp=16), 8)
    assert traffic.cp.message_bytes[0] == 8192 * 2 * 128 * 2
    assert traffic.sent_bytes("cp")[0] == 8192 * 2 * 128 * 2 * 15 * 3 * 8 * 16
    assert traffic.network_bytes("cp")[0] == traffic.sent_bytes("cp")[0]


def test_expert_exchange_by_hand() -> None:
    # DeepSeek-V3 with expert parallel 64 on servers of 8: 4,096 tokens to 8 experts each, one byte there, two back,
    # forward and backward; 61 layers over 16 stages make 4 of which 58 / 61 have experts; 120 microbatches.
    training = job(preset("deepseek-v3"), 4096, 15360, precision="fp8")
    from ibplan.workload.job import element_bytes  # what precision decides

    assert (element_bytes("fp8").dispatch, element_bytes("fp8").combine) == (1, 2)
    training = job(preset("deepseek-v3"), 4096, 15360, precision="fp8", element_bytes=element_bytes("fp8"))
    traffic = traffic_bytes(training, mapping(pp=16, dp=128, ep=64), 8)
    layers = 4 * 58 / 61
    assert traffic.dispatch.message_bytes[0] == 4096 * 8 * 7168
    assert traffic.dispatch.calls[0] == pytest.approx(layers * 120 * 2)
    sent = 4096 * 8 * 7168 * (1 + 2) * layers * 120 * 2
    assert traffic.sent_bytes("ep")[0] == pytest.approx(sent * 63 / 64)
    assert traffic.network_bytes("ep")[0] == pytest.approx(sent * 56 / 64)


def test_expert_gradients_go_to_the_ranks_with_the_same_experts() -> None:
    shape = preset("mixtral-8x7b")
    traffic = traffic_bytes(job(shape, 4096, 64), mapping(dp=32, ep=8, zero=1), 8)
    assert traffic.expert_gradients.group[0] == 4
    assert traffic.expert_gradients.inside[0] == 1
    assert traffic.expert_gradients.message_bytes[0] == pytest.approx(4 * expert_parameters(shape) / 8)
    dense = total_parameters(shape) - expert_parameters(shape)
    assert traffic.gradients.group[0] == 32
    assert traffic.gradients.inside[0] == 8
    assert traffic.gradients.message_bytes[0] == pytest.approx(4 * dense)


def test_experts_split_by_tensor_ranks_reduce_every_copy() -> None:
    # Mixtral: two experts a token. Of a layer's two all-reduces that of the experts is over two copies.
    traffic = traffic_bytes(job(preset("mixtral-8x7b"), 4096, 1), mapping(tp=2), 8)
    assert traffic.sent_bytes("tp")[0] == pytest.approx(32 * 2 * (1 + 2) * 2 * (1 / 2) * 4096 * 4096 * 2)


@pytest.mark.parametrize(
    ("domain", "tp", "cp", "dp", "inside"),
    # Tensor ranks stand closest, then context, then data.
    [
        (8, 8, 1, 4, {"tp": 8, "dp": 1}),
        (8, 4, 1, 4, {"tp": 4, "dp": 2}),
        (8, 2, 2, 4, {"tp": 2, "cp": 2, "dp": 4}),
        (8, 2, 8, 1, {"tp": 2, "cp": 4, "dp": 4}),
        (72, 8, 1, 16, {"tp": 8, "dp": 9}),
        (1, 8, 1, 2, {"tp": 1, "dp": 1}),
        (4, 8, 1, 2, {"tp": 4, "dp": 1}),
    ],
)
def test_which_ranks_share_a_domain(domain: int, tp: int, cp: int, dp: int, inside: dict[str, int]) -> None:
    traffic = traffic_bytes(job(gpt(8, 1024, 8), 2048, 64), mapping(tp=tp, cp=cp, dp=dp), domain)
    found = {"tp": traffic.tp.inside[0], "cp": traffic.cp.inside[0], "dp": traffic.gradients.inside[0]}
    assert {axis: found[axis] for axis in inside} == inside


def test_a_pipeline_inside_a_domain_stays_there() -> None:
    training = job(gpt(8, 1024, 8), 2048, 64)
    assert traffic_bytes(training, mapping(tp=2, pp=4), 8).network_bytes("pp")[0] == 0
    assert traffic_bytes(training, mapping(tp=4, pp=4), 8).network_bytes("pp")[0] > 0
    # With two stages each sends one way; interleaved, both.
    one, both = (traffic_bytes(training, mapping(pp=2, interleave=v), 8).pp.calls[0] for v in (1, 2))
    assert (one, both) == (64, 2 * 2 * 64)


def exchanges(traffic: Traffic) -> list[Exchange]:
    return [exchange for axis in traffic.axes().values() for exchange in axis]


@given(
    name=st.sampled_from(["llama3.1-70b", "mixtral-8x7b", "deepseek-v3"]),
    tp=st.sampled_from([1, 2, 4, 8]),
    pp=st.sampled_from([1, 2, 4, 16]),
    dp=st.sampled_from([8, 16, 64]),
    cp=st.sampled_from([1, 2, 4]),
    ep=st.sampled_from([1, 2, 8]),
    zero=st.integers(0, 3),
    domain=st.sampled_from([1, 4, 8, 72]),
    recompute=st.sampled_from(RECOMPUTE),
)
def test_what_always_holds(domain: int, **choices: Any) -> None:
    training = job(preset(choices.pop("name")), 8192, 1024)
    traffic = traffic_bytes(training, mapping(**choices), domain)
    for exchange in exchanges(traffic):
        # A GPU alone sends nothing, and nothing leaves a domain that holds the group.
        silent = exchange.group[0] == 1 or exchange.calls[0] == 0 or exchange.message_bytes[0] == 0
        assert (exchange.sent_bytes[0] == 0) == silent
        assert 0 <= exchange.network_bytes[0] <= exchange.sent_bytes[0]
        assert exchange.domain_bytes[0] >= 0
        if exchange.inside[0] == exchange.group[0]:
            assert exchange.network_bytes[0] == pytest.approx(0, abs=1e-6)
        assert 1 <= exchange.inside[0] <= exchange.group[0]
    assert traffic.network_bytes()[0] == pytest.approx(sum(traffic.network_bytes(axis)[0] for axis in AXES))
    # A larger domain takes traffic off the network; without one all of it leaves.
    wider = traffic_bytes(training, mapping(**choices), 2 * domain)
    alone = traffic_bytes(training, mapping(**choices), 1)
    for axis in AXES:
        assert wider.network_bytes(axis)[0] <= traffic.network_bytes(axis)[0] * (1 + 1e-12)
        assert wider.sent_bytes(axis)[0] == traffic.sent_bytes(axis)[0]
        assert alone.network_bytes(axis)[0] == pytest.approx(alone.sent_bytes(axis)[0])


def test_many_mappings_at_once_are_each_alone() -> None:
    training = job(preset("deepseek-v3"), 4096, 1024)
    tp, pp, ep, zero = [1, 2, 4, 1], [16, 8, 4, 61], [8, 4, 1, 16], [0, 1, 2, 3]
    together = traffic_bytes(training, mapping(tp=tp, pp=pp, dp=16, ep=ep, zero=zero), 8).network_bytes()
    for i, network in enumerate(together):
        alone = traffic_bytes(training, mapping(tp=tp[i], pp=pp[i], dp=16, ep=ep[i], zero=zero[i]), 8)
        assert alone.network_bytes()[0] == pytest.approx(network)
    assert together.dtype == np.float64
