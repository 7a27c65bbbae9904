"""A network of one or more disjoint fabrics: all counts, and the link classes with both ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ibplan.fabric.demands import leaf_demands, leaf_runs, uplink_demand
from ibplan.fabric.geometry import Demand
from ibplan.fabric.host_links import HostEnd, host_links
from ibplan.fabric.request import FabricRequest, FabricSize
from ibplan.fabric.tier_links import leaf_leaf_links, leaf_spine_links, spine_core_links
from ibplan.parts.links import LinkClass

Tier = Literal["leaf", "spine", "core"]


@dataclass(frozen=True, slots=True)
class TierCount:
    """The switches of one tier over all fabrics; ports in use and free (at the downlink speed) over all of them.

    Ports in use carry a link of this network: uplinks of separate leaves belong to the network that they go to.
    """

    tier: Tier
    count: int
    ports_used: int
    ports_free: int


@dataclass(frozen=True, slots=True)
class NetworkSize:
    """A sized network: one fabric's form, times `fabrics` (planes, times rails when rails are separate)."""

    request: FabricRequest
    fabric: FabricSize
    fabrics: int
    tiers: tuple[TierCount, ...]
    links: tuple[LinkClass, ...]

    @property
    def endpoints(self) -> int:
        """NIC ports of servers and attached hosts that have a switch port."""
        return sum(c.count for c in self.links if c.kind in ("server-leaf", "attached"))

    @property
    def switch_count(self) -> int:
        """All switches."""
        return sum(t.count for t in self.tiers)


def build_network(
    request: FabricRequest,
    fabric: FabricSize,
    fabrics: int,
    *,
    server: HostEnd,
    server_ports: int,
    attached: tuple[HostEnd, ...] = (),
    manager: HostEnd | None = None,
) -> NetworkSize:
    """All link classes and tier counts of `fabrics` equal fabrics.

    `server_ports` = network ports of one server over all fabrics (its cages serve several). Raises Unbuildable where a
    class cannot be told apart.
    """
    classes = host_links(request, fabric, fabrics, server, server_ports, attached, manager)
    classes += leaf_spine_links(request, fabric, fabrics)
    classes += spine_core_links(request, fabric, fabrics)
    classes += leaf_leaf_links(request, fabric, fabrics)
    return NetworkSize(request, fabric, fabrics, _tier_counts(request, fabric, fabrics), tuple(classes))


def _tier_counts(request: FabricRequest, fabric: FabricSize, fabrics: int) -> tuple[TierCount, ...]:
    used = free = 0
    for count, load in leaf_runs(fabric):
        up = uplink_demand(request, fabric, load)
        used += count * (load.ports_in_use + (0 if fabric.separate else up.ports))
        others = [*leaf_demands(request, fabric, load)[1:-1], up]
        spare = request.leaf.geometry.most_beside(load.down_gbps, *others)
        own = load.ports_in_use - sum(d.ports for d in others[:-1])
        free += count * max(0, spare - own - request.leaf.reserved)
    rows = [TierCount("leaf", fabric.leaf_count * fabrics, used * fabrics, free * fabrics)]
    if fabric.tiers > 1:
        used = free = 0
        for pod in fabric.pods:
            number = pod.count * pod.spines
            used += number * (pod.downlinks + pod.uplinks)
            up = Demand(request.spine.up_gbps, pod.uplinks)
            spare = request.spine.geometry.most_beside(request.leaf.up_gbps, *([up] if pod.uplinks else []))
            free += number * max(0, spare - pod.downlinks - request.spine.reserved)
        rows.append(TierCount("spine", fabric.spine_count * fabrics, used * fabrics, free * fabrics))
    if fabric.core is not None:
        core = fabric.core
        spare = request.core.ports(request.spine.up_gbps) - core.ports_used
        rows.append(
            TierCount(
                "core", core.count * fabrics, core.count * core.ports_used * fabrics, core.count * spare * fabrics
            )
        )
    return tuple(rows)
