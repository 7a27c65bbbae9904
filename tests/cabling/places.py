"""Places for the tests, without a layout: racks in one row, hosts first, then leaves, then all above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ibplan.cabling.choice import Runs, network_parts
from ibplan.cabling.rows import CabledNetwork
from ibplan.cabling.runs import device_groups, groups_of_links, link_runs_m
from ibplan.fabric.wiring_model import ATTACHED, LEAF, MANAGER, SERVER, Wiring
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import MediumChoice
from ibplan.plan.hosts import link_layer
from ibplan.plan.wired import WiredDesign
from tests.plan.planning import catalog

SERVERS_A_RACK = 4


@dataclass(frozen=True)
class Rack:
    name: str
    hall: str
    row: int


class Row:
    """A row of racks 0.6 m apart (times `scale`): four servers a rack, a leaf rack a unit, a rack for the rest."""

    def __init__(self, wiring: Wiring, scale: float = 1.0, without: tuple[str, ...] = ()) -> None:
        d = wiring.devices
        self.scale = scale
        self.rack_of: Mapping[str, npt.NDArray[np.int32]] = {}
        self.unit_of: Mapping[str, npt.NDArray[np.float32]] = {}
        for (kind, group), (name, _) in device_groups(wiring, "compute").items():
            index = (
                np.flatnonzero((d.kind == kind) & (d.group == group)) * 0
                + d.index[(d.kind == kind) & (d.group == group)]
            )
            if kind == SERVER:
                rack, unit = index // SERVERS_A_RACK, 1 + 8 * (index % SERVERS_A_RACK)
            elif kind == LEAF:
                # Leaves stand between the servers of their unit, so that nothing moves when servers are added.
                per_unit = wiring.network.fabric.unit.servers
                rack, unit = d.unit[d.kind == kind] * per_unit // SERVERS_A_RACK, 33 + index % 8
            elif kind in (ATTACHED, MANAGER):
                rack, unit = 1 + 0 * index, 1 + index
            else:
                rack, unit = 2 + 0 * index, 1 + index
            if name not in without:
                self.rack_of = {**self.rack_of, name: rack.astype(np.int32)}
                self.unit_of = {**self.unit_of, name: unit.astype(np.float32)}
        count = 1 + max(int(racks.max()) for racks in self.rack_of.values())
        self.racks = tuple(Rack(f"A{n + 1:02d}", "hall-1", 1) for n in range(count))

    def run_m(self, group_a: str, index_a: Any, group_b: str, index_b: Any) -> npt.NDArray[np.float64]:
        apart = np.abs(self.rack_of[group_a][index_a] - self.rack_of[group_b][index_b]) * 0.6
        units = np.abs(self.unit_of[group_a][index_a] - self.unit_of[group_b][index_b]) * 0.01
        return np.asarray((apart + units + 1.0) * self.scale, np.float64)


def runs_of(wiring: Wiring, places: Row) -> Runs:
    """What a layout says, counted link by link."""

    def histogram(kind: str, host: str | None) -> list[list[tuple[float, int]]] | None:
        runs, found = link_runs_m(wiring, places, "compute"), {}
        for number, link in enumerate(wiring.classes):
            at = np.flatnonzero(wiring.links.link_class == number)
            if (link.kind, link.host) != (kind, host) or not len(at):
                continue
            if np.isnan(runs[at]).any():
                return None
            for group, run_m in zip(groups_of_links(wiring, at).tolist(), runs[at].tolist(), strict=True):
                found.setdefault(group, Counter())[run_m] += 1
        return [sorted(counts.items()) for counts in found.values()]

    return Runs(histogram, lambda: places, lambda: wiring)


def cabled(design: WiredDesign, places: Row | None, medium: MediumChoice = "optical") -> CabledNetwork:
    """The compute network of a design with parts for the runs between places."""
    layer = link_layer(design.evaluated.form.fabric)
    book = PartsBook.of(catalog(), "compatible")
    runs = None if places is None else runs_of(design.wiring, places)
    parts = network_parts(design.wiring.network, layer, book, lambda _: medium, runs)
    billed = tuple(p for p in parts if p.recipe is not None or p.link.kind != "reserved" or layer == "infiniband")
    return CabledNetwork("compute", design.wiring, billed, places)
