"""The racks of a design for a terminal and as Markdown: the floor, the racks alike together, one rack in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from ibplan.document import printable
from ibplan.plan.sited import SitedDesign
from ibplan.report import markdown
from ibplan.report import racks_words as words
from ibplan.report.sections import measure
from ibplan.report.text import UNKNOWN
from ibplan.report.topology import drawn, grid
from ibplan.site.elevation import RackContent, alike

_RACKS = (("Racks", False), ("Count", True), ("Holds", False), ("Units used", True), ("W", True), ("kg", True))
_UNITS = (("Units", False), ("Device", False), ("Part", False), ("W", True), ("kg", True))


def racks_text(
    sited: SitedDesign, racks: Sequence[RackContent], *, one: bool, width: int, color: bool, ascii_only: bool
) -> str:
    """The floor and the racks; or the elevation of `one` rack. Every line fits `width`."""
    parts = _elevation(sited, racks[0]) if one else _floor(sited, racks)
    return drawn(parts, width=width, color=color, ascii_only=ascii_only)


def _title(sited: SitedDesign) -> str:
    chosen = " (recommended)" if sited.recommended else ""
    return f"{printable(sited.name)}: {printable(sited.id)}{chosen}"


def _floor(sited: SitedDesign, racks: Sequence[RackContent]) -> Iterator[RenderableType]:
    yield Text(_title(sited), "bold", overflow="fold")
    yield Text(words.head(sited))
    yield Text(words.limits(sited))
    yield from (Text(line) for line in _not_placed(sited))
    yield Text()
    yield Text("The floor: s a rack with servers, n with switches alone, . free", "bold")
    yield grid([("Rows", False), (f"Places 1 to {sited.floor.ground.slots}", False)], words.floor_rows(sited))
    yield Text()
    rows = list(_rack_rows(racks))
    yield grid(_RACKS, rows)
    yield from (Text(line, "dim") for line in _marks(rows))
    yield Text()
    yield Text(_measures(sited), "dim")


def _not_placed(sited: SitedDesign) -> Iterator[str]:
    if sited.not_placed:
        names = ", ".join(map(printable, sited.not_placed))
        yield f"Not in a rack, because rack_units is not stated: attached hosts {names}."


def _rack_rows(racks: Sequence[RackContent]) -> Iterator[tuple[str, ...]]:
    for content, same in alike(racks):
        yield (
            words.rack_names(same),
            f"{len(same):,}",
            words.holds(content),
            words.units(content),
            words.of_limit(content.power_w, content.power_known_w, content.power_limit_w),
            words.of_limit(content.weight_kg, content.weight_known_kg, content.weight_limit_kg),
        )


def _marks(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    cells = [cell for row in rows for cell in row[3:]]
    if any(cell.startswith(words.AT_LEAST) for cell in cells):
        yield f"{words.AT_LEAST} at least: of some device it is not known"
    if any(cell.startswith(UNKNOWN) for cell in cells):
        yield f"{UNKNOWN} unknown"


def _measures(sited: SitedDesign) -> str:
    rows = sited.floor.rules.measures
    found = [f"{measure(row.name, row.value)} ({row.basis})" for row in rows]
    return f"Measures: {'; '.join(found)}."


def _facts(content: RackContent) -> str:
    rack = content.rack
    power = words.of_limit(content.power_w, content.power_known_w, content.power_limit_w)
    weight = words.of_limit(content.weight_kg, content.weight_known_kg, content.weight_limit_kg)
    used = f"{content.units_used} rack units in use, {content.units_free} free"
    used = "assembled by its maker" if content.assembled else used
    cooling = next((d.box.cooling for d in content.devices if d.box.cooling), None)
    power += f" W, all of it heat ({cooling}-cooled)" if cooling else " W, all of it heat"
    pdus = "" if content.pdus is None else f"; {content.pdus} rack PDUs"
    return f"Hall {rack.hall}, row {rack.row}, position {rack.position}; {used}; {power}; {weight} kg{pdus}."


def _elevation(sited: SitedDesign, content: RackContent) -> Iterator[RenderableType]:
    yield Text(_title(sited), "bold", overflow="fold")
    yield Text(f"Rack {content.rack.name}", "bold")
    yield Text(_facts(content))
    yield Text()
    yield grid(_UNITS, words.elevation(content))


def racks_markdown(sited: SitedDesign, racks: Sequence[RackContent], *, one: bool) -> str:
    """The same as Markdown."""
    lines = [f"# {markdown.escape(_title(sited))}\n"]
    if one:
        lines += [f"## Rack {racks[0].rack.name}\n", f"{markdown.escape(_facts(racks[0]))}\n"]
        lines.append(_table(_UNITS, words.elevation(racks[0])))
        return "\n".join(lines)
    lines += [f"{markdown.escape(line)}\n" for line in (words.head(sited), words.limits(sited), *_not_placed(sited))]
    lines.append("s: a rack with servers, n: with switches alone, .: free\n")
    floor = ((row, f"`{marks}`") for row, marks in words.floor_rows(sited))
    lines.append(markdown.table(["Rows", f"Places 1 to {sited.floor.ground.slots}"], floor, [False, False]))
    rows = list(_rack_rows(racks))
    lines += [_table(_RACKS, rows), *(f"{markdown.escape(line)}\n" for line in _marks(rows))]
    lines.append(f"{markdown.escape(_measures(sited))}\n")
    return "\n".join(lines)


def _table(columns: Sequence[tuple[str, bool]], rows: Iterable[tuple[str, ...]]) -> str:
    cells = ([markdown.cell(value) for value in row] for row in rows)
    return markdown.table([name for name, _ in columns], cells, [right for _, right in columns])
