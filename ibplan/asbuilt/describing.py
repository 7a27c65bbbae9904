"""An imported fabric in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ibplan.asbuilt.importing import Imported
from ibplan.asbuilt.shape import Shape, TierShape
from ibplan.findings import plural

_MOST_FILES: Final = 3
_TWO_TIERS: Final = 2


def describe(imported: Imported, sources: tuple[str, ...]) -> Iterator[str]:
    """The shape in sentences, for the head of the spec and for people."""
    shape = imported.shape
    files = ", ".join(Path(source).name for source in sources[:_MOST_FILES])
    more = f" and {len(sources) - _MOST_FILES:,} more files" if len(sources) > _MOST_FILES else ""
    yield f"From {files}{more}."
    yield from _sentences(shape)
    yield from imported.notes
    if imported.reproduced and shape.irregular:
        yield (
            "Planned, it has as many switches and links, but not the same links, because what is irregular is not in "
            f"it: {imported.design}."
        )
    elif imported.reproduced:
        yield f"Planned, it has the same switches and links: {imported.design}."
    else:
        yield "Planned, it is not the same:"
        yield from (f"- {line}" for line in imported.differences)


def _sentences(shape: Shape) -> Iterator[str]:
    servers, unit = shape.servers, shape.unit
    speed = "" if servers.gbps is None else f" of {servers.gbps:g}G"
    yield f"{plural(servers.hosts, 'server')} ({servers.name}) with {plural(servers.ports, 'port')}{speed} each."
    for group in shape.attached:
        yield f"{plural(group.hosts, 'other host')} ({group.name}) with {plural(group.ports, 'port')} each."
    if shape.managers:
        yield f"{plural(shape.managers, 'fabric manager')}."
    fabrics = "" if shape.fabrics == 1 else f" in {shape.fabrics} separate fabrics"
    fabrics += " (one a rail)" if shape.rail_only else ""
    yield f"{plural(shape.tiers, 'tier')} of switches{fabrics}."
    for tier in shape.switches:
        yield _tier_words(tier)
    rails = f"rails on leaves of their own ({plural(unit.rails_per_leaf, 'rail')} a leaf)"
    spread = (
        rails if shape.rail_optimized and unit.rails_per_leaf < shape.rails else "all ports of a server on one leaf"
    )
    yield (
        f"{plural(unit.count, 'unit')} of up to {plural(unit.servers, 'server')} on "
        f"{plural(unit.leaves, 'leaf', 'leaves')}" + (f": {spread}." if shape.rails > 1 else ".")
    )
    if shape.tiers > _TWO_TIERS:
        yield f"{plural(shape.pods, 'pod')} of leaves that share spines."
    yield from (f"Irregular: {line}" for line in shape.irregular)


def _tier_words(tier: TierShape) -> str:
    many = "leaves" if tier.tier == "leaf" else f"{tier.tier}s"
    count = plural(tier.switches, tier.tier, many)
    radix = "" if tier.radix is None else f" of {tier.radix} ports"
    down_gbps = "" if tier.down_gbps is None else f" at {tier.down_gbps:g}G"
    words = f"{count}{radix}: up to {tier.down} links down{down_gbps}"
    if tier.up:
        words += f", {tier.up} up" + ("" if tier.up_gbps is None else f" at {tier.up_gbps:g}G")
    if tier.up and tier.up_gbps and tier.down_gbps:
        words += f" ({tier.down * tier.down_gbps / (tier.up * tier.up_gbps):.3g}:1 by bandwidth in use)"
    return words + ("." if tier.free is None else f"; {tier.free:,} ports free in all.")
