"""Structured cabling: which links run over trunks and panels, how many of each there are, and which ports they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ibplan.cabling.cables import Cables, network_cables
from ibplan.cabling.figures import GlassKind, figures
from ibplan.cabling.runs import Metres, Places, device_groups, link_runs_m, rounded_up_m
from ibplan.catalog.entries import Cable
from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.wiring_model import Ints, Wiring
from ibplan.integers import ceil_div
from ibplan.parts.chosen import CableOrder, LinkParts
from ibplan.parts.lengths import ordered_m
from ibplan.parts.offers import PartsBook
from ibplan.site.model import PANEL_CORDS, PANEL_TRUNKS

Numbers = npt.NDArray[np.int64]
# Panels that a channel passes: a mated pair of plugs at each.
PANELS_A_CHANNEL: Final = 2


@dataclass(frozen=True, slots=True)
class StructuredRules:
    """How structured cabling is built. `spare`: plugs kept free, as a share of those in use between two racks.

    `trunk_fibers`: fibres of a trunk; `panel_ports`, `panel_units`: ports and rack units of a panel; `trunk_step_m`:
    trunks are ordered in steps of so many metres.
    """

    trunk_fibers: int
    panel_ports: int
    panel_units: int
    spare: Fraction
    trunk_step_m: int


class Glass(NamedTuple):
    """The kind of a trunk and of a panel: fibre, plug, polish and polarity (None = no source states it)."""

    kind: GlassKind
    connector: str
    polish: str | None
    polarity: str | None

    @property
    def words(self) -> str:
        """`multimode, MPO-12 APC, polarity B`."""
        plug = self.connector if self.polish is None else f"{self.connector} {self.polish}"
        polarity = "" if self.polarity is None else f", polarity {self.polarity}"
        return f"{self.kind.replace('_', '-')}, {plug}{polarity}"

    @property
    def slug(self) -> str:
        """`multimode-mpo-12-apc-b`: what ids are made of."""
        parts = (self.kind.replace("_", "-"), self.connector, self.polish, self.polarity)
        return "-".join(part.lower() for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Trunks:
    """The trunks of one kind between two racks (indices in the layout). `links`: fibre channels that they carry.

    `plugs` of each trunk at each end, all of them in a panel port: from number `first_a` in rack a and `first_b` in
    rack b, counted from 0 over the panels of that kind in the rack. run and length in metres.
    """

    glass: Glass
    rack_a: int
    rack_b: int
    links: int
    count: int
    plugs: int
    first_a: int
    first_b: int
    run_m: float
    length_m: int

    @property
    def ports(self) -> int:
        """Panel ports at each end."""
        return self.count * self.plugs


@dataclass(frozen=True, slots=True)
class RackPanels:
    """The panels of one kind in a rack: ports in use by trunks, panels, and the number of the first (from 1)."""

    glass: Glass
    rack: int
    ports: int
    panels: int
    first: int


@dataclass(frozen=True, slots=True)
class Channels:
    """How each cable of one choice of parts runs, shape (cables,), in the order of `Cables`.

    trunks: index of the trunks, -1 = the cable goes straight; nth: which of their plugs, from 0; near_is_a: whether its
    near end is in their rack a; near_m and far_m: run of the cord at each end.
    """

    trunks: Ints
    nth: Ints
    near_is_a: npt.NDArray[np.bool_]
    near_m: Metres
    far_m: Metres


@dataclass(frozen=True, slots=True)
class Budget:
    """The channels of one choice of parts: how many, the longest in metres and what light loses in it, in dB.

    `limit_db`: the most it may lose (None = not known); `over`: channels that lose more; `reach_m` = of the recipe.
    """

    parts: int
    channels: int
    longest_m: float
    loss_db: float
    limit_db: float | None
    application: str | None
    basis: str | None
    over: int
    reach_m: float | None


@dataclass(frozen=True, slots=True)
class Structured:
    """The structured cabling of a network: trunks, panels, loss. `racks`: names of the racks by index."""

    rules: StructuredRules
    racks: tuple[str, ...]
    trunks: tuple[Trunks, ...]
    panels: tuple[RackPanels, ...]
    budgets: tuple[Budget, ...]

    def panel_units(self) -> dict[str, int]:
        """Rack units of panels, by the name of the rack."""
        found: dict[str, int] = {}
        for row in self.panels:
            name = self.racks[row.rack]
            found[name] = found.get(name, 0) + row.panels * self.rules.panel_units
        return found


@dataclass(frozen=True, slots=True)
class Planned:
    """Structured cabling cable by cable: `channels` by the index of the parts, for those that can run over trunks."""

    structured: Structured
    cables: tuple[Cables, ...]
    channels: Mapping[int, Channels]


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


def trunk_part(glass: Glass, rules: StructuredRules) -> str:
    """The id of a trunk, under which a price file can give it a price: `trunk-144f-multimode-mpo-12-apc-b`."""
    return f"trunk-{rules.trunk_fibers}f-{glass.slug}"


def trunk_words(glass: Glass, plugs: int, rules: StructuredRules) -> str:
    """What a trunk is, in words."""
    return f"trunk of {rules.trunk_fibers} fibers, {plugs} plugs at each end: {glass.words}; made to order"


def panel_part(glass: Glass, rules: StructuredRules) -> str:
    """The id of a panel: `panel-48p-multimode-mpo-12-apc`. The polarity is that of its trunks."""
    return f"panel-{rules.panel_ports}p-{glass._replace(polarity=None).slug}"


def panel_words(glass: Glass, rules: StructuredRules) -> str:
    """What a panel is, in words."""
    ports = f"{rules.panel_ports} ports in {rules.panel_units} rack unit{'s' if rules.panel_units > 1 else ''}"
    return f"panel of {ports}: {glass._replace(polarity=None).words}"
