"""What the catalogue lacks: fields to plan with, prices, fresh prices, parts that fit, cages that anything has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from ibplan.catalog.entries import Cable, Module, Recipe
from ibplan.catalog.fit import misfits
from ibplan.catalog.layers import Kind
from ibplan.catalog.prices import first_day
from ibplan.catalog.store import Catalog

CheckName = Literal["incomplete", "unknown_height", "unpriced", "old_price", "misfit", "unknown_cage_class"]
_PRICED: tuple[Kind, ...] = ("switches", "nics", "servers", "modules", "cables")


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """One thing to know about an entry. `fields` are the missing ones; `days` is the age of the price that stands."""

    check: CheckName
    kind: Kind
    id: str
    text: str
    fields: tuple[str, ...] = ()
    days: int | None = None


def check_catalog(catalog: Catalog, older_than_days: int | None, today: date) -> list[CatalogRow]:
    """Every row, by check and then as the catalogue has it. Prices are aged only if `older_than_days` is given."""
    rows = [*_incomplete(catalog), *_unknown_heights(catalog), *_unpriced(catalog)]
    if older_than_days is not None:
        rows += _old_prices(catalog, older_than_days, today)
    return [*rows, *_misfits(catalog), *_unknown_classes(catalog)]


def _incomplete(catalog: Catalog) -> Iterator[CatalogRow]:
    for kind in ("switches", "nics", "servers"):
        for name, entry in getattr(catalog, kind).items():
            gaps = entry.planning_gaps()
            if gaps:
                yield CatalogRow("incomplete", kind, name, f"unknown: {', '.join(gaps)}", gaps)


def _unknown_heights(catalog: Catalog) -> Iterator[CatalogRow]:
    for name, switch in catalog.switches.items():
        if switch.rack_units is None:
            yield CatalogRow(
                "unknown_height", "switches", name, "height unknown: it has no place in a rack", ("rack_units",)
            )


def _unpriced(catalog: Catalog) -> Iterator[CatalogRow]:
    stand_ins: dict[str, list[str]] = {}
    parts: list[Module | Cable] = [*catalog.modules.values(), *catalog.cables.values()]
    for part in parts:
        if part.compatible_with is not None and catalog.prices.choose(part.id) is not None:
            stand_ins.setdefault(part.compatible_with, []).append(part.id)
    for kind in _PRICED:
        for name, entry in getattr(catalog, kind).items():
            if entry.status == "retired" or catalog.prices.choose(name) is not None:
                continue
            others = ", ".join(stand_ins.get(name, ()))
            kept = len(catalog.prices.unusable.get(name, ()))
            text = "no price" + (f" that can stand ({kept} kept: used goods or foreign currency)" if kept else "")
            yield CatalogRow("unpriced", kind, name, text + (f"; compatible and priced: {others}" if others else ""))


def _old_prices(catalog: Catalog, older_than_days: int, today: date) -> Iterator[CatalogRow]:
    for kind in (*_PRICED, "gpus"):
        for name in getattr(catalog, kind):
            choice = catalog.prices.choose(name)
            if choice is None:
                continue
            if choice.date is None:
                yield CatalogRow("old_price", kind, name, f"the {choice.kind} price has no date")
                continue
            days = (today - first_day(choice.date)).days
            if days > older_than_days:
                yield CatalogRow("old_price", kind, name, f"the {choice.kind} price is of {choice.date}", days=days)


def _misfits(catalog: Catalog) -> Iterator[CatalogRow]:
    for name, recipe in catalog.recipes.items():
        for why in misfits(recipe, catalog.modules, catalog.cables, catalog.cage_classes):
            yield CatalogRow("misfit", "recipes", name, why)


def _unknown_classes(catalog: Catalog) -> Iterator[CatalogRow]:
    for name, recipe in catalog.recipes.items():
        unknown = tuple(c for c in _classes(recipe) if c not in catalog.cage_classes)
        if unknown:
            yield CatalogRow("unknown_cage_class", "recipes", name, f"no device has {', '.join(unknown)}", unknown)


def _classes(recipe: Recipe) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*recipe.end_a.cage_classes, *recipe.end_b.cage_classes)))
