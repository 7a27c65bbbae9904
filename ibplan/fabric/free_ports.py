"""The ports of a switch that carry no link: which cages can still be lit, and the names of their ports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.fabric.ports import PortName, port_names
from ibplan.fabric.wiring_cages import WiringError, port_stride

Direction = Literal["down", "up"]


@dataclass(frozen=True, slots=True)
class FreePorts:
    """Free ports one after the other, at the speed that they would have. Direction None: neither speed of the tier."""

    first: PortName
    last: PortName
    count: int
    gbps: int
    direction: Direction | None


@dataclass(frozen=True, slots=True)
class PortUse:
    """Ports of one switch: in use, free at the downlink speed, kept free as the spec asks, and spare.

    Spare: legs of cages that run another speed or upwards, and cages that do not have the downlink speed.
    """

    used: int
    free: int
    kept: int
    spare: int

    @property
    def total(self) -> int:
        """All ports, as the cages are run."""
        return self.used + self.free + self.kept + self.spare


@dataclass(frozen=True, slots=True)
class Run:
    """How a cage is run, or would be."""

    gbps: int
    direction: Direction | None


def unused_ports(geometry: Geometry, used: Mapping[int, Run], down: int) -> Iterator[tuple[int, Run]]:
    """Every port that carries no link, in order, with how it would run: in a lit cage as the cage, else downwards."""
    stride, base = port_stride(geometry), 0
    for cages in geometry.sets:
        lit = {port // stride - base: run for port, run in used.items() if base <= port // stride < base + cages.count}
        lit |= dict.fromkeys(_more_cages(cages, lit, down), Run(down, "down"))
        if cages.mode(down) is None:
            best = max(cages.modes, key=lambda m: (m.gbps, m.ports))
            lit |= dict.fromkeys(_more_cages(cages, lit, best.gbps), Run(best.gbps, None))
        for cage, run in sorted(lit.items(), key=lambda item: item[0]):
            mode = cages.mode(run.gbps)
            for leg in range(mode.ports if mode is not None else 0):
                port = (base + cage) * stride + leg
                if port not in used:
                    yield port, run
        base += cages.count


def _more_cages(cages: CageSet, lit: Mapping[int, Run], gbps: int) -> list[int]:
    """The dark cages of a set that can still be lit at a speed: neither darkened by a neighbor nor beyond a cap."""
    mode = cages.mode(gbps)
    if mode is None:
        return []
    taken = {cage + n for cage, run in lit.items() for n in range(1 + _lost(cages, run.gbps))}
    width = 1 + mode.cages_lost
    starts = range(0, cages.count - width + 1, width)
    usable = [start for start in starts if taken.isdisjoint(range(start, start + width))]
    return usable[: _room(mode, sum(run.gbps == gbps for run in lit.values()))]


def _lost(cages: CageSet, gbps: int) -> int:
    mode = cages.mode(gbps)
    return mode.cages_lost if mode is not None else 0


def _room(mode: Mode, lit: int) -> int | None:
    return None if mode.max_ports is None else max(0, mode.max_ports // mode.ports - lit)


def free_ranges(geometry: Geometry, found: Iterable[tuple[int, Run]], system: str | None) -> Iterator[FreePorts]:
    """Ports that follow each other and would run alike, as ranges."""
    stride = port_stride(geometry)
    names: dict[int, list[PortName | None]] = {}
    run: list[PortName] = []
    last: Run | None = None
    for port, lit in found:
        if lit.gbps not in names:
            names[lit.gbps] = port_names(geometry, lit.gbps, system)
        name = names[lit.gbps][port]
        if name is None:
            raise WiringError(f"{geometry.name}: cage {port // stride + 1} does not run {lit.gbps} Gb/s")
        if last is not None and (lit != last or not _follows(run[-1], name)):
            yield FreePorts(run[0], run[-1], len(run), last.gbps, last.direction)
            run = []
        run.append(name)
        last = lit
    if last is not None:
        yield FreePorts(run[0], run[-1], len(run), last.gbps, last.direction)


def _follows(before: PortName, after: PortName) -> bool:
    return after.cage == before.cage or (after.cage == before.cage + 1 and after.leg == 1)
