"""From what a source calls a port to the port of the plan: names of every network system, numbers of InfiniBand."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from ibplan.asbuilt.planned import PlannedFabric
from ibplan.fabric.geometry import Geometry
from ibplan.fabric.ports import port_names, systems_for
from ibplan.fabric.wiring_model import CORE, KINDS, LEAF, SPINE

_BARE: Final = re.compile(r"(?:port|p|eth|et|e|xe)?\s*([0-9]{1,5})", re.IGNORECASE)
_IB: Final = "infiniband"


class SwitchPorts:
    """The ports of the switches of a plan by what they are called. Texts are compared in small letters."""

    def __init__(self, plan: PlannedFabric) -> None:
        request = plan.wiring.network.request
        geometry = {LEAF: request.leaf.geometry, SPINE: request.spine.geometry, CORE: request.core}
        self._plan = plan
        self._texts = {kind: _texts(geometry[kind]) for kind in geometry}
        speeds = {kind: _speeds(plan, kind) for kind in geometry}
        infiniband = plan.fabric == _IB
        self._numbers = {kind: _numbers(geometry[kind], speeds[kind], infiniband) for kind in geometry}

    def candidates(self, kind: int, text: str) -> tuple[int, ...]:
        """Ports of a switch of a kind (LEAF, SPINE, CORE) that a text can mean."""
        plain = text.strip().lower()
        found = self._texts[kind].get(plain, ())
        bare = _BARE.fullmatch(plain)
        if bare is not None and (numbered := self._numbers[kind].get(int(bare[1]), ())):
            # A bare number is the number of the port; `33` is a name in our own notation only where nothing else is.
            return numbered
        return found

    def port(self, device: int, text: str) -> int | None:
        """The port of a switch that a text means; None if there is none of that name.

        Where a name stands for different ports at different speeds, the one that is planned to be called so.
        """
        kind = int(self._plan.wiring.devices.kind[device])
        found = self.candidates(kind, text)
        if len(found) < 2:
            return found[0] if found else None
        for port in found:
            number = self._plan.port_id(device, port)
            name = None if number < 0 else self._plan.port_name(number)
            if name is not None and (text.strip().lower() in (name.name.lower(), str(name.ib_port))):
                return port
        planned = (p for p in found if (n := self._plan.port_id(device, p)) >= 0 and self._plan.link_at[n] >= 0)
        return next(planned, found[0])


def _speeds(plan: PlannedFabric, kind: int) -> list[int]:
    """Speeds of the links of a tier, those that are planned first."""
    tier = KINDS[kind]
    used = [c.gbps for c in plan.wiring.classes for end in (c.a, c.b) if end.tier == tier]
    return list(dict.fromkeys(used))


@lru_cache(maxsize=16)
def _texts(geometry: Geometry) -> Mapping[str, tuple[int, ...]]:
    """Every name that any system gives a port at any speed."""
    found: dict[str, dict[int, None]] = defaultdict(dict)
    for gbps in _all_speeds(geometry):
        for system in (None, *_systems(geometry), "plain"):
            for port, name in enumerate(port_names(geometry, gbps, system)):
                if name is not None:
                    found[name.name.lower()][port] = None
    return {text: tuple(ports) for text, ports in found.items()}


def _all_speeds(geometry: Geometry) -> list[int]:
    return sorted({mode.gbps for cages in geometry.sets for mode in cages.modes}, reverse=True)


def _systems(geometry: Geometry) -> list[str]:
    """Systems whose names are known for all cages of a switch."""
    known = [set(systems_for(cages.cage_class)) for cages in geometry.sets]
    return sorted(set.intersection(*known)) if known else []


def _numbers(geometry: Geometry, speeds: Sequence[int], infiniband: bool) -> Mapping[int, tuple[int, ...]]:
    """What a bare number means: the InfiniBand port number, else the count of the port at the speed, in their order.

    InfiniBand numbers that the scheme does not state for all ports are those of the wiring, from 1. Where every cage
    holds one port, the count is the number of the cage.
    """
    named = {gbps: [(p, n) for p, n in enumerate(port_names(geometry, gbps)) if n is not None] for gbps in speeds}
    by_panel = all(name.ib_port is not None for ports in named.values() for _, name in ports)
    found: dict[int, dict[int, None]] = defaultdict(dict)
    for ports in named.values():
        for count, (port, name) in enumerate(ports, 1):
            number = count if not infiniband else name.ib_port if by_panel and name.ib_port else port + 1
            found[number][port] = None
    return {number: tuple(meant) for number, meant in found.items()}
