"""The shape of a fabric that is there: what a spec needs to know of it, and what is irregular."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Tier = Literal["leaf", "spine", "core"]


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Hosts alike: what their names start with, how many there are, ports of one over all fabrics, and their rate."""

    name: str
    hosts: int
    ports: int
    gbps: float | None


@dataclass(frozen=True, slots=True)
class TierShape:
    """The switches of a tier over all fabrics. down, up: links of one switch, the most; free: unused ports, of all.

    radix: ports of one, None = the source does not state it. models: what the source says of their make.
    `down_gbps` is the rate to hosts or to the tier below, `up_gbps` to the one above; None = not stated, or no links.
    """

    tier: Tier
    switches: int
    radix: int | None
    down: int
    up: int
    free: int | None
    down_gbps: float | None
    up_gbps: float | None
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitShape:
    """Servers that share one set of leaves: `servers` of the fullest, over `leaves` leaves, `count` of them."""

    servers: int
    leaves: int
    count: int
    rails_per_leaf: int


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Links by kind, over all fabrics. `other`: those that no fat tree has."""

    server_leaf: int
    attached: int
    leaf_spine: int
    spine_core: int
    leaf_leaf: int
    other: int


@dataclass(frozen=True, slots=True)
class Shape:
    """A fabric as a spec would describe it. `fabrics` disjoint ones: `planes` times separate rails (`rail_only`).

    pods: sets of leaves that share spines; second_tier: whether these are whole units, or the leaves of one rail.

    `assumed`: what was taken for granted. `irregular`: what does not fit a regular fabric.
    """

    tiers: int
    fabrics: int
    planes: int
    rail_only: bool
    rail_optimized: bool
    rails: int
    servers: HostGroup
    attached: tuple[HostGroup, ...]
    managers: int
    unit: UnitShape
    pods: int
    second_tier: Literal["pod", "rail"]
    switches: tuple[TierShape, ...]
    links: LinkCounts
    assumed: tuple[str, ...] = ()
    irregular: tuple[str, ...] = field(default=())

    def tier(self, name: Tier) -> TierShape | None:
        """The switches of a tier."""
        return next((tier for tier in self.switches if tier.tier == name), None)
