"""What entries say about each other: ids that must exist, and parts that must fit."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from typing import Final

from ibplan.catalog.classes import CageClass, cage_classes, class_uses
from ibplan.catalog.entries import Cable, Module, PriceFile, Recipe, Server
from ibplan.catalog.fit import misfits, unlike
from ibplan.catalog.layers import KINDS, Kind, Layers, Spot
from ibplan.document import Document
from ibplan.errors import Problem

_At = tuple[str | int, ...]
# Looking for the likest of many names takes long: a wrong name gets a hint only where there are few of both.
_MAX_HINTS: Final = 20
_MAX_NAMES: Final = 2000
_SHORTEST_PART: Final = 3
_LONGEST_NAME: Final = 80
# Trunks and panels are no entries of the catalogue: their ids say what they are (docs/cabling.md).
_MADE_TO_ORDER: Final = re.compile(
    r"(trunk-[0-9]+f|panel-[0-9]+p)-(multimode|single-mode)-(mpo-12|mpo-16|lc)(-(apc|upc))?(-(a|b|c|crossed))?"
)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The known id that is most like a name, for "did you mean", or one that contains it; None if there is none.

    Of ids that are equally like it the one that starts the same for longest is meant, then the first by name. None as
    well if the name is longer than any id, or if there are thousands of ids.
    """
    names = list(islice(names, _MAX_NAMES + 1))
    if len(name) > _LONGEST_NAME or len(names) > _MAX_NAMES:
        return None
    close = sorted(difflib.get_close_matches(name, names, n=5, cutoff=0.6))
    close = close or sorted(known for known in names if len(name) >= _SHORTEST_PART and name.lower() in known)
    return max(close, key=lambda known: _likeness(name, known), default=None)


def _likeness(name: str, known: str) -> tuple[float, int]:
    same_start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(name, known, strict=False)))
    return difflib.SequenceMatcher(None, known, name).ratio(), same_start


def unknown_references(layers: Layers) -> Iterator[Problem]:
    """References of entries to ids that do not exist."""
    hints = _Hints()
    for kind in KINDS:
        for name, entry in layers.entries[kind].items():
            for at, wanted, target in _references(entry):
                if target not in layers.entries[wanted]:
                    remedy = hints.remedy(target, layers.entries[wanted])
                    yield layers.spots[name].problem(f"there is no {target} under {wanted}", at, remedy)


def unknown_parts(layers: Layers, prices: PriceFile, document: Document) -> Iterator[Problem]:
    """Prices of parts that do not exist."""
    known = {name for kind in KINDS if kind != "recipes" for name in layers.entries[kind]}
    hints = _Hints()
    for i, price in enumerate(prices.prices):
        if price.part not in known and not _MADE_TO_ORDER.fullmatch(price.part):
            remedy = hints.remedy(price.part, known)
            yield document.problem(("prices", i, "part"), f"there is no part {price.part}", remedy)


class _Hints:
    """Gives "did you mean" to the first wrong names only."""

    def __init__(self) -> None:
        self._left = _MAX_HINTS

    def remedy(self, name: str, names: Iterable[str]) -> str:
        """The hint for a wrong name; empty if nothing is like it, or if there were many hints before."""
        if self._left == 0:
            return ""
        self._left -= 1
        near = nearest(name, names)
        return f"did you mean {near}?" if near else ""


def _references(entry: object) -> Iterator[tuple[_At, Kind, str]]:
    if isinstance(entry, Recipe):
        if entry.end_a.module is not None:
            yield ("end_a", "module"), "modules", entry.end_a.module
        if entry.end_b.module is not None:
            yield ("end_b", "module"), "modules", entry.end_b.module
        yield ("cable",), "cables", entry.cable
    elif isinstance(entry, Module | Cable) and entry.compatible_with is not None:
        yield ("compatible_with",), "modules" if isinstance(entry, Module) else "cables", entry.compatible_with
    elif isinstance(entry, Server):
        if entry.gpu is not None:
            yield ("gpu",), "gpus", entry.gpu
        for name in ("compute", "ethernet", "storage", "inband"):
            ports = getattr(entry, name)
            if ports is not None and ports.nic is not None:
                yield (name, "nic"), "nics", ports.nic


def known_classes(layers: Layers) -> tuple[dict[str, CageClass], list[Problem]]:
    """The cage classes of all devices, and where a device contradicts another."""
    entries = layers.entries
    uses = class_uses(entries["switches"].values(), entries["nics"].values(), entries["servers"].values())
    classes, conflicts = cage_classes(uses)
    return classes, [layers.spots[use.device].problem(reason, use.at) for use, reason in conflicts]


def parts_that_do_not_fit(layers: Layers, classes: dict[str, CageClass]) -> Iterator[Problem]:
    """Recipes whose parts do not fit, and compatible parts unlike their original. Every reference must exist."""
    modules, cables = layers.entries["modules"], layers.entries["cables"]
    for recipe in layers.entries["recipes"].values():
        for why in misfits(recipe, modules, cables, classes):
            spot, at = _blamed(recipe, layers)
            yield spot.problem(f"recipe {recipe.id}: {why}", at)
    for parts in (modules, cables):
        for part in parts.values():
            if part.compatible_with is not None:
                for why in unlike(part, parts[part.compatible_with]):
                    message = f"{part.id} cannot stand in for {part.compatible_with}: {why}"
                    yield layers.spots[part.id].problem(message, ("compatible_with",))


def _blamed(recipe: Recipe, layers: Layers) -> tuple[Spot, _At]:
    """Where to point: the recipe, or the user's part where only that is the user's."""
    spot = layers.spots[recipe.id]
    parts = [name for name in (recipe.end_a.module, recipe.end_b.module, recipe.cable) if name is not None]
    own = [layers.spots[name] for name in parts if layers.spots[name].own]
    return (own[0], ("id",)) if own and not spot.own else (spot, ("id",))
