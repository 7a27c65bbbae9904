"""The machine that a job runs on: GPUs with their peaks, and what joins them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ibplan.catalog.devices import Gpu
from ibplan.performance.efficiency import Efficiency, efficiency_of
from ibplan.performance.interconnect import Interconnect
from ibplan.workload.defaults import Precision


class ServerGpus(Protocol):
    """A server, from the catalogue or stated in the spec."""

    @property
    def gpus(self) -> int:
        """GPUs of one server."""
        ...


@dataclass(frozen=True, slots=True)
class Machine:
    """`gpus` GPUs alike, `gpus_per_server` in each server. None = unknown: times that need it are then NaN.

    Peaks are without sparsity: `peak_tflops` at the job's precision, `bf16_tflops` for what stays in bf16 with fp8:
    attention's scores and the output matrix.
    """

    gpu: str | None
    gpus: int
    gpus_per_server: int
    peak_tflops: float | None
    bf16_tflops: float | None
    memory_gbytes: float | None
    memory_gbytes_per_s: float | None
    interconnect: Interconnect
    efficiency: Efficiency
    bf16_efficiency: Efficiency

    @property
    def unknown(self) -> tuple[str, ...]:
        """What is not known of the GPU or its links, and without which no step time can be given."""
        missing = []
        if self.peak_tflops is None or self.bf16_tflops is None:
            missing.append("the GPU's peak at the job's precision")
        if self.memory_gbytes is None:
            missing.append("the GPU's memory")
        if self.memory_gbytes_per_s is None:
            missing.append("the GPU's memory bandwidth")
        if self.interconnect.domain_gpus > 1 and self.interconnect.domain_gbytes_per_s is None:
            missing.append("the rate of the links between the GPUs of a server")
        return tuple(missing)

    @property
    def matmul_flops_per_s(self) -> float:
        """FLOP/s of matrix products with weights on one GPU; NaN if the peak is not known."""
        return float("nan") if self.peak_tflops is None else self.peak_tflops * 1e12 * self.efficiency.matmul

    @property
    def bf16_flops_per_s(self) -> float:
        """FLOP/s of matrix products that stay in bf16; NaN if the peak is not known."""
        return float("nan") if self.bf16_tflops is None else self.bf16_tflops * 1e12 * self.bf16_efficiency.matmul

    @property
    def memory_bytes_per_s(self) -> float:
        """Bytes a second to and from a GPU's memory; NaN if not known."""
        if self.memory_gbytes_per_s is None:
            return float("nan")
        return self.memory_gbytes_per_s * 1e9 * self.efficiency.memory


def machine_of(
    gpu: Gpu | None, server: ServerGpus, gpus: int, interconnect: Interconnect, precision: Precision
) -> Machine:
    """The machine of `gpus` GPUs in such servers. Of a GPU that is not in the catalogue nothing is known."""
    bf16 = None if gpu is None else gpu.bf16_tflops
    name = None if gpu is None else gpu.id
    return Machine(
        gpu=name,
        gpus=gpus,
        gpus_per_server=server.gpus,
        peak_tflops=bf16 if gpu is None or precision == "bf16" else gpu.fp8_tflops,
        bf16_tflops=bf16,
        memory_gbytes=None if gpu is None else gpu.memory_gbytes,
        memory_gbytes_per_s=None if gpu is None else gpu.memory_gbytes_per_s,
        interconnect=interconnect,
        efficiency=efficiency_of(name, precision),
        bf16_efficiency=efficiency_of(name, "bf16"),
    )
