"""The words of racks: what one holds, names of racks alike, the rows of the floor, the units of an elevation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from ibplan.document import printable
from ibplan.findings import plural
from ibplan.plan.sited import SitedDesign
from ibplan.report import text
from ibplan.report.data import significant
from ibplan.site.elevation import RackContent
from ibplan.site.model import Rack

_MOST_RUNS: Final = 4
MARKS: Final = {"server": "s", "network": "n"}
FREE: Final = "."
AT_LEAST: Final = ">"


def head(sited: SitedDesign) -> str:
    """Racks, rows, floor and PDUs in a sentence."""
    site = sited.site
    words = [plural(site.racks.server, "rack") + " with servers"]
    words += [f"{site.racks.network:,} with switches alone"] if site.racks.network else []
    floor = f"{plural(site.rows, 'row')}, {text.number(round(site.floor_m2, 1))} m2 of floor with aisles"
    return f"{', '.join(words)}; {floor}; {plural(site.pdus, 'rack PDU')}."


def limits(sited: SitedDesign) -> str:
    """The limits of a rack."""
    rules = sited.floor.rules
    basis = "site.rack.power" if rules.power_stated else "assumed"
    weight = "no weight limit is stated" if rules.weight_kg is None else f"{text.number(rules.weight_kg)} kg"
    return (
        f"A rack: {rules.usable_units} of {rules.rack_units} rack units are usable; "
        f"{text.number(rules.power_w)} W ({basis}); {weight}."
    )


def holds(content: RackContent) -> str:
    """`4 nvidia-dgx-h100 in U1 to U32`, for each part."""
    found = []
    for part, devices in groupby(content.devices, key=lambda d: d.box.name):
        run = list(devices)
        units = [d.unit for d in run if d.unit is not None]
        top = max(units, default=0) + run[0].box.units - 1
        place = f" in {_span(min(units), top)}" if units else ", assembled by the maker"
        found.append(f"{len(run):,} {printable(part)}{place}")
    return "; ".join(found)


def units(content: RackContent) -> str:
    """`32 (12 free)`."""
    if content.units_used is None:
        return text.UNKNOWN
    return f"{content.units_used} ({content.units_free} free)"


def amount(whole: float | None, known: float) -> str:
    """An amount; what is known of it where a part of it is not."""
    if whole is not None:
        return text.number(significant(whole))
    return f"{AT_LEAST}{text.number(significant(known))}" if known else text.UNKNOWN


def of_limit(whole: float | None, known: float, limit: float | None) -> str:
    """`40,800 of 45,000`."""
    return amount(whole, known) + (f" of {text.number(limit)}" if limit is not None else "")


def rack_names(racks: Sequence[Rack]) -> str:
    """`R01..R03-01..08, R04-01..04`: rows alike together; of many the first, and how many racks more there are."""
    rows = [(row, [rack.position for rack in same]) for row, same in groupby(racks, key=_row_name)]
    runs = []
    for spans, alike in groupby(rows, key=lambda row: _spans(row[1])):
        same_rows = list(alike)
        first, last = same_rows[0][0], same_rows[-1][0]
        runs.append((f"{first if first == last else f'{first}..{last}'}-{spans}", sum(len(p) for _, p in same_rows)))
    more = sum(count for _, count in runs[_MOST_RUNS:])
    shown = ", ".join(name for name, _ in runs[:_MOST_RUNS])
    return shown + (f" and {plural(more, 'more rack')}" if more else "")


def _row_name(rack: Rack) -> str:
    return rack.name.rpartition("-")[0]


def _spans(positions: Sequence[int]) -> str:
    found: list[list[int]] = []
    for position in sorted(positions):
        if found and found[-1][1] == position - 1:
            found[-1][1] = position
        else:
            found.append([position, position])
    return "+".join(f"{a:02d}" if a == b else f"{a:02d}..{b:02d}" for a, b in found)


def floor_rows(sited: SitedDesign) -> Iterator[tuple[str, str]]:
    """(row or rows alike, one mark a place) for every row of the floor, in its order."""
    drawn = []
    for row, same in groupby([content.rack for content in sited.racks], key=_row_name):
        marks = [FREE] * sited.floor.ground.slots
        for rack in same:
            marks[rack.position - 1] = MARKS[rack.purpose]
        drawn.append((row, "".join(marks)))
    for marks_of_row, alike in groupby(drawn, key=lambda pair: pair[1]):
        rows = [row for row, _ in alike]
        yield (rows[0] if len(rows) == 1 else f"{rows[0]}..{rows[-1]}"), marks_of_row


def elevation(content: RackContent) -> Iterator[tuple[str, str, str, str, str]]:
    """(units, device, part, W, kg) from the top of a rack down, with what is kept free and what is empty."""
    top = content.rack.rack_units
    if content.units_reserved:
        yield _span(top - content.units_reserved + 1, top), "kept free", "", "", ""
    top -= content.units_reserved
    for device in content.devices:
        height = device.box.units
        if device.unit is not None:
            if device.unit + height - 1 < top:
                yield _span(device.unit + height, top), "empty", "", "", ""
            top = device.unit - 1
        place = text.UNKNOWN if device.unit is None else _span(device.unit, device.unit + height - 1)
        watts, weight = device.box.power_w, device.box.weight_kg
        yield place, printable(device.name), printable(device.box.name), _known(watts), _known(weight)
    if top and not content.assembled:
        yield _span(1, top), "empty", "", "", ""


def _known(value: float | None) -> str:
    return text.UNKNOWN if value is None else text.number(value)


def _span(low: int, high: int) -> str:
    return f"U{low}" if low == high else f"U{low} to U{high}"
