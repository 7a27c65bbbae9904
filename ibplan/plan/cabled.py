"""cable_design: from a loaded spec to the cabled networks of one design."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.cabling.rows import CabledNetwork
from ibplan.catalog.store import Catalog
from ibplan.errors import UsageError
from ibplan.plan.evaluate import is_billed
from ibplan.plan.runs import layout_of
from ibplan.plan.wired import wire_design
from ibplan.spec.load import LoadedSpec


@dataclass(frozen=True, slots=True)
class CabledDesign:
    """One design with its networks as they are cabled. `name` = of the spec."""

    name: str
    id: str
    networks: tuple[CabledNetwork, ...]


def cable_design(
    loaded: LoadedSpec, catalog: Catalog, design_id: str | None = None, network: str | None = None
) -> CabledDesign:
    """The recommended design, or one by its id, ready for a cable schedule; only one network if it is named.

    Raises as `wire_design` does; UsageError where the design has no network of that name.
    """
    wired = wire_design(loaded, catalog, design_id)
    parts = tuple(p for p in wired.evaluated.parts if is_billed(p, wired.evaluated.form))
    floor = wired.evaluated.placed.floor
    places = None if floor is None else layout_of(floor)
    networks = (CabledNetwork("compute", wired.wiring, parts, places),)
    chosen = tuple(n for n in networks if network in (None, n.name))
    if not chosen:
        there = ", ".join(n.name for n in networks)
        raise UsageError(f"--network: {wired.id} has no network {network!r}; it has: {there}")
    return CabledDesign(wired.name, wired.id, chosen)
