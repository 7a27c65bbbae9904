"""The scorecard of a design: facts of its kind of fabric and of its switches, with counts of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ibplan.parts.offers import PartsBook
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.makers import makers
from ibplan.plan.results import NetworkResult, Networks
from ibplan.plan.scorecard_data import ReductionFact, TaskFact, scorecard_facts
from ibplan.plan.scorecard_results import Balancing, Counted, LossAvoidance, OperatingTask, Reduction, Scorecard

_ONE_PATH = "there is one switch, and so one path"
_NOT_FOUND = "whether these switches can was not found"
_DIFFERENT = "the switches of the tiers differ, and not all of them can"


@dataclass(frozen=True, slots=True)
class _Counts:
    """What tasks are counted by. `switches`: those that have to route."""

    subnets: int
    switches: int
    switch_ports: int
    nic_ports: int

    def of(self, what: Counted) -> int:
        found: int = getattr(self, what)
        return found


def scorecard(design: Evaluated, networks: Networks, book: PartsBook) -> Scorecard:
    """The scorecard of a design: of its compute network, and of its storage network where that is of its fabric."""
    fabric = design.form.fabric
    facts = scorecard_facts()
    about = facts.fabrics[fabric]
    counts = _counts(design, networks)
    tuned = about.loss.method == "PFC and ECN"
    reduction = _reduction(design)
    return Scorecard(
        LossAvoidance(
            about.loss.method,
            counts.switch_ports if tuned else 0,
            counts.nic_ports if tuned else 0,
            about.loss.text,
            about.loss.source,
        ),
        _balancing(design),
        reduction,
        makers(design, book),
        tuple(_tasks(about.tasks, counts, reduction)),
    )


def _counts(design: Evaluated, networks: Networks) -> _Counts:
    storage = design.side.named("storage")
    mine: list[tuple[NetworkResult, int]] = [(networks.compute, design.network.fabrics)]
    if networks.storage is not None and storage is not None and storage.fabric == design.form.fabric:
        mine.append((networks.storage, storage.network.fabrics))
    return _Counts(
        sum(subnets for _, subnets in mine),
        sum(network.counts.switches for network, subnets in mine if network.counts.switches > subnets),
        sum(row.ports_used for network, _ in mine for row in network.switches),
        sum(network.counts.endpoints for network, _ in mine),
    )


def _asics(design: Evaluated) -> list[str | None]:
    """The chips of the switches in the tiers that the compute network has; None = not known."""
    models = design.form.switches
    entries = [models.leaf.entry, models.spine.entry, models.core.entry][: design.network.fabric.tiers]
    return list(dict.fromkeys(None if entry is None else entry.asic for entry in entries))


def _balancing(design: Evaluated) -> Balancing:
    if design.network.switch_count <= design.network.fabrics:
        return Balancing(None, _ONE_PATH, None)
    fact = scorecard_facts().balancing_of(design.form.fabric, _asics(design))
    return Balancing(fact.scheme, fact.text, fact.source)


def _reduction(design: Evaluated) -> Reduction:
    found = list(dict.fromkeys(scorecard_facts().reduction_of(asic) for asic in _asics(design)))
    known: list[ReductionFact] = [fact for fact in found if fact is not None]
    unable = next((fact for fact in known if fact.available is False), None)
    if len(known) == len(found) == 1:
        return _stated(known[0])
    if unable is not None:
        return Reduction(False, None, _DIFFERENT, unable.source)
    if len(known) == len(found) and all(fact.available for fact in known):
        return _stated(known[0])
    return Reduction(None, None, _NOT_FOUND, None)


def _stated(fact: ReductionFact) -> Reduction:
    return Reduction(fact.available, fact.name, fact.text, fact.source)


def _tasks(tasks: tuple[TaskFact, ...], counts: _Counts, reduction: Reduction) -> Iterator[OperatingTask]:
    """The tasks that there is something to do for."""
    for fact in tasks:
        optional = fact.only_for is not None
        quantity = counts.of(fact.counted)
        if quantity and (not optional or reduction.available):
            yield OperatingTask(fact.task, quantity, fact.counted, optional, fact.text, fact.source)
