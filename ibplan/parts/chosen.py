"""The parts that were chosen for a class of links, and its cables by length."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.catalog.entries import Recipe
from ibplan.errors import Reason
from ibplan.parts.links import LinkClass
from ibplan.parts.offers import Offer


@dataclass(frozen=True, slots=True)
class CableOrder:
    """Cables of one length: `length_m` in metres as sold (None = unknown), at that length's price."""

    offer: Offer
    length_m: float | None
    count: int


@dataclass(frozen=True, slots=True)
class LinkParts:
    """The parts of one class of links, `link_class` of its network.

    `recipe` None = a cage of unknown kind: nothing can be chosen and the counts are unknown, shown so. `modules_a` and
    `modules_b` are 0 for cables that bring their own heads. `near_module` = the recipe's module at the near end.
    `swapped`: the recipe starts at the far end. With a layout, `longest_m` is the longest run in metres, `orders` are
    the cables by length, and `groups` the groups of links that these parts are for (None = all of the class).
    `too_long`: why no parts cover the longest run of an assumed layout; the lengths are then not known.
    """

    link: LinkClass
    recipe: Recipe | None
    module_a: Offer | None = None
    module_b: Offer | None = None
    cable: Offer | None = None
    modules_a: int = 0
    modules_b: int = 0
    cables: int = 0
    near_module: str | None = None
    swapped: bool = False
    link_class: int = 0
    longest_m: float | None = None
    orders: tuple[CableOrder, ...] = ()
    groups: tuple[int, ...] | None = None
    too_long: Reason | None = None
