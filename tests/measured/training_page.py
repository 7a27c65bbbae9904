"""The text of docs/validation.md: published training runs beside what the model says of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ibplan.performance.efficiency import efficiencies
from ibplan.performance.practice import practices
from ibplan.workload.flops import AttentionCount, model_flops
from ibplan.workload.shape_model import ModelShape
from tests.measured.training_tables import Case, Table, cases, tables
from tests.workload import shapes

HEAD = """# Training: measured and modelled

This page is made by `make golden` from `tests/measured/training.yaml`, where every run has its source. The model is
that of [training.md](training.md); its collectives have a page of their own
([collectives-validation.md](collectives-validation.md)).

An error is modelled step time over measured step time, less one: below zero the model is too fast. A published
TFLOP/s or MFU is turned into a step time with the FLOPs that its source counts; each table says which. *Calibration*:
a constant is fitted on it, so that its errors say how well one number fits, and nothing more. *Validation*: not fitted
on, and held to a mark by a test. *Out of sample*: not fitted on, without a claim. Nothing is tuned for a row.
"""
UNITS = {
    "step_s": "s",
    "hardware_tflops": "TFLOP/s with recomputation",
    "model_tflops": "TFLOP/s",
    "mfu_percent": "% MFU",
}


@dataclass(frozen=True)
class Errors:
    """The errors of some cases."""

    cases: tuple[Case, ...]

    @cached_property
    def values(self) -> np.ndarray:
        """Each of them."""
        return np.array([case.error for case in self.cases])

    @property
    def mean(self) -> float:
        """Mean absolute error."""
        return float(np.abs(self.values).mean())

    @property
    def bias(self) -> float:
        """Mean error."""
        return float(self.values.mean())

    @property
    def worst(self) -> float:
        """Largest absolute error."""
        return float(np.abs(self.values).max())

    @property
    def spread(self) -> float:
        """Largest distance of an error from the bias."""
        return float(np.abs(self.values - self.bias).max())


def ratios(found: tuple[Case, ...]) -> list[tuple[float, float] | None]:
    """Of each run, throughput over that of the first run of its model: measured, modelled. None for that first run."""
    first: dict[str, Case] = {}
    pairs: list[tuple[float, float] | None] = []
    for case in found:
        base = first.setdefault(case.run.ratio_of or "", case)
        modelled = case.modelled / base.modelled
        pairs.append(None if base is case else (case.measured / base.measured, modelled))
    return pairs


def ratio_errors(found: tuple[Case, ...]) -> list[float]:
    """Relative errors of the ratios."""
    return [modelled / measured - 1 for measured, modelled in filter(None, ratios(found))]


def marks() -> list[tuple[str, str, str, bool]]:
    """Table, what is asked, what is found, whether it holds."""
    kort, llama = Errors(cases("korthikanti_table5")), Errors(cases("llama3_table4")[1:])
    sc21 = Errors(cases("sc21_table1"))
    found = [
        ("korthikanti_table5", "mean error at most 6 %", _share(kort.mean), kort.mean <= 0.06),
        ("llama3_table4", "both other rows within 7 %", _share(llama.worst), llama.worst <= 0.07),
        ("sc21_table1", "mean error at most 12 %", _share(sc21.mean), sc21.mean <= 0.12),
        ("sc21_table1", "every error within 6 % of the bias", _share(sc21.spread), sc21.spread <= 0.06),
    ]
    for name in ("sc21_table2_ptd", "sc21_table2_zero3"):
        worst = max(map(abs, ratio_errors(cases(name))))
        found.append((name, "every ratio within 10 %", _share(worst), worst <= 0.10))
    return found


def page() -> str:
    """The whole page."""
    sections = [HEAD, _marks_section(), _summary(), _constants(), _conventions()]
    return "".join([*sections, *(_section(table) for table in tables().tables)])


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n" + "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _signed(value: float) -> str:
    return f"{100 * value:+.1f} %"


def _marks_section() -> str:
    names = {table.id: table.title for table in tables().tables}
    rows = [(names[name], asked, found, "yes" if holds else "**no**") for name, asked, found, holds in marks()]
    return "\n## Marks\n" + _table(("table", "mark", "found", "holds"), rows)


def _summary() -> str:
    rows = []
    for table in tables().tables:
        errors = Errors(cases(table.id))
        figures = _share(errors.mean), _signed(errors.bias), _share(errors.spread), _share(errors.worst)
        rows.append((table.title, table.role, len(errors.cases), *figures))
    head = ("table", "role", "runs", "mean error", "bias", "largest distance from the bias", "worst")
    return "\n## All tables\n" + _table(head, rows)


def _constants() -> str:
    rows: list[tuple[object, ...]] = [
        (f"matmul efficiency, {c.gpu}, {c.precision}", c.matmul_efficiency, c.source)
        for c in efficiencies().calibrations
    ]
    zero3 = practices()["deepspeed-2021"].sharded_weights
    rows.append(("ZeRO 3 of DeepSpeed in 2021: share of the gathers' bandwidth", zero3.rate_share, _ZERO3))
    rows.append(("the same: copy of a rank's part", f"{zero3.copy_us} µs", _ZERO3))
    text = "\n## Fitted constants\n\nA test fits each of them again. All else is published, or arithmetic.\n"
    return text + _table(("constant", "value", "fitted on"), rows)


_ZERO3 = "arXiv 2104.04473 table 2, its six ZeRO-3 rows"


def _conventions() -> str:
    deepseek = next(case for case in cases("other_hopper") if case.run.model == "deepseek-v3")
    counts: tuple[AttentionCount, ...] = ("full", "causal")
    full, causal = (_deepseek_tflops(deepseek, count) for count in counts)
    llama = shapes.preset("llama3.1-405b")
    rows = [
        (
            "DeepSeek-V3, 4,096 tokens, 19.926 s a step on 2,048 GPUs",
            f"{full:.0f} (printed: 432)",
            f"{causal:.0f} (385)",
        ),
        *(
            (f"Llama-3.1 405B, {s:,} tokens, GFLOP a token", *(f"{_gflop(llama, s, c):,.0f}" for c in counts))
            for s in (8192, 131072)
        ),
    ]
    text = """
