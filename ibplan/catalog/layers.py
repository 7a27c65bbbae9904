"""Files laid over each other: the packaged ones, then the user's. Every entry remembers where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from ibplan.catalog.entries import CatalogFile, PriceFile
from ibplan.document import Document, read_document, validate
from ibplan.errors import Problem

Kind = Literal["switches", "nics", "servers", "gpus", "modules", "cables", "recipes"]
KINDS: Final[tuple[Kind, ...]] = ("switches", "nics", "servers", "gpus", "modules", "cables", "recipes")
DATA: Final = Path(__file__).parent / "data"
_PRICES: Final = "prices.yaml"


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an entry stands. `own`: in a file of the user, not in a packaged one."""

    document: Document
    loc: tuple[str | int, ...]
    own: bool

    def problem(self, message: str, at: tuple[str | int, ...] = (), remedy: str = "") -> Problem:
        """A problem of the entry, or of the part of it at `at`."""
        return self.document.problem((*self.loc, *at), message, remedy)


@dataclass(slots=True)
class Layers:
    """Entries by kind and id while they are being put together. A later layer replaces an entry whole."""

    entries: dict[Kind, dict[str, Any]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    spots: dict[str, Spot] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, documents: Iterable[Document], own: bool) -> None:
        """Lay one layer over those before it. An id twice in a layer, or of another kind than before, is a problem."""
        here: set[str] = set()
        for document in documents:
            file = validate(CatalogFile, document)
            for kind in KINDS:
                for i, entry in enumerate(getattr(file, kind)):
                    self._put(kind, entry, Spot(document, (kind, i), own), here)

    def _put(self, kind: Kind, entry: Any, spot: Spot, here: set[str]) -> None:
        name = entry.id
        before = self.kind_of(name)
        if name in here:
            first = self.spots[name]
            place = "{}:{}:{}".format(*first.document.place((*first.loc, "id")))
            self.problems.append(spot.problem(f"the id {name} is already used at {place}", ("id",)))
        elif before not in (None, kind):
            message = f"the id {name} is that of an entry under {before}"
            self.problems.append(spot.problem(message, ("id",), "ids are unique over all kinds: choose another"))
        else:
            here.add(name)
            self.entries[kind][name] = entry
            self.spots[name] = spot

    def kind_of(self, name: str) -> Kind | None:
        """The kind of the entry with an id; None if there is none."""
        return next((kind for kind in KINDS if name in self.entries[kind]), None)


def packaged_documents() -> Iterator[Document]:
    """The catalogue files that ibplan brings, in order of name."""
    for path in sorted(DATA.glob("*.yaml")):
        if path.name != _PRICES:
            yield read_document(path, f"ibplan/catalog/data/{path.name}")


def packaged_prices() -> tuple[PriceFile, Document]:
    """The price book that ibplan brings."""
    return _prices(DATA / _PRICES, f"ibplan/catalog/data/{_PRICES}")


def own_documents(paths: Sequence[Path]) -> list[Document]:
    """The catalogue files of the user. Raises InputError."""
    return [read_document(path) for path in paths]


def own_prices(path: Path) -> tuple[PriceFile, Document]:
    """The price file of the user. Raises InputError."""
    return _prices(path, None)


def _prices(path: Path, source: str | None) -> tuple[PriceFile, Document]:
    document = read_document(path, source)
    return validate(PriceFile, document), document
