"""The parts of every class of links of a network, by the lengths of its runs where a layout gives them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from ibplan.catalog.entries import LinkLayer
from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.link_groups import link_groups, part_of_class
from ibplan.fabric.network import NetworkSize
from ibplan.parts.chosen import LinkParts
from ibplan.parts.lengths import with_orders
from ibplan.parts.links import LinkClass, LinkKind
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import MediumChoice, choose_parts

if TYPE_CHECKING:
    from ibplan.cabling.runs import Places
    from ibplan.fabric.wiring_model import Wiring

Histogram = Sequence[tuple[float, int]]
# Kinds of which groups of links may differ in medium: all links of the others are one group.
_GROUPED: Final = frozenset({"server-leaf", "leaf-spine", "spine-core", "leaf-leaf"})
# Kinds whose links can stand in one cage with others of their speed.
_TO_HOSTS: Final = frozenset({"server-leaf", "attached", "reserved"})


@dataclass(frozen=True, slots=True)
class Runs:
    """What a layout says of the runs of one network.

    `histogram(kind, host)`: (run in metres rounded up to 0.1 m, links of it), shortest first, for each group of links
    that must be of one medium, `host` = the name of attached hosts; None where a place is unknown. `places` and
    `wiring` are made only where the histograms do not suffice. `assumed`: nobody stated the layout, so that a run that
    no parts cover is to be told, and refuses nothing.
    """

    histogram: Callable[[LinkKind, str | None], Sequence[Histogram] | None]
    places: Callable[[], Places]
    wiring: Callable[[], Wiring]
    network: str = "compute"
    assumed: bool = False


def network_parts(
    network: NetworkSize,
    layer: LinkLayer,
    book: PartsBook,
    media: Callable[[LinkClass], MediumChoice],
    runs: Runs | None = None,
) -> tuple[LinkParts, ...]:
    """The parts of all link classes, in their order; a class whose groups of links differ has several.

    Raises Unbuildable with the reasons of all classes for which no parts can be had.
    """
    chosen: list[LinkParts] = []
    reasons: list[Reason] = []
    near: dict[int, LinkParts] = {}  # by speed: the first class that is chosen of those that share a bank of cages
    sharing = [c for c in network.links if _shares(c)]
    for number, link in enumerate(network.links):
        medium, beside = media(link), near.get(link.gbps)
        first = link.kind in _TO_HOSTS and (link.kind == "server-leaf" or beside is None)
        group = [link, *(c for c in sharing if first and c is not link and c.gbps == link.gbps)]
        if len(group) > 1 and medium == "auto":
            medium = "optical"  # the head of a copper cable cannot be shared with the links beside
        try:
            found = list(_class_parts(network, (number, link), layer, (medium, beside), book, runs, group))
        except Unbuildable as refusal:
            reasons += refusal.reasons
            continue
        if link.kind in _TO_HOSTS and found[0].recipe is not None:
            near.setdefault(link.gbps, found[0])
        chosen += found
    if reasons:
        raise Unbuildable(*reasons)
    return tuple(chosen) if runs is None else _ordered(network, chosen, book, runs)


def _shares(link: LinkClass) -> bool:
    """Whether links stand in a cage that others of the same bank light."""
    return any(load.shares(link.a.ports_per_cage or 1) for load in link.a.loads)


def _class_parts(
    network: NetworkSize,
    numbered: tuple[int, LinkClass],
    layer: LinkLayer,
    wanted: tuple[MediumChoice, LinkParts | None],
    book: PartsBook,
    runs: Runs | None,
    together: Sequence[LinkClass],
) -> Iterator[LinkParts]:
    """The parts of one class. `together`: classes that share its cages, and so must share its modules."""
    (number, link), (medium, beside) = numbered, wanted

    @cache
    def chosen(longest_m: float | None, of: LinkClass = link) -> LinkParts:
        try:
            found = choose_parts(book, of, layer, medium, beside, longest_m)
        except Unbuildable as refusal:
            reason = refusal.reasons[0]
            if reason.code != "run-too-long" or runs is None or not runs.assumed:
                raise
            found = replace(choose_parts(book, of, layer, medium, beside), too_long=reason)
        return replace(found, link_class=number)

    longest = [] if runs is None else _longest_of_groups(network, link, together, runs)
    bands = _bands(sorted(set(longest)), lambda longest_m: _identity(chosen(longest_m)))
    if len(bands) < 2:
        yield chosen(max(longest, default=None))
        return
    groups = link_groups(network, link)
    for band in bands:
        members = [index for index, m in enumerate(longest) if band[0] <= m <= band[-1]]
        part = part_of_class(link, [groups[index] for index in members])
        yield replace(chosen(band[-1], part), groups=tuple(members))


def _bands(runs_m: Sequence[float], choice: Callable[[float], object]) -> list[Sequence[float]]:
    """Runs in metres, ascending, cut where the choice changes. Between two equal choices none is taken to differ."""
    if not runs_m:
        return []
    if choice(runs_m[0]) == choice(runs_m[-1]):
        return [runs_m]
    middle = len(runs_m) // 2
    first, second = _bands(runs_m[:middle], choice), _bands(runs_m[middle:], choice)
    if choice(first[-1][-1]) == choice(second[0][0]):
        return [*first[:-1], [*first[-1], *second[0]], *second[1:]]
    return [*first, *second]


def _longest_of_groups(network: NetworkSize, link: LinkClass, together: Sequence[LinkClass], runs: Runs) -> list[float]:
    """The longest known run in metres of every group of links that must be of one medium; empty where none is known.

    Classes of which a place is unknown set no bound to those that share their cages.
    """
    found: list[float] = []
    for kind, host in dict.fromkeys((c.kind, c.host) for c in together):
        found += [group[-1][0] for group in runs.histogram(kind, host) or () if group]
    alone = len(together) == 1 and _only_one(network, link)
    return found if alone and link.kind in _GROUPED else ([max(found)] if found else [])


def _only_one(network: NetworkSize, link: LinkClass) -> bool:
    """Whether no other class has links of this kind to the same hosts, so that their histogram is that of the class."""
    return sum((c.kind, c.host) == (link.kind, link.host) for c in network.links) == 1


def _identity(parts: LinkParts) -> tuple[str | None, str | None, bool]:
    """What makes two choices the same: the recipe, the cable that is bought, and whether they reach."""
    return (
        None if parts.recipe is None else parts.recipe.id,
        None if parts.cable is None else parts.cable.entry.id,
        parts.too_long is not None,
    )


def _ordered(network: NetworkSize, chosen: Sequence[LinkParts], book: PartsBook, runs: Runs) -> tuple[LinkParts, ...]:
    """The parts with their cables by length: from the histograms, or one by one where links share cables or kinds."""
    simple = [_from_histogram(network, parts, book, runs) for parts in chosen]
    if None not in simple:
        return tuple(parts for parts in simple if parts is not None)
    from ibplan.cabling.cables import network_cables
    from ibplan.cabling.runs import link_runs_m

    wiring = runs.wiring()
    cables = network_cables(wiring, chosen, link_runs_m(wiring, runs.places(), runs.network))
    result = []
    for parts, done, found in zip(chosen, simple, cables, strict=True):
        result.append(with_orders(parts, book, found.runs()) if done is None else done)
    return tuple(result)


def _from_histogram(network: NetworkSize, parts: LinkParts, book: PartsBook, runs: Runs) -> LinkParts | None:
    """The parts with cables by length, where each cable carries one link, or links that run alike; else None."""
    if parts.recipe is None:
        return parts
    link = network.links[parts.link_class]
    found = None if parts.longest_m is None else runs.histogram(link.kind, link.host)
    if found is None:
        return with_orders(parts, book, [(None, parts.cables)])
    per_cable = parts.recipe.links_per_cable
    if not _only_one(network, link) or (per_cable > 1 and not parts.recipe.same_peer):
        return None
    counts: dict[float, int] = defaultdict(int)
    for group, times in _repeated(found if parts.groups is None else [found[index] for index in parts.groups]):
        for run_m, links in group:
            counts[run_m] += links * times
    links_each, fibers = per_cable.numerator, per_cable.denominator
    if links_each > 1 and any(links % links_each for links in counts.values()):
        return None
    return with_orders(parts, book, [(run_m, links * fibers // links_each) for run_m, links in counts.items()])


def _repeated(groups: Iterable[Histogram]) -> Iterator[tuple[Histogram, int]]:
    """The histograms, each with how many groups have it: groups that stand alike have the very same."""
    known: dict[int, Histogram] = {}
    times: dict[int, int] = defaultdict(int)
    for group in groups:
        known[id(group)] = group
        times[id(group)] += 1
    return ((group, times[key]) for key, group in known.items())