## What an MFU counts

*Model FLOPs* are those that the model needs; *hardware FLOPs* count what is computed again, too, so that full
recomputation adds a third. Attention is counted over the *full* sequence or over its *causal* half. The same run has
two figures, and the gap grows with the sequence: 12 % for DeepSeek-V3, 4 % for Llama-3.1 405B at 8,192 tokens, 40 % at
131,072. fp8 figures are held against the fp8 peak here; DeepSeek holds its own against the bf16 peak.
"""
    return text + _table(("what", "full", "causal"), rows)


def _deepseek_tflops(case: Case, count: AttentionCount) -> float:
    flops = _gflop(case.job.shape, case.job.sequence, count) * 1e9 * case.job.step_tokens
    return flops / case.measured_step_s / case.machine.gpus / 1e12


def _gflop(shape: ModelShape, sequence: int, count: AttentionCount) -> float:
    return model_flops(shape, sequence, 1, count) / 1e9


def _section(table: Table) -> str:
    found = cases(table.id)
    system = tables().systems[table.system]
    count = {"full": "the full sequence", "causal": "the causal half of the sequence"}[table.attention]
    facts = [
        f"{table.role[0].upper() + table.role[1:]}. Source: {table.source}.",
        f"{system.what}; practice `{table.practice}`. Attention counted over {count}.",
    ]
    if table.notes:
        facts.append(table.notes)
    rows = []
    for case, pair in zip(found, ratios(found), strict=True):
        unit = UNITS[case.run.measure]
        line = [case.run.name, f"{case.measured:g} {unit}", _figure(case.modelled), _signed(case.error)]
        if table.ratio_within is not None:
            line += ["", ""] if pair is None else [f"{pair[0]:.3f}, {pair[1]:.3f}", _signed(pair[1] / pair[0] - 1)]
        rows.append(tuple(line))
    head = ["run", "measured", "modelled", "error of the step"]
    if table.ratio_within is not None:
        head += ["ratio to the first: measured, modelled", "error of the ratio"]
    return f"\n## {table.title}\n\n" + " ".join(facts) + "\n" + _table(tuple(head), rows)
