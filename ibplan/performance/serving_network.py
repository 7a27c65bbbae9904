"""What network a service needs: what its GPUs send out of their NVLink domains, and what another network is worth.

Rates are means while the service runs at its best; exchanges come in bursts, so a network that carries the mean alone
makes GPUs wait. What that costs is told by serving again on a machine with another network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ibplan.performance.inference import best_service
from ibplan.performance.serving_results import Phase, Service
from ibplan.workload.serving import kv_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ibplan.performance.interconnect import Interconnect
    from ibplan.performance.machine import Machine
    from ibplan.workload.job import InferenceJob

_GBPS = 8e-9


@dataclass(frozen=True, slots=True)
class NetworkRates:
    """Gb/s that a GPU sends out of its NVLink domain, one direction, on average.

    `cache`: keys and values from prefill to decode; a GPU that decodes receives as much.
    """

    expert_gbps: float
    tensor_gbps: float
    pipeline_gbps: float
    cache_gbps: float

    @property
    def total_gbps(self) -> float:
        """All of it."""
        return self.expert_gbps + self.tensor_gbps + self.pipeline_gbps + self.cache_gbps


@dataclass(frozen=True, slots=True)
class NetworkNeed:
    """What a service sends: in prefill and in decode, a GPU, and the NIC rate that it has. `nic_fraction`: the larger
    of both over the NIC rate."""

    prefill: NetworkRates
    decode: NetworkRates
    nic_gbps: float

    @property
    def nic_fraction(self) -> float:
        """Share of the NIC rate in use."""
        return max(self.prefill.total_gbps, self.decode.total_gbps) / self.nic_gbps


@dataclass(frozen=True, slots=True)
class Variation:
    """The same job on another network. `tokens_per_s` None: cannot be served there; `change_fraction` of tokens."""

    network: str
    tokens_per_s: float | None
    change_fraction: float | None


def network_need(job: InferenceJob, machine: Machine, service: Service) -> NetworkNeed:
    """What the GPUs of the service send."""
    net = machine.interconnect
    cache_bits = kv_bytes(job, job.input_tokens) * service.requests_per_s * _GBPS
    received, sent = (
        cache_bits / (phase.units * phase.gpus) if service.disaggregated else 0.0
        for phase in (service.decode, service.prefill)
    )
    new_per_s, tokens_per_s = service.requests_per_s * job.new_tokens, service.tokens_per_s
    return NetworkNeed(
        prefill=_rates(job, net, service.prefill, new_per_s, sent),
        decode=_rates(job, net, service.decode, tokens_per_s, received),
        nic_gbps=8 * net.nic_gbytes_per_s,
    )


def _rates(job: InferenceJob, net: Interconnect, phase: Phase, tokens_per_s: float, cache_gbps: float) -> NetworkRates:
    """Rates of a GPU from the tokens a second that all units of a phase work on."""
    shape, q = job.shape, job.element_bytes
    copies = max(1, phase.ep // phase.tp)
    # Of these tokens each tensor rank of each copy of the attention has its part in expert exchanges and sends.
    tokens = tokens_per_s / (phase.units * copies)
    hidden_gbps = tokens * shape.hidden * _GBPS
    share = 1 / phase.pp
    expert = tensor = pipeline = 0.0
    if phase.ep > 1 and shape.experts is not None:
        outside = 1 - min(phase.ep, net.domain_gpus) / phase.ep
        copied = shape.experts.per_token * (q.dispatch + q.combine) / phase.tp
        expert = share * shape.moe_layers * copied * outside * hidden_gbps
    if phase.tp > net.domain_gpus:
        reduced = shape.layers + shape.dense_layers + (shape.moe_layers if phase.ep == 1 else 0)
        outside = 2 * (phase.tp - net.domain_gpus) / (phase.tp * net.domain_gpus)
        tensor = share * reduced * outside * q.activations * hidden_gbps
    if phase.pp > 1 and phase.gpus > net.domain_gpus:
        pipeline = q.activations * hidden_gbps / phase.tp
    return NetworkRates(expert, tensor, pipeline, cache_gbps)


def network_value(job: InferenceJob, machine: Machine, service: Service) -> tuple[Variation, ...]:
    """What the same job gets from other networks: what speed, rails and a spine are worth."""
    return tuple(_variation(job, service, *other) for other in _others(machine))


def _others(machine: Machine) -> Iterator[tuple[str, Machine, int]]:
    """Other networks by name, as a machine, and how many of it make up this one."""
    net = machine.interconnect
    faster = replace(net, nic_gbytes_per_s=2 * net.nic_gbytes_per_s)
    yield "NICs twice as fast", replace(machine, interconnect=faster), 1
    slower = replace(net, nic_gbytes_per_s=net.nic_gbytes_per_s / 2)
    yield "NICs half as fast", replace(machine, interconnect=slower), 1
    if net.cross_rail and machine.gpus > net.leaf_gpus:
        thin = replace(net, spine_share=net.spine_share / 2)
        yield "half the bandwidth across spines", replace(machine, interconnect=thin), 1
    if net.cross_rail and net.rail_optimized:
        yield "rails that no spine joins", replace(machine, interconnect=replace(net, cross_rail=False)), 1
        yield "no rails", replace(machine, interconnect=replace(net, rail_optimized=False)), 1
    island = max(net.domain_gpus, machine.gpus_per_server)
    if machine.gpus > island:
        yield "no network between NVLink domains", replace(machine, gpus=island), machine.gpus // island


def _variation(job: InferenceJob, service: Service, name: str, machine: Machine, times: int) -> Variation:
    found = best_service(job, machine)
    if not isinstance(found, Service):
        return Variation(name, None, None)
    tokens_per_s = times * found.tokens_per_s
    return Variation(name, tokens_per_s, tokens_per_s / service.tokens_per_s - 1)


def network_sentences(need: NetworkNeed, value: tuple[Variation, ...]) -> tuple[str, ...]:
    """The same in words, each with its numbers."""
    most, name = max((rates.total_gbps, name) for rates, name in ((need.prefill, "prefill"), (need.decode, "decode")))
    first = (
        f"A GPU sends {most:,.3g} Gb/s out of its NVLink domain on average ({name}), {need.nic_fraction:.0%} of its "
        f"{need.nic_gbps:,.0f} Gb/s."
    )
    return (first, *(_sentence(variation) for variation in value))


def _sentence(variation: Variation) -> str:
    name = variation.network[0].upper() + variation.network[1:]
    if variation.change_fraction is None:
        return f"{name}: the model cannot be served within the limits."
    if abs(variation.change_fraction) < 0.0005:
        return f"{name}: as many tokens a second."
    return f"{name}: {variation.change_fraction:+.1%} tokens a second."
