"""What a figure is, and the getters that pull figures and their inputs out of the JSON of a design."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ibplan.host_groups import NORTH_SOUTH

Data = Mapping[str, Any]
Get = Callable[[Data, Data], Any]


@dataclass(frozen=True, slots=True)
class Input:
    """A named input of a formula. `get(design, plan)` gives a number, or a mapping of label to number.

    A mapping stands in the formula as the list of its numbers, in order. None = unknown.
    """

    name: str
    unit: str
    meaning: str
    get: Get


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a design. Where the formula is the id itself, the figure is a plain fact that `title` describes.

    `rule` says in words how a plain fact comes about.
    """

    id: str
    title: str
    unit: str
    formula: str
    get: Get
    inputs: tuple[Input, ...] = field(default=())
    rule: str | None = None

    @property
    def plain(self) -> bool:
        """Whether the figure is taken as it stands, not made from others."""
        return not self.inputs

    def value(self, design: Data, plan: Data) -> Any:
        """The figure of a design; None = unknown or not there."""
        return self.get(design, plan)

    def input_values(self, design: Data, plan: Data) -> dict[str, Any]:
        """The inputs of the formula by name; a plain figure is its own input."""
        if self.plain:
            return {self.id: self.get(design, plan)}
        return {i.name: i.get(design, plan) for i in self.inputs}


def at(*path: str) -> Get:
    """The value at a path of the design; None where a part of the path is null."""

    def get(design: Data, plan: Data) -> Any:
        here: Any = design
        for key in path:
            here = None if here is None else here[key]
        return here

    return get


def compute(*path: str) -> Get:
    """The value at a path of the compute network."""
    return at("networks", "compute", *path)


def plain(figure_id: str, title: str, unit: str, get: Get, rule: str) -> Figure:
    """A figure that no formula over other figures gives; `rule` says where it comes from."""
    return Figure(figure_id, title, unit, figure_id, get, rule=rule)


def sized(words: str) -> str:
    """The rule of a figure that sizing makes."""
    return f"made by sizing: {words} (docs/sizing.md)"


def _rows(design: Data, test: Callable[[Data], bool]) -> Iterator[tuple[str, Data]]:
    """Link rows with labels that are unique."""
    rows = [r for r in design["networks"]["compute"]["links"] if test(r)]
    for number, row in enumerate(rows, 1):
        host = f" {row['host']}" if row["host"] else ""
        again = f" ({number})" if sum(r["kind"] == row["kind"] and r["host"] == row["host"] for r in rows) > 1 else ""
        yield f"{row['kind']}{host}{again}", row


def on_compute(plan: Data) -> tuple[str, ...]:
    """The networks that the spec has on the leaves of the compute network."""
    storage, inband = plan["effective_spec"]["storage"], plan["effective_spec"]["management"]["inband"]
    carried = bool(inband) and inband["converged_with"] is not None
    meets = ("compute", "inband") if carried else ("compute",)
    stored = isinstance(storage, Mapping) and storage["converged_with"] in meets
    return (("storage",) if stored else ()) + (("inband",) if carried else ())


def east_west_rows(key: str, *kinds: str) -> Get:
    """One field of the link rows of some kinds, those apart that carry storage or in-band traffic alone."""

    def get(design: Data, plan: Data) -> dict[str, Any]:
        apart = NORTH_SOUTH if on_compute(plan) else ()
        return {
            label: row[key] for label, row in _rows(design, lambda r: r["kind"] in kinds and r["host"] not in apart)
        }

    return get


def link_rows(key: str, *kinds: str) -> Get:
    """One field of the link rows of some kinds."""
    return lambda design, plan: {label: row[key] for label, row in _rows(design, lambda r: r["kind"] in kinds)}


def total_links(*kinds: str) -> Get:
    """Links of some kinds."""
    return lambda design, plan: sum(row["count"] for _, row in _rows(design, lambda r: r["kind"] in kinds))


def slowest(*kinds: str) -> Get:
    """The lowest speed of the links of some kinds; None if there are none."""
    return lambda design, plan: min((r["gbps"] for _, r in _rows(design, lambda r: r["kind"] in kinds)), default=None)


def group_rows(groups: str, key: str) -> Get:
    """One field of the groups of leaves (or pods) that are alike."""
    return lambda design, plan: {
        f"group {number}": row[key] for number, row in enumerate(design["networks"]["compute"]["bandwidth"][groups], 1)
    }


def labelled_lines(items: Sequence[Data]) -> Iterator[tuple[str, Data]]:
    """Line items with what finds them in a bill, whichever way it merges them: part, length, network, tier, place."""
    again: dict[str, int] = {}
    for item in items:
        length = "" if item["length_m"] is None else f" {item['length_m']:g} m"
        label = f"{item['part']}{length} ({item['network']} {item['tier']}: {item['where']})"
        again[label] = again.get(label, 0) + 1
        yield label if again[label] == 1 else f"{label} ({again[label]})", item


def item_lines(key: str, test: Callable[[Data], bool] = lambda item: True, lines: str = "line_items") -> Get:
    """One field of the line items (or the `site_items`) that pass a test."""

    def get(design: Data, plan: Data) -> dict[str, Any]:
        return {label: item[key] for label, item in labelled_lines(design[lines]) if test(item)}

    return get


def switch_row(tier: str, key: str) -> Get:
    """A field of the switches of one tier; None if the design does not have the tier."""

    def get(design: Data, plan: Data) -> Any:
        rows = [r for r in design["networks"]["compute"]["switches"] if r["tier"] == tier]
        return rows[0][key] if rows else None

    return get


def limit_of(name: str) -> Get:
    """A budget of the spec as a number (USD or W); None if none was set."""

    def get(design: Data, plan: Data) -> float | None:
        text = plan["effective_spec"]["budget"][name]
        return None if text is None else float(str(text).strip("$ W"))

    return get


MAIN_KINDS = ("server-leaf", "leaf-spine", "spine-core", "leaf-leaf", "attached")
HOST_KINDS = ("server-leaf", "attached")
SWITCH_TIERS = ("leaf", "spine", "core")
GPUS = Input("gpus", "GPUs", "GPUs of all planned servers", at("totals", "gpus"))
CAPEX = Input("capex_usd", "USD", "purchase price of the priced parts", at("totals", "capex_usd"))
