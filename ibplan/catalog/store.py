"""The catalogue as the rest of ibplan uses it: loaded, laid over, checked, looked up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ibplan.catalog.classes import CageClass
from ibplan.catalog.entries import Cable, Gpu, Module, Nic, PriceFile, Recipe, Server, Switch
from ibplan.catalog.layers import Kind, Layers, own_documents, own_file, own_prices, packaged_files, packaged_prices
from ibplan.catalog.price_checks import odd_prices
from ibplan.catalog.prices import PriceBook, newest_rates
from ibplan.catalog.references import (
    known_classes,
    nearest,
    parts_that_do_not_fit,
    unknown_parts,
    unknown_references,
)
from ibplan.document import Document, capped
from ibplan.errors import InputError


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything that can be bought, by id, with its prices. `digest`: the same content has the same digest."""

    switches: Mapping[str, Switch]
    nics: Mapping[str, Nic]
    servers: Mapping[str, Server]
    gpus: Mapping[str, Gpu]
    modules: Mapping[str, Module]
    cables: Mapping[str, Cable]
    recipes: Mapping[str, Recipe]
    cage_classes: Mapping[str, CageClass]
    prices: PriceBook
    digest: str

    def nearest(self, name: str, kind: Kind) -> str | None:
        """The id of a kind that is most like a name, for "did you mean"; None if none is like it."""
        return nearest(name, getattr(self, kind))

    def part(self, name: str) -> Switch | Nic | Server | Gpu | Module | Cable | None:
        """What has an id, of whatever kind that can be priced; None if nothing has it."""
        for entries in (self.switches, self.nics, self.servers, self.gpus, self.modules, self.cables):
            if name in entries:
                found: Switch | Nic | Server | Gpu | Module | Cable = entries[name]
                return found
        return None


def load_catalog(overlays: Sequence[Path] = (), price_file: Path | None = None) -> Catalog:
    """The packaged catalogue with files of the user laid over it, each replacing entries by id, later ones last.

    Raises InputError: unreadable files, unknown references, ids used twice, parts that do not fit.
    """
    layers = Layers()
    layers.add(packaged_files(), own=False)
    for document in own_documents(overlays):
        layers.add([own_file(document)], own=True)
    priced = [packaged_prices()] + ([own_prices(price_file)] if price_file is not None else [])
    classes = _checked(layers, priced)
    files = [file for file, _ in priced]
    entries = layers.entries
    return Catalog(
        **entries,
        cage_classes=classes,
        prices=PriceBook.of(*files),
        digest=_digest(entries, files),
    )


def _checked(layers: Layers, priced: Sequence[tuple[PriceFile, Document]]) -> dict[str, CageClass]:
    problems = [*layers.problems, *unknown_references(layers)]
    rates = newest_rates(*(prices for prices, _ in reversed(priced)))
    for prices, document in priced:
        problems += unknown_parts(layers, prices, document)
        problems += odd_prices(prices, rates, document)
    classes, conflicts = known_classes(layers)
    problems += conflicts
    if not problems:
        problems += parts_that_do_not_fit(layers, classes)
    if problems:
        raise InputError(capped(problems))
    return classes


def _digest(entries: Mapping[Kind, Mapping[str, Any]], files: Sequence[PriceFile]) -> str:
    """Twelve hexadecimal digits over the content, whatever files it came from and in whatever order."""
    content = {
        "entries": {
            kind: [entry.model_dump() for _, entry in sorted(found.items())] for kind, found in entries.items()
        },
        "prices": [
            {
                "name": file.name,
                "date": file.date,
                "rates": sorted(_canonical(rate.model_dump()) for rate in file.rates),
                "prices": sorted(_canonical(price.model_dump()) for price in file.prices),
            }
            for file in files
        ],
    }
    return hashlib.sha256(_canonical(content).encode()).hexdigest()[:12]


def _canonical(data: Any) -> str:
    return json.dumps(data, sort_keys=True, default=str, separators=(",", ":"))
