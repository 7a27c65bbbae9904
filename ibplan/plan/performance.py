"""What the fabrics of a plan give its job. Machines alike are searched once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ibplan.findings import Finding, finding
from ibplan.performance.collectives import allreduce_rows
from ibplan.performance.job_mix import MIX_PATTERNS
from ibplan.performance.job_traffic import JobKind
from ibplan.performance.machine import Machine, machine_of
from ibplan.performance.search import Fitting, SearchResult, fastest
from ibplan.performance.serving_results import Service, Unserved
from ibplan.plan.costs import Costs
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.hosts import ServerModel
from ibplan.plan.interconnect import balancing_of, interconnect_of
from ibplan.plan.job import PlannedInference, PlannedTraining
from ibplan.plan.job_results import JobMix, NotModelled, Performance
from ibplan.plan.judge import JobFits
from ibplan.plan.mix import design_mix_demand
from ibplan.plan.results import Shortfall, Totals
from ibplan.plan.rules import serving_rules, training_rules
from ibplan.plan.running import running_of
from ibplan.plan.training import describe_training, fitting_training, lost_time
from ibplan.spec.models import Spec
from ibplan.workload.memory import usable_bytes

_GB = 1e9
Found = SearchResult | Service | Unserved


@dataclass(frozen=True, slots=True)
class JobOnDesigns:
    """The job of a plan, if it has one, and what was found for it so far, by machine."""

    spec: Spec
    server: ServerModel
    gpus: int
    job: PlannedTraining | PlannedInference | None
    fitting: list[Fitting] = field(default_factory=list)
    known: dict[Machine, Found] = field(default_factory=dict)

    def fits(self, design: Evaluated) -> JobFits:
        """Whether the job fits the memory and keeps its limits on latency on a design; None = no job, or not known."""
        if self.job is None:
            return JobFits()
        found = self._found(self.job, self._machine(design, self.job))
        if isinstance(found, Service):
            return JobFits(memory=True, latency=True)
        if isinstance(found, Unserved):
            late = found.best_ttft_s is not None or found.best_tpot_s is not None
            return JobFits(None if found.missing_bytes is None and not late else late, False if late else None)
        return JobFits(None if found.unknown or found.missing_bytes is None else found.missing_bytes == 0)

    def shortfalls(self, designs: Sequence[Evaluated]) -> tuple[Shortfall, ...]:
        """What the job is short of on every design: memory of a GPU in GB, or time in seconds."""
        if self.job is None or not designs:
            return ()
        found = {d.id: self._found(self.job, self._machine(d, self.job)) for d in designs}
        missing = min((m for f in found.values() if (m := _missing(f))), default=None)
        if missing is not None and all(_missing(f) for f in found.values()):
            usable = self._usable_bytes()
            return (Shortfall("gpu_memory", usable / _GB, (usable + missing) / _GB, None),)
        late = {name: f for name, f in found.items() if isinstance(f, Unserved)}
        if isinstance(self.job, PlannedTraining) or len(late) < len(found):
            return ()
        limits = (("ttft", self.job.job.ttft_s), ("tpot", self.job.job.tpot_s))
        return tuple(row for key, asked in limits if (row := _late(key, asked, late)) is not None)

    def performance(self, design: Evaluated, totals: Totals, costs: Costs) -> Performance:
        """What a design gives the job, and the job mix asks of it."""
        return replace(self._of_the_job(design, totals, costs), job_mix=tuple(self._mix(design)))

    def _mix(self, design: Evaluated) -> Iterator[JobMix]:
        kinds = [JobKind(job.gpus, job.share) for job in self.spec.workload.jobs]
        for pattern in MIX_PATTERNS if kinds else ():
            asked = design_mix_demand(design, kinds, pattern)
            leaf, pod = asked.leaf, asked.pod
            yield JobMix(pattern, float(leaf.mean), float(pod.mean), leaf.bearable, pod.bearable)

    def _of_the_job(self, design: Evaluated, totals: Totals, costs: Costs) -> Performance:
        rows = allreduce_rows(self.gpus, interconnect_of(design, self.server)) if self.gpus > 1 else ()
        balanced = balancing_of(design)
        if self.job is None:
            return Performance(balanced, rows, not_modelled=(NotModelled("job", "the spec names no model"),))
        machine, task = self._machine(design, self.job), self.spec.workload.task
        running = running_of(totals, costs, self.spec.site.pue)
        found = self._found(self.job, machine)
        reason = _why_not(found)
        if reason is not None:
            return Performance(balanced, rows, not_modelled=(NotModelled(task, reason),))
        if isinstance(self.job, PlannedTraining):
            assert isinstance(found, SearchResult)
            training = describe_training(self.job, machine, found, running)
            return Performance(balanced, rows, training=training, rules=training_rules(self.job, machine, found))
        from ibplan.plan.serving import describe_inference  # what serves is loaded for inference alone

        assert isinstance(found, Service)
        inference = describe_inference(self.job, machine, found, running)
        return Performance(balanced, rows, inference=inference, rules=serving_rules(self.job, machine, found))

    def _found(self, job: PlannedTraining | PlannedInference, machine: Machine) -> Found:
        if machine not in self.known:
            self.known[machine] = self._searched(job, machine)
        return self.known[machine]

    def _searched(self, job: PlannedTraining | PlannedInference, machine: Machine) -> Found:
        if isinstance(job, PlannedInference):
            from ibplan.performance.inference import best_service

            return best_service(job.job, machine)
        if not self.fitting:  # memory does not depend on the network
            self.fitting.append(fitting_training(job, machine))
        return fastest(job.job, machine, self.fitting[0])

    def _machine(self, design: Evaluated, job: PlannedTraining | PlannedInference) -> Machine:
        net = interconnect_of(design, self.server)
        return machine_of(self.server.gpu, self.server, job.gpus, net, job.job.precision)

    def _usable_bytes(self) -> float:
        gpu = self.server.gpu
        assert gpu is not None  # what is short has been measured against its memory
        assert gpu.memory_gbytes is not None
        if isinstance(self.job, PlannedTraining):
            return usable_bytes(gpu.memory_gbytes * _GB)
        from ibplan.workload.serving import usable_serving_bytes

        return usable_serving_bytes(gpu.memory_gbytes * _GB)


def _late(key: str, asked: float, designs: Mapping[str, Unserved]) -> Shortfall | None:
    """A limit on latency that no design keeps, with the best there is; None where it is not what is short."""
    best = [(s, name) for name, found in designs.items() if (s := getattr(found, f"best_{key}_s")) is not None]
    return Shortfall(f"{key}_s", asked, *min(best)) if best and min(best)[0] > asked else None


def _missing(found: Found) -> float | None:
    """Bytes a GPU that the job is short of; None or 0 = none."""
    return None if isinstance(found, Service) else found.missing_bytes


def _why_not(found: Found) -> str | None:
    """Why nothing was found; None if something was."""
    if isinstance(found, Service):
        return None
    if isinstance(found, Unserved):
        return found.reason
    if found.unknown:
        return f"it is not known: {', '.join(found.unknown)}"
    if found.missing_bytes is None:
        return "no parallel mapping divides GPUs, model and batch"
    if not len(found.mappings):
        return f"the smallest mapping needs {found.missing_bytes / _GB:,.1f} GB more than a GPU can give"
    return None


def job_findings(job: JobOnDesigns, short: Sequence[Shortfall]) -> Iterator[Finding]:
    """What is to be said of the job, on all designs alike."""
    if job.job is not None and job.job.job.assumed:
        yield finding("job-assumed", what="; ".join(job.job.job.assumed))
    if isinstance(job.job, PlannedTraining) and not (lost := lost_time(job.job.gpus)).goodput_fraction:
        yield finding("no-time-to-train", gpus=job.job.gpus, hours=lost.hours_between_stops, fleet=lost.fleet)
    for row in short:
        if row.limit == "gpu_memory":
            yield finding("memory-short", usable=row.asked, need=row.best)
