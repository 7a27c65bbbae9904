"""What sizing is asked for, and what it answers: one fabric (a plane; a rail if rails are separate)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ibplan.fabric.geometry import Geometry
from ibplan.host_groups import SERVER_PORTS

Tiers = Literal["auto", 1, 2, 3]


@dataclass(frozen=True, slots=True)
class Attached:
    """Other hosts on the fabric: `hosts` hosts with `ports` ports each.

    `own_leaves`: above one tier they stand on leaves without servers, `leaves` of them (None: as few as hold their
    ports, and two at least), with uplinks for the ports in use at `ratio` down:up (None: that of the leaves).
    `north_south`: they carry storage or in-band traffic beside that of the GPUs. Every server has such ports on both of
    two joined leaves, so that nothing of it must cross between them.
    """

    name: str
    hosts: int
    ports: int
    gbps: int
    own_leaves: bool = False
    leaves: int | None = None
    ratio: Fraction | None = None
    north_south: bool = False

    @property
    def total_ports(self) -> int:
        """Ports of all hosts."""
        return self.hosts * self.ports

    def device_group(self, network: str) -> str | None:
        """The devices that they are where the design has such, host k the k-th of them: `server`, `oob/leaf`.

        None: what a user attaches to the compute network is a device of its own, whatever its name.
        """
        if network == "compute" and not self.north_south:
            return None
        return "server" if self.name in SERVER_PORTS else self.name.replace(".", "/", 1)


@dataclass(frozen=True, slots=True)
class TierRequest:
    """How one tier is to be used: down and up speeds (Gb/s), ratio down:up by bandwidth, ports set aside.

    `fixed_uplinks`: every switch has so many uplinks, whatever is below it; the ratio is not used then.
    """

    geometry: Geometry
    down_gbps: int
    up_gbps: int
    ratio: Fraction = Fraction(1)
    ports: Literal["half", "all"] = "half"
    reserved: int = 0
    fixed_uplinks: int | None = None

    def uplinks_for(self, downlinks: int, ratio: Fraction | None = None) -> int:
        """Uplinks that keep the ratio for a number of downlinks: ceil(down bandwidth / (ratio x uplink speed))."""
        if self.fixed_uplinks is not None:
            return self.fixed_uplinks
        need = Fraction(downlinks * self.down_gbps) / ((ratio or self.ratio) * self.up_gbps)
        return -(-need.numerator // need.denominator)


@dataclass(frozen=True, slots=True)
class CorePin:
    """Cores that are given, because a later stage has them: `groups` groups of `per_group`, `uplinks` of a spine."""

    groups: int
    per_group: int
    uplinks: int


@dataclass(frozen=True, slots=True)
class FabricRequest:
    """One fabric to size. `rails` = NIC ports per server in it; `domain_servers` = servers per NVLink domain.

    `single_tier: separate`: as many leaves as it takes, which nothing joins within this network: their uplinks
    (`leaf.fixed_uplinks`) go to another one. `most_rails_per_leaf`: no leaf takes more ports of one server than that.
    `min_isl`: two leaves are joined by so many links at least.
    """

    servers: int
    rails: int
    leaf: TierRequest
    spine: TierRequest
    core: Geometry
    domain_servers: int = 1
    attached: tuple[Attached, ...] = ()
    tiers: Tiers = "auto"
    single_tier: Literal["one_switch", "two_leaves", "separate"] = "one_switch"
    rail_optimized: bool = True
    second_tier: Literal["pod", "rail"] = "pod"
    partial_units: Literal["whole", "packed"] = "whole"
    unit_servers: int | None = None
    pod_units: int | None = None
    min_spines: int = 1
    reserved_total: int = 0
    planned_servers: int | None = None
    core_pin: CorePin | None = None
    most_rails_per_leaf: int | None = None
    min_isl: int = 1

    @property
    def unit_for(self) -> int:
        """The servers that units are made for: those of the last stage where the fabric is to grow."""
        return self.planned_servers or self.servers


@dataclass(frozen=True, slots=True)
class LeafLoad:
    """`count` leaves alike: ports in use by servers, attached hosts (one number a group) and reserved, and uplinks.

    `downlinks` are the configured ones (whole units keep free ones); `needed` and `most` bound the uplinks.
    """

    count: int
    servers: int
    attached: tuple[int, ...]
    reserved: int
    downlinks: int
    needed: int
    most: int
    uplinks: int = 0
    down_gbps: int = 0

    @property
    def ports_in_use(self) -> int:
        """Downlinks that carry a link."""
        return self.servers + sum(self.attached) + self.reserved


def east_west_hosts(request: FabricRequest, load: LeafLoad) -> Iterator[tuple[int, int]]:
    """(ports in use on a leaf, Gb/s of each) of the attached hosts that share the GPUs' traffic, by group."""
    for used, group in zip(load.attached, request.attached, strict=False):
        if not group.north_south:
            yield used, group.gbps


@dataclass(frozen=True, slots=True)
class UnitLoad:
    """`count` units alike: their servers (0 for leaves of attached or reserved ports alone) and their leaves."""

    count: int
    servers: int
    leaves: tuple[LeafLoad, ...]

    @property
    def leaf_count(self) -> int:
        """Leaves of one unit."""
        return sum(load.count for load in self.leaves)


@dataclass(frozen=True, slots=True)
class Pod:
    """`count` pods alike: `units` units, their leaves, `spines` spines with `downlinks` and `uplinks` in use each."""

    count: int
    units: int
    leaves: tuple[LeafLoad, ...]
    spines: int
    downlinks: int
    uplinks: int = 0

    @property
    def leaf_count(self) -> int:
        """Leaves of one pod."""
        return sum(load.count for load in self.leaves)


@dataclass(frozen=True, slots=True)
class Unit:
    """Servers that share one set of leaves: `rails_per_leaf` rails share a leaf."""

    servers: int
    leaves: int
    count: int
    rails_per_leaf: int


@dataclass(frozen=True, slots=True)
class Core:
    """The third tier: `groups` groups of `per_group` switches, `ports_used` ports in use on each."""

    groups: int
    per_group: int
    ports_used: int

    @property
    def count(self) -> int:
        """All core switches."""
        return self.groups * self.per_group


@dataclass(frozen=True, slots=True)
class FabricSize:
    """A sized fabric. Two tiers have one pod that holds everything; one tier has a pod without spines.

    `isl` = links between the two leaves of a two-leaf fabric; separate leaves have uplinks, but no spines and no `isl`.
    `spine_minimum` and `core_minimum` are bare port minima.
    `added_leaves` were added for reserved ports. `split_domain`: NVLink domains do not fit one unit.
    """

    tiers: int
    unit: Unit
    pods: tuple[Pod, ...]
    leaf_built: Fraction | None
    spine_built: Fraction | None
    core: Core | None = None
    isl: int = 0
    spine_minimum: int = 0
    core_minimum: int = 0
    added_leaves: int = 0
    split_domain: bool = False

    @property
    def separate(self) -> bool:
        """Whether the leaves are joined only by another network."""
        return self.tiers == 1 and any(load.uplinks for pod in self.pods for load in pod.leaves)

    @property
    def leaf_count(self) -> int:
        """All leaves."""
        return sum(pod.count * pod.leaf_count for pod in self.pods)

    @property
    def spine_count(self) -> int:
        """All spines."""
        return sum(pod.count * pod.spines for pod in self.pods)
