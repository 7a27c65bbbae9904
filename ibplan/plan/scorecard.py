"""The scorecard of a design: facts of its kind of fabric and of its switches, with counts of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ibplan.catalog.entries import Switch
from ibplan.parts.offers import PartsBook
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.makers import makers
from ibplan.plan.results import NetworkResult, Networks
from ibplan.plan.scorecard_data import FeatureFact, TaskFact, scorecard_facts
from ibplan.plan.scorecard_results import Counted, Feature, OperatingTask, Scorecard

_ONE_PATH = Feature(False, None, "there is one switch, and so one path", None)
_NOT_FOUND = Feature(None, None, "whether these switches can was not found", None)
_DIFFERENT = "the switches of the tiers differ, and not all of them can"


def scorecard(design: Evaluated, networks: Networks, book: PartsBook) -> Scorecard:
    """The scorecard of a design: of its compute network, and of its storage network where that is of its fabric."""
    about = scorecard_facts().fabrics[design.form.fabric]
    counts = _counts(design, networks)
    reduction = _reduction(design)
    return Scorecard(
        _stated(about.loss),
        counts["switch_ports"] if about.tuned else 0,
        counts["nic_ports"] if about.tuned else 0,
        _balancing(design),
        reduction,
        makers(design, book),
        tuple(_tasks(about.tasks, counts, reduction)),
    )


def _counts(design: Evaluated, networks: Networks) -> Mapping[Counted, int]:
    """What tasks are counted by. A switch that is alone in its network does not route."""
    storage = design.side.named("storage")
    mine: list[tuple[NetworkResult, int]] = [(networks.compute, design.network.fabrics)]
    if networks.storage is not None and storage is not None and storage.fabric == design.form.fabric:
        mine.append((networks.storage, storage.network.fabrics))
    return {
        "subnets": sum(subnets for _, subnets in mine),
        "switches": sum(network.counts.switches for network, subnets in mine if network.counts.switches > subnets),
        "switch_ports": sum(row.ports_used for network, _ in mine for row in network.switches),
        "nic_ports": sum(network.counts.endpoints for network, _ in mine),
    }


def _switches(design: Evaluated) -> list[Switch | None]:
    """The switches of the tiers that the compute network has; None = stated in the spec."""
    models = design.form.switches
    return [models.leaf.entry, models.spine.entry, models.core.entry][: design.network.fabric.tiers]


def _balancing(design: Evaluated) -> Feature:
    if design.network.switch_count <= design.network.fabrics:
        return _ONE_PATH
    asics = [None if switch is None else switch.asic for switch in _switches(design)]
    return _stated(scorecard_facts().balancing_of(design.form.fabric, asics))


def _reduction(design: Evaluated) -> Feature:
    """What all switches can: as much as the one that can least."""
    facts = scorecard_facts()
    found = [facts.reduction_of(switch) for switch in _switches(design)]
    known = sorted((f for f in found if f is not None), key=facts.in_network_reduction.index)
    unable = next((fact for fact in known if fact.available is False), None)
    if unable is not None and len({id(fact) for fact in found}) > 1:
        return Feature(False, None, _DIFFERENT, unable.source)
    return _stated(known[-1]) if len(known) == len(found) else _NOT_FOUND


def _stated(fact: FeatureFact) -> Feature:
    return Feature(fact.available, fact.name, fact.text, fact.source)


def _tasks(tasks: tuple[TaskFact, ...], counts: Mapping[Counted, int], reduction: Feature) -> Iterator[OperatingTask]:
    """The tasks that there is something to do for."""
    for fact in tasks:
        optional = fact.only_for is not None
        quantity = counts[fact.counted]
        if quantity and (not optional or reduction.available):
            yield OperatingTask(fact.task, quantity, fact.counted, optional, fact.text, fact.source)
