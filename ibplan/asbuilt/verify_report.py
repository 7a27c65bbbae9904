"""A built network against its plan: rack by rack for a terminal and as Markdown, as CSV, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any, Final

from ibplan.asbuilt.differences import Difference, End, VerifyResult
from ibplan.document import printable
from ibplan.findings import plural
from ibplan.report import markdown
from ibplan.report.data import plain
from ibplan.report.grid import grid
from ibplan.report.spreadsheet import csv_text
from ibplan.report.text import UNKNOWN

COLUMNS: Final = ("What", "U", "At", "Joined to", "Do")
_RIGHT: Final = (False, True, False, False, False)
CSV_COLUMNS: Final = (
    "kind",
    "action",
    "group",
    *(f"at_{name}" for name in ("rack", "rack_unit", "device", "port")),
    *(f"found_{name}" for name in ("device", "port")),
    *(f"planned_{name}" for name in ("device", "port")),
    *(f"to_{name}" for name in ("rack", "rack_unit", "device", "port")),
    "links",
    "note",
    "source",
)
_WORDS: Final = {
    "exchanged": "exchanged",
    "swapped": "swapped",
    "wrong-rail": "wrong rail",
    "wrong-device": "wrong device",
    "wrong-port": "wrong port",
    "unknown-device": "unknown device",
    "missing": "missing",
    "unconnected": "unconnected",
    "unexpected": "unexpected",
    "port-twice": "port used twice",
    "rate": "wrong speed",
    "width": "wrong width",
    "not-active": "not active",
    "ambiguous": "ambiguous",
}
_NO_RACK: Final = "No rack known"
_MOST_FILES: Final = 3
_MOST_UNKNOWN: Final = 20


def verify_text(result: VerifyResult, *, width: int, color: bool, ascii_only: bool = False) -> str:
    """The answer in sentences, then a table for every rack."""
    blocks = [f"{fill(line, width, break_on_hyphens=False)}\n" for line in _summary(result)]
    for rack, rows in _racks(result):
        body = grid(COLUMNS, rows, _RIGHT, whole=("U",), width=width, color=color, ascii_only=ascii_only)
        blocks.append(f"\n{rack}\n{body}")
    return "".join(blocks)


def verify_markdown(result: VerifyResult) -> str:
    """The same as Markdown."""
    first, *others = _summary(result)
    parts = [f"# {markdown.escape(first)}\n", "".join(f"- {markdown.escape(line)}\n" for line in others)]
    for rack, rows in _racks(result):
        cells = [[markdown.cell(words) for words in row] for row in rows]
        parts.append(f"## {markdown.escape(rack)}\n\n{markdown.table(COLUMNS, cells, _RIGHT)}")
    return "\n".join(parts)


def _summary(result: VerifyResult) -> Iterator[str]:
    count = len(result.differences)
    network = "" if result.network == "compute" else f", {result.network} network"
    said = plural(count, "difference") if count else "as planned"
    yield f"{printable(result.spec)}: {printable(result.design)}{network}: {said}"
    yield _links(result)
    if count:
        kinds = ", ".join(f"{number:,} {_WORDS[kind]}" for kind, number in result.counts.items())
        yield f"Differences: {kinds}."
    if any((result.moves, result.added_links, result.removed_links, result.exchanged_devices)):
        yield f"To mend it: {_mend(result)}."
    if any(row.group is not None for row in result.differences):
        yield (
            "Rows with the same number in brackets are one task: pull all their ends out, then plug each in where its "
            "row says; one swap does both of its rows."
        )
    yield from (pattern.text for pattern in result.patterns)
    yield _devices(result)
    yield from _unknown(result)
    if result.open_links:
        yield (
            f"{plural(result.open_links, 'link')} of ambiguous devices are not compared: name a device of each group "
            "with --name-map."
        )
    yield from result.notes


def _links(result: VerifyResult) -> str:
    partial = result.expected_links < result.planned_links
    of_plan = f" of the {result.planned_links:,} planned ones" if partial else ""
    ahead = f"; {result.ahead_links:,} more are right ahead of that" if result.ahead_links else ""
    what = "expected" if partial else "planned"
    return f"{result.right_links:,} of {result.expected_links:,} {what} links{of_plan} are right{ahead}."


def _mend(result: VerifyResult) -> str:
    parts = []
    if result.moves:
        parts.append(f"{plural(result.moves, 'move')} of a cable's end (no fewer will do)")
    if result.added_links:
        parts.append(f"{plural(result.added_links, 'link')} to add")
    if result.removed_links:
        parts.append(f"{plural(result.removed_links, 'link')} to remove")
    if result.exchanged_devices:
        parts.append(f"{plural(result.exchanged_devices, 'device')} to exchange or to rename")
    return ", ".join(parts)


def _devices(result: VerifyResult) -> str:
    devices = result.devices
    by = {"name": devices.by_name, "name map": devices.by_map, "structure": devices.by_structure}
    known = ", ".join(f"{count:,} by {how}" for how, count in by.items() if count) or "none of them known"
    names = [printable(Path(source).name) for source in result.sources]
    files = ", ".join(dict.fromkeys(names[:_MOST_FILES]))
    files += f" and {len(names) - _MOST_FILES:,} more files" if len(names) > _MOST_FILES else ""
    forms = ", ".join(dict.fromkeys(result.formats))
    return f"{plural(devices.found, 'device')} in {files} ({forms}): {known}."


def _unknown(result: VerifyResult) -> Iterator[str]:
    for device in result.unknown[:_MOST_UNKNOWN]:
        like = "" if device.looks_like is None else f"; it is cabled as {device.looks_like} would be"
        yield f"Not in the plan: {printable(device.name)}, with {plural(device.links, 'link')}{like}."
    more = len(result.unknown) - _MOST_UNKNOWN
    if more > 0:
        yield f"Not in the plan, too: {plural(more, 'more device')} (all of them with --format json)."


def _racks(result: VerifyResult) -> Iterator[tuple[str, list[list[str]]]]:
    for rack, rows in groupby(result.differences, key=lambda difference: difference.place.rack):
        yield (f"Rack {rack}" if rack is not None else _NO_RACK), [_cells(row) for row in rows]


def _cells(row: Difference) -> list[str]:
    what = _WORDS[row.kind] + (f" ({row.group})" if row.group is not None else "")
    return [what, _unit(row.place), str(row.at), "" if row.found is None else str(row.found), _do(row)]


def _unit(end: End) -> str:
    if end.rack is None:
        return ""
    return UNKNOWN if end.rack_unit is None else f"{end.rack_unit:g}"


def _do(row: Difference) -> str:
    note = f"{row.note[:1].upper()}{row.note[1:]}" if row.note else ""
    if row.action == "check":
        return note
    if row.action == "move":
        words = f"move this end to {row.to}{_where(row)}"
    elif row.action == "swap":
        words = f"swap with the end in {row.to}{_where(row)}"
    elif row.action == "add":
        words = _connect(row) if row.planned is None else f"connect to {row.planned}"
    elif row.action == "remove":
        words = "unplug"
    else:
        words = f"belongs in the place of {row.to}{_where(row)}"
    return f"{words}. {note}" if note else words


def _connect(row: Difference) -> str:
    return f"connect {'its link' if row.links == 1 else f'its {row.links:,} links'}"


def _where(row: Difference) -> str:
    """The place of where something goes, if it is another rack."""
    if row.to is None or row.to.rack is None or row.to.rack == row.place.rack:
        return ""
    unit = "" if row.to.rack_unit is None else f" U{row.to.rack_unit:g}"
    return f" ({row.to.rack}{unit})"


def verify_csv(result: VerifyResult) -> str:
    """One row a difference."""
    return csv_text(CSV_COLUMNS, (_csv_row(row) for row in result.differences))


def _csv_row(row: Difference) -> list[Any]:
    def ends(end: End | None, *names: str) -> Sequence[Any]:
        return [None if end is None else getattr(end, name) for name in names]

    place = ("rack", "rack_unit", "device", "port")
    cells = [row.kind, row.action, row.group, *ends(row.at, *place), *ends(row.found, *place[2:])]
    return [*cells, *ends(row.planned, *place[2:]), *ends(row.to, *place), row.links, row.note or None, row.source]


def verify_data(result: VerifyResult) -> dict[str, Any]:
    """The answer as plain data."""
    files = zip(result.sources, result.formats, strict=True)
    return {
        "schema_version": "1",
        "name": result.spec,
        "design": result.design,
        "network": result.network,
        "files": [{"file": printable(Path(source).name), "format": form} for source, form in files],
        "links": {
            "planned": result.planned_links,
            "expected": result.expected_links,
            "right": result.right_links,
            "ahead": result.ahead_links,
            "unnamed": result.unnamed_links,
            "open": result.open_links,
        },
        "counts": dict(result.counts),
        "mend": {
            "moves": result.moves,
            "added_links": result.added_links,
            "removed_links": result.removed_links,
            "exchanged_devices": result.exchanged_devices,
        },
        "devices": plain(result.devices),
        "differences": plain(result.differences),
        "patterns": plain(result.patterns),
        "unknown": plain(result.unknown),
        "ambiguous": plain(result.ambiguous),
        "notes": list(result.notes),
    }
