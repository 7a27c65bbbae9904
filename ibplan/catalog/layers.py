"""Files laid over each other: the packaged ones, then the user's. Every entry remembers where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from ibplan.catalog.entries import CatalogFile, PriceFile
from ibplan.document import MAX_BYTES, Document, capped, printable, read_document, validate
from ibplan.errors import InputError, Problem
from ibplan.system import system_path

Kind = Literal["switches", "nics", "servers", "gpus", "modules", "cables", "recipes"]
KINDS: Final[tuple[Kind, ...]] = ("switches", "nics", "servers", "gpus", "modules", "cables", "recipes")
DATA: Final = Path(__file__).parent / "data"
_PRICES: Final = "prices.yaml"
# Nothing that is bought has a larger number in it; sums and products of such numbers stay finite.
_LARGEST_NUMBER: Final = 10**12


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

    def add(self, files: Iterable[tuple[CatalogFile, Document]], own: bool) -> None:
        """Lay one layer over those before it. An id twice in a layer, or of another kind than before, is a problem."""
        here: set[str] = set()
        for file, document in files:
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


@lru_cache(maxsize=1)
def packaged_files() -> tuple[tuple[CatalogFile, Document], ...]:
    """The catalogue files that ibplan brings, in order of name."""
    paths = [path for path in sorted(DATA.glob("*.yaml")) if path.name != _PRICES]
    documents = [read_document(path, f"ibplan/catalog/data/{path.name}") for path in paths]
    return tuple((validate(CatalogFile, document), document) for document in documents)


def own_file(document: Document) -> tuple[CatalogFile, Document]:
    """A catalogue file of the user. Raises InputError."""
    file = validate(CatalogFile, document)
    refuse_large_numbers(document)
    return file, document


@lru_cache(maxsize=1)
def packaged_prices() -> tuple[PriceFile, Document]:
    """The price book that ibplan brings."""
    return _prices(DATA / _PRICES, f"ibplan/catalog/data/{_PRICES}")


def own_documents(paths: Sequence[Path]) -> list[Document]:
    """The catalogue files of the user. Raises InputError."""
    size = 0
    for path in paths:
        before, size = size, size + _size(path)
        if before and size > MAX_BYTES:
            message = f"with the files before it larger than {MAX_BYTES // 1024**2} MiB, the limit for all together"
            raise InputError([Problem(printable(path), 0, 0, message)])
    return [read_document(path) for path in paths]


def _size(path: Path) -> int:
    try:
        return system_path(path).stat().st_size
    except (OSError, ValueError):
        return 0  # reading it will say why


def own_prices(path: Path) -> tuple[PriceFile, Document]:
    """The price file of the user. Raises InputError."""
    return _prices(path, None)


def _prices(path: Path, source: str | None) -> tuple[PriceFile, Document]:
    document = read_document(path, source)
    prices = validate(PriceFile, document)
    refuse_large_numbers(document)
    return prices, document


def refuse_large_numbers(document: Document) -> None:
    """Raises InputError with every number of a document that is larger than anything that is bought has."""
    message = f"a number may be {_LARGEST_NUMBER:,} at most"
    found = [document.problem(loc, message) for loc in _large_numbers(document.data, ())]
    if found:
        raise InputError(capped(found))


def _large_numbers(data: Any, loc: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(data, dict | tuple):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _large_numbers(value, (*loc, key))
    elif isinstance(data, int | float) and abs(data) > _LARGEST_NUMBER:
        yield loc
