"""The published measurements of collectives (tests/measured/collectives.yaml) and what the model says of each."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from ibplan.document import read_document, validate
from ibplan.performance.collectives import (
    LIBRARY,
    all_gather_s,
    all_reduce_s,
    all_to_all_s,
    reduce_scatter_s,
    send_s,
)
from ibplan.performance.interconnect import Interconnect

FILE = Path(__file__).parent.parent / "measured" / "collectives.yaml"
Role = Literal["fit", "held_out", "check"]
Floats = NDArray[np.float64]
Collective = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class MachineModel(_Model):
    """What a measurement says of its machine; nothing crosses spines."""

    domain_gpus: int
    domain_gbytes_per_s: float | None
    domain_generation: Literal["nvlink2", "nvlink3", "nvlink4", "nvlink5", "pcie4", "pcie5", "pcie6"] | None
    nic_gbytes_per_s: float
    link_layer: Literal["infiniband", "roce", "ethernet"]
    latency_us: float | None
    in_network_reduction: bool = False

    def interconnect(self) -> Interconnect:
        return Interconnect(**self.model_dump(), cross_rail=True, rail_optimized=True, spine_share=1.0, leaf_gpus=4096)


class Excluded(_Model):
    bytes: int
    reason: str


class Sweep(_Model):
    id: str
    title: str
    source: str
    note: str
    role: Role
    timing: Literal["queued", "cold"]
    cold: Literal["inside", "across"] | None = None
    machine: str
    gpus: int
    algorithms: tuple[str, ...] = LIBRARY
    busbw: tuple[tuple[int, float], ...] = ()
    milliseconds: tuple[tuple[int, float], ...] = ()
    excluded: tuple[Excluded, ...] = ()

    @property
    def sizes(self) -> Floats:
        return np.array([size for size, _ in self.busbw or self.milliseconds], dtype=float)

    @property
    def measured_s(self) -> Floats:
        if self.milliseconds:
            return np.array([ms for _, ms in self.milliseconds]) / 1e3
        return 2 * (self.gpus - 1) / self.gpus * self.sizes / np.array([rate for _, rate in self.busbw]) / 1e9

    @property
    def counted(self) -> NDArray[np.bool_]:
        """The points that are held against the model."""
        return ~np.isin(self.sizes, [point.bytes for point in self.excluded])


class Figure(_Model):
    title: str
    set: str | None = None
    source: str
    role: Role
    collective: Collective
    machine: str
    gpus: int
    gpus_in_domain: int | None = None
    bytes: int
    algorithms: tuple[str, ...] = LIBRARY
    busbw: float


class Exchange(_Model):
    title: str
    set: str | None = None
    source: str
    role: Role
    machine: str
    gpus: int
    bytes: int
    rate: float | None = None
    nic: float | None = None


class LowLatencyRow(_Model):
    gpus: int
    dispatch_us: float
    dispatch_rate: float
    combine_us: float
    combine_rate: float


class LowLatency(_Model):
    set: str
    source: str
    machine: str
    rows: tuple[LowLatencyRow, ...]
    held_out: tuple[LowLatencyRow, ...]


class Cold(_Model):
    value: float
    source: str | None = None
    fitted_on: tuple[str, ...] = ()


class ExcludedSweep(_Model):
    what: str
    reason: str


class Measurements(_Model):
    sources: dict[str, str]
    cold: dict[Literal["inside", "across"], Cold]
    machines: dict[str, MachineModel]
    sweeps: tuple[Sweep, ...]
    excluded_sweeps: tuple[ExcludedSweep, ...]
    figures: tuple[Figure, ...]
    exchanges: tuple[Exchange, ...]
    low_latency: LowLatency

    def sweep(self, sweep_id: str) -> Sweep:
        return next(s for s in self.sweeps if s.id == sweep_id)


@lru_cache(maxsize=1)
def measurements() -> Measurements:
    return validate(Measurements, read_document(FILE))


def modelled_s(sweep: Sweep, data: Measurements) -> Floats:
    """The sweep as the model has it, in seconds, with what a cold call adds."""
    machine = data.machines[sweep.machine]
    net = machine.interconnect()
    inside = min(sweep.gpus, machine.domain_gpus)
    cold_us = data.cold[sweep.cold].value if sweep.cold else 0.0
    return all_reduce_s(sweep.sizes, sweep.gpus, inside, net, algorithms=sweep.algorithms) + 1e-6 * cold_us


def modelled_busbw(figure: Figure, data: Measurements) -> float:
    """GB/s as nccl-tests counts them, by the model."""
    machine = data.machines[figure.machine]
    net = machine.interconnect()
    n = figure.gpus
    inside = figure.gpus_in_domain or min(n, machine.domain_gpus)
    if figure.collective == "all_reduce":
        seconds = all_reduce_s(figure.bytes, n, inside, net, algorithms=figure.algorithms)
        return float(2 * (n - 1) / n * figure.bytes / seconds / 1e9)
    function = {
        "all_gather": all_gather_s,
        "reduce_scatter": reduce_scatter_s,
        "all_to_all": all_to_all_s,
        "send": send_s,
    }[figure.collective]
    factor = 1 if figure.collective == "send" else (n - 1) / n
    return float(factor * figure.bytes / function(figure.bytes, n, inside, net) / 1e9)


def exchange_s(gpus: int, size: float, machine: MachineModel) -> float:
    return float(all_to_all_s(size, gpus, min(gpus, machine.domain_gpus), machine.interconnect()))


def modelled_exchange(row: Exchange, data: Measurements) -> float:
    """GB/s in the row's own unit."""
    machine = data.machines[row.machine]
    rate = row.bytes / exchange_s(row.gpus, row.bytes, machine) / 1e9
    return rate if row.nic is None else rate * (row.gpus - machine.domain_gpus) / row.gpus
