"""cable_design: from a loaded spec to the cabled networks of one design."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.cabling.rows import CabledNetwork
from ibplan.catalog.store import Catalog
from ibplan.economics.items import NetworkName
from ibplan.errors import UsageError
from ibplan.parts.chosen import LinkParts
from ibplan.plan.evaluate import Evaluated, is_billed
from ibplan.plan.runs import layout_of
from ibplan.plan.structured import panelled, structured_rules
from ibplan.plan.wired import choose_design
from ibplan.plan.wires import wire_evaluated
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
    name, design, _ = choose_design(loaded, catalog, design_id)
    there: tuple[NetworkName, ...] = ("compute", *(side.name for side in design.side.planned))
    chosen = tuple(n for n in there if network in (None, n))
    if not chosen:
        raise UsageError(f"--network: {design.id} has no network {network!r}; it has: {', '.join(there)}")
    floor = design.placed.floor
    rules = structured_rules(loaded.spec.site)
    places = None if floor is None else layout_of(floor) if rules is None else panelled(floor)
    networks = tuple(CabledNetwork(n, wire_evaluated(design, n), _parts(design, n), places, rules) for n in chosen)
    return CabledDesign(name, design.id, networks)


def _parts(design: Evaluated, network: NetworkName) -> tuple[LinkParts, ...]:
    """The parts of a network that are bought."""
    side = design.side.named(network)
    if side is not None:
        return side.parts
    return tuple(p for p in design.parts if is_billed(p, design.form))
