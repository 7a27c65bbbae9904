"""Rules of the field held against a job on a design: what decides the time that its communication takes."""

from __future__ import annotations

from collections.abc import Iterator

from ibplan.performance.collectives import Collective
from ibplan.performance.deciding import Call, RuleCheck, field_rules
from ibplan.performance.machine import Machine
from ibplan.performance.search import SearchResult
from ibplan.performance.serving_results import Service
from ibplan.plan.job import PlannedInference, PlannedTraining
from ibplan.workload.traffic import Exchange, traffic_bytes


def training_rules(planned: PlannedTraining, machine: Machine, found: SearchResult) -> tuple[RuleCheck, ...]:
    """The rules for the exchanges of a step that leave the NVLink domain; none if nothing leaves it."""
    calls = list(_training_calls(planned, machine, found))
    return tuple(field_rules("training", calls, machine.interconnect)) if calls else ()


def serving_rules(planned: PlannedInference, machine: Machine, service: Service) -> tuple[RuleCheck, ...]:
    """The rules for the exchanges with experts of one decoded token; none if they stay inside the NVLink domain."""
    calls = list(_decode_calls(planned, machine, service))
    return tuple(field_rules("inference", calls, machine.interconnect)) if calls else ()


def _training_calls(planned: PlannedTraining, machine: Machine, found: SearchResult) -> Iterator[Call]:
    mapping = found.mappings
    traffic = traffic_bytes(planned.job, mapping, machine.interconnect.domain_gpus)
    tp, cp, dp, ep = (int(getattr(mapping, name)[0]) for name in ("tp", "cp", "dp", "ep"))
    whole = int(mapping.zero[0]) == 0
    reduces: Collective = "all_reduce" if whole else "reduce_scatter"
    data, experts = tp * cp * dp, tp * ep
    exchanges: list[tuple[Collective, Exchange, int]] = [
        ("all_reduce", traffic.tp, tp),
        ("send", traffic.cp, tp * cp),
        ("send", traffic.pp, machine.gpus),
        ("all_to_all", traffic.dispatch, experts),
        ("all_to_all", traffic.combine, experts),
        (reduces, traffic.gradients, data),
        (reduces, traffic.expert_gradients, data),
    ]
    if not whole:
        exchanges += [("all_gather", traffic.weights, data), ("all_gather", traffic.expert_weights, data)]
    for collective, exchange, span in exchanges:
        group, inside = int(exchange.group[0]), int(exchange.inside[0])
        if group > inside and exchange.calls[0] > 0:
            size, count = float(exchange.message_bytes[0]), float(exchange.calls[0])
            yield Call(collective, size, group, inside, count, span)


def _decode_calls(planned: PlannedInference, machine: Machine, service: Service) -> Iterator[Call]:
    job, unit = planned.job, service.decode
    experts, inside = job.shape.experts, min(unit.ep, machine.interconnect.domain_gpus)
    if experts is None or unit.ep <= inside:
        return
    tokens = unit.requests / unit.ep
    for value_bytes in (job.element_bytes.dispatch, job.element_bytes.combine):
        size = tokens * experts.per_token * job.shape.hidden * value_bytes
        yield Call("all_to_all", size, unit.ep, inside, job.shape.moe_layers)
