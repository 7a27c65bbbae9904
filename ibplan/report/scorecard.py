"""The scorecard in the report: rows of the table, and what has to be run and set up in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from ibplan.explain import Data
from ibplan.findings import plural
from ibplan.report import text
from ibplan.report.rows import Row
from ibplan.report.sections import Line, Section, labels

_COUNTED: Final = {
    "subnets": ("for", "subnet", "subnets"),
    "switches": ("on", "switch", "switches"),
    "switch_ports": ("on", "switch port", "switch ports"),
    "nic_ports": ("on", "NIC port", "NIC ports"),
}


def scorecard_rows() -> Iterator[Row]:
    """How each kind of fabric works, and who makes its switches."""
    yield Row("Against packet loss", "", words=lambda design: str(design["scorecard"]["loss"]["name"]))
    yield Row("- switch ports to tune", "ports", "switch_ports_to_tune", keep="some")
    yield Row("Load balancing", "", words=_balancing)
    yield Row("All-reduce in switches", "", words=_reduction)
    yield Row("Makers of such switches", "makers", "form_makers")


def _balancing(design: Data) -> str:
    """Two schemes on two lines."""
    scheme = design["scorecard"]["balancing"]["name"]
    return text.ABSENT if scheme is None else scheme.replace(" or ", "\nor ")


def _reduction(design: Data) -> str:
    found = design["scorecard"]["reduction"]
    if found["available"] is None:
        return text.UNKNOWN
    return (found["name"] or "yes") if found["available"] else "no"


def operating_section(data: Data) -> Section:
    """What has to be run and set up, designs alike together."""
    lines: dict[str, list[str]] = {}
    names = labels(data)
    for design in data["designs"]:
        tasks = "; ".join(_tasks(design["scorecard"]["tasks"]))
        if tasks:
            lines.setdefault(f"{design['fabric']}: {tasks}.", []).append(names[design["id"]])
    several = len(data["designs"]) > 1
    rows = [Line(words, ", ".join(where) if several else "-") for words, where in lines.items()]
    return Section("To run and to set up, on compute and storage networks", tuple(rows))


def _tasks(tasks: Sequence[Data]) -> Iterator[str]:
    """Tasks in words, those that stand side by side and are counted alike together."""
    for (counted, quantity, optional), group in groupby(tasks, lambda t: (t["counted"], t["quantity"], t["optional"])):
        where, one, many = _COUNTED[counted]
        done = ", ".join(task["task"] for task in group)
        yield f"{'if wanted, ' if optional else ''}{done} {where} {plural(quantity, one, many)}"
