"""The ports of a switch as sizing sees them: cages in groups, each run in one mode at a time.

Everything is budgeted in cages: a cage serves one demand (one speed, one direction), so ports do not add up freely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Final

from ibplan.integers import ceil_div, largest

_MOST_TRIED: Final = 2**6


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to run a cage: `ports` ports of `gbps`; `cages_lost` neighbours go dark for it.

    `max_ports` caps the set: only as many cages can run so as give that many ports.
    """

    gbps: int
    ports: int
    cages_lost: int = 0
    max_ports: int | None = None


@dataclass(frozen=True, slots=True)
class CageSet:
    """Cages of one kind. `cage_class` None = what can be plugged in is unknown."""

    count: int
    modes: tuple[Mode, ...]
    cage_class: str | None = None

    def mode(self, gbps: int) -> Mode | None:
        """The mode with the most ports at a speed, None if the cages do not have it."""
        best, most = None, -1
        for mode in self.modes:
            if mode.gbps == gbps and (ports := self.capacity(mode, self.count)) > most:
                best, most = mode, ports
        return best

    def capacity(self, mode: Mode, cages: int) -> int:
        """Ports of a mode in a number of cages."""
        ports = cages // (1 + mode.cages_lost) * mode.ports
        return ports if mode.max_ports is None else min(ports, mode.max_ports)


@dataclass(frozen=True, slots=True)
class Demand:
    """Ports wanted at one speed, in cages of their own."""

    gbps: int
    ports: int


@dataclass(frozen=True, slots=True)
class Placed:
    """Ports of one demand in one cage set (by index): how many ports, in how many lit cages of `ports_per_cage`."""

    cage_set: int
    ports: int
    cages: int
    ports_per_cage: int


@dataclass(slots=True)
class _Room:
    """Cages still free in each set, and cages already lit at each speed of a set."""

    free: list[int]
    lit: dict[tuple[int, int], int]

    def ports(self, index: int, mode: Mode) -> int:
        """Ports of a mode that still fit a set."""
        ports = self.free[index] // (1 + mode.cages_lost) * mode.ports
        if mode.max_ports is None:
            return ports
        return min(ports, mode.max_ports - self.lit.get((index, mode.gbps), 0) * mode.ports)

    def take(self, index: int, mode: Mode, ports: int) -> int:
        """Take the cages for some ports; returns how many are lit."""
        lit = ceil_div(ports, mode.ports)
        self.free[index] -= lit * (1 + mode.cages_lost)
        self.lit[index, mode.gbps] = self.lit.get((index, mode.gbps), 0) + lit
        return lit


@dataclass(frozen=True, slots=True)
class Geometry:
    """All cages of a switch. `total_ports` is what its maker counts at the speed it is sold by."""

    name: str
    sets: tuple[CageSet, ...]

    def ports(self, gbps: int) -> int:
        """The radix at a speed in Gb/s, breakout limits included; 0 if no cage has it."""
        return sum(s.capacity(m, s.count) for s in self.sets if (m := s.mode(gbps)) is not None)

    def whole_cage_gbps(self) -> set[int]:
        """The speeds at which a cage runs as a single port."""
        return {m.gbps for s in self.sets for m in s.modes if m.ports == 1}

    def place(self, demands: Sequence[Demand]) -> tuple[tuple[Placed, ...], ...] | None:
        """Where the demands go, one tuple a demand; None if they do not fit together.

        The least flexible demand is placed first, and each prefers the cages that fewest other demands could use. Where
        that fails in mixed cages, demands that would light a cage only in part leave some of the simpler cages free;
        of more than six such demands not every choice is tried.
        """
        if len(self.sets) == 1:
            return self._place_in_one_set(demands)
        spilling = [len([s for s in self.sets if s.mode(d.gbps) is not None]) > 1 for d in demands]
        choices = product(*((False, True) if spills else (False,) for spills in spilling))
        for rounded in islice(choices, _MOST_TRIED):
            placed = self._place_all(demands, rounded)
            if placed is not None:
                return placed
        return None

    def _place_in_one_set(self, demands: Sequence[Demand]) -> tuple[tuple[Placed, ...], ...] | None:
        cages, room = self.sets[0], _Room([self.sets[0].count], {})
        result: list[tuple[Placed, ...]] = []
        for demand in demands:
            if demand.ports == 0:
                result.append(())
                continue
            mode = cages.mode(demand.gbps)
            if mode is None or room.ports(0, mode) < demand.ports:
                return None
            result.append((Placed(0, demand.ports, room.take(0, mode, demand.ports), mode.ports),))
        return tuple(result)

    def _place_all(self, demands: Sequence[Demand], rounded: Sequence[bool]) -> tuple[tuple[Placed, ...], ...] | None:
        room = _Room([s.count for s in self.sets], {})
        rivals = [sum(s.mode(d.gbps) is not None for d in demands) for s in self.sets]
        order = sorted(range(len(demands)), key=lambda i: sum(s.mode(demands[i].gbps) is not None for s in self.sets))
        result: list[tuple[Placed, ...]] = [()] * len(demands)
        for i in order:
            placed = self._place_one(demands[i], room, rivals, rounded[i])
            if placed is None:
                return None
            result[i] = placed
        return tuple(result)

    def _place_one(self, demand: Demand, room: _Room, rivals: list[int], rounded: bool) -> tuple[Placed, ...] | None:
        left, placed = demand.ports, []
        order = [
            k for k in sorted(range(len(self.sets)), key=lambda k: (rivals[k], k)) if self.sets[k].mode(demand.gbps)
        ]
        for at, index in enumerate(order):
            mode = self.sets[index].mode(demand.gbps)
            if left == 0 or mode is None:
                continue
            ports = min(left, room.ports(index, mode))
            later = self.sets[order[at + 1]].mode(demand.gbps) if at + 1 < len(order) else None
            if rounded and later is not None and ports < left:
                ports = max(0, left - ceil_div(left - ports, later.ports) * later.ports)
            if ports:
                placed.append(Placed(index, ports, room.take(index, mode, ports), mode.ports))
                left -= ports
        return tuple(placed) if left == 0 else None

    def fits(self, *demands: Demand) -> bool:
        """Whether the demands fit together."""
        return self.place(demands) is not None

    def most_beside(self, gbps: int, *fixed: Demand) -> int:
        """The largest number of ports at a speed that fits beside the fixed demands (0 if even those do not fit)."""
        return _most_beside(self, gbps, fixed)


@lru_cache(maxsize=4096)
def _most_beside(geometry: Geometry, gbps: int, fixed: tuple[Demand, ...]) -> int:
    if not geometry.fits(*fixed):
        return 0
    return largest(geometry.ports(gbps), lambda ports: geometry.fits(*fixed, Demand(gbps, ports)))
