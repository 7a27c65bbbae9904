"""What cannot be built, and why, in words: in short for a screen, in full for a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ibplan.document import printable
from ibplan.explain import Data
from ibplan.findings import plural
from ibplan.report.sections import Line, Section

_VARIANT: Final = re.compile(r"-(auto|[123])t-\d+to\d+.*$")
_MOST_REJECTED: Final = 6


def rejected(data: Data) -> Section:
    """What cannot be built: the first reason of each, those with the same reason together.

    Where the spec names no switch, and so all of the catalogue are tried, only as many as a reader takes in.
    """
    found: dict[str, list[Data]] = {}
    for row in data["rejected"]:
        found.setdefault(_reason(row["reasons"][0]), []).append(row)
    lines: list[Line] = []
    unsaid: dict[str, None] = {}
    for reason, rows in found.items():
        names = dict.fromkeys(_names(rows, data))
        if _tried_all(data) and len(lines) >= _MOST_REJECTED:
            unsaid.update(names)
            continue
        lines += [Line(reason + _and_more(rows), "-"), Line(", ".join(names), style="faint")]
    if unsaid:
        more = plural(len(unsaid), "more switch", "more switches")
        lines.append(Line(f"and {more} (--format json lists all)", "-"))
    return Section("Cannot be built", tuple(lines))


def _tried_all(data: Data) -> bool:
    """Whether the spec names no switch."""
    return not any(data["effective_spec"]["network"]["switch"].values())


def _and_more(rows: Iterable[Data]) -> str:
    """How many further reasons the rows have, which the JSON lists."""
    counts = {len(row["reasons"]) - 1 for row in rows}
    most = max(counts)
    up_to = "up to " if len(counts) > 1 else ""
    return f" (and {up_to}{plural(most, 'more reason', 'more reasons')})" if most else ""


def _names(rows: Iterable[Data], data: Data) -> Iterator[str]:
    """Ids; where every switch of the catalogue was tried, fabric and switch alone of those that no ratio makes fit."""
    ids = [other["id"] for design in data["designs"] for other in (design, *design["alternatives"])]
    built = {_VARIANT.sub("", name) for name in ids}
    for row in rows:
        switch = _VARIANT.sub("", row["id"])
        yield switch if _tried_all(data) and switch not in built else row["id"]


def rejected_in_full(data: Data) -> Section:
    """What cannot be built, by reason: all reasons, all designs."""
    by_reason: dict[str, list[str]] = {}
    for row in data["rejected"]:
        for reason in row["reasons"]:
            by_reason.setdefault(_reason(reason), []).append(row["id"])
    lines = []
    for reason, ids in by_reason.items():
        lines += [Line(reason, "-"), Line(", ".join(ids), style="faint")]
    return Section("Cannot be built", tuple(lines))


def _reason(reason: Mapping[str, Any]) -> str:
    need, have, words = reason["need"], reason["have"], printable(reason["text"])
    if need is None or have is None or (f"{need:,}" in words and f"{have:,}" in words):
        return words
    return f"{words} (needed {need:,}, there are {have:,})"
