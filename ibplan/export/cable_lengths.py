"""How long the cable of every link is: what light has to pass, not only the way between its ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ibplan.cabling.cables import Cables, network_cables
from ibplan.cabling.runs import Metres, link_runs_m
from ibplan.cabling.trunks import Planned
from ibplan.catalog.entries import Cable
from ibplan.export.scheme import Scheme
from ibplan.parts.chosen import LinkParts
from ibplan.parts.lengths import ordered_m
from ibplan.plan.runs import layout_of
from ibplan.plan.structured import panelled, structured_rules


def cable_lengths_m(scheme: Scheme) -> Metres:
    """The length of the cable of every link in metres, shape (links,); NaN where it is not known.

    As ordered: the next length that is sold. Over trunks: both cords and the trunk. Where no cable is chosen: the run.
    """
    wired = scheme.wired
    floor = wired.evaluated.placed.floor
    lengths = np.full(len(scheme.wiring.links), np.nan)
    if floor is None:
        return lengths
    side = wired.evaluated.side.named(scheme.network)
    parts = wired.evaluated.parts if side is None else side.parts
    rules = structured_rules(scheme.loaded.spec.site)
    places = layout_of(floor) if rules is None else panelled(floor)
    runs = link_runs_m(scheme.wiring, places, scheme.network)
    lengths[:] = runs
    planned: Planned | None = None
    if rules is not None:
        from ibplan.cabling.structured import plan_structured

        planned = plan_structured(scheme.wiring, parts, places, scheme.network, rules)
    for number, cables in enumerate(network_cables(scheme.wiring, parts, runs)):
        found = _ordered(parts[number], cables.run_m)
        if planned is not None and number in planned.channels:
            found = _over_trunks(parts[number], planned, number, found)
        _fill(lengths, cables, found)
    return lengths


def _fill(lengths: Metres, cables: Cables, of_cables: Metres) -> None:
    """Write the length of each cable to its links; of two fibres of one link, the longer."""
    counts = np.diff([*cables.first.tolist(), len(cables.legs)])
    lengths[cables.legs] = np.repeat(of_cables, counts)


def _ordered(parts: LinkParts, runs: Metres) -> Metres:
    """The ordered lengths of cables by their runs; the run where no length is known."""
    if parts.too_long is not None:
        return np.full(len(runs), np.nan)
    entry = None if parts.cable is None else parts.cable.entry
    if not isinstance(entry, Cable):
        return runs
    least = 0.0 if parts.recipe is None else parts.recipe.min_length_m or 0.0
    return _each(runs, lambda run: ordered_m(entry, max(run, least)) or run)


def _over_trunks(parts: LinkParts, planned: Planned, number: int, direct: Metres) -> Metres:
    """The same with the cables that run over trunks replaced by cord, trunk, cord."""
    channels = planned.channels[number]
    entry = None if parts.cable is None else parts.cable.entry
    assert isinstance(entry, Cable)  # only fibre cables run over trunks
    over = channels.trunks >= 0
    trunks = np.array([t.length_m for t in planned.structured.trunks] or [0], np.float64)[channels.trunks]
    cords = [_each(m, lambda run: ordered_m(entry, run) or run) for m in (channels.near_m, channels.far_m)]
    return np.asarray(np.where(over, trunks + cords[0] + cords[1], direct), np.float64)


def _each(runs: Metres, length: Callable[[float], float]) -> Metres:
    """A function of every known run; there are few different ones."""
    values, at = np.unique(runs, return_inverse=True)
    return np.array([length(v) if v == v else v for v in values.tolist()], np.float64)[at.reshape(runs.shape)]
