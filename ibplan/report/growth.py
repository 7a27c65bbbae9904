"""The stages of a design that grows: what is built, bought and re-cabled at each, with and without planning ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.box import SIMPLE_HEAD, Box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ibplan.document import printable
from ibplan.explain import Data
from ibplan.findings import plural
from ibplan.report import markdown, text
from ibplan.report.rows import LOWER_BOUND
from ibplan.report.screen import printed
from ibplan.report.spreadsheet import csv_text

_CSV: Final = (
    "strategy",
    "year",
    "gpus",
    "network",
    "category",
    "part",
    "part_number",
    "description",
    "quantity",
    "unit_price_usd",
    "extended_usd",
)
_WAYS: Final = {
    "planned": "Planned ahead: every stage is a part of the last",
    "unplanned": "The same without planning ahead: every stage as if it were the last",
}
_ASCII_HEAD: Final = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
Block = tuple[str, Sequence[str], list[list[str]]]


def growth_data(plan: Data) -> dict[str, Any]:
    """The growth of a plan's data with what names it."""
    return {"schema_version": plan["schema_version"], "name": plan["name"], "growth": plan["growth"]}


def growth_csv(plan: Data) -> str:
    """One row for each part bought at each stage of both ways; unknown prices stay empty."""
    rows = []
    for way in _WAYS:
        for stage in plan["growth"][way]["stages"]:
            for part in stage["purchases"]:
                row = {"strategy": way, "year": stage["year"], "gpus": stage["gpus"], **part}
                rows.append([row[column] for column in _CSV])
    return csv_text(_CSV, rows)


def growth_text(plan: Data, *, width: int, color: bool, ascii_only: bool) -> str:
    """For people: stages of both ways, what planning ahead costs, what is bought when."""
    shown = printed(_parts(plan, ascii_only), width=width, color=color)
    return shown.encode("ascii", "replace").decode() if ascii_only else shown


def growth_markdown(plan: Data) -> str:
    """The same for a wiki or a merge request."""
    parts = [f"# {markdown.escape(_headline(plan))}\n"]
    for title, head, rows in _blocks(plan):
        right = [False, *(True for _ in head[1:])]
        lines = [[markdown.cell(cell) for cell in row] for row in rows]
        parts.append(f"## {markdown.escape(title)}\n\n{markdown.table(head, lines, right)}")
    parts += ["".join(f"- {markdown.escape(line)}\n" for line in _words(plan))]
    return "\n".join(parts)


