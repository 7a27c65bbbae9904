"""The numbers of switches and links that a spec has to come to."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ibplan.asbuilt.shape import Shape
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import FabricSize

_WORDS = {
    "leaf": "leaves",
    "spine": "spines",
    "core": "cores",
    "server_leaf": "links between servers and leaves",
    "attached": "links of other hosts",
    "reserved": "links of fabric managers",
    "leaf_spine": "links between leaves and spines",
    "spine_core": "links between spines and cores",
    "leaf_leaf": "links between leaves",
}


@dataclass(frozen=True, slots=True)
class Counts:
    """Switches by tier, links by kind, over all fabrics."""

    leaf: int
    spine: int
    core: int
    server_leaf: int
    attached: int
    reserved: int
    leaf_spine: int
    spine_core: int
    leaf_leaf: int

    def differences(self, other: Counts) -> list[str]:
        """What `other` has otherwise: `spines: 16, planned 32`."""
        pairs = ((field.name, getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return [f"{_WORDS[name]}: {here:,}, planned {there:,}" for name, here, there in pairs if here != there]

    def distance(self, other: Counts) -> int:
        """How far two are apart; switches weigh as much as ten links."""
        return sum(
            abs(getattr(self, f.name) - getattr(other, f.name)) * (10 if f.name in ("leaf", "spine", "core") else 1)
            for f in fields(self)
        )


def counts_of_shape(shape: Shape) -> Counts:
    """Those that are there; links of servers as many as if none lacked one, because a spec cannot say otherwise."""
    tiers = {tier.tier: tier.switches for tier in shape.switches}
    links = shape.links
    attached = sum(group.hosts * group.ports for group in shape.attached)
    return Counts(
        tiers.get("leaf", 0),
        tiers.get("spine", 0),
        tiers.get("core", 0),
        shape.servers.hosts * shape.servers.ports,
        attached,
        shape.managers,
        links.leaf_spine,
        links.spine_core,
        links.leaf_leaf,
    )


def counts_of_size(size: FabricSize, fabrics: int, endpoints: tuple[int, int, int]) -> Counts:
    """Those of a sized fabric, times `fabrics`. endpoints: links of servers, other hosts and managers, over all."""
    leaf_spine = sum(p.count * load.count * load.uplinks for p in size.pods for load in p.leaves)
    spine_core = sum(p.count * p.spines * p.uplinks for p in size.pods)
    core = 0 if size.core is None else size.core.count
    return Counts(
        size.leaf_count * fabrics,
        size.spine_count * fabrics if size.tiers > 1 else 0,
        core * fabrics,
        *endpoints,
        leaf_spine * fabrics if size.tiers > 1 else 0,
        spine_core * fabrics,
        size.isl * fabrics,
    )


def counts_of_network(network: NetworkSize) -> Counts:
    """Those of a planned network."""
    tiers = {row.tier: row.count for row in network.tiers}
    links = dict.fromkeys(("server-leaf", "attached", "reserved", "leaf-spine", "spine-core", "leaf-leaf"), 0)
    for link in network.links:
        links[link.kind] += link.count
    return Counts(tiers.get("leaf", 0), tiers.get("spine", 0), tiers.get("core", 0), *links.values())
