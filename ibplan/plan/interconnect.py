"""What joins the GPUs of a design, as collectives and step times see it."""

from __future__ import annotations

from fractions import Fraction

from ibplan.performance.bandwidth import bisection_gbps, injection_gbps
from ibplan.performance.interconnect import Interconnect
from ibplan.performance.latency import path_latency
from ibplan.performance.load_balancing import DefaultScheme, LoadBalancing, default_scheme, fabric_form, load_balancing
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.hosts import ServerModel


def scheme_of(design: Evaluated) -> DefaultScheme:
    """How the switches of a design deal flows over the links between them, if nobody asks for another way."""
    entry = design.form.switches.leaf.entry
    return default_scheme(design.form.fabric, None if entry is None else entry.load_balancing)


def balancing_of(design: Evaluated) -> LoadBalancing:
    """How the switches of a design deal flows over the links between them, and what that leaves of their rate."""
    scheme = scheme_of(design)
    return load_balancing(fabric_form(design.network), scheme.scheme, scheme.flows)


def interconnect_of(design: Evaluated, server: ServerModel) -> Interconnect:
    """The links of a GPU in a design.

    GPUs reach each other below one set of leaves without crossing a spine: those of a unit, and all of one switch.
    Traffic across spines keeps the worst flow's share, because a collective waits for its slowest message.
    """
    form, network = design.form, design.network
    hosts, gpu = form.hosts, server.gpu
    servers, unit = network.request.servers, network.fabric.unit
    together = servers if network.fabric.tiers == 1 else min(unit.servers, servers)
    crossing = min(Fraction(1), 2 * bisection_gbps(network) / injection_gbps(network))
    rate = None if gpu is None or not gpu.link_gbytes_per_s else gpu.link_gbytes_per_s / 2
    return Interconnect(
        domain_gpus=server.domain_servers * server.gpus,
        domain_gbytes_per_s=rate,
        domain_generation=None if gpu is None else gpu.link_generation,
        nic_gbytes_per_s=hosts.gbps * hosts.ports / 8 / server.gpus,
        link_layer=form.fabric,
        latency_us=_farthest_us(design),
        cross_rail=not form.choices.rail_only,
        rail_optimized=network.request.rail_optimized,
        in_network_reduction=_reduces(design),
        spine_share=float(crossing) * balancing_of(design).worst,
        leaf_gpus=together * server.gpus,
    )


def _farthest_us(design: Evaluated) -> float | None:
    network = design.network
    latency = path_latency(design.form.fabric, design.form.hosts.gbps, network.fabric, network.request.servers)
    passed = latency.switches
    most = max((n for n in (passed.same_leaf, passed.cross_leaf, passed.cross_pod) if n is not None), default=None)
    return latency.over_us(most)


def _reduces(design: Evaluated) -> bool:
    """Whether the switches of every tier add up what passes them, and the links are those that carry it."""
    switches = design.form.switches
    models = (switches.leaf, switches.spine, switches.core)[: design.network.fabric.tiers]
    return design.form.fabric == "infiniband" and all(
        m.entry is not None and m.entry.in_network_reduction == "streaming" for m in models
    )
