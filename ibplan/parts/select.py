"""Choose the parts of a class of links, and count them: the recipe must fit both cages, or the link is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil, floor
from typing import Literal, NamedTuple

from ibplan.catalog.entries import LinkLayer, Recipe, RecipeEnd
from ibplan.errors import Reason, Unbuildable
from ibplan.parts.chosen import LinkParts
from ibplan.parts.lengths import longest_run_m, ordered_m, reaches
from ibplan.parts.links import LinkClass, LinkEnd
from ibplan.parts.offers import Offer, PartsBook

MediumChoice = Literal["auto", "optical", "multimode", "single_mode", "copper"]
__all__ = ["LinkParts", "MediumChoice", "any_parts", "choose_parts", "link_usd", "priced_parts"]

_MEDIA: dict[MediumChoice, frozenset[str]] = {
    "auto": frozenset({"passive_copper", "active_copper", "aoc", "multimode", "single_mode"}),
    "optical": frozenset({"aoc", "multimode", "single_mode"}),
    "multimode": frozenset({"multimode"}),
    "single_mode": frozenset({"single_mode"}),
    "copper": frozenset({"passive_copper", "active_copper"}),
}


@dataclass(frozen=True, slots=True)
class _Fit:
    """A recipe that fits, with its ends in the order of the link's. `swapped`: the recipe starts at the far end."""

    recipe: Recipe
    a: RecipeEnd
    b: RecipeEnd
    swapped: bool


class _Bought(NamedTuple):
    """What a class takes by one recipe: the modules of both ends and the cable, each with its number."""

    fit: _Fit
    a: tuple[Offer | None, int]
    b: tuple[Offer | None, int]
    cable: tuple[Offer, int]

    def parts(self, link: LinkClass, longest_m: float | None) -> LinkParts:
        (module_a, modules_a), (module_b, modules_b), (cable, cables) = self[1:]
        near = self.fit.a.module
        return LinkParts(
            link,
            self.fit.recipe,
            module_a,
            module_b,
            cable,
            modules_a,
            modules_b,
            cables,
            near,
            self.fit.swapped,
            longest_m=longest_m,
        )


def choose_parts(
    book: PartsBook,
    link: LinkClass,
    layer: LinkLayer,
    medium: MediumChoice,
    beside: LinkParts | None = None,
    longest_m: float | None = None,
) -> LinkParts:
    """The parts of a link class. Among recipes that fit: fully priced first, then stated pairs, then the cheapest link.

    `beside` = the parts of the links that come first in the same bank; where the two share a cage, they must share its
    module, and a cable's head cannot be shared. `longest_m`: the longest run in metres, which the parts must reach; a
    cable is then priced at the length it takes. `auto` takes copper between fast cages only where the run is known.
    Raises Unbuildable with the reason when no recipe fits both ends.
    """
    if link.a.cage_class is None or link.b.cage_class is None:
        return LinkParts(link, None)
    fits = [f for f in _fitting(book, link, layer) if _allowed(book, f.recipe, medium, longest_m)]
    shared = beside is not None and any(x.shares(link.a.ports_per_cage or 1) for x in link.a.loads)
    usable = [f for f in fits if not shared or _shares(f, beside)]
    if not usable:
        raise Unbuildable(_refusal(book, link, layer, medium, bool(fits)))
    bought = [b for f in usable if (b := _bought(book, link, f, longest_m)) is not None]
    if not bought:
        raise Unbuildable(_too_long(book, link, medium, [f.recipe for f in usable], longest_m or 0.0))
    return min(bought, key=lambda b: _preference(b, longest_m)).parts(link, longest_m)


def _allowed(book: PartsBook, recipe: Recipe, medium: MediumChoice, longest_m: float | None) -> bool:
    """Whether a recipe is of the medium. Without a length `auto` is optical, or twisted pair, which goes as far."""
    if medium != "auto" or longest_m is not None:
        return recipe.medium in _MEDIA[medium]
    return recipe.medium in _MEDIA["optical"] or book.catalog.cables[recipe.cable].kind == "rj45"


def _shares(fit: _Fit, beside: LinkParts | None) -> bool:
    """Whether links of this recipe can use the free half of a cage that the links beside them light."""
    return fit.a.module is not None and beside is not None and fit.a.module == beside.near_module


def any_parts(book: PartsBook, layer: LinkLayer, gbps: int, near: LinkEnd, far: LinkEnd) -> bool:
    """Whether any recipe of today joins a cage of a switch, with so many ports, with one of a host."""
    return bool(_fitting(book, LinkClass("attached", gbps, near, far), layer))


def _fitting(book: PartsBook, link: LinkClass, layer: LinkLayer) -> list[_Fit]:
    """The recipes that fit both cages; which they are is found once for all links between two such cages."""
    ends = tuple((end.cage_class, end.ports_per_cage) for end in (link.a, link.b))
    fits = book.once((layer, link.gbps, ends), lambda: list(_joining(book, link, layer)))
    return [fit for fit in fits if _pairs(fit.recipe, link)]


def _joining(book: PartsBook, link: LinkClass, layer: LinkLayer) -> Iterator[_Fit]:
    for recipe in book.recipes.get((layer, link.gbps), ()):
        if recipe.status in ("retired", "prototype"):
            continue
        for a, b, swapped in ((recipe.end_a, recipe.end_b, False), (recipe.end_b, recipe.end_a, True)):
            if _end_fits(a, link.a) and _end_fits(b, link.b):
                yield _Fit(recipe, a, b, swapped)
                break


