"""The findings of structured cabling: what is missing for it, what light loses, and the rack units that panels need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Final

from ibplan.findings import Finding, finding, plural
from ibplan.parts.chosen import LinkParts
from ibplan.plan.evaluate import Evaluated

if TYPE_CHECKING:
    from ibplan.cabling.trunks import Structured

_AT: Final = "/site/cabling"
_RACKS_SHOWN: Final = 24


def trunk_findings(design: Evaluated, wanted: bool) -> Iterator[Finding]:
    """What a reader of structured cabling must know; `wanted`: the spec asks for it."""
    if not wanted:
        return
    floor = design.placed.floor
    if floor is None:
        yield finding("trunks-need-layout", design=design.id, pointer=_AT)
        return
    networks = [
        ("compute", design.structured, design.parts),
        *((network.name, network.structured, network.parts) for network in design.side.planned),
    ]
    planned = [(name, structured, parts) for name, structured, parts in networks if structured is not None]
    if not any(structured.trunks for _, structured, _ in planned):
        yield finding("trunks-not-needed", design=design.id, pointer=_AT)
        return
    units: dict[str, int] = {}
    for name, structured, parts in planned:
        yield from _channel_findings(design.id, name, structured, parts)
        for rack, count in structured.panel_units().items():
            units[rack] = units.get(rack, 0) + count
    kept = floor.rules.rack_units - floor.rules.usable_units
    yield from _unit_findings(design.id, units, kept)


def _channel_findings(
    design: str, network: str, structured: Structured, parts: tuple[LinkParts, ...]
) -> Iterator[Finding]:
    for budget in structured.budgets:
        link = parts[budget.parts].link
        kind = f"{network}, {link.kind} links of {link.gbps} Gb/s"
        loss, length = f"{budget.loss_db:.2f}", f"{budget.longest_m:g}"
        if budget.limit_db is None:
            yield finding("loss-limit-unknown", design=design, pointer=_AT, kind=kind, loss_db=loss, length_m=length)
        elif budget.over:
            limit = f"{budget.limit_db:g} dB ({budget.application}; {budget.basis})"
            channels = plural(budget.over, "channel")
            yield finding(
                "channel-loss", design=design, pointer=_AT, kind=kind, loss_db=loss, limit=limit, channels=channels
            )
        if budget.reach_m is not None and budget.longest_m > budget.reach_m:
            reach = f"{budget.reach_m:g}"
            yield finding("channel-too-long", design=design, pointer=_AT, kind=kind, length_m=length, reach_m=reach)


def _unit_findings(design: str, units: Mapping[str, int], kept: int) -> Iterator[Finding]:
    short = {rack: count for rack, count in units.items() if count > kept}
    if short:
        racks = plural(len(short), "rack")
        yield finding("panels-need-units", design=design, pointer=_AT, kept=kept, racks=racks, units=_listed(short))
    fitting = {rack: count for rack, count in units.items() if count <= kept}
    if fitting:
        yield finding("panels-fit", design=design, pointer=_AT, kept=kept, units=_listed(fitting))


def _listed(units: Mapping[str, int]) -> str:
    """`12 in R01-10; 3 in R01-02, R01-03`: most units first; what is too much to list is counted."""
    ordered = sorted(units.items(), key=lambda item: (-item[1], item[0]))
    shown = [
        f"{count} in {', '.join(rack for rack, _ in racks)}"
        for count, racks in groupby(ordered[:_RACKS_SHOWN], key=lambda item: item[1])
    ]
    more = ordered[_RACKS_SHOWN:]
    return "; ".join([*shown, *([f"{more[0][1]} or fewer in {plural(len(more), 'more rack')}"] if more else [])])
