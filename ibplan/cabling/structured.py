"""Structured cabling: which links run over trunks and panels, how many of each there are, and which ports they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ibplan.cabling.cables import Cables, network_cables
from ibplan.cabling.figures import figures
from ibplan.cabling.runs import Metres, Places, device_groups, link_runs_m, rounded_up_m
from ibplan.cabling.trunks import (
    Budget,
    Channels,
    Glass,
    Planned,
    RackPanels,
    Structured,
    StructuredRules,
    Trunks,
)
from ibplan.catalog.entries import Cable
from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.wiring_model import Wiring
from ibplan.integers import ceil_div
from ibplan.parts.chosen import CableOrder, LinkParts
from ibplan.parts.lengths import ordered_m
from ibplan.parts.offers import PartsBook
from ibplan.site.model import PANEL_CORDS, PANEL_TRUNKS

Numbers = npt.NDArray[np.int64]
# Panels that a channel passes: a mated pair of plugs at each.
PANELS_A_CHANNEL: Final = 2


def glass_of(parts: LinkParts) -> Glass | None:
    """The kind of trunk that could carry these links; None: copper, active optical cables, splitters, unlike ends."""
    recipe = parts.recipe
    entry = None if parts.cable is None else parts.cable.entry
    if recipe is None or recipe.medium not in ("multimode", "single_mode") or recipe.links_per_cable > 1:
        return None
    if not isinstance(entry, Cable) or entry.ends_b > 1 or entry.fiber_a is None or entry.fiber_a != entry.fiber_b:
        return None
    if entry.fiber_a.connector not in figures().connectors:
        return None
    return Glass(entry.fiber_a.kind, entry.fiber_a.connector, entry.fiber_a.polish, entry.polarity)


def plan_structured(
    wiring: Wiring, parts: Sequence[LinkParts], places: Places, network: str, rules: StructuredRules
) -> Planned:
    """The structured cabling of a network on a layout with panels (`ibplan.site.layout.with_panels`).

    Links between different racks run over trunks, each kind of glass over its own; trunks and panels are those of this
    network alone. Raises Unbuildable where a trunk has fewer fibres than a plug.
    """
    cables = tuple(network_cables(wiring, parts, link_runs_m(wiring, places, network)))
    rack, cord_m = _devices(wiring, places, network)
    glasses = {n: glass for n, p in enumerate(parts) if (glass := glass_of(p)) is not None}
    kinds = sorted(set(glasses.values()), key=str)
    ends = {n: _ends(wiring, cables[n], rack, cord_m) for n in glasses}
    # Which trunks: a row of (kind of glass, lower rack, higher rack) for every cable that runs over one.
    keys = [
        np.column_stack((np.full(int(e.apart.sum()), kinds.index(glasses[n])), e.low[e.apart], e.high[e.apart]))
        for n, e in ends.items()
    ]
    rows = np.concatenate(keys) if keys else np.zeros((0, 3), np.int64)
    pairs, which, links = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    nth = _numbered(which.ravel(), links)
    trunks, panels = _trunks(pairs, links, kinds, places, rules)
    channels, start = {}, 0
    for n, e in ends.items():
        stop = start + int(e.apart.sum())
        index, number = np.full(len(e.apart), -1, np.int32), np.zeros(len(e.apart), np.int32)
        index[e.apart], number[e.apart] = which.ravel()[start:stop], nth[start:stop]
        channels[n] = Channels(index, number, e.near == e.low, e.near_m, e.far_m)
        start = stop
    budgets = tuple(_budgets(parts, channels, trunks))
    names = tuple(r.name for r in places.racks)
    return Planned(Structured(rules, names, trunks, panels, budgets), cables, channels)


class _Ends(NamedTuple):
    """The ends of the cables of one choice of parts: rack of the near end, both racks in order, runs of the cords."""

    near: Numbers
    low: Numbers
    high: Numbers
    apart: npt.NDArray[np.bool_]
    near_m: Metres
    far_m: Metres


def _ends(wiring: Wiring, cables: Cables, rack: Numbers, cord_m: Metres) -> _Ends:
    legs = cables.legs[cables.first]
    near, far = (wiring.links.end(side)[0][legs] for side in (cables.trunk, "b" if cables.trunk == "a" else "a"))
    a, b = rack[near], rack[far]
    apart = (a != b) & (a >= 0) & (b >= 0)
    return _Ends(a, np.minimum(a, b), np.maximum(a, b), apart, cord_m[near], cord_m[far])


def _devices(wiring: Wiring, places: Places, network: str) -> tuple[Numbers, Metres]:
    """Rack of every device (-1 = unknown), and the run from it to the panels of its rack, shape (devices,)."""
    d = wiring.devices
    rack, run_m = np.full(len(d.kind), -1, np.int64), np.full(len(d.kind), np.nan)
    for (kind, group), (name, first) in device_groups(wiring, network).items():
        if name not in places.rack_of:
            continue
        at = np.flatnonzero((d.kind == kind) & (d.group == group))
        rack[at] = places.rack_of[name][at - first]
        run_m[at] = rounded_up_m(places.run_m(name, at - first, PANEL_CORDS, rack[at]))
    return rack, run_m


def _numbered(which: Numbers, counts: Numbers) -> Numbers:
    """Members of each group numbered from 0 in the order in which they come."""
    order = np.argsort(which, kind="stable")
    found = np.empty(len(which), np.int64)
    found[order] = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def _trunks(
    pairs: Numbers, links: Numbers, kinds: Sequence[Glass], places: Places, rules: StructuredRules
) -> tuple[tuple[Trunks, ...], tuple[RackPanels, ...]]:
    """Trunks in the order of `pairs` (kind, rack, rack), and the panels whose ports they fill one after the other."""
    run_m = rounded_up_m(places.run_m(PANEL_TRUNKS, pairs[:, 1], PANEL_TRUNKS, pairs[:, 2]))
    used: dict[tuple[int, int], int] = {}
    found = []
    for (kind, a, b), number, run in zip(pairs.tolist(), links.tolist(), run_m.tolist(), strict=True):
        plugs = _plugs(kinds[kind], rules)
        count = ceil_div(ceil(number * (1 + rules.spare)), plugs)
        first_a, first_b = used.get((a, kind), 0), used.get((b, kind), 0)
        used[a, kind], used[b, kind] = first_a + count * plugs, first_b + count * plugs
        length_m = ceil_div(round(run * 10), 10 * rules.trunk_step_m) * rules.trunk_step_m
        found.append(Trunks(kinds[kind], a, b, number, count, plugs, first_a, first_b, run, length_m))
    panels, before = [], dict[int, int]()
    for (rack, kind), ports in sorted(used.items()):
        count = ceil_div(ports, rules.panel_ports)
        panels.append(RackPanels(kinds[kind], rack, ports, count, before.get(rack, 0) + 1))
        before[rack] = before.get(rack, 0) + count
    return tuple(found), tuple(panels)


def _plugs(glass: Glass, rules: StructuredRules) -> int:
    """Plugs at each end of a trunk. Raises Unbuildable if it has none."""
    fibers = figures().connectors[glass.connector].fibers
    if rules.trunk_fibers < fibers:
        text = (
            f"structured cabling: a plug of {glass.connector} takes {fibers} fibers, a trunk has {rules.trunk_fibers}"
        )
        raise Unbuildable(Reason("trunk-fibers", text, fibers, rules.trunk_fibers))
    return rules.trunk_fibers // fibers


def _budgets(
    parts: Sequence[LinkParts], channels: Mapping[int, Channels], trunks: Sequence[Trunks]
) -> Iterator[Budget]:
    known = figures()
    trunk_m = np.array([t.length_m for t in trunks], np.float64)
    for n, c in channels.items():
        glass, at = glass_of(parts[n]), c.trunks >= 0
        recipe, cable = parts[n].recipe, parts[n].cable
        if glass is None or recipe is None or cable is None or not at.any():
            continue
        entry = cable.entry
        assert isinstance(entry, Cable)
        long_m = trunk_m[c.trunks[at]] + _ordered(entry, c.near_m[at]) + _ordered(entry, c.far_m[at])
        connectors = PANELS_A_CHANNEL * known.connectors[glass.connector].loss_db
        loss = connectors + long_m / 1000 * known.attenuation_db_per_km[glass.kind].value
        module = parts[n].module_a or parts[n].module_b
        line = getattr(module.entry, "line_gbps", 0) if module is not None else 0
        limit = known.limit(glass.kind, glass.connector, line)
        over = 0 if limit is None else int((loss > limit.max_loss_db + 1e-9).sum())
        yield Budget(
            n,
            len(long_m),
            float(long_m.max()),
            float(loss.max()),
            None if limit is None else limit.max_loss_db,
            None if limit is None else limit.application,
            None if limit is None else limit.basis,
            over,
            recipe.max_length_m,
        )


def _ordered(cable: Cable, run_m: Metres) -> Metres:
    """Lengths of cords as ordered, in metres; their runs where no source states the lengths sold."""
    runs, back = np.unique(run_m, return_inverse=True)
    return np.array([ordered_m(cable, run) or run for run in runs.tolist()], np.float64)[back.ravel()]


def with_cords(parts: Sequence[LinkParts], planned: Planned, book: PartsBook) -> tuple[LinkParts, ...]:
    """The parts with two cords in place of every cable that runs over a trunk, ordered by length."""
    found = list(parts)
    for n, channels in planned.channels.items():
        offer, recipe = parts[n].cable, parts[n].recipe
        if offer is None or recipe is None or not isinstance(offer.entry, Cable) or not (channels.trunks >= 0).any():
            continue
        counts: dict[float | None, int] = {}
        at, direct_m = channels.trunks >= 0, planned.cables[n].run_m
        shortest_m = recipe.min_length_m or 0.0
        for run_m in np.concatenate((channels.near_m[at], channels.far_m[at])).tolist():
            length = ordered_m(offer.entry, run_m)
            counts[length] = counts.get(length, 0) + 1
        for run_m in direct_m[~at].tolist():
            known = run_m == run_m and parts[n].too_long is None
            length = ordered_m(offer.entry, max(run_m, shortest_m)) if known else None
            counts[length] = counts.get(length, 0) + 1
        lengths: list[float | None] = [*sorted(m for m in counts if m is not None), *([None] if None in counts else [])]
        orders = tuple(CableOrder(book.at_length(offer, m), m, counts[m]) for m in lengths)
        found[n] = replace(parts[n], cables=sum(counts.values()), orders=orders)
    return tuple(found)
