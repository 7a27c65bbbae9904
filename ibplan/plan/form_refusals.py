"""Combinations of a spec's choices that are refused before anything is sized."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ibplan.errors import Reason
from ibplan.findings import plural
from ibplan.plan.hosts import HostPorts
from ibplan.plan.switches import TierModels
from ibplan.spec.models import Fabric, Spec

if TYPE_CHECKING:
    from ibplan.plan.forms import Choices

NOT_ON_INFINIBAND: Final = Reason(
    "converged-infiniband",
    "storage and in-band traffic run over Ethernet: InfiniBand switches cannot carry them (converged_with: compute)",
)


def cannot_carry(spec: Spec, fabric: Fabric) -> bool:
    """Whether the spec puts storage or in-band traffic on a fabric that does not carry it."""
    return fabric == "infiniband" and bool(spec.on_compute)


def form_refusal(spec: Spec, hosts: HostPorts, switches: TierModels, choices: Choices) -> Reason | None:
    """What keeps a combination from being sized at all."""
    for model in (switches.leaf, switches.spine, switches.core):
        if (refusal := model.refusal()) is not None:
            return refusal
    planes = choices.planes
    if hosts.ports_per_nic % planes:
        text = f"{plural(hosts.ports_per_nic, 'port')} of a NIC cannot be dealt over {plural(planes, 'plane')}"
        return Reason("planes", text, planes, hosts.ports_per_nic)
    for group in spec.attached:
        if group.ports % planes:
            ports = plural(group.ports, "port")
            text = f"{ports} of a host of {group.name} cannot be dealt over {plural(planes, 'plane')}"
            return Reason("planes", text, planes, group.ports)
        if choices.rail_only:
            return Reason("attached-rail-only", f"hosts of {group.name} cannot reach every rail of a rail-only design")
    return _converged_refusal(choices) if spec.on_compute else None


def _converged_refusal(choices: Choices) -> Reason | None:
    """Storage and in-band traffic stand on one pair of switches, or on one, in every published design that has them."""
    unpublished = {
        "several planes": choices.planes > 1,
        "separate rails": choices.rail_only,
        f"{choices.tiers} tiers": choices.tiers in (2, 3),
    }
    found = [words for words, wanted in unpublished.items() if wanted]
    if not found:
        return None
    text = f"storage and in-band traffic share one switch or one pair with the GPUs, not {' and '.join(found)}"
    return Reason("converged-form", f"{text}: no published design does (converged_with: compute)")
