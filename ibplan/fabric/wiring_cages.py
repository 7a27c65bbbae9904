"""Which port of which cage each demand of a switch gets. No numpy: only few switches of a network differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ibplan.errors import IbplanError
from ibplan.fabric.extras import extra_ports
from ibplan.fabric.geometry import CageSet, Demand, Geometry, Mode, Placed
from ibplan.fabric.request import FabricRequest, LeafLoad
from ibplan.integers import ceil_div


class WiringError(IbplanError):
    """Sizing and wiring do not agree: a fault of ours. No wiring is better than a wrong one."""


@dataclass(frozen=True, slots=True)
class Bank:
    """The ports of one demand, in the order they are used, and the cage set of each."""

    ports: tuple[int, ...] = ()
    sets: tuple[int, ...] = ()

    def part(self, start: int, count: int) -> Bank:
        """`count` ports from the `start`-th on. Raises WiringError if there are fewer."""
        if start + count > len(self.ports):
            raise WiringError(f"{start + count} ports wanted of a bank of {len(self.ports)}")
        return Bank(self.ports[start : start + count], self.sets[start : start + count])


@dataclass(frozen=True, slots=True)
class LeafBanks:
    """The ports of one leaf: towards servers, each group of attached hosts, managers, and upwards."""

    servers: Bank
    attached: tuple[Bank, ...]
    reserved: Bank
    up: Bank


def port_stride(geometry: Geometry) -> int:
    """Port numbers a cage takes: the most ports that any cage can have. Port = cage x stride + leg, both from 0."""
    return max(mode.ports for cages in geometry.sets for mode in cages.modes)


def lay_out(geometry: Geometry, down: Sequence[Demand], up: Demand | None) -> tuple[Bank, ...]:
    """One bank a demand, `up` last: downlinks take the first cages that are free, uplinks the last.

    Raises WiringError where the demands do not fit.
    """
    demands = [*down, up] if up is not None else list(down)
    placed = geometry.place(demands)
    if placed is None:
        raise WiringError(f"{geometry.name}: sizing placed these ports before: {demands}")
    lit: dict[tuple[int, int], list[int]] = {}
    for index, cages in enumerate(geometry.sets):
        wanted = [(k, p) for k, places in enumerate(placed) for p in places if p.cage_set == index]
        for k, chosen in _light(cages, demands, wanted, len(demands) - 1 if up is not None else -1).items():
            lit[k, index] = chosen
    return tuple(_bank(geometry, places, lit, k) for k, places in enumerate(placed))


def _light(
    cages: CageSet, demands: Sequence[Demand], wanted: Sequence[tuple[int, Placed]], up: int
) -> dict[int, list[int]]:
    """Lit cages of one set for each demand (`wanted`: its index, and how many). `up`: index of the uplinks.

    Modes that only some cages have, or that darken neighbors, choose first: the others can take what is left.
    """
    free, chosen = set(range(cages.count)), {}
    modes = {k: mode for k, _ in wanted if (mode := cages.mode(demands[k].gbps)) is not None}
    for k, place in sorted(wanted, key=lambda w: (-_step(cages, modes[w[0]]), w[0])):
        width = 1 + modes[k].cages_lost
        starts = range(0, cages.count - width + 1, _step(cages, modes[k]))
        usable = [s for s in starts if free.issuperset(range(s, s + width))]
        if len(usable) < place.cages:
            raise WiringError(f"{place.cages} cages wanted of {len(usable)} that can run {modes[k]}")
        chosen[k] = usable[-place.cages :] if k == up else usable[: place.cages]
        free.difference_update(c for s in chosen[k] for c in range(s, s + width))
    return chosen


def _step(cages: CageSet, mode: Mode) -> int:
    """Every how many cages a mode can be run.

    A mode that darkens neighbors is run in the first cage of each pair. A mode capped below the ports of all cages is
    spread: on the switches that have one, every other cage runs it.
    """
    step = 1 + mode.cages_lost
    return step if mode.max_ports is None else max(step, cages.count // ceil_div(mode.max_ports, mode.ports))


def _bank(geometry: Geometry, places: Sequence[Placed], lit: dict[tuple[int, int], list[int]], demand: int) -> Bank:
    stride, ports, sets = port_stride(geometry), [], []
    for place in places:
        base = sum(s.count for s in geometry.sets[: place.cage_set])
        cages = lit[demand, place.cage_set]
        size = place.ports_per_cage
        ports += [(base + cages[i // size]) * stride + i % size for i in range(place.ports)]
        sets += [place.cage_set] * place.ports
    return Bank(tuple(ports), tuple(sets))


def uplinks_elsewhere(request: FabricRequest) -> tuple[int, ...]:
    """The ports of a separate leaf that go to another network, in order: its last cages, as of all uplinks."""
    up = Demand(request.leaf.up_gbps, request.leaf.fixed_uplinks or 0)
    return lay_out(request.leaf.geometry, [], up)[-1].ports


def leaf_banks(request: FabricRequest, load: LeafLoad, uplinks: int, extras_at: int) -> LeafBanks:
    """The ports of a leaf. `extras_at`: the downlink where attached hosts of the servers' speed, then managers, start.

    Ports that are kept free on every leaf come last of the downlinks.
    """
    extras = extra_ports(request, load)
    down = {load.down_gbps: max(load.servers, extras_at + extras if extras else 0) + request.leaf.reserved}
    for used, group in zip(load.attached, request.attached, strict=False):
        if used and group.gbps != load.down_gbps:
            down[group.gbps] = down.get(group.gbps, 0) + used
    banks = lay_out(
        request.leaf.geometry, [Demand(g, n) for g, n in down.items()], Demand(request.leaf.up_gbps, uplinks)
    )
    by_speed = dict(zip(down, banks, strict=False))
    next_port = dict.fromkeys(down, 0) | {load.down_gbps: extras_at}
    attached = []
    for index, group in enumerate(request.attached):
        used = load.attached[index] if index < len(load.attached) else 0
        attached.append(by_speed[group.gbps].part(next_port[group.gbps], used) if used else Bank())
        if used:
            next_port[group.gbps] += used
    own = by_speed[load.down_gbps]
    reserved = own.part(next_port[load.down_gbps], load.reserved)
    return LeafBanks(own.part(0, load.servers), tuple(attached), reserved, banks[-1].part(0, uplinks))
