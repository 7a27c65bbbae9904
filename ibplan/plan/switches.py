"""The switches of a spec as planning sees them: catalogue entries and inline ones behind one face."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from ibplan.catalog.entries import Breakout, LinkLayer, Switch
from ibplan.catalog.prices import PriceChoice
from ibplan.catalog.store import Catalog
from ibplan.errors import InputError, Problem, Reason
from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.plan.hosts import link_layer
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Fabric, InlineSwitch, SwitchRef


@dataclass(frozen=True, slots=True)
class SwitchModel:
    """A switch that can be planned with, or why not (`gaps`). Power in W, price in USD; None = unknown."""

    id: str
    geometry: Geometry
    link_layers: tuple[LinkLayer, ...]
    rdma: bool
    entry: Switch | None
    price: PriceChoice | None
    power_max_w: float | None
    power_typical_w: float | None
    holds_module_power: bool
    manager_cage_class: str | None
    gaps: tuple[str, ...] = ()
    rack_units: int | None = None

    def serves(self, fabric: Fabric) -> bool:
        """Whether it speaks the fabric's link layer (and carries RDMA where the fabric needs it)."""
        return link_layer(fabric) in self.link_layers and (self.rdma or fabric != "roce")

    def refusal(self) -> Reason | None:
        """Why it cannot be planned with, None if it can."""
        if not self.gaps:
            return None
        return Reason("incomplete-entry", f"{self.id}: the catalogue does not know {', '.join(self.gaps)}")


@dataclass(frozen=True, slots=True)
class TierModels:
    """The switch of each tier."""

    leaf: SwitchModel
    spine: SwitchModel
    core: SwitchModel

    @property
    def name(self) -> str:
        """The part of a design's id that names the switches: one if all are alike, else leaf+spine+core."""
        ids = (self.leaf.id, self.spine.id, self.core.id)
        return ids[0] if len(set(ids)) == 1 else "+".join(ids)

    def serves(self, fabric: Fabric) -> bool:
        """Whether the switches of all tiers serve a kind of fabric."""
        return all(model.serves(fabric) for model in (self.leaf, self.spine, self.core))


def catalog_switch(entry: Switch, catalog: Catalog) -> SwitchModel:
    """A catalogue entry as a switch model."""
    sets = tuple(CageSet(g.count, tuple(_mode(b) for b in g.breakouts), g.cage_class) for g in entry.cages)
    return SwitchModel(
        entry.id,
        Geometry(entry.id, sets),
        entry.link_layers,
        entry.rdma,
        entry,
        catalog.prices.choose(entry.id),
        entry.power.max_w,
        entry.power.typical_w,
        entry.power.max_includes_modules,
        entry.manager_cage_class,
        entry.planning_gaps(),
        entry.rack_units,
    )


def _mode(breakout: Breakout) -> Mode:
    return Mode(breakout.gbps, breakout.ports, breakout.cages_lost, breakout.max_ports)


def inline_switch(switch: InlineSwitch, catalog: Catalog) -> SwitchModel:
    """An inline switch: its ports as stated; a cage with several ports also runs whole. The rest is unknown.

    The fabric manager's cage is that of the catalogue switches whose cages are of the stated class.
    """
    if switch.cages is not None and switch.ports_per_cage is not None:
        modes = [Mode(switch.port_gbps, switch.ports_per_cage)]
        if switch.ports_per_cage > 1:
            modes.append(Mode(switch.port_gbps * switch.ports_per_cage, 1))
        sets = (CageSet(switch.cages, tuple(modes), switch.cage_class),)
        name = f"inline-{switch.cages}x{switch.ports_per_cage}x{switch.port_gbps}g"
    else:
        sets = (CageSet(switch.ports or 0, (Mode(switch.port_gbps, 1),), switch.cage_class),)
        name = f"inline-{switch.ports}x{switch.port_gbps}g"
    price = None
    if switch.price is not None:
        price = PriceChoice(name, Decimal(switch.price), "street", None, "the spec")
    managers = (
        s.manager_cage_class
        for s in catalog.switches.values()
        if any(group.cage_class == switch.cage_class for group in s.cages)
    )
    manager = next((m for m in managers if m is not None), None) if switch.cage_class is not None else None
    return SwitchModel(
        name,
        Geometry(name, sets),
        ("infiniband", "ethernet"),
        True,
        None,
        price,
        switch.power,
        None,
        False,
        manager,
        rack_units=switch.rack_units,
    )


def _resolve(ref: SwitchRef, loaded: LoadedSpec, catalog: Catalog, loc: tuple[str | int, ...]) -> SwitchModel | Problem:
    if isinstance(ref, InlineSwitch):
        return inline_switch(ref, catalog)
    entry = catalog.switches.get(ref)
    if entry is None:
        near = catalog.nearest(ref, "switches")
        remedy = f"did you mean {near}?" if near else "`ibplan catalog list --kind switches` lists them"
        return loaded.document.problem(loc, f"unknown switch {ref!r}", remedy)
    return catalog_switch(entry, catalog)


def pinned_switches(loaded: LoadedSpec, catalog: Catalog) -> list[TierModels] | None:
    """The switches that the spec names, one combination a leaf; None if it leaves the choice. Raises InputError."""
    tiers = loaded.spec.network.switch
    if tiers.leaf is None and tiers.spine is None and tiers.core is None:
        return None
    base: tuple[str | int, ...] = ("network", "switch")
    problems: list[Problem] = []

    def one(ref: SwitchRef, *loc: str | int) -> SwitchModel | None:
        found = _resolve(ref, loaded, catalog, (*base, *loc))
        if isinstance(found, Problem):
            problems.append(found)
            return None
        return found

    if tiers.leaf is None:
        message = "a spine or core switch is named, but no leaf"
        raise InputError([loaded.document.problem(base, message, "name the leaf too")])
    leaves = [one(ref, "leaf", index) for index, ref in enumerate(tiers.leaf)]
    spine = None if tiers.spine is None else one(tiers.spine, "spine")
    core = None if tiers.core is None else one(tiers.core, "core")
    if problems:
        raise InputError(problems)
    found = _told_apart([leaf for leaf in leaves if leaf is not None])
    return [TierModels(leaf, spine or leaf, core or spine or leaf) for leaf in found]


def _told_apart(models: list[SwitchModel]) -> list[SwitchModel]:
    """Inline switches with equal ports get a number after the first, so that their designs have ids of their own."""
    seen: dict[str, int] = {}
    result = []
    for model in models:
        seen[model.id] = seen.get(model.id, 0) + 1
        number = seen[model.id]
        result.append(model if number == 1 else replace(model, id=f"{model.id}-{number}"))
    return result


def default_switches(catalog: Catalog) -> Iterator[TierModels]:
    """Every switch that can be planned with, the same in all tiers."""
    for entry in catalog.switches.values():
        if can_be_planned(entry):
            model = catalog_switch(entry, catalog)
            yield TierModels(model, model, model)


def can_be_planned(entry: Switch) -> bool:
    """Whether a switch stands to choose where the spec names none."""
    if entry.status in ("retired", "prototype") or entry.role != "fabric":
        return False
    return not entry.planning_gaps()
