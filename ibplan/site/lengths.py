"""Lengths of all links of a kind as histograms, without making the links: pairs of devices, and how often they occur.

`Layout.run_m` gives the same lengths link by link. The formula is in docs/site.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from typing import cast

from ibplan.fabric.network import NetworkSize
from ibplan.parts.links import LinkKind
from ibplan.site.floor import Floor
from ibplan.site.shape import Shape, UnitRun
from ibplan.site.tally import Ends, Heights, Histogram, Tally, ends_at


def length_histogram(
    floor: Floor, network_name: str, network: NetworkSize, kind: LinkKind, host: str | None = None
) -> tuple[Histogram, ...] | None:
    """The lengths of the links of a kind, one histogram for every group of links that can be cabled in its own way.

    Groups: the units for links to servers; one for the hosts of a group (`host`), and one for managers; pods for
    leaf-spine links, fabrics for spine-core and leaf-leaf links, fabric by fabric. None where the place of an end is
    not known. An empty tuple where there are no such links.
    """
    known = cast("dict[object, tuple[Histogram, ...] | None]", floor.ground.known)
    asked = _asked(floor, network_name, network, kind, host)
    if asked not in known:
        groups = _Runs(floor, network_name, network).groups(kind, host)
        known[asked] = None if groups is None else tuple(groups)
    return known[asked]


def _asked(floor: Floor, name: str, network: NetworkSize, kind: LinkKind, host: str | None) -> object:
    """All that the lengths depend on: equal for designs that differ elsewhere."""
    tiers = {"attached": ("leaf", f"attached:{host}"), "reserved": ("leaf", "manager"), "server-leaf": ("leaf",)}
    spots = [floor.spots_of(f"{name}/{tier}") for tier in tiers.get(kind, ("leaf", "spine", "core"))]
    stands = tuple(None if s is None else blake2b(s.places.tobytes() + s.units.tobytes()).digest() for s in spots)
    rows, servers, request = floor.rows, floor.servers, network.request
    fill = (rows.servers_per_rack, rows.server_racks, rows.network_racks, servers.whole_rack, servers.box.units)
    links = (network.fabrics, request.rails, request.rail_optimized, request.attached, network.fabric.isl)
    shape = floor.shapes[name]
    inner = shape.runs if kind == "server-leaf" else shape
    return kind, host, stands, fill, links, network.fabric.core, inner


class _Runs:
    """The runs of one network."""

    def __init__(self, floor: Floor, name: str, network: NetworkSize) -> None:
        self.floor, self.name, self.network = floor, name, network
        self.shape: Shape = floor.shapes[name]

    def groups(self, kind: LinkKind, host: str | None) -> Iterable[Histogram] | None:
        if kind == "attached":
            return self._attached(host)
        if kind == "reserved":
            return self._managers()
        made: dict[str, Callable[[], Iterator[Histogram]]] = {
            "server-leaf": self._units,
            "leaf-spine": self._pods,
            "spine-core": self._cores,
            "leaf-leaf": self._leaf_pairs,
        }
        return made[kind]()

    def ends(self, tier: str, numbers: Sequence[int]) -> Ends:
        spots = self.floor.spots_of(f"{self.name}/{tier}")
        assert spots is not None, tier
        return ends_at(spots.at(numbers))

    def servers(self, numbers: range) -> Ends:
        """Rack by rack: full racks are filled alike."""
        floor, per_rack = self.floor, self.floor.rows.servers_per_rack
        if numbers.step != 1:
            return ends_at(map(floor.server, numbers))
        found: dict[int, Heights] = {}
        for rack in range(numbers.start // per_rack, -(-numbers.stop // per_rack)):
            first = rack * per_rack
            within = range(max(numbers.start - first, 0), min(numbers.stop - first, per_rack))
            found[floor.server_rack(rack)] = self._heights(within)
        return found

    def _heights(self, within: range) -> Heights:
        """The heights of servers by their numbers in a rack."""
        if self.floor.servers.whole_rack:
            return ((1, len(within)),)
        units = self.floor.servers.box.units
        return tuple((nth * units + 1, 1) for nth in within)

    def _units(self) -> Iterator[Histogram]:
        """Units that stand in their row in the same way have the same lengths."""
        known: dict[tuple[int, ...], Histogram] = {}
        for run in self.shape.runs:
            for unit in range(run.first, run.first + run.count):
                servers, leaves = run.unit(unit)
                if servers:
                    key = self._stands(run, unit, servers)
                    if key not in known:
                        known[key] = self._unit(run, servers, leaves)
                    yield known[key]

    def _stands(self, run: UnitRun, unit: int, servers: range) -> tuple[int, ...]:
        floor = self.floor
        rows = floor.row_of_server(servers[0]), floor.row_of_server(servers[-1])
        in_rows = self.name in floor.rows.spots or self.name in floor.rows.tops
        if not in_rows or run.leaves > self.shape.unit_leaves or floor.ground.crosses_hall(*rows):
            return (run.first, unit)
        return (run.first, -1, servers[0] % floor.rows.servers_per_row)

    def _unit(self, run: UnitRun, servers: range, leaves: range) -> Histogram:
        total = Tally(self.floor)
        request, fabric = self.network.request, self.network.fabric
        shared = bool(fabric.isl) and (request.rails == 1 or not request.rail_optimized)
        for f in range(self.network.fabrics):
            first = f * self.shape.leaf_count
            numbers = [first + leaf for leaf in leaves]
            if shared:  # two joined leaves take every other server
                for side, leaf in enumerate(numbers):
                    total.add(self.servers(servers[side::2]), self.ends("leaf", [leaf]), request.rails)
                continue
            # The first leaves take the rails that are left over, which only two joined leaves can have.
            more = request.rails % len(numbers)
            near, each = self.servers(servers), request.rails // len(numbers)
            if more:
                total.add(near, self.ends("leaf", numbers[:more]), each + 1)
            total.add(near, self.ends("leaf", numbers[more:]), each)
        return total.histogram()

    def _pods(self) -> Iterator[Histogram]:
        spine_count = sum(len(pod.spines) for pod in self.shape.pods)
        for f in range(self.network.fabrics):
            first = f * self.shape.leaf_count
            for pod in self.shape.pods:
                total = Tally(self.floor)
                spines = self.ends("spine", [f * spine_count + spine for spine in pod.spines])
                for links, same in groupby(sorted(pod.leaves, key=lambda run: run.links), key=lambda run: run.links):
                    numbers = [first + leaf for run in same for leaf in run.leaves]
                    total.add(self.ends("leaf", numbers), spines, links)
                yield total.histogram()

    def _cores(self) -> Iterator[Histogram]:
        core = self.network.fabric.core
        if core is None:
            return
        spine_count = sum(len(pod.spines) for pod in self.shape.pods)
        for f in range(self.network.fabrics):
            total = Tally(self.floor)
            for group in range(core.groups):
                first = f * core.count + group * core.per_group
                cores = self.ends("core", range(first, first + core.per_group))
                for links, numbers in self._spines_of(group, core.groups).items():
                    spines = self.ends("spine", [f * spine_count + n for n in numbers])
                    total.add(spines, cores, links // core.per_group)
            yield total.histogram()

    def _spines_of(self, group: int, groups: int) -> dict[int, list[int]]:
        """The spines that reach a group of cores, by their uplinks."""
        found: dict[int, list[int]] = {}
        for pod in self.shape.pods:
            found.setdefault(pod.uplinks, []).extend(pod.spines[group::groups])
        return found

    def _leaf_pairs(self) -> Iterator[Histogram]:
        for f in range(self.network.fabrics if self.network.fabric.isl else 0):
            total = Tally(self.floor)
            total.add(self.ends("leaf", [f * 2]), self.ends("leaf", [f * 2 + 1]), self.network.fabric.isl)
            yield total.histogram()

    def _managers(self) -> list[Histogram] | None:
        leaves = [(leaf, load.reserved) for leaf, load in self.shape.leaf_loads()]
        each = sum(ports for _, ports in leaves)
        return self._pairs("manager", leaves, [fabric * each for fabric in range(self.network.fabrics)])

    def _attached(self, host: str | None) -> list[Histogram] | None:
        """The ports of all leaves, in order, go to one host after the other; every fabric has its own."""
        index = next(i for i, group in enumerate(self.network.request.attached) if group.name == host)
        leaves = [(leaf, load.attached[index]) for leaf, load in self.shape.leaf_loads()]
        return self._pairs(f"attached:{host}", leaves, [0] * self.network.fabrics)

    def _pairs(self, tier: str, leaves: Iterable[tuple[int, int]], first_of: Sequence[int]) -> list[Histogram] | None:
        """Links from leaves, so many each, to hosts from the first one of each fabric on; all of them are one group."""
        leaves = [(leaf, ports) for leaf, ports in leaves if ports]
        if not leaves:
            return []
        at, ends = (self.floor.spots_of(f"{self.name}/{t}") for t in ("leaf", tier))
        if ends is None:
            return None
        assert at is not None
        total, per_fabric = Tally(self.floor), self.shape.leaf_count
        of_ports = [leaf for leaf, ports in leaves for _ in range(ports)]
        for fabric, first in enumerate(first_of):
            near = at.some([fabric * per_fabric + leaf for leaf in of_ports])
            total.add_each(near, ends.around(first, len(of_ports)))
        return [total.histogram()]
