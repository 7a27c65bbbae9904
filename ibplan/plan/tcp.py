"""Whether plain Ethernet carries the job of a spec."""

from __future__ import annotations

from ibplan.plan.evaluate import Evaluated
from ibplan.plan.resolve import Resolved
from ibplan.spec.models import Spec
from ibplan.workload.need import ONE_SERVER, UNKNOWN_MODEL, JobScale, Verdict, ethernet_verdict
from ibplan.workload.parameters import active_parameters, total_parameters
from ibplan.workload.shape import shape_of


def tcp_verdict(design: Evaluated, spec: Spec, named: Resolved) -> Verdict:
    """The verdict on a design of plain Ethernet."""
    if named.servers == 1:
        return ONE_SERVER
    if spec.model is None:
        return UNKNOWN_MODEL
    shape, gpu, server = shape_of(spec.model), named.server.gpu, named.server
    peak = memory = None
    if gpu is not None:
        peak = gpu.bf16_tflops if spec.workload.precision == "bf16" else gpu.fp8_tflops
        memory = gpu.memory_gbytes
    job = JobScale(total_parameters(shape), active_parameters(shape), named.servers, server.gpus, peak, memory)
    return ethernet_verdict(job, spec.workload, design.form.hosts.gbps * design.form.hosts.ports)
