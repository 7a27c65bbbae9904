"""Who can supply a form: makers of whom the catalogue has a switch for each tier with the same ports at its speeds."""

from __future__ import annotations

from collections.abc import Iterator

from ibplan.catalog.entries import Switch
from ibplan.parts.offers import PartsBook
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.hosts import link_layer
from ibplan.plan.switches import SwitchModel, can_be_planned
from ibplan.spec.models import Fabric

# A tier: its switch, the speeds in Gb/s that it runs, and the cages that its downlinks come from (None = its own).
_Tier = tuple[SwitchModel, tuple[int, ...], str | None]


def makers(design: Evaluated, book: PartsBook) -> tuple[str, ...]:
    """Makers by name, of switches that known parts join to the servers and to each other.

    Whether their switches have a price is not asked. An inline switch has no maker.
    """
    fabric = design.form.fabric
    entries = [s for s in book.catalog.switches.values() if can_be_planned(s) and _serves(s, fabric)]
    able = [
        {s.vendor for s in entries if _alike(s, model, speeds) and _joined(s, speeds, below, fabric, book)}
        for model, speeds, below in _tiers(design)
    ]
    return tuple(sorted(set.intersection(*able)))


def _serves(entry: Switch, fabric: Fabric) -> bool:
    return link_layer(fabric) in entry.link_layers and (entry.rdma or fabric != "roce")


def _tiers(design: Evaluated) -> Iterator[_Tier]:
    """The tiers that the compute network has."""
    request, models = design.network.request, design.form.switches
    leaf, spine, fabric = request.leaf, request.spine, design.network.fabric
    up = (leaf.up_gbps,) if fabric.tiers > 1 or fabric.isl else ()
    yield (models.leaf, (leaf.down_gbps, *up), design.form.hosts.cage_class)
    if fabric.tiers > 1:
        yield (models.spine, (leaf.up_gbps, *((spine.up_gbps,) if fabric.tiers > 2 else ())), None)
    if fabric.tiers > 2:
        yield (models.core, (spine.up_gbps,), None)


def _alike(entry: Switch, model: SwitchModel, speeds: tuple[int, ...]) -> bool:
    """Whether it has as many ports of every speed."""
    return all(entry.radix(gbps) == model.geometry.ports(gbps) for gbps in speeds)


def _joined(entry: Switch, speeds: tuple[int, ...], below: str | None, fabric: Fabric, book: PartsBook) -> bool:
    """Whether there are parts for its links: down to the servers' cages if they are known, else to its own kind."""
    for place, gbps in enumerate(speeds):
        own = {group.cage_class for group in entry.cages if group.breakout_at(gbps) is not None}
        far = {below} if below is not None and place == 0 else own
        recipes = book.recipes.get((link_layer(fabric), gbps), ())
        active = (r for r in recipes if r.status not in ("retired", "prototype"))
        ends = ((set(r.end_a.cage_classes), set(r.end_b.cage_classes)) for r in active)
        if not any((own & a and far & b) or (own & b and far & a) for a, b in ends):
            return False
    return True
