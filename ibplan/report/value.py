"""What more money buys: the designs that no other beats at their price, and what each step up costs and gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ibplan.explain import Data
from ibplan.report.sections import Line, Section, labels

_GIVEN: Final = {
    "step_s": "step time together",
    "tokens_per_s": "tokens a second together",
    "per_gpu_gbps": "bandwidth per GPU (the step time is not known)",
}


def value_section(data: Data) -> Section:
    """Nothing where one design beats all others and no time is known: its reasons say so already."""
    names = labels(data)
    lines = [*_best(data, names), *_steps(data, names), *_no_gains(data, names), *_beaten(data, names)]
    return Section("What more money buys", (*lines, *_left_out(data, names)) if lines else ())


def _best(data: Data, names: Mapping[str, str]) -> Iterator[Line]:
    found = data["pareto"]
    if len(found["designs"]) > 1 and all(design in names for design in found["designs"]):
        shown = ", ".join(names[design] for design in found["designs"])
        yield Line(f"Nothing beats {shown} by price and {_GIVEN[found['axes'][1]]}.", "-")


def _steps(data: Data, names: Mapping[str, str]) -> Iterator[Line]:
    for row in data["marginal"]:
        if row["verdict"] in ("gain", "outdone") and row["design"] in names:
            limit = " It breaks a limit of the spec." if _over_limit(row["design"], data) else ""
            yield Line(row["text"] + limit, names[row["design"]])


def _no_gains(data: Data, names: Mapping[str, str]) -> Iterator[Line]:
    """What costs more and saves nothing, where a time says so; of bandwidth the reasons of the designs do."""
    where: dict[str, list[str]] = {}
    for row in data["marginal"]:
        if row["axis"] != "per_gpu_gbps" and row["verdict"] in ("no gain", "loss") and row["design"] in names:
            where.setdefault(row["against"], []).append(names[row["design"]])
    for against, designs in where.items():
        costs, saves, gives = ("cost", "save", "give") if len(designs) > 1 else ("costs", "saves", "gives")
        nothing = f"{saves} no time" if data["pareto"]["axes"][1] == "step_s" else f"{gives} no more tokens"
        yield Line(f"{costs} more than {against} and {nothing}.", _list(designs))


def _beaten(data: Data, names: Mapping[str, str]) -> Iterator[Line]:
    """That the recommended design, which its bandwidth puts first, is not the best buy for this job alone."""
    for row in data["marginal"]:
        beaten = row["axis"] != "per_gpu_gbps" and row["verdict"] in ("no gain", "loss")
        if not beaten or row["design"] != data["recommended"] or row["design"] not in names:
            continue
        enough = _enough(row, data)
        if enough is not None:
            yield Line(
                f"recommended for its bandwidth; for this job alone {enough} gives as much for less. "
                "`design:` pins it, if no job will come that needs more.",
                names[row["design"]],
                "careful",
            )


def _enough(row: Data, data: Data) -> str | None:
    """The cheapest design before that of the row that keeps the limits and gives at least as much; None = none does."""
    rows = data["marginal"]  # in the order of cost, behind the cheapest, which the first of them stands against
    cheapest_first: dict[str, float] = {rows[0]["against"]: rows[0]["against_value"]}
    cheapest_first |= {r["design"]: r["value"] for r in rows}
    for design, value in cheapest_first.items():
        if design == row["design"]:
            return None
        as_much = value <= row["value"] if row["axis"] == "step_s" else value >= row["value"]
        if as_much and not _over_limit(design, data):
            return design
    return None


def _left_out(data: Data, names: Mapping[str, str]) -> Iterator[Line]:
    """Priced designs that could not be compared; that the others lack prices stands above them."""
    where: dict[str, list[str]] = {}
    unranked = {design["id"] for design in data["designs"] if design["rank"] is None}
    for design, reason in data["pareto"]["not_compared"].items():
        if design in names and design not in unranked:
            where.setdefault(reason, []).append(names[design])
    for reason, designs in where.items():
        yield Line(f"not compared: {reason}.", _list(designs))


def _over_limit(design_id: str, data: Data) -> bool:
    return any(False in design["fits"].values() for design in data["designs"] if design["id"] == design_id)


def _list(names: list[str]) -> str:
    return ", ".join(names)
