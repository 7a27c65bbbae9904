"""Devices, links and their names: what wiring answers with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from ibplan.fabric.network import NetworkSize
from ibplan.parts.links import LinkClass

DeviceKind = Literal["server", "attached", "manager", "leaf", "spine", "core"]
KINDS: Final[tuple[DeviceKind, ...]] = ("server", "attached", "manager", "leaf", "spine", "core")
SERVER, ATTACHED, MANAGER, LEAF, SPINE, CORE = range(len(KINDS))
Side = Literal["a", "b"]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class HostPorts:
    """How the ports of servers and attached hosts are dealt: `planes` planes x `rails` separate rails are the fabrics.

    Port p of a server belongs to NIC p // ports_per_nic; its ports are dealt over the planes (port m of a NIC to plane
    m mod planes). `rails` > 1 only where every rail is a fabric of its own.
    """

    planes: int
    rails: int
    ports_per_nic: int

    def server_port(self, fabric: int, rail: Ints) -> Ints:
        """The ports of a server that are some rails of a fabric."""
        per_plane = self.ports_per_nic // self.planes
        plane, rail = fabric // self.rails, rail + fabric % self.rails
        return (rail // per_plane) * self.ports_per_nic + (rail % per_plane) * self.planes + plane

    def rail_of(self, port: Ints) -> tuple[Ints, Ints]:
        """(fabric, rail in that fabric) of ports of a server: the inverse of `server_port`."""
        nic, m = port // self.ports_per_nic, port % self.ports_per_nic
        rail = nic * (self.ports_per_nic // self.planes) + m // self.planes
        plane = m % self.planes
        return (plane * self.rails + rail, 0 * rail) if self.rails > 1 else (plane, rail)

    def label(self, fabric: int) -> str:
        """`p1`, `r1`, `p1r1`, or nothing where there is one fabric."""
        plane = f"p{fabric // self.rails + 1}" if self.planes > 1 else ""
        return plane + (f"r{fabric % self.rails + 1}" if self.rails > 1 else "")


@dataclass(frozen=True, slots=True)
class Devices:
    """All devices, shape (devices,). -1 = does not apply.

    kind: index in KINDS. index: from 0, within the kind (and group, and fabric). group: of attached hosts. fabric: of
    switches and managers (hosts are in all). unit, pod: of servers, leaves (and pod of spines), within the fabric.
    position: of a server or leaf in its unit, of a spine in its pod, the group of a core. stride: port numbers of a
    cage, so that cage = port // stride, leg = port % stride, both from 0.
    """

    kind: npt.NDArray[np.int8]
    index: Ints
    group: npt.NDArray[np.int16]
    fabric: npt.NDArray[np.int16]
    unit: Ints
    pod: Ints
    position: Ints
    stride: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, slots=True)
class Links:
    """All links, shape (links,): class (index in the network's links), both devices and ports, fabric.

    Ends are those of the class: a = the lower tier (the leaf of host links), b = the upper one (or the host).
    """

    link_class: npt.NDArray[np.int16]
    a_device: Ints
    a_port: Ints
    b_device: Ints
    b_port: Ints
    fabric: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.link_class)

    def end(self, side: Side) -> tuple[Ints, Ints]:
        """(devices, ports) at one end."""
        return (self.a_device, self.a_port) if side == "a" else (self.b_device, self.b_port)


@dataclass(frozen=True, slots=True)
class KeptPorts:
    """Reserved ports of leaves without a far end, shape (ports,): the class that a link would be of, leaf, port."""

    link_class: npt.NDArray[np.int16]
    device: Ints
    port: Ints


@dataclass(frozen=True, slots=True)
class Wiring:
    """Every link of a network. Links stand by class, then fabric, then the order of the lower devices and ports.

    `kept`: reserved ports that carry no link (`without_managers`); None where managers are there, or no such ports.
    """

    network: NetworkSize
    hosts: HostPorts
    devices: Devices
    links: Links
    kept: KeptPorts | None = None

    @property
    def classes(self) -> tuple[LinkClass, ...]:
        """The link classes that `link_class` counts in."""
        return self.network.links

    def cages(self, side: Side) -> tuple[Ints, Ints]:
        """(cage, leg) of every link at one end, both from 0."""
        device, port = self.links.end(side)
        stride = self.devices.stride[device]
        return port // stride, port % stride

    def of_kind(self, kind: DeviceKind) -> npt.NDArray[np.intp]:
        """The devices of a kind, in order."""
        return np.flatnonzero(self.devices.kind == KINDS.index(kind))

    def device_name(self, device: int) -> str:
        """The name of one device: `server-001`, `leaf-p1r2-034`, `<group>-001`. Never padded by the size."""
        d = self.devices
        kind, fabric = KINDS[d.kind[device]], int(d.fabric[device])
        head = self.network.request.attached[d.group[device]].name if kind == "attached" else kind
        label = self.hosts.label(fabric) if fabric >= 0 else ""
        return f"{head}-{label + '-' if label else ''}{int(d.index[device]) + 1:03d}"

    def device_names(self) -> list[str]:
        """The names of all devices, in their order."""
        d, attached = self.devices, self.network.request.attached
        heads: dict[tuple[int, int, int], str] = {}
        names = []
        for key in zip(d.kind.tolist(), d.group.tolist(), d.fabric.tolist(), d.index.tolist(), strict=True):
            head = heads.get(key[:3])
            if head is None:
                kind, group, fabric, _ = key
                label = self.hosts.label(fabric) if fabric >= 0 else ""
                head = (attached[group].name if kind == ATTACHED else KINDS[kind]) + (f"-{label}" if label else "")
                heads[key[:3]] = head
            names.append(f"{head}-{key[3] + 1:03d}")
        return names

    def device(self, name: str) -> int | None:
        """The device of a name, None if there is none."""
        names = self.device_names()
        return names.index(name) if name in names else None
