"""Stages of one fabric: the request of an earlier size that is built so that a later size needs nothing re-cabled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.request import CorePin, FabricRequest, FabricSize, Tiers
from ibplan.fabric.sizing import size_fabric


@dataclass(frozen=True, slots=True)
class Ahead:
    """What planning ahead asks for: `request` of today's stage, and `last` = the stage it grows to with its size.

    `out_of_reach`: why there is none that was asked for, or not the last of them.
    """

    request: FabricRequest
    last: tuple[FabricRequest, FabricSize] | None = None
    out_of_reach: Reason | None = None


def plan_ahead(request: FabricRequest, later: Sequence[int]) -> Ahead:
    """A fabric that can grow to the last of the `later` numbers of servers, which do not fall; or as far as it can."""
    out_of_reach: Reason | None = None
    for servers in reversed(later):
        last = replace(request, servers=servers)
        try:
            size = size_fabric(last)
            return Ahead(stage_request(last, size, request.servers), (last, size), out_of_reach)
        except Unbuildable as refusal:
            out_of_reach = out_of_reach or refusal.reasons[0]
    return Ahead(request, None, out_of_reach)


def stage_request(last: FabricRequest, size: FabricSize, servers: int) -> FabricRequest:
    """The request of an earlier stage with `servers` servers on the way to `last`, which was sized as `size`.

    Unit, spines of a pod, cores and their uplinks are those of the last stage from the first day on, so that every leaf
    has all uplinks to where they stay. While there is one pod, and three tiers are not pinned, the cores can wait:
    its spines keep the ports for them free. Units are built whole at every stage but the last. Raises Unbuildable where
    the stage cannot be built so.
    """
    pinned = replace(
        last,
        servers=servers,
        tiers=cast("Tiers", size.tiers),
        planned_servers=last.servers,
        partial_units="whole" if servers < last.servers else last.partial_units,
    )
    if size.tiers == 1:
        return pinned
    pinned = replace(pinned, min_spines=max(last.min_spines, size.pods[0].spines))
    if size.core is None:
        return pinned
    core = size.core
    pinned = replace(
        pinned,
        pod_units=size.pods[0].units,
        core_pin=CorePin(core.groups, core.per_group, size.pods[0].uplinks),
    )
    if last.tiers == "auto" and last.second_tier == "pod" and sum(pod.count for pod in size_fabric(pinned).pods) == 1:
        return replace(pinned, tiers=2, core_pin=None)
    return pinned
