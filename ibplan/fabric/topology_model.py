"""The topology of a network, folded: what is alike is described once, with how often it occurs."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.fabric.free_ports import Direction, PortUse
from ibplan.fabric.network import TierCount
from ibplan.fabric.wiring_model import DeviceKind
from ibplan.parts.links import LinkKind


@dataclass(frozen=True, slots=True)
class NameRange:
    """Devices one after the other: `leaf-001` to `leaf-008`."""

    first: str
    last: str
    count: int


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The links of one device to devices of one kind: how many, to how many, and the fewest and most to one of them."""

    far: DeviceKind
    kind: LinkKind
    host: str | None
    direction: Direction
    gbps: int
    links: int
    devices: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Switches:
    """Switches alike: all of them in one fabric, by name; links and ports of each."""

    count: int
    names: tuple[NameRange, ...]
    neighbors: tuple[Neighbors, ...]
    use: PortUse


@dataclass(frozen=True, slots=True)
class LeafGroup:
    """Leaves alike of units alike, at some positions (from 1) of the unit, with the rails at each position."""

    positions: tuple[int, ...]
    rails: tuple[tuple[int, ...], ...]
    switches: Switches


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Units alike (`numbers` from 1, as ranges): servers and leaves of one; names of all. `pod_group` from 0."""

    count: int
    numbers: tuple[tuple[int, int], ...]
    pod_group: int | None
    servers: int
    server_names: tuple[NameRange, ...]
    leaves: tuple[LeafGroup, ...]


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Pods alike: units (whole or by one rail), leaves and spines of one; `switches` are the spines of all."""

    count: int
    numbers: tuple[tuple[int, int], ...]
    units: int
    leaves: int
    spines: int
    switches: Switches | None


@dataclass(frozen=True, slots=True)
class CoreGroups:
    """The third tier: `groups` groups of `per_group` cores; `first` names those of the first group."""

    groups: int
    per_group: int
    first: tuple[NameRange, ...]
    switches: Switches


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Attached hosts of one name, or managers, over all fabrics. `leaves`: those they reach in the first fabric."""

    name: str
    kind: DeviceKind
    count: int
    names: tuple[NameRange, ...]
    ports: int
    gbps: tuple[int, ...]
    leaves: tuple[NameRange, ...]


@dataclass(frozen=True, slots=True)
class LinkCount:
    """One class of links over all fabrics: links, pairs of devices, and the fewest and most links of a pair."""

    kind: LinkKind
    host: str | None
    gbps: int
    count: int
    pairs: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Topology:
    """A whole network. Groups describe one fabric; `fabrics` = planes x separate rails fabrics are alike.

    `rails` = NIC ports of a server in one plane. `totals`, `links` and `hosts` count over all fabrics.
    """

    tiers: int
    planes: int
    rails: int
    separate_rails: bool
    fabrics: int
    pods_follow_rails: bool
    servers: int
    endpoints: int
    totals: tuple[TierCount, ...]
    core: CoreGroups | None
    pods: tuple[PodGroup, ...]
    units: tuple[UnitGroup, ...]
    hosts: tuple[HostGroup, ...]
    links: tuple[LinkCount, ...]
