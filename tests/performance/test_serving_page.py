"""docs/inference-validation.md: measured against modelled, made anew by `make golden` and held for staleness."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ibplan.performance.serving_passes import constants, decode_pass, prefill_pass
from ibplan.workload.job import InferenceJob
from tests.golden import check_golden
from tests.performance.serving_measurements import DATA, Row, deployments, fp8_job, modelled, published_machine, rows
from tests.performance.test_collectives_page import percent, table

PAGE = Path(__file__).parents[2] / "docs" / "inference-validation.md"
DAY = DATA["deepseek_day"]
HEAD = """# Inference: measured and modelled

This page is made by `make golden` from `tests/measured/serving.yaml`, where each figure has its source. The model is
that of [inference.md](inference.md). An error is modelled throughput over measured throughput, less one: above zero the
model is too fast. *Fitted on*: the pace rests on it. *Held out*: kept out of the fit. The mixtures of experts that are
held out are missed: the pace with experts is that of DeepSeek's own software, and this software is slower. No constant
makes up for it.
"""


@cache
def errors() -> tuple[tuple[Row, float], ...]:
    return tuple((row, modelled(row) / row.tokens_per_s - 1) for row in rows())


def errors_of(role: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([error for row, error in errors() if row.role == role])


def day_job() -> InferenceJob:
    """The mean request of DeepSeek's day, with the cache in bf16 as it is reported."""
    requests_tokens = DAY["input_tokens"] / DAY["output_tokens"]  # input tokens for each output token
    # mean cache length = input + output / 2 while it decodes
    output = DAY["cache_length"] / (requests_tokens + 0.5)
    job = fp8_job(DAY["model"], round(output * requests_tokens), round(output), kv_cache="bf16")
    return replace(job, cached_fraction=DAY["cached_tokens"] / DAY["input_tokens"])


def day_decode() -> tuple[float, float]:
    """Tokens a second and node, and seconds a token, with as many requests a GPU as both published figures make."""
    per_gpu = DAY["decode_tokens_per_s_node"] / 8 / np.mean(DAY["user_tokens_per_s"])
    tried = deployments(1, DAY["decode_ep"], [round(per_gpu)])
    seconds = decode_pass(day_job(), tried, published_machine(DAY["gpu"])).total_s[0]
    return 8 * round(per_gpu) / seconds, float(seconds)


def day_prefill() -> float:
    """Input tokens a second and node, those from the cache included, with as large batches as help."""
    job = day_job()
    tried = deployments(1, DAY["prefill_ep"], [1, 2, 4])
    seconds = prefill_pass(job, tried, published_machine(DAY["gpu"])).total_s
    return float((8 * tried.batch * job.input_tokens / seconds).max())


def test_the_pace_is_fitted_on_its_table() -> None:
    # At a pace p the modelled throughput is p times the roofline's: the mean of the ratios is 1.
    known = constants()
    ratios = 1 + errors_of("fitted on")
    assert known.pace.value == pytest.approx(known.pace.value / ratios.mean(), abs=0.005)


def test_the_pace_with_experts_is_fitted_on_deepseeks_day() -> None:
    known = constants().pace_with_experts.value
    decode, prefill = day_decode()[0], day_prefill()
    ratios = decode / DAY["decode_tokens_per_s_node"], prefill / DAY["prefill_tokens_per_s_node"]
    assert known == pytest.approx(known / np.mean(ratios), abs=0.005)


def test_held_out_rows() -> None:
    found = errors_of("held out")
    assert len(found) == 50
    assert np.abs(found).mean() <= 0.10
    assert abs(found.mean()) <= 0.10
    assert np.abs(found).max() <= 0.35


def test_deepseeks_day_is_met_in_both_phases() -> None:
    rate, seconds = day_decode()
    assert rate == pytest.approx(DAY["decode_tokens_per_s_node"], rel=0.10)
    assert day_prefill() == pytest.approx(DAY["prefill_tokens_per_s_node"], rel=0.10)
    slow, fast = DAY["user_tokens_per_s"]
    assert 0.9 * slow <= 1 / seconds <= 1.1 * fast


def page() -> str:
    return (
        HEAD + summary() + day() + "".join(section(name) for name in dict.fromkeys(r.deployment for r, _ in errors()))
    )


def summary() -> str:
    lines = []
    for role in dict.fromkeys(row.role for row, _ in errors()):
        found = errors_of(role)
        mean, size, worst = found.mean(), np.abs(found).mean(), found[np.abs(found).argmax()]
        lines.append((role, len(found), percent(mean), percent(size)[1:], percent(worst)))
    return "\n## In all\n\n" + table(("role", "figures", "mean error", "mean size of the error", "worst"), lines)


def day() -> str:
    rate, seconds = day_decode()
    slow, fast = DAY["user_tokens_per_s"]
    lines = [
        ("decode, tokens a second and node", f"{DAY['decode_tokens_per_s_node']:,}", f"{rate:,.0f}"),
        ("decode, tokens a second and user", f"{slow} to {fast}", f"{1 / seconds:.1f}"),
        ("prefill, tokens a second and node", f"{DAY['prefill_tokens_per_s_node']:,}", f"{day_prefill():,.0f}"),
    ]
    text = (
        "\n## DeepSeek's service\n\nAverages of one day on H800, and what the pace with experts is fitted on: one "
        "number for two phases.\nThe requests at once follow from the published rates of a node and a user.\n\n"
    )
    return text + table(("what", "measured", "modelled"), lines)


def each(measured_per_s: float, error: float) -> tuple[str, str, str]:
    return f"{measured_per_s:,.0f}", f"{measured_per_s * (1 + error):,.0f}", percent(error)


def section(deployment: str) -> str:
    found = [(row, error) for row, error in errors() if row.deployment == deployment]
    lines = [(f"{row.input_tokens:,} / {row.output_tokens:,}", *each(row.tokens_per_s, error)) for row, error in found]
    head = ("input / output tokens", "measured tokens/s", "modelled tokens/s", "error")
    return f"\n## {deployment}\n\n{found[0][0].role.capitalize()}.\n\n" + table(head, lines)


def test_the_page_is_up_to_date() -> None:
    check_golden(PAGE, page())