def _parts(plan: Data, ascii_only: bool) -> Iterator[RenderableType]:
    yield Text(_headline(plan), "bold")
    yield Text()
    for line in _words(plan):
        yield Padding(Text(line), (0, 0, 0, 2))
    for title, head, rows in _blocks(plan):
        yield Text()
        yield Text(title, "bold")
        table = Table(
            box=_ASCII_HEAD if ascii_only else SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold"
        )
        for number, name in enumerate(head):
            table.add_column(name, justify="right" if number else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        yield table


def _headline(plan: Data) -> str:
    """Only a design that is chosen among all is called recommended."""
    growth = plan["growth"]
    pinned = any(design["pinned"] for design in plan["designs"] if design["id"] == growth["design"])
    chosen = " (recommended)" if plan["recommended"] == growth["design"] and not pinned else ""
    return f"{printable(plan['name'])}: growth of {growth['design']}{chosen}"


def _stage_name(stage: Data) -> str:
    return "now" if stage["year"] == 0 else f"year {stage['year']}"


def _blocks(plan: Data) -> Iterator[Block]:
    growth = plan["growth"]
    for way, title in _WAYS.items():
        stages = growth[way]["stages"]
        if stages:
            yield title, ("", *map(_stage_name, stages)), _stage_rows(stages)
    yield _purchases(growth["planned"]["stages"])


def _stage_rows(stages: Sequence[Data]) -> list[list[str]]:
    """Figures as rows, stages as columns."""

    def row(name: str, cell: Callable[[Data], str]) -> list[str]:
        return [name, *map(cell, stages)]

    names = list(dict.fromkeys(network["network"] for stage in stages for network in stage["networks"]))
    rows = [row("GPUs", lambda s: text.number(s["gpus"])), row("Servers", lambda s: text.number(s["servers"]))]
    rows.append(row("Tiers, compute network", lambda s: str(s["networks"][0]["tiers"])))
    rows.append(row("Switches, all networks", lambda s: text.number(sum(n["switches"] for n in s["networks"]))))
    rows.append(row("Links, all networks", lambda s: text.number(sum(n["links"] for n in s["networks"]))))
    rows.append(row("Links re-cabled", lambda s: _count(s["links_recabled"])))
    rows += [
        line for name in names if any(_recabled(s, name) != 0 for s in stages) for line in [_network_row(name, stages)]
    ]
    rows.append(row("To buy, USD", lambda s: _usd(s, "purchase_usd")))
    rows.append(row("All that stands, USD", lambda s: _usd(s, "capex_usd")))
    return rows


def _network_row(name: str, stages: Sequence[Data]) -> list[str]:
    return [f"- {name} network", *(_count(_recabled(stage, name)) for stage in stages)]


def _usd(stage: Data, key: str) -> str:
    return f"{'' if stage['complete'] else LOWER_BOUND}{text.usd(stage[key])}"


def _recabled(stage: Data, name: str) -> int | None:
    """Re-cabled links of one network; None = not counted."""
    for network in stage["networks"]:
        if network["network"] == name:
            return None if network["links_moved"] is None else network["links_moved"] + network["links_removed"]
    return 0


def _count(value: int | None) -> str:
    return text.UNKNOWN if value is None else text.number(value)


def _purchases(stages: Sequence[Data]) -> Block:
    """Parts as rows, stages as columns."""
    bought: dict[tuple[str, str], dict[int, int]] = {}
    for number, stage in enumerate(stages):
        for part in stage["purchases"]:
            bought.setdefault((part["network"], part["part"]), {})[number] = part["quantity"]
    several = len({network for network, _ in bought}) > 1
    rows = []
    for (network, part), counts in bought.items():
        name = f"{network}: {printable(part)}" if several else printable(part)
        cells = [text.number(counts[n]) if n in counts else text.ABSENT for n in range(len(stages))]
        rows.append([name, *cells, text.number(sum(counts.values()))])
    return "What is bought when, planned ahead", ("Part", *map(_stage_name, stages), "In all"), rows


def _words(plan: Data) -> Iterator[str]:
    growth = plan["growth"]
    planned, unplanned = growth["planned"], growth["unplanned"]
    if not growth["reaches"]:
        yield f"These switches do not reach the last stage: {printable(growth['reason'])}."
    elif growth["reserved_usd"] is not None:
        yield _reserved_words(growth)
    for row in plan["findings"]:
        if (row["code"], row["design"]) == ("growth-over-budget", growth["design"]):
            yield printable(row["message"])
    for way, path in (("Planned ahead", planned), ("Without planning ahead", unplanned)):
        if path["refusal"] is not None:
            yield f"{way}, it ends early: {printable(path['refusal'])}."
    yield _comparison(planned, unplanned)
    left = [f"{row['quantity']:,} {printable(row['part'])}" for row in _last_surplus(unplanned)]
    if left:
        yield f"Without planning ahead these are bought and of no use at the end: {', '.join(left)}."
    yield "Today's prices at every stage; re-cabled links are unplugged at one end at least."


def _reserved_words(growth: Data) -> str:
    if not growth["reserved"]:
        return "Planning ahead costs nothing on the first day: no part is bought before its stage needs it."
    parts = ", ".join(
        f"{part['quantity']:,} {printable(part['part'])} ({part['network']})" for part in growth["reserved"]
    )
    return f"Planning ahead costs ${text.usd(growth['reserved_usd'])} more on the first day: {parts}."


def _comparison(planned: Data, unplanned: Data) -> str:
    words = [_in_all("planned ahead", planned), _in_all("without", unplanned)]
    return f"In all, {words[0]}; {words[1]}."


def _in_all(way: str, path: Data) -> str:
    moved = path["links_recabled"]
    links = "an unknown number of links re-cabled" if moved is None else f"{plural(moved, 'link')} re-cabled"
    return f"{way}: {'' if path['complete'] else 'at least '}${text.usd(path['purchase_usd'])}, {links}"


def _last_surplus(path: Mapping[str, Any]) -> Sequence[Data]:
    surplus: Sequence[Data] = path["stages"][-1]["surplus"] if path["stages"] else ()
    return surplus
