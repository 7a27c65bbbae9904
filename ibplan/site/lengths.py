"""Lengths of all links of a kind as histograms, without making the links: pairs of devices, and how often they occur.

`Layout.run_m` gives the same lengths link by link. The formula is in docs/site.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from ibplan.fabric.network import NetworkSize
from ibplan.parts.links import LinkKind
from ibplan.site.floor import Floor, Spot
from ibplan.site.rules import RunRule
from ibplan.site.shape import Shape, UnitRun

# (length in metres, rounded up to 0.1 m; number of links), shortest first.
Histogram = tuple[tuple[float, int], ...]

_TENTH_UM: Final = 100_000
# Above so many pairs numpy is faster, its import included.
_FEW_PAIRS: Final = 30_000


class End(NamedTuple):
    """One end of runs: place, row, coordinates, drop to the tray and height in the rack, in micrometres."""

    place: int
    row: int
    x: int
    y: int
    cross: int
    drop: int
    height: int


def length_histogram(
    floor: Floor, network_name: str, network: NetworkSize, kind: LinkKind, host: str | None = None
) -> tuple[Histogram, ...] | None:
    """The lengths of the links of a kind, one histogram for every group of links that can be cabled in its own way.

    Groups: the units for links to servers; one for the hosts of a group (`host`), and one for managers; pods for
    leaf-spine links, fabrics for spine-core and leaf-leaf links, fabric by fabric. None where the place of an end is
    not known. An empty tuple where there are no such links.
    """
    return (
        tuple(_histogram(group) for group in groups)
        if (groups := _Runs(floor, network_name, network).groups(kind, host)) is not None
        else None
    )


def _histogram(tenths: Counter[int]) -> Histogram:
    return tuple((tenth / 10, count) for tenth, count in sorted(tenths.items()))


class _Runs:
    """The runs of one network."""

    def __init__(self, floor: Floor, name: str, network: NetworkSize) -> None:
        self.floor, self.name, self.network = floor, name, network
        self.shape: Shape = floor.shapes[name]

    def groups(self, kind: LinkKind, host: str | None) -> Iterable[Counter[int]] | None:
        if kind == "attached":
            return self._attached(host)
        if kind == "reserved":
            return self._managers()
        made: dict[str, Callable[[], Iterator[Counter[int]]]] = {
            "server-leaf": self._units,
            "leaf-spine": self._pods,
            "spine-core": self._cores,
            "leaf-leaf": self._leaf_pairs,
        }
        return made[kind]()

    def ends(self, tier: str, numbers: Sequence[int]) -> list[End]:
        spots = self.floor.spots[f"{self.name}/{tier}"]
        return [_end(self.floor, spots[number]) for number in numbers]

    def servers(self, numbers: range) -> list[End]:
        return [_end(self.floor, self.floor.server(number)) for number in numbers]

    def _units(self) -> Iterator[Counter[int]]:
        """Units that stand in their row in the same way have the same lengths."""
        known: dict[tuple[int, ...], Counter[int]] = {}
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

    def _unit(self, run: UnitRun, servers: range, leaves: range) -> Counter[int]:
        total: Counter[int] = Counter()
        request, fabric = self.network.request, self.network.fabric
        ends = self.servers(servers)
        for f in range(self.network.fabrics):
            found = self.ends("leaf", [f * self.shape.leaf_count + leaf for leaf in leaves])
            if fabric.isl and (request.rails == 1 or not request.rail_optimized):
                for side, leaf in enumerate(found):
                    _add(total, runs_between(ends[side::2], [leaf], self.floor.rules.run), request.rails)
                continue
            for side, leaf in enumerate(found):
                # The first leaves take the rails that are left over, which only two joined leaves can have.
                links = (request.rails - side + len(found) - 1) // len(found)
                _add(total, runs_between(ends, [leaf], self.floor.rules.run), links)
        return total

    def _pods(self) -> Iterator[Counter[int]]:
        spine_count = sum(len(pod.spines) for pod in self.shape.pods)
        for f in range(self.network.fabrics):
            for pod in self.shape.pods:
                total: Counter[int] = Counter()
                spines = self.ends("spine", [f * spine_count + spine for spine in pod.spines])
                for links, same in groupby(sorted(pod.leaves, key=lambda run: run.links), key=lambda run: run.links):
                    numbers = [f * self.shape.leaf_count + leaf for run in same for leaf in run.leaves]
                    _add(total, runs_between(self.ends("leaf", numbers), spines, self.floor.rules.run), links)
                yield total

    def _cores(self) -> Iterator[Counter[int]]:
        core = self.network.fabric.core
        if core is None:
            return
        spine_count = sum(len(pod.spines) for pod in self.shape.pods)
        for f in range(self.network.fabrics):
            total: Counter[int] = Counter()
            for group in range(core.groups):
                first = f * core.count + group * core.per_group
                cores = self.ends("core", range(first, first + core.per_group))
                for links, numbers in self._spines_of(group, core.groups).items():
                    spines = self.ends("spine", [f * spine_count + n for n in numbers])
                    _add(total, runs_between(spines, cores, self.floor.rules.run), links // core.per_group)
            yield total

    def _spines_of(self, group: int, groups: int) -> dict[int, list[int]]:
        """The spines that reach a group of cores, by their uplinks."""
        found: dict[int, list[int]] = {}
        for pod in self.shape.pods:
            found.setdefault(pod.uplinks, []).extend(pod.spines[group::groups])
        return found

    def _leaf_pairs(self) -> Iterator[Counter[int]]:
        for f in range(self.network.fabrics if self.network.fabric.isl else 0):
            first, second = self.ends("leaf", range(f * 2, f * 2 + 2))
            total: Counter[int] = Counter()
            _add(total, runs_between([first], [second], self.floor.rules.run), self.network.fabric.isl)
            yield total

    def _managers(self) -> list[Counter[int]] | None:
        leaves = [leaf for leaf, load in self.shape.leaf_loads() for _ in range(load.reserved)]
        return self._pairs("manager", leaves, lambda f, nth: f * len(leaves) + nth)

    def _attached(self, host: str | None) -> list[Counter[int]] | None:
        """The ports of all leaves, in order, go to one host after the other; every fabric has its own."""
        index = next(i for i, group in enumerate(self.network.request.attached) if group.name == host)
        hosts = self.network.request.attached[index].hosts
        leaves = [leaf for leaf, load in self.shape.leaf_loads() for _ in range(load.attached[index])]
        return self._pairs(f"attached:{host}", leaves, lambda _, nth: nth % hosts)

    def _pairs(self, tier: str, leaves: Sequence[int], far: Callable[[int, int], int]) -> list[Counter[int]] | None:
        """Links from a list of leaves, one each, to hosts; all of them are one group."""
        if not leaves:
            return []
        if f"{self.name}/{tier}" not in self.floor.spots:
            return None
        total: Counter[int] = Counter()
        for f in range(self.network.fabrics):
            pairs = Counter((f * self.shape.leaf_count + leaf, far(f, nth)) for nth, leaf in enumerate(leaves))
            for (leaf, number), links in pairs.items():
                ends = self.ends("leaf", [leaf]), self.ends(tier, [number])
                _add(total, runs_between(*ends, self.floor.rules.run), links)
        return [total]


def _end(floor: Floor, spot: Spot) -> End:
    unit = spot.unit or 1
    point, rule = floor.ground.point(spot.place), floor.rules.run
    drop = (floor.rules.rack_units - unit + 1) * rule.unit_um + rule.tray_um
    return End(spot.place, *point, drop, unit * rule.unit_um)


def _add(total: Counter[int], tenths: Counter[int], links: int) -> None:
    for tenth, count in tenths.items():
        total[tenth] += count * links


def runs_between(near: Sequence[End], far: Sequence[End], rule: RunRule) -> Counter[int]:
    """Lengths of the runs from every end to every other, in tenths of a metre, rounded up: how often each occurs."""
    if len(near) * len(far) > _FEW_PAIRS:
        return _many_runs(near, far, rule)
    found: Counter[int] = Counter()
    for a in near:
        for b in far:
            if a.place == b.place:
                run = abs(a.height - b.height)
            elif a.row == b.row:
                run = a.drop + b.drop + abs(a.x - b.x)
            else:
                around = abs(a.x - a.cross) + abs(a.cross - b.cross) + abs(b.x - b.cross)
                run = a.drop + b.drop + around + abs(a.y - b.y)
            found[-(-(run + 2 * rule.slack_um) // _TENTH_UM)] += 1
    return found


def _many_runs(near: Sequence[End], far: Sequence[End], rule: RunRule) -> Counter[int]:
    """The same with numpy, some rows of pairs at a time."""
    import numpy as np

    b = End(*np.array(far, np.int64).T)
    found: Counter[int] = Counter()
    step = max(1, 2_000_000 // len(far))
    for start in range(0, len(near), step):
        a = End(*(column[:, None] for column in np.array(near[start : start + step], np.int64).T))
        around = np.abs(a.x - a.cross) + np.abs(a.cross - b.cross) + np.abs(b.x - b.cross) + np.abs(a.y - b.y)
        run = a.drop + b.drop + np.where(a.row == b.row, np.abs(a.x - b.x), around)
        run = np.where(a.place == b.place, np.abs(a.height - b.height), run) + 2 * rule.slack_um
        counts = np.bincount((-(-run // _TENTH_UM)).ravel())
        (tenths,) = counts.nonzero()
        found.update(dict(zip(tenths.tolist(), counts[tenths].tolist(), strict=True)))
    return found
