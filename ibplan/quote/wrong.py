"""Why a part that is offered is not the one that is needed: heat sink, cage, medium and the like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ibplan.catalog.entries import Cable, Module
from ibplan.catalog.store import Catalog

# With more than these two parts have nothing to do with each other.
_MOST: Final = 2
_HEAT_SINK: Final = "heat sink"


def what_is_wrong(catalog: Catalog, part: str, needed: Sequence[str]) -> str:
    """What tells an offered part from the most similar of the needed ones, in words; empty if none is similar."""
    offered = catalog.part(part)
    best: tuple[int, str] | None = None
    for name in dict.fromkeys(needed):
        entry = catalog.part(name)
        found = list(_differing(offered, entry)) if _alike(offered, entry) else []
        # A wrong heat sink is the slip that the other traits are not: it counts half.
        weight = sum(1 if text.startswith(f"wrong {_HEAT_SINK}") else 2 for text in found)
        if 0 < len(found) <= _MOST and (best is None or weight < best[0]):
            best = weight, f"{'; '.join(found)} ({name})"
    return "" if best is None else best[1]


def _alike(offered: object, needed: object) -> bool:
    """Whether the two could be mistaken for each other: modules of one speed, or cables of one plug."""
    if isinstance(offered, Module) and isinstance(needed, Module):
        return (offered.links, offered.gbps) == (needed.links, needed.gbps)
    if isinstance(offered, Cable) and isinstance(needed, Cable):
        return (offered.kind == "fiber") == (needed.kind == "fiber")
    return False


def _differing(offered: object, needed: object) -> Iterator[str]:
    ours, theirs = _traits(needed), _traits(offered)
    for name, wanted in ours.items():
        if theirs.get(name) != wanted:
            yield f"wrong {name}: {theirs.get(name)}, the bill needs {wanted}"


def _traits(part: object) -> dict[str, str]:
    """What must agree, in words."""
    if isinstance(part, Module):
        return {
            _HEAT_SINK: part.heat_sink,
            "cage": part.form,
            "medium": part.fiber.kind.replace("_", "-"),
            "connector": f"{part.fiber.connector} {part.fiber.polish or ''}".strip(),
            "link layer": "/".join(part.link_layers),
            "lanes": f"{part.lanes_per_link} x {part.lane_gbps}G",
        }
    if isinstance(part, Cable):
        faces = [face for face in (part.fiber_a, part.fiber_b) if face is not None]
        return {
            "kind": part.kind,
            "plugs": " to ".join(str(form) for form in (part.form_a, part.form_b)),
            _HEAT_SINK: " to ".join(str(sink) for sink in (part.heat_sink_a, part.heat_sink_b)),
            "medium": " to ".join(face.kind.replace("_", "-") for face in faces),
            "connector": " to ".join(f"{face.connector} {face.polish or ''}".strip() for face in faces),
            "far ends": str(part.ends_b),
        }
    return {}
