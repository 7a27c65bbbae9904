"""Step times and a search in a process of its own: `python -m benchmarks.training MODEL GPUS` prints both."""

from __future__ import annotations

import sys
import time
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np

from ibplan.catalog.store import load_catalog
from ibplan.performance.candidates import candidate_mappings
from ibplan.performance.interconnect import Interconnect
from ibplan.performance.machine import machine_of
from ibplan.performance.search import ZERO_STAGES, best_mappings
from ibplan.performance.training import step_times
from ibplan.spec.models import ModelSpec, Workload
from ibplan.workload.job import training_job
from ibplan.workload.mapping import RECOMPUTE, Mappings
from ibplan.workload.shape import shape_of

LEAST = 50_000
NET = Interconnect(
    domain_gpus=8,
    domain_gbytes_per_s=450,
    domain_generation="nvlink4",
    nic_gbytes_per_s=50,
    link_layer="infiniband",
    latency_us=4.6,
    cross_rail=True,
    rail_optimized=True,
    in_network_reduction=True,
    spine_share=0.5,
    leaf_gpus=256,
)


def everything(candidates: Mappings) -> Mappings:
    """The candidates at each ZeRO stage and recomputation, repeated until there are enough to measure."""
    choices = [
        replace(candidates, zero=np.full(len(candidates), zero), recompute=np.full(len(candidates), mode))
        for zero in ZERO_STAGES
        for mode in range(len(RECOMPUTE))
    ]
    choices *= -(-LEAST // (len(candidates) * len(choices)))
    names = [field.name for field in fields(Mappings)]
    return Mappings(**{name: np.concatenate([getattr(part, name) for part in choices]) for name in names})


def main() -> None:
    """Time all mappings, fitting or not, and the whole search; the better of two runs, since the first loads data."""
    model, gpus = sys.argv[1], int(sys.argv[2])
    job = training_job(Workload(), shape_of(ModelSpec(preset=model)))
    gpu = load_catalog().gpus["nvidia-h100-sxm"]
    machine = machine_of(gpu, SimpleNamespace(gpus=8), gpus, NET, "bf16")
    mappings = everything(candidate_mappings(job, gpus, NET.domain_gpus))
    rates, searches = [], []
    for _ in range(2):
        start = time.perf_counter()
        step_times(job, mappings, machine)
        timed = time.perf_counter()
        found = best_mappings(job, machine)
        rates.append(len(mappings) / (timed - start))
        searches.append(time.perf_counter() - timed)
    what = f"{len(mappings):,} mappings at {max(rates):,.0f} a second"
    sys.stdout.write(f"{what}; searched {found.candidates_count:,} in {min(searches):.3f} s\n")


if __name__ == "__main__":
    main()
