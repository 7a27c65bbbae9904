"""Which oversubscription a job mix bears on a design: no wiring is made."""

from __future__ import annotations

from collections.abc import Sequence

from ibplan.performance.job_mix import MixDemand, MixPattern, mix_demand
from ibplan.performance.job_traffic import JobKind
from ibplan.plan.evaluate import Evaluated


def design_mix_demand(design: Evaluated, kinds: Sequence[JobKind], pattern: MixPattern = "uniform") -> MixDemand:
    """What oversubscription a job mix bears on the units and pods of a design. No job is larger than the cluster."""
    request, fabric = design.network.request, design.network.fabric
    server_gpus = design.form.server_gpus
    unit_gpus = fabric.unit.servers * server_gpus
    return mix_demand(
        kinds,
        request.servers * server_gpus,
        unit_gpus=unit_gpus,
        pod_gpus=max(pod.units for pod in fabric.pods) * unit_gpus,
        domain_gpus=request.domain_servers * server_gpus,
        pattern=pattern,
    )
