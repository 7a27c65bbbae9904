"""Which part a row of a quote offers: by part number, catalogue id, then words, and only where one part alone fits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final, Literal

from ibplan.catalog.entries import Cable, Module, Nic, Switch
from ibplan.catalog.store import Catalog
from ibplan.economics.items import LineItem
from ibplan.quote.rows import QuoteRow

Via = Literal["part number", "catalogue id", "description"]
Entry = Switch | Nic | Module | Cable

_SHORTEST: Final = 4
_TOKEN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9./+_-]+")
_WORD: Final = re.compile(r"[a-z0-9.]*[a-z0-9]")
# Words that tell no part from another.
_EMPTY: Final = frozenset(
    {"for", "with", "and", "compatible", "switch", "module", "transceiver", "cable", "the", "a", "of", "to"}
)
_FEWEST_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A part that a text may name. `variant`: airflow or length in metres that the text fixes; empty = none."""

    part: str
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """The part that a row offers, how it was found, and the part number that it states of the part (None = none)."""

    candidate: Candidate
    via: Via
    number: str | None


@dataclass(frozen=True, slots=True)
class Index:
    """Parts by what names them, without signs and in capitals. `words`: those of a part's model."""

    numbers: Mapping[str, frozenset[Candidate]]
    ids: Mapping[str, str]
    words: Mapping[str, frozenset[str]]


def make_index(catalog: Catalog, items: Iterable[LineItem]) -> Index:
    """Everything that a row may name: the parts of the catalogue, and those of the bill that the catalogue lacks."""
    numbers: dict[str, set[Candidate]] = {}
    ids: dict[str, str] = {}
    words: dict[str, frozenset[str]] = {}
    for entry in entries(catalog):
        ids[bare(entry.id)] = entry.id
        words[entry.id] = _words(entry.model)
        for number, variant in _numbers(entry):
            numbers.setdefault(bare(number), set()).add(Candidate(entry.id, variant))
    for item in items:
        ids.setdefault(bare(item.part), item.part)
        if item.part_number is not None and not numbers.get(bare(item.part_number)):
            numbers[bare(item.part_number)] = {Candidate(item.part)}
    return Index({key: frozenset(found) for key, found in numbers.items()}, ids, words)


def entries(catalog: Catalog) -> Iterator[Entry]:
    """What a bill can hold."""
    for found in (catalog.switches, catalog.nics, catalog.modules, catalog.cables):
        yield from found.values()


def bare(text: str) -> str:
    """A number without signs, in capitals: vendors write the same one with and without hyphens."""
    return re.sub(r"[^0-9A-Z]", "", text.upper())


def find_part(row: QuoteRow, index: Index, billed: Set[str]) -> Match | None:
    """The one part that a row names; None if none, or several that cannot be told apart.

    Parts of the bill (`billed`) stand before others with the same number.
    """
    for text in row.numbers:
        found = _by_number(text, index, billed)
        if found is not None:
            return Match(found, "part number", text)
    for text in row.numbers:
        if bare(text) in index.ids:
            return Match(Candidate(index.ids[bare(text)]), "catalogue id", None)
    if any(len(bare(text)) >= _SHORTEST for text in row.numbers) and not row.description:
        return None
    return _by_description(" ".join([*row.numbers, row.description]), index, billed)


def _by_number(text: str, index: Index, billed: Set[str]) -> Candidate | None:
    found = index.numbers.get(bare(text), frozenset()) if len(bare(text)) >= _SHORTEST else frozenset()
    return _single(found, billed)


def _single(found: Set[Candidate], billed: Set[str]) -> Candidate | None:
    """The only candidate, or the only one in the bill; of one part with and without its variant the one with it."""
    for pool in (found, {each for each in found if each.part in billed}):
        exact = {each for each in pool if each.variant} or pool
        if len(exact) == 1 and len({each.part for each in pool}) == 1:
            return next(iter(exact))
    return None


def _by_description(text: str, index: Index, billed: Set[str]) -> Match | None:
    named = {
        (candidate, token)
        for token in _TOKEN.findall(text)
        if len(bare(token)) >= _SHORTEST and any(c.isdigit() for c in token)
        for candidate in _named_by(token, index)
    }
    if named:
        single = _single({candidate for candidate, _ in named}, billed)
        number = next((token for candidate, token in sorted(named, key=str) if candidate == single), None)
        return None if single is None else Match(single, "description", number)
    said = _words(text)
    fits = {part: words for part, words in index.words.items() if len(words) >= _FEWEST_WORDS and words <= said}
    closest = {Candidate(part) for part, words in fits.items() if not any(words < other for other in fits.values())}
    single = _single(closest, billed)
    return None if single is None else Match(single, "description", None)


def _named_by(token: str, index: Index) -> Iterator[Candidate]:
    yield from index.numbers.get(bare(token), ())
    if bare(token) in index.ids:
        yield Candidate(index.ids[bare(token)])


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _EMPTY


def _numbers(entry: Entry) -> Iterator[tuple[str, str]]:
    """Numbers under which a part is sold, with the airflow or length that each fixes; its model, if that is one."""
    if isinstance(entry, Switch):
        yield from ((number, "" if airflow == "any" else airflow) for airflow, number in entry.part_numbers.items())
    elif isinstance(entry, Nic):
        yield from ((number, "") for number in entry.part_numbers)
    else:
        yield from ([(entry.part_number, "")] if entry.part_number is not None else [])
    if isinstance(entry, Cable):
        yield from ((number, length) for length, number in entry.part_number_by_m.items())
    if " " not in entry.model and any(c.isdigit() for c in entry.model):
        yield entry.model, ""
