"""From a spec's `site.cabling` to the structured cabling of a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ibplan.cabling.figures import figures
from ibplan.economics.items import LineItem, NetworkName
from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.network import NetworkSize
from ibplan.parts.chosen import LinkParts
from ibplan.parts.offers import PartsBook
from ibplan.plan.runs import layout_of
from ibplan.site.floor import Floor
from ibplan.spec.models import Site

if TYPE_CHECKING:
    from ibplan.cabling.trunks import Structured, StructuredRules
    from ibplan.fabric.wiring_model import Wiring
    from ibplan.site.model import Layout

# Trunks are counted from the links one by one, which takes time and memory for each design.
MOST_LINKS: Final = 1_000_000


def structured_rules(site: Site) -> StructuredRules | None:
    """How the spec wants structured cabling; None = it does not."""
    stated = site.cabling
    if not stated.structured:
        return None
    from ibplan.cabling.trunks import StructuredRules  # most specs have no trunks

    known = figures().defaults
    return StructuredRules(
        stated.trunk_fibers or known.trunk_fibers.value,
        stated.panel_ports or known.panel_ports.value,
        stated.panel_units or known.panel_units.value,
        known.spare_fraction.value if stated.spare_fraction is None else stated.spare_fraction,
        known.trunk_step_m.value,
    )


def panelled(floor: Floor) -> Layout:
    """The places of all devices and of the panels, which stand above the units that devices may use."""
    from ibplan.site.layout import with_panels

    return with_panels(layout_of(floor), floor.rules.usable_units + 1)


def structure(
    name: NetworkName,
    network: NetworkSize,
    parts: tuple[LinkParts, ...],
    floor: Floor,
    rules: StructuredRules,
    book: PartsBook,
    wiring: Callable[[], Wiring],
) -> tuple[tuple[LinkParts, ...], Structured, tuple[LineItem, ...]]:
    """The parts with cords, the trunks and panels, and their lines. Raises Unbuildable, also for too many links."""
    from ibplan.cabling.structured import plan_structured, with_cords
    from ibplan.economics.trunks import structured_items

    links = sum(link.count for link in network.links)
    if links > MOST_LINKS:
        text = f"structured cabling is planned for up to {MOST_LINKS:,} links of a network, {name} has {links:,}"
        raise Unbuildable(Reason("structured-links", text, links, MOST_LINKS))
    planned = plan_structured(wiring(), parts, panelled(floor), name, rules)
    return (
        with_cords(parts, planned, book),
        planned.structured,
        structured_items(name, planned.structured, book.catalog.prices),
    )
