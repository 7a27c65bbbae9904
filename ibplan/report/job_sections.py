"""What the job needs of the network, in sentences with their numbers."""

from __future__ import annotations

from math import floor

from ibplan.explain import Data
from ibplan.report import text
from ibplan.report.sections import Line, Section, labels

_HOLDS = {True: "true here", False: "not so here", None: "cannot be known"}


def job_section(data: Data) -> Section:
    """Of the recommended design, else the first: what decides its communication, and what another network is worth."""
    named = [d for d in data["designs"] if d["id"] == data["recommended"]] or data["designs"]
    if not named:
        return Section("", ())
    design = named[0]
    label = labels(data)[design["id"]]
    performance = design["performance"]
    lines = [
        Line(f"{rule['rule']}: {_HOLDS[rule['holds']]} ({rule['numbers']}).", "-") for rule in performance["rules"]
    ]
    if performance["inference"] is not None:
        lines += [Line(words, "-") for words in performance["inference"]["network_words"]]
    lines += [Line(_mix(row), "-") for row in performance["job_mix"]]
    lines += [Line(f"No figures of {row['what']}: {row['reason']}.", "-") for row in performance["not_modelled"]]
    return Section(f"What the job needs of the network (design {label})", tuple(lines))


def _mix(row: Data) -> str:
    who = "If all GPUs of a job talk to all" if row["pattern"] == "uniform" else "If the GPUs of a job form rings"
    leaving = f"{text.percent(row['leaving_units_fraction'])}% of the job mix's traffic leaves units"
    if row["bearable_leaf"] is None:
        return f"{who}, {leaving}: any oversubscription will do."
    bears = f"leaves bear {_rounded_down(row['bearable_leaf'])}"
    if row["bearable_pod"] is not None:
        bears += f", leaves and spines together {_rounded_down(row['bearable_pod'])}"
    return f"{who}, {leaving}: {bears}."


def _rounded_down(ratio: float) -> str:
    """`4.9:1`: one more would be too much."""
    return f"{floor(ratio * 10) / 10:g}:1"
