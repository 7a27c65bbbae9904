"""A network as an InfiniBand subnet manager sees it: port numbers, speeds and nodes, one subnet a fabric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ibplan.errors import UsageError
from ibplan.export.scheme import Scheme
from ibplan.fabric.geometry import Geometry
from ibplan.fabric.ports import PortName, port_names
from ibplan.fabric.wiring_cages import port_stride
from ibplan.fabric.wiring_model import CORE, KINDS, LEAF, SERVER, SPINE, Ints, Side

# Gb/s of a lane -> the name of its generation; the usual link has four lanes.
GENERATIONS: Final = {10: "QDR", 14: "FDR", 25: "EDR", 50: "HDR", 100: "NDR", 200: "XDR"}
_USUAL_LANES: Final = 4


class SubnetPort(NamedTuple):
    """A port in use: its number, and at the other end node, port GUID, number, description; `link` = in the wiring."""

    number: int
    far_switch: bool
    far_guid: int
    far_port_guid: int
    far_number: int
    far_description: str
    link: int


@dataclass(frozen=True, slots=True)
class Node:
    """A switch or a NIC port (which is a channel adapter of its own, as operating systems show it)."""

    guid: int
    port_guid: int
    description: str
    device: int
    port_count: int
    ports: tuple[SubnetPort, ...]


@dataclass(frozen=True)
class Subnets:
    """The subnets of a scheme: one for each fabric (plane, separate rail)."""

    scheme: Scheme

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What tells the subnets apart; one empty text where there is one."""
        return tuple(self.scheme.label(fabric) for fabric in range(self.scheme.wiring.network.fabrics))

    @cached_property
    def numbers(self) -> tuple[Ints, Ints]:
        """The InfiniBand number of the port at both ends of every link; 1 at NIC ports."""
        return self._numbers("a"), self._numbers("b")

    @cached_property
    def radix(self) -> dict[int, int]:
        """Ports of a switch of each tier, as the subnet manager counts them."""
        return {kind: self._port_count(kind) for kind in (LEAF, SPINE, CORE)}

    def _geometry(self, kind: int) -> Geometry:
        request = self.scheme.wiring.network.request
        return {LEAF: request.leaf.geometry, SPINE: request.spine.geometry, CORE: request.core}[kind]

    @cached_property
    def _by_panel(self) -> dict[int, bool]:
        """By tier: whether the InfiniBand numbers of all ports in use are known. Else ports are counted through."""
        w, known = self.scheme.wiring, {}
        for kind in (LEAF, SPINE, CORE):
            classes = [c for c in w.classes if KINDS[kind] in (c.a.tier, c.b.tier)]
            names = [n for c in classes for n in port_names(self._geometry(kind), c.gbps) if n is not None]
            known[kind] = all(name.ib_port is not None for name in names)
        return known

    def _number(self, kind: int, port: int, name: PortName | None) -> int:
        if name is None:
            return 0
        return name.ib_port if self._by_panel[kind] and name.ib_port is not None else port + 1

    def _port_count(self, kind: int) -> int:
        geometry = self._geometry(kind)
        if not self._by_panel[kind]:
            return port_stride(geometry) * sum(cages.count for cages in geometry.sets)
        speeds = {c.gbps for c in self.scheme.wiring.classes if KINDS[kind] in (c.a.tier, c.b.tier)}
        named = [(port, name) for gbps in speeds for port, name in enumerate(port_names(geometry, gbps))]
        return max((self._number(kind, port, name) for port, name in named), default=0)

    def _numbers(self, side: Side) -> Ints:
        w = self.scheme.wiring
        devices, ports = w.links.end(side)
        found = np.ones(len(w.links), np.int32)
        for number, link_class in enumerate(w.classes):
            tier = (link_class.a if side == "a" else link_class.b).tier
            if tier in ("leaf", "spine", "core"):
                at = np.flatnonzero(w.links.link_class == number)
                kind = KINDS.index(tier)
                named = port_names(self._geometry(kind), link_class.gbps)
                table = np.array([self._number(kind, port, name) for port, name in enumerate(named)], np.int32)
                found[at] = table[ports[at]]
        taken = np.stack([devices, found])[:, w.devices.kind[devices] >= LEAF]
        if np.unique(taken, axis=1).shape[1] != taken.shape[1]:
            raise UsageError("the InfiniBand numbers of these switch ports are not known: two would have the same one")
        return found

    @cached_property
    def speeds(self) -> list[str]:
        """Width and generation of every class of links: `4xNDR`; empty where no generation has the speed."""
        lanes: dict[int, int] = {}
        side = self.scheme.wired.evaluated.side.named(self.scheme.network)
        for parts in self.scheme.wired.evaluated.parts if side is None else side.parts:
            if parts.recipe is not None:
                lanes.setdefault(parts.link_class, parts.recipe.end_a.lanes_per_link)
        found = []
        for number, link_class in enumerate(self.scheme.wiring.classes):
            width = lanes.get(number, _USUAL_LANES)
            generation = GENERATIONS.get(link_class.gbps // width) if link_class.gbps % width == 0 else None
            found.append("" if generation is None else f"{width}x{generation}")
        return found

    def switches(self, fabric: int) -> Iterator[Node]:
        """The switches of a subnet, in the order of the wiring, with their ports in use by number."""
        w = self.scheme.wiring
        ends = self._ends(fabric)
        for device in np.flatnonzero((w.devices.fabric == fabric) & (w.devices.kind >= LEAF)).tolist():
            guid = self.scheme.guids.switches[device]
            yield Node(
                guid,
                guid,
                self.scheme.names[device],
                device,
                self.radix[int(w.devices.kind[device])],
                tuple(sorted(ends.get(device, []))),
            )

    def _ends(self, fabric: int) -> dict[int, list[SubnetPort]]:
        """The ports in use of every switch of a fabric."""
        w, guids, names = self.scheme.wiring, self.scheme.guids, self.scheme.names
        ends: dict[int, list[SubnetPort]] = {}
        at = np.flatnonzero(w.links.fabric == fabric).tolist()
        a, b = w.links.a_device.tolist(), w.links.b_device.tolist()
        a_numbers, b_numbers = (numbers.tolist() for numbers in self.numbers)
        for link in at:
            near, far = a[link], b[link]
            switch = guids.switches.get(far)
            node, port = (switch, switch) if switch is not None else (guids.adapters[link], guids.ports[link])
            there = (switch is not None, node, port, b_numbers[link], self._descriptions[link], link)
            ends.setdefault(near, []).append(SubnetPort(a_numbers[link], *there))
            if switch is not None:
                here = (True, guids.switches[near], guids.switches[near], a_numbers[link], names[near], link)
                ends.setdefault(far, []).append(SubnetPort(b_numbers[link], *here))
        return ends

    @cached_property
    def _descriptions(self) -> list[str]:
        return list(self.scheme.descriptions())

    def adapters(self, fabric: int) -> Iterator[Node]:
        """The NIC ports of a subnet, in the order of their links."""
        w, guids, names = self.scheme.wiring, self.scheme.guids, self.scheme.names
        for link in np.flatnonzero((w.links.fabric == fabric) & (w.devices.kind[w.links.b_device] < LEAF)).tolist():
            leaf = int(w.links.a_device[link])
            guid = guids.switches[leaf]
            far = SubnetPort(1, True, guid, guid, int(self.numbers[0][link]), names[leaf], link)
            node, port = guids.adapters[link], guids.ports[link]
            yield Node(node, port, self._descriptions[link], int(w.links.b_device[link]), 1, (far,))

    def is_server(self, node: Node) -> bool:
        """Whether an adapter is one of a server (rather than of an attached host or a manager)."""
        return int(self.scheme.wiring.devices.kind[node.device]) == SERVER

    def notes(self) -> tuple[str, ...]:
        """What is to be said of the GUIDs and port numbers of any export of the subnets."""
        planned = self.scheme.guids.planned
        if not planned:
            return ()
        return (
            f"{planned:,} GUIDs are made up (locally administered, 02...): "
            "give the real ones with addressing.guids once the hardware is there",
        )


def in_subnet(label: str, name: str) -> str:
    """The path of a file of one subnet: in a directory of its own where there are several."""
    return f"{label}/{name}" if label else name
