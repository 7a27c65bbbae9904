"""What cages of several kinds can hold at most: a bound that is quick to find and never too low."""

from __future__ import annotations

from fractions import Fraction

from ibplan.fabric.geometry import CageSet, Demand, Geometry, Mode


def may_fit(geometry: Geometry, down: Demand, up: Demand) -> bool:
    """Whether two demands would fit if cages could be divided: if not, neither they nor larger ones fit.

    `down` takes the cages in the order of what they cost `up`: first those that `up` cannot use, then those with the
    fewest ports of `up` for one of `down`.
    """
    if down.gbps == up.gbps and down.ports + up.ports > geometry.ports(up.gbps):
        return False
    left, ports_up = Fraction(down.ports), Fraction(0)
    parts: list[tuple[Fraction, Fraction, int]] = []
    room: list[Fraction] = []
    for index, cages in enumerate(geometry.sets):
        mode_down, mode_up = cages.mode(down.gbps), cages.mode(up.gbps)
        most_up = Fraction(_most(cages, mode_up))
        used = most_up / _each(mode_up) if mode_up is not None else Fraction(0)
        ports_up += most_up
        room.append(Fraction(_most(cages, mode_down)))
        if mode_down is not None:
            each = _each(mode_down)
            parts.append((Fraction(0), (cages.count - used) * each, index))
            if mode_up is not None:
                parts.append((_each(mode_up) / each, used * each, index))
    for cost, ports, index in sorted(parts):
        take = min(left, ports, room[index])
        left, room[index], ports_up = left - take, room[index] - take, ports_up - take * cost
    return left == 0 and ports_up >= up.ports


def _each(mode: Mode) -> Fraction:
    """Ports for each cage that is lit or darkened."""
    return Fraction(mode.ports, 1 + mode.cages_lost)


def _most(cages: CageSet, mode: Mode | None) -> int:
    return 0 if mode is None else cages.capacity(mode, cages.count)
