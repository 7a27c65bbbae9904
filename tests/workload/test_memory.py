"""Memory of training: published equations as limiting cases, published runs, and what more sharding must do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.workload.defaults import training_defaults
from ibplan.workload.job import ElementBytes, TrainingJob
from ibplan.workload.mapping import RECOMPUTE
from ibplan.workload.memory import fits_memory, memory_bytes, missing_bytes, usable_bytes
from ibplan.workload.parameters import expert_parameters, total_parameters
from ibplan.workload.presets import load_presets
from ibplan.workload.stages import busiest_layers, stages_of
from tests.workload.shapes import gpt, job, mapping, preset


def paper_job(layers: int, hidden: int, heads: int, batch: int = 64) -> TrainingJob:
    """A job as in arXiv 2205.05198: unfused attention, dropout."""
    return job(gpt(layers, hidden, heads), 2048, batch, fused_attention=False, dropout=True)


def activations_of_layers(training: TrainingJob, **choices: Any) -> float:
    """Activations of the layers alone: of twice the layers less those of the layers."""
    double = replace(training, shape=replace(training.shape, layers=2 * training.shape.layers))
    found = [memory_bytes(one, mapping(**choices)).activations[0] for one in (double, training)]
    return float(found[0] - found[1])


@given(
    heads=st.sampled_from([16, 32, 96]),
    tp=st.sampled_from([1, 2, 4, 8]),
    micro_batch=st.integers(1, 4),
    layers=st.integers(1, 40),
)
def test_the_equations_of_korthikanti(heads: int, tp: int, micro_batch: int, layers: int) -> None:
    # arXiv 2205.05198 Table 2, bytes a layer: s b h (10 + 24/t + 5 a s / ht); sequence parallel s b h (34/t + 5 a s /
    # ht); selective without the scores; full 2 s b h.
    h, s = heads * 128, 2048
    sbh = s * micro_batch * h
    training = paper_job(layers, h, heads)
    scores = 5 * heads * s / (h * tp)

    def of(recompute: str, sequence_parallel: bool) -> float:
        choices: dict[str, Any] = {"tp": tp, "micro_batch": micro_batch, "recompute": recompute}
        return activations_of_layers(training, sequence_parallel=sequence_parallel, **choices) / layers

    assert of("none", False) == pytest.approx(sbh * (10 + 24 / tp + scores), rel=1e-9)
    assert of("none", True) == pytest.approx(sbh * (34 / tp + scores), rel=1e-9)
    assert of("selective", False) == pytest.approx(sbh * (10 + 24 / tp), rel=1e-9)
    assert of("selective", True) == pytest.approx(sbh * 34 / tp, rel=1e-9)
    assert of("full", False) == pytest.approx(sbh * 2, rel=1e-9)


@pytest.mark.parametrize(("tp", "pp", "interleave"), [(8, 8, 3), (8, 8, 1), (4, 16, 2), (1, 1, 1)])
def test_what_a_pipeline_adds(tp: int, pp: int, interleave: int) -> None:
    # The same paper, section 4.2.3 and 4.3: the first stage keeps L layers' worth, interleaved L (1 + (p-1)/(p m)) of
    # them, and s b h p / t of the embedding's masks; without a pipeline 4 s b h / t (1 + V/h) of the output, too.
    training = paper_job(96, 12288, 96)
    s, h, vocab = 2048, 12288, 51200
    layers = 96 * (1 + (pp - 1) / (pp * interleave)) if interleave > 1 else 96
    expected = 34 * s * h / tp * layers + s * h * (layers / 96 * pp) / tp
    if pp == 1:
        expected += 4 * s * h / tp * (1 + vocab / h)
    found = memory_bytes(training, mapping(tp=tp, pp=pp, interleave=interleave, recompute="selective"))
    assert found.activations[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "tp", "pp", "interleave", "batch", "micro_batch"),
    # The same paper, Table 3 and Figure 1: 22B, 175B, 530B and 1T on A100 of 80 GB.
    [
        (48, 6144, 64, 8, 1, 1, 4, 4),
        (96, 12288, 96, 8, 8, 3, 64, 1),
        (105, 20480, 128, 8, 35, 3, 280, 1),
        (128, 25600, 160, 8, 64, 1, 512, 1),
    ],
)
def test_published_models_fit_only_with_the_papers_technique(
    layers: int, hidden: int, heads: int, tp: int, pp: int, interleave: int, batch: int, micro_batch: int
) -> None:
    training = paper_job(layers, hidden, heads, batch)
    choices: dict[str, Any] = {"tp": tp, "pp": pp, "interleave": interleave, "micro_batch": micro_batch}
    assert fits_memory(training, mapping(recompute="selective", **choices), 80e9).all()
    # Neither without both, nor with one of them alone; with full recomputation, as before the paper.
    assert not fits_memory(training, mapping(sequence_parallel=False, **choices), 80e9).any()
    assert not fits_memory(training, mapping(**choices), 80e9).any()
    assert not fits_memory(training, mapping(recompute="selective", sequence_parallel=False, **choices), 80e9).any()
    assert fits_memory(training, mapping(recompute="full", sequence_parallel=False, **choices), 80e9).all()


def test_the_run_of_llama_405b_fits() -> None:
    # arXiv 2407.21783 section 3.3.2: tensor 8, pipeline 16, 8,192 tokens on 80 GB without full recomputation.
    training = job(preset("llama3.1-405b"), 8192, 2048)
    choices: dict[str, Any] = {"tp": 8, "pp": 16, "dp": [64, 128], "zero": 1}
    assert fits_memory(training, mapping(recompute="selective", **choices), 80e9).all()
    # With 131,072 tokens, context parallel 16: as many tokens on a GPU.
    long = job(preset("llama3.1-405b"), 131072, 128)
    same = memory_bytes(long, mapping(recompute="selective", tp=8, pp=16, dp=8, cp=16, zero=1))
    assert same.activations[0] == pytest.approx(
        memory_bytes(training, mapping(recompute="selective", tp=8, pp=16, dp=128, zero=1)).activations[0]
    )


def test_the_run_of_deepseek_v3_fits_80_gbytes() -> None:
    # arXiv 2412.19437 section 3.2: pipeline 16, expert parallel 64, ZeRO 1, no tensor parallelism, 2,048 GPUs.
    training = job(preset("deepseek-v3"), 4096, 15360, precision="fp8")
    choices: dict[str, Any] = {"pp": 16, "dp": 128, "ep": 64, "zero": 1}
    assert fits_memory(training, mapping(recompute="full", **choices), 80e9).all()


def test_state_takes_18_bytes_a_parameter() -> None:
    # stas00/ml-engineering: 2 + 4 + 12; ZeRO (arXiv 1910.02054, Figure 1: 7.5B on 64 GPUs, with 2 + 2 + 12 bytes takes
    # 120, 31.4, 16.6 and 1.9 GB).
    training = job(gpt(48, 3584, 28))
    n = total_parameters(training.shape)
    plain = memory_bytes(training, mapping())
    assert (plain.weights + plain.gradients + plain.optimizer)[0] == 18 * n
    zero = replace(training, element_bytes=ElementBytes(2, 2, 12))
    found = memory_bytes(zero, mapping(dp=64, zero=[0, 1, 2, 3]))
    state = (found.weights + found.gradients + found.optimizer) / n * 7.5
    assert state == pytest.approx([120, 31.4, 16.6, 1.9], rel=0.015)


@pytest.mark.parametrize("name", load_presets())
def test_all_parameters_are_somewhere(name: str) -> None:
    # One GPU holds all; and over a pipeline the stages' parameters add up, with a tied matrix twice.
    shape = preset(name)
    m = np.array([1])
    one, *_ = stages_of(shape, mapping(), m)
    assert (one.dense_parameters + one.expert_parameters)[0] == total_parameters(shape)
    assert one.expert_parameters[0] == pytest.approx(expert_parameters(shape))
    first, *_, last = stages_of(shape, mapping(pp=2), m)
    twice = shape.vocab * shape.hidden if shape.tied_embeddings else 0
    both = sum((stage.dense_parameters + stage.expert_parameters)[0] for stage in (first, last))
    assert both == total_parameters(shape) + twice


@given(pp=st.integers(1, 126))
def test_no_stage_is_fuller_than_the_busiest(pp: int) -> None:
    shape = preset("llama3.1-405b")
    found = stages_of(shape, mapping(pp=pp), np.array([10**6]))
    assert max(int(stage.layers[0]) for stage in found) == busiest_layers(shape, mapping(pp=pp))[0]
    assert min(int(found[0].layers[0]), int(found[-1].layers[0])) >= shape.layers // pp


def test_llama_takes_a_layer_off_the_first_and_the_last_stage() -> None:
    # arXiv 2407.21783 section 3.3.2: 126 layers on 16 stages, one less on the first and on the last.
    first, second, last = stages_of(preset("llama3.1-405b"), mapping(pp=16), np.array([32]))
    assert (first.layers[0], second.layers[0], last.layers[0]) == (7, 8, 7)
    assert (first.in_flight[0], second.in_flight[0], last.in_flight[0]) == (16, 15, 1)


def test_few_microbatches_are_all_that_is_kept() -> None:
    first, last = stages_of(gpt(16, 1024, 8), mapping(pp=8), np.array([3]))
    assert (first.in_flight[0], last.in_flight[0]) == (3, 1)


@given(
    name=st.sampled_from(["llama3.1-70b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-120b"]),
    tp=st.sampled_from([1, 2, 4, 8]),
    pp=st.sampled_from([1, 2, 4, 8]),
    dp=st.sampled_from([8, 16]),
    interleave=st.sampled_from([1, 2]),
    recompute=st.sampled_from(RECOMPUTE),
)
def test_more_sharding_takes_no_more_memory(
    name: str, tp: int, pp: int, dp: int, interleave: int, recompute: str
) -> None:
    training = job(preset(name), 4096, 1024)
    choices: dict[str, Any] = {"tp": tp, "pp": pp, "dp": dp, "interleave": interleave, "recompute": recompute}

    def total(**other: Any) -> float:
        return float(memory_bytes(training, mapping(**(choices | other))).total[0])

    assert total(zero=0) >= total(zero=1) >= total(zero=2)
    assert total(tp=2 * tp) <= total()
    assert total(cp=2) <= total()
    assert total(micro_batch=2) >= total()
    assert total(sequence_parallel=False) >= total()
    assert total(recompute="none") >= total(recompute="selective")
    if training.shape.experts is not None:
        assert total(ep=8) < total()


def test_many_mappings_at_once_are_each_alone() -> None:
    training = job(preset("deepseek-v3"), 4096, 1024)
    tp, pp, ep, zero = [1, 2, 4, 1], [16, 8, 4, 61], [8, 4, 1, 16], [0, 1, 2, 3]
    together = memory_bytes(training, mapping(tp=tp, pp=pp, dp=16, ep=ep, zero=zero)).total
    for i, total in enumerate(together):
        alone = memory_bytes(training, mapping(tp=tp[i], pp=pp[i], dp=16, ep=ep[i], zero=zero[i])).total
        assert alone[0] == pytest.approx(total)


def test_how_much_is_missing() -> None:
    training = job(preset("llama3.1-70b"), 8192, 512)
    mappings = mapping(tp=8, dp=[1, 2], zero=1)
    least = memory_bytes(training, mappings).total.min()
    assert missing_bytes(training, mappings, 80e9) == pytest.approx(least - 80e9 * 0.92)
    assert missing_bytes(training, mappings, 800e9) == 0
    assert usable_bytes(80e9) == 80e9 * training_defaults().usable_memory_fraction.value
    with pytest.raises(ValueError, match="no mapping"):
        missing_bytes(training, mappings.take(np.array([False, False])), 80e9)
