"""From an evaluated form to the network result of a design: the figures, in the words of the JSON output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import east_west_hosts
from ibplan.parts.select import LinkParts
from ibplan.performance.bandwidth import (
    bisection_gbps,
    endpoint_gbps,
    injection_gbps,
    leaf_groups,
    per_gpu_gbps,
    pod_groups,
)
from ibplan.performance.latency import path_latency
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.results import (
    Bandwidth,
    Counts,
    Latency,
    LinkRow,
    NetworkResult,
    Oversubscription,
    PodResult,
    PortMinimum,
    RatioPair,
    SwitchRow,
    UnitResult,
)
from ibplan.plan.side_model import SideNetwork
from ibplan.plan.switches import TierModels
from ibplan.spec.models import Fabric

_SWITCH_TIERS = ("leaf", "spine", "core")


@dataclass(frozen=True, slots=True)
class _Sized:
    """What a network result is made of, whichever network it is. `rail_only`: nothing joins its rails."""

    fabric: Fabric
    network: NetworkSize
    parts: tuple[LinkParts, ...]
    switches: TierModels
    planes: int
    rail_only: bool
    leaf_ports: str


def describe_network(evaluated: Evaluated, gpus: int) -> NetworkResult:
    """The result of the compute network of a design for a number of GPUs."""
    form, choices = evaluated.form, evaluated.form.choices
    sized = _Sized(
        form.fabric,
        evaluated.network,
        evaluated.parts,
        form.switches,
        choices.planes,
        choices.rail_only,
        choices.leaf_ports,
    )
    return _described(sized, gpus)


def describe_side(side: SideNetwork, gpus: int) -> NetworkResult:
    """The result of another network of a design."""
    leaf_ports = side.network.request.leaf.ports
    return _described(_Sized(side.fabric, side.network, side.parts, side.switches, 1, False, leaf_ports), gpus)


def _described(sized: _Sized, gpus: int) -> NetworkResult:
    network, request = sized.network, sized.network.request
    fabric, models = network.fabric, sized.switches
    by_tier = {"leaf": models.leaf, "spine": models.spine, "core": models.core}
    first_pod = fabric.pods[0]
    return NetworkResult(
        fabric=sized.fabric,
        tiers=fabric.tiers,
        planes=sized.planes,
        rail_optimized=request.rail_optimized,
        rail_only=sized.rail_only,
        second_tier=request.second_tier,
        partial_units=request.partial_units,
        leaf_ports=sized.leaf_ports,
        single_tier=request.single_tier,
        unit=UnitResult(fabric.unit.servers, fabric.unit.leaves, fabric.unit.count),
        pod=PodResult(first_pod.units, first_pod.spines, sum(pod.count for pod in fabric.pods)),
        oversubscription=Oversubscription(_leaf_ratio(network), _spine_ratio(network)),
        switches=tuple(
            SwitchRow(t.tier, by_tier[t.tier].id, t.count, t.ports_used, t.ports_free) for t in network.tiers
        ),
        counts=_counts(network, sized.parts),
        minimum=PortMinimum(fabric.spine_minimum * network.fabrics, fabric.core_minimum * network.fabrics),
        links=tuple(_link_row(parts) for parts in sized.parts),
        bandwidth=_bandwidth(sized, gpus),
        latency_us=_latency(sized),
    )


def _leaf_ratio(network: NetworkSize) -> RatioPair:
    """The ratio of the leaves, with the leaf whose built ratio is the worst."""
    request, fabric = network.request, network.fabric
    asked, up_gbps = request.leaf.ratio, request.leaf.up_gbps
    loads = [load for pod in fabric.pods for load in pod.leaves]
    if fabric.leaf_built is None:
        return RatioPair(asked, None)
    if fabric.isl:  # two leaves: what is in use counts, at whatever speed
        load = max(loads, key=lambda x: endpoint_gbps(request, x))
        downlinks = load.servers + sum(used for used, _ in east_west_hosts(request, load))
        mean = Fraction(endpoint_gbps(request, load), downlinks)
        down_gbps = mean.numerator if mean.denominator == 1 else mean
        return RatioPair(asked, fabric.leaf_built, downlinks, down_gbps, fabric.isl, up_gbps)
    load = max(loads, key=lambda x: Fraction(x.downlinks * x.down_gbps, x.uplinks))
    return RatioPair(asked, fabric.leaf_built, load.downlinks, load.down_gbps, load.uplinks, up_gbps)


def _spine_ratio(network: NetworkSize) -> RatioPair:
    """The ratio of the spines, with those of the busiest pod: all pods have as many uplinks a spine."""
    request, fabric = network.request, network.fabric
    pod = max(fabric.pods, key=lambda p: p.downlinks)
    if fabric.spine_built is None:
        return RatioPair(request.spine.ratio, None)
    down_gbps, up_gbps = request.leaf.up_gbps, request.spine.up_gbps
    return RatioPair(request.spine.ratio, fabric.spine_built, pod.downlinks, down_gbps, pod.uplinks, up_gbps)


def _counts(network: NetworkSize, parts: Sequence[LinkParts]) -> Counts:
    """Links, cages, modules and cables of all but the reserved links; None where parts could not be chosen."""
    main = [p for p in parts if p.link.kind != "reserved"]
    known = all(p.recipe is not None for p in main)
    tiers = {t.tier: t.count for t in network.tiers}
    switch = sum(p.modules_a + (p.modules_b if p.link.b.tier in _SWITCH_TIERS else 0) for p in main)
    server = sum(p.modules_b for p in main if p.link.b.tier not in _SWITCH_TIERS)
    return Counts(
        endpoints=network.endpoints,
        leaf=tiers.get("leaf", 0),
        spine=tiers.get("spine", 0),
        core=tiers.get("core", 0),
        switches=network.switch_count,
        links=sum(p.link.count for p in main),
        cages=sum(_switch_cages(p) for p in main),
        modules_switch=switch if known else None,
        modules_server=server if known else None,
        cables=sum(p.cables for p in main) if known else None,
    )


def _switch_cages(parts: LinkParts) -> int:
    ends = [end for end in (parts.link.a, parts.link.b) if end.tier in _SWITCH_TIERS]
    return sum(end.groups_of(end.ports_per_cage or 1) for end in ends)


def _link_row(parts: LinkParts) -> LinkRow:
    recipe, link = parts.recipe, parts.link
    return LinkRow(
        kind=link.kind,
        count=link.count,
        gbps=link.gbps,
        cables=None if recipe is None else parts.cables,
        medium=None if recipe is None else recipe.medium,
        recipe=None if recipe is None else recipe.id,
        reach_m=None if recipe is None else recipe.max_length_m,
        host=link.host,
        longest_m=parts.longest_m,
    )


def _bandwidth(sized: _Sized, gpus: int) -> Bandwidth:
    network, request = sized.network, sized.network.request
    nic = Fraction(request.leaf.down_gbps * request.rails * network.fabrics * request.servers, gpus)
    return Bandwidth(
        injection_gbps(network),
        float(bisection_gbps(network)),
        float(nic),
        float(per_gpu_gbps(network, nic)),
        not sized.rail_only,
        leaf_groups(network),
        pod_groups(network),
    )


def _latency(sized: _Sized) -> Latency:
    request = sized.network.request
    path = path_latency(sized.fabric, request.leaf.down_gbps, sized.network.fabric, request.servers)
    passed = path.switches
    return Latency(
        path.over_us(passed.same_leaf),
        path.over_us(passed.cross_leaf),
        path.over_us(passed.cross_pod),
        path.extrapolated,
        path.host_us,
        path.hop_us,
        passed,
    )
