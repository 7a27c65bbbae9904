"""What the job needs of the network, in sentences with their numbers."""

from __future__ import annotations

from ibplan.explain import Data
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
    lines += [Line(f"No figures of {row['what']}: {row['reason']}.", "-") for row in performance["not_modelled"]]
    return Section(f"What the job needs of the network (design {label})", tuple(lines))
