"""What the designs of a plan give their job: limits, unknowns, and how the fabric shows in the figures."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ibplan.errors import InputError
from ibplan.plan.job_results import StepParts
from ibplan.plan.results import Design, Plan
from tests.plan.planning import COMPUTE_ONLY, plan

INLINE = "{{gpus: 8, nics: 8, port_gbps: 400{}}}"
STATED = "workload: {recompute: full, parallelism: {pp: 8, ep: 32}}\n"
MOE = "model: deepseek-v3\ngpus: 512\nfabrics: infiniband\n" + COMPUTE_ONLY


def _ratios(found: Plan) -> dict[float, Design]:
    return {float(d.networks.compute.oversubscription.leaf.asked): d for d in found.designs}


def test_the_parts_of_a_step_add_up_and_give_what_follows() -> None:
    training = plan("model: 70B\ngpus: 256\n" + COMPUTE_ONLY).designs[0].performance.training
    assert training is not None
    assert sum(getattr(training.step, f.name) for f in fields(StepParts)) == pytest.approx(training.step_s)
    assert training.tp * training.pp * training.dp * training.cp == training.gpus == 256
    assert training.tokens_per_s == pytest.approx(training.global_batch * training.sequence / training.step_s)
    assert training.mfu == pytest.approx(training.model_tflops_per_gpu / training.peak_tflops)
    assert training.memory_gbytes <= training.memory_usable_gbytes
    assert training.days is not None
    trained = training.tokens_per_s * training.lost.goodput_fraction * 86_400 * training.days
    assert trained == pytest.approx(training.tokens)


def test_fewer_uplinks_never_make_a_step_faster_and_slow_one_whose_experts_are_behind_spines() -> None:
    text = MOE.replace("512", "1024") + "workload: {recompute: full, parallelism: {pp: 4, ep: 256}}\n"
    text += "network: {switch: nvidia-qm9700, unit_servers: 16, oversubscription: [1:1, 2:1, 4:1]}\n"
    designs = _ratios(plan(text))
    steps = [designs[ratio].performance.training.step_s for ratio in (1.0, 2.0, 4.0)]  # type: ignore[union-attr]
    assert steps == sorted(steps)
    assert steps[2] > steps[0]


def test_nics_of_half_the_speed_never_make_a_step_faster() -> None:
    fast, slow = (
        plan(
            f"model: 70B\ngpus: 128\nserver: {INLINE.format(', gpu: nvidia-h100-sxm')}\nfabrics: roce\n" + COMPUTE_ONLY,
            f"server.port_gbps={gbps}",
        )
        for gbps in ("400", "200")
    )
    assert fast.designs[0].performance.training is not None
    assert slow.designs[0].performance.training is not None
    assert slow.designs[0].performance.training.step_s >= fast.designs[0].performance.training.step_s


def test_a_model_that_does_not_fit_is_short_of_memory_on_every_design() -> None:
    found = plan("model: 405B\ngpus: 8\n" + COMPUTE_ONLY)
    assert found.recommended is None
    assert found.nearest == ()
    assert all(design.fits.memory is False for design in found.designs)
    assert all(design.performance.training is None for design in found.designs)
    (short,) = found.shortfall
    assert short.limit == "gpu_memory"
    assert short.best is not None
    assert short.best > short.asked > 0
    assert "memory-short" in {f.code for f in found.findings}


def test_more_gpus_bring_a_model_to_fit() -> None:
    fits = [plan("model: 70B\ngpus: 8\n" + COMPUTE_ONLY, f"gpus={n}").designs[0].fits.memory for n in (8, 64, 512)]
    assert fits == sorted(fits, key=bool)
    assert fits[-1] is True


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gpus: 64\n", "names no model"),
        (f"model: 70B\ngpus: 64\nserver: {INLINE.format('')}\n", "not known"),
    ],
)
def test_what_is_not_known_is_said_and_nothing_is_made_up(text: str, reason: str) -> None:
    design = plan(text + COMPUTE_ONLY).designs[0]
    assert design.performance.training is None
    assert design.fits.memory is None
    (row,) = design.performance.not_modelled
    assert reason in row.reason


def test_a_service_keeps_its_limits_or_says_how_far_it_is_off() -> None:
    text = "model: 70B\ngpus: 64\nworkload: {task: inference}\n" + COMPUTE_ONLY
    service = plan(text).designs[0].performance.inference
    assert service is not None
    assert service.ttft_s <= service.ttft_limit_s
    assert service.tpot_s <= service.tpot_limit_s
    hopeless = plan(text, "workload.tpot=0.01 ms")
    assert hopeless.recommended is None
    assert {row.limit for row in hopeless.shortfall} == {"tpot_s"}
    assert all(design.fits.latency is False for design in hopeless.designs)


def test_the_largest_job_of_the_mix_is_modelled() -> None:
    text = "model: 8B\ngpus: 256\nworkload: {jobs: [{gpus: 64, share: 60%}, {gpus: 128, share: 40%}]}\n"
    training = plan(text + COMPUTE_ONLY).designs[0].performance.training
    assert training is not None
    assert training.gpus == 128


def _problems(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(InputError) as caught:
        plan(text + COMPUTE_ONLY)
    return [(p.line, p.column, p.message) for p in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("model: lama3\ngpus: 64\n", 1, "unknown model preset"),
        ("model: 70B\ngpus: 64\nworkload: {parallelism: {tp: 128}}\n", 3, "the cluster has 64"),
        ("model: 70B\ngpus: 64\nworkload: {jobs: [{gpus: 128, share: 100%}]}\n", 3, "the cluster has 64"),
        ("model: 70B\ngpus: 64\nworkload: {ttft: 1 s}\n", 3, "ttft is of inference"),
        ("model: {layers: 10, hidden: 100, heads: 7}\ngpus: 64\n", 1, "7"),
    ],
)
def test_a_job_that_cannot_be_is_an_error_at_its_place(text: str, line: int, words: str) -> None:
    problems = _problems(text)
    assert any(found == line and words in message for found, _, message in problems), problems


def test_all_that_is_wrong_with_a_job_is_told_at_once() -> None:
    text = "model: llama3.1-70b\ngpus: 64\nworkload: {parallelism: {tp: 3, pp: 100}, ttft: 1 s}\n"
    assert len(_problems(text)) >= 3


def test_rules_of_the_field_come_with_their_numbers() -> None:
    performance = plan(MOE + STATED).designs[0].performance
    assert {rule.rule.split()[0] for rule in performance.rules} >= {"Training", "All-to-all"}
    assert all(rule.numbers and rule.holds is not None for rule in performance.rules)


def test_one_gpu_sends_nothing() -> None:
    design = plan("model: 1B\ngpus: 1\nserver: {gpus: 1, gpu: nvidia-h100-sxm, nics: 1, port_gbps: 400}\n").designs
    assert all(d.performance.allreduce == () and d.performance.rules == () for d in design)


def test_a_job_mix_bears_what_no_unit_is_held_up_by() -> None:
    mix = "workload: {jobs: [{gpus: 256, share: 50%}, {gpus: 128, share: 50%}]}\n"
    text = "model: 8B\ngpus: 512\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, tiers: 2}\n" + COMPUTE_ONLY
    rows = {row.pattern: row for row in plan(text + mix).designs[0].performance.job_mix}
    assert all(row.bearable_leaf is None and row.leaving_units_fraction == 0 for row in rows.values())  # one unit each
    spread = {row.pattern: row for row in plan(text + mix.replace("256", "512")).designs[0].performance.job_mix}
    uniform, ring = spread["uniform"], spread["ring"]
    assert uniform.bearable_leaf is not None
    assert ring.bearable_leaf is not None
    # Of 511 others 256 are in the other unit of 256.
    assert float(uniform.bearable_leaf) == pytest.approx(511 / 256)
    assert ring.bearable_leaf > uniform.bearable_leaf
    assert plan(text).designs[0].performance.job_mix == ()


def test_where_stops_leave_no_time_nothing_is_made_up() -> None:
    found = plan(
        "model: 70B\ngpus: 262144\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, tiers: 3}\n" + COMPUTE_ONLY
    )
    assert "no-time-to-train" in {f.code for f in found.findings}
    for design in found.designs:
        training = design.performance.training
        assert training is not None
        assert training.step_s > 0
        assert training.lost.goodput_fraction == 0
        assert (training.days, training.energy_kwh, training.usd_per_million_tokens) == (None, None, None)