def _end_fits(end: RecipeEnd, wanted: LinkEnd) -> bool:
    ports = wanted.ports_per_cage
    return wanted.cage_class in end.cage_classes and (ports is None or end.links_per_cage == ports)


def _pairs(recipe: Recipe, link: LinkClass) -> bool:
    """A cable that binds its links to one cage at each end needs that many links between the same two devices."""
    if not recipe.same_peer:
        return True
    return link.kind not in ("server-leaf", "attached", "reserved") and link.pair_links % recipe.links_per_cable == 0


def _bought(book: PartsBook, link: LinkClass, fit: _Fit, longest_m: float | None) -> _Bought | None:
    """What a class takes by one recipe; None if none of its cables covers the longest run."""
    cable = book.offer(fit.recipe.cable) if longest_m is None else _cable_for(book, fit.recipe, longest_m)
    if cable is None:
        return None
    a, b = fit.a, fit.b
    return _Bought(
        fit,
        (book.offer(a.module), link.a.groups_of(a.links_per_cage)) if a.module else (None, 0),
        (book.offer(b.module), link.b.groups_of(b.links_per_cage)) if b.module else (None, 0),
        (cable, _cables(link, fit)),
    )


def _cable_for(book: PartsBook, recipe: Recipe, longest_m: float) -> Offer | None:
    """The cheapest cable that covers a run, in metres, at the price of the length it takes."""
    run_m = max(longest_m, recipe.min_length_m or 0.0)
    fitting = [c for c in book.cables(recipe.cable) if reaches(c, run_m, recipe.max_length_m)]
    if not fitting:
        return None
    return book.cable_offer(recipe.cable, {c.id: ordered_m(c, run_m) for c in fitting})


def _cables(link: LinkClass, fit: _Fit) -> int:
    """Cables of a class: per link for straight ones, per group of links that start in one cage for splitters."""
    per_cable = fit.recipe.links_per_cable
    if per_cable <= 1:
        return int(link.count / per_cable)
    return (link.b if fit.swapped else link.a).groups_of(int(per_cable))


def _preference(bought: _Bought, longest_m: float | None) -> tuple[bool, bool, bool, Decimal, float, str]:
    """Sums over unpriced parts say nothing: without a full price the shorter reach, the cheaper class, comes first.

    Where the run is known, a reach that no source states comes after those that are.
    """
    recipe = bought.fit.recipe
    usd, complete = _usd(bought[1:])
    reach = recipe.max_length_m or float("inf")
    doubtful = longest_m is not None and recipe.max_length_m is None
    return not complete, doubtful, recipe.basis == "inferred", usd if complete else Decimal(0), reach, recipe.id


def link_usd(parts: LinkParts) -> tuple[Decimal, bool]:
    """Cost of the whole class in USD over its priced parts, and whether all are priced."""
    return _usd(priced_parts(parts))


def _usd(counted: Iterable[tuple[Offer | None, int]]) -> tuple[Decimal, bool]:
    total, complete = Decimal(0), True
    for offer, count in counted:
        if offer is None or not count:
            continue
        if offer.usd is None:
            complete = False
        else:
            total += offer.usd * count
    return total, complete


def priced_parts(parts: LinkParts) -> list[tuple[Offer, int]]:
    """The parts with their quantities, near end first, then far end, then cable; empty if nothing could be chosen."""
    modules = ((parts.module_a, parts.modules_a), (parts.module_b, parts.modules_b))
    orders = tuple((order.offer, order.count) for order in parts.orders)
    listed = (*modules, *(orders or ((parts.cable, parts.cables),)))
    return [(offer, count) for offer, count in listed if offer is not None and count]


def _refusal(book: PartsBook, link: LinkClass, layer: LinkLayer, medium: MediumChoice, fits: bool) -> Reason:
    """Why no recipe fits, with the media that would join these two cages at this speed."""
    ends = f"{link.a.cage_class} cages ({link.a.tier}) and {link.b.cage_class} cages ({link.b.tier})"
    text = f"{link.kind} links of {link.gbps} Gb/s: no {medium.replace('_', '-')} parts join {ends} over {layer}"
    if fits:
        return Reason("no-parts", f"{text} with what is in the switch cages that they share with others")
    other = sorted({f.recipe.medium.replace("_", " ") for f in _fitting(book, link, layer)})
    if other:
        return Reason("no-parts", f"{text}; possible: {', '.join(other)}")
    free = replace(link, a=replace(link.a, ports_per_cage=None), b=replace(link.b, ports_per_cage=None))
    sparse = sorted({f"{f.recipe.cable} ({f.a.links_per_cage} a cage)" for f in _fitting(book, free, layer)})
    if sparse:
        planned = f"{link.a.ports_per_cage} ports a cage"
        return Reason("no-parts", f"{text} at {planned}; possible with fewer: {', '.join(sparse)}")
    return Reason("no-parts", f"{text}: form, lanes and lane rate of the two cages do not meet in any known pair")


def _too_long(
    book: PartsBook, link: LinkClass, medium: MediumChoice, recipes: Iterable[Recipe], longest_m: float
) -> Reason:
    """Why parts that fit both cages do not do: the longest run, and how far they get."""
    limits = {
        recipe.id: max(longest_run_m(cable, recipe.max_length_m) or 0.0 for cable in book.cables(recipe.cable))
        for recipe in recipes
    }
    furthest = max(limits, key=lambda name: (limits[name], name))
    text = (
        f"{link.kind} links of {link.gbps} Gb/s: the longest run is {longest_m:g} m, but {medium.replace('_', '-')} "
        f"parts cover {limits[furthest]:g} m at most ({furthest})"
    )
    return Reason("run-too-long", text, ceil(longest_m), floor(limits[furthest]))
