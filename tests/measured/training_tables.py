"""Published training runs (training.yaml) beside what the model says of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ibplan.catalog.devices import Gpu
from ibplan.catalog.store import load_catalog
from ibplan.document import read_document, validate
from ibplan.performance.efficiency import Efficiency
from ibplan.performance.interconnect import Interconnect
from ibplan.performance.machine import Machine, machine_of
from ibplan.performance.practice import Practice, practices
from ibplan.performance.search import best_mappings
from ibplan.performance.training import step_times
from ibplan.workload.flops import AttentionCount, hardware_flops, model_flops
from ibplan.workload.job import ElementBytes, TrainingJob
from ibplan.workload.mapping import RECOMPUTE, Mappings
from ibplan.workload.memory import fits_memory
from ibplan.workload.presets import Experts
from ibplan.workload.shape import ModelShape
from tests.workload import shapes

FILE = Path(__file__).parent / "training.yaml"
_GENERATIONS: dict[str, Literal["nvlink3", "nvlink4", "nvlink5"]] = {
    "nvidia-a100-80g-sxm": "nvlink3",
    "nvidia-h100-sxm": "nvlink4",
    "nvidia-h800-sxm": "nvlink4",
    "nvidia-b200-sxm": "nvlink5",
}
_MEASURES = ("step_s", "hardware_tflops", "model_tflops", "mfu_percent")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class System(_Model):
    """What a run's source says of its machine; servers of 8 GPUs."""

    what: str
    gpu: str
    memory_gbytes: float | None = None
    memory_gbytes_per_s: float | None = None
    nic_gbytes_per_s: float
    link_layer: Literal["infiniband", "roce"]
    rail_optimized: bool
    leaf_gpus: int
    spine_share: float = 1.0

    def machine(self, gpus: int, precision: Literal["bf16", "fp8"]) -> Machine:
        """The machine with the packaged calibration of its GPU."""
        gpu = _gpu(self.gpu)
        links = gpu.link_gbytes_per_s
        net = Interconnect(
            domain_gpus=8,
            domain_gbytes_per_s=None if links is None else links / 2,
            domain_generation=_GENERATIONS[self.gpu],
            nic_gbytes_per_s=self.nic_gbytes_per_s,
            link_layer=self.link_layer,
            latency_us=None,
            cross_rail=True,
            rail_optimized=self.rail_optimized,
            in_network_reduction=False,
            spine_share=self.spine_share,
            leaf_gpus=self.leaf_gpus,
        )
        stated = {
            name: value
            for name in ("memory_gbytes", "memory_gbytes_per_s")
            if (value := getattr(self, name)) is not None
        }
        return replace(machine_of(gpu, _EIGHT, gpus, net, precision), **stated)


@lru_cache(maxsize=8)
def _gpu(name: str) -> Gpu:
    return load_catalog().gpus[name]


class _Eight:
    gpus = 8


_EIGHT = _Eight()


class Shape(_Model):
    """A shape that is no preset. With experts, every layer has them."""

    layers: int
    hidden: int
    heads: int
    vocab: int
    kv_heads: int | None = None
    experts: Experts | None = None

    def model(self) -> ModelShape:
        """The shape without biases and positions: 4h wide and not gated, unless it has experts."""
        plain = shapes.gpt(self.layers, self.hidden, self.heads, self.vocab)
        kv_heads = self.kv_heads or self.heads
        gated = self.experts is not None
        return replace(
            plain,
            attention=plain.attention.model_copy(update={"type": "gqa", "kv_heads": kv_heads, "bias": None}),
            ffn=plain.ffn.model_copy(update={"gated": gated, "bias": False}),
            experts=self.experts,
            tied_embeddings=not gated,
            learned_positions=0,
        )


class Run(_Model):
    """One row; of what is None, that of the table or what the search would choose."""

    name: str
    source: str | None = None
    system: str | None = None
    practice: str | None = None
    precision: Literal["bf16", "fp8"] = "bf16"
    model: str | None = None
    shape: str | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    sequence: int | None = None
    ratio_of: str | None = None
    gpus: int
    batch: int
    tp: int
    pp: int
    cp: int = 1
    ep: int = 1
    micro_batch: int | None = None
    interleave: int | None = None
    zero: int | None = None
    recompute: Literal["none", "selective", "full"] | None = None
    sequence_parallel: bool | None = None
    step_s: float | None = None
    hardware_tflops: float | None = None
    model_tflops: float | None = None
    mfu_percent: float | None = None

    @model_validator(mode="after")
    def _one_measure(self) -> Run:
        if sum(getattr(self, name) is not None for name in _MEASURES) != 1:
            raise ValueError("a run has one measure")
        return self

    @property
    def measure(self) -> str:
        """The name of what was measured."""
        return next(name for name in _MEASURES if getattr(self, name) is not None)


class Table(_Model):
    """Runs of one source."""

    id: str
    title: str
    source: str
    role: str
    system: str
    practice: str
    fused_attention: bool
    dropout: bool
    gradient_bytes: float
    sequence: int
    attention: AttentionCount
    ratio_within: float | None = None
    notes: str | None = None
    runs: tuple[Run, ...] = Field(min_length=1)


class Tables(_Model):
    """The file."""

    systems: dict[str, System]
    shapes: dict[str, Shape]
    tables: tuple[Table, ...]

    @cached_property
    def by_id(self) -> dict[str, Table]:
        """The tables by their id."""
        return {table.id: table for table in self.tables}


@lru_cache(maxsize=1)
def tables() -> Tables:
    """The published runs."""
    return validate(Tables, read_document(FILE))


@dataclass(frozen=True)
class Case:
    """A run as the model is asked about it."""

    table: Table
    run: Run
    job: TrainingJob
    mapping: Mappings
    machine: Machine
    practice: Practice

    def step_s(self, matmul_efficiency: float | None = None) -> float:
        """The modelled step, with the packaged efficiency or another."""
        machine = self.machine
        if matmul_efficiency is not None:
            efficiency = Efficiency(matmul_efficiency, machine.efficiency.memory, "", None)
            kept = machine.bf16_efficiency if self.run.precision == "fp8" else efficiency
            machine = replace(machine, efficiency=efficiency, bf16_efficiency=kept)
        return float(step_times(self.job, self.mapping, machine, practice=self.practice).total_s[0])

    def figure(self, step_s: float) -> float:
        """What was measured (TFLOP/s, MFU or seconds) for a step of so many seconds."""
        name = self.run.measure
        if name == "step_s":
            return step_s
        job, count, machine = self.job, self.table.attention, self.machine
        if name == "hardware_tflops":
            mode = RECOMPUTE[int(self.mapping.recompute[0])]
            flops = hardware_flops(job.shape, job.sequence, job.step_tokens, count, mode)
        else:
            flops = model_flops(job.shape, job.sequence, job.step_tokens, count)
        tflops = flops / (machine.gpus * step_s) / 1e12
        return tflops if name != "mfu_percent" else 100 * tflops / (machine.peak_tflops or np.nan)

    @property
    def measured(self) -> float:
        """The published figure."""
        return float(getattr(self.run, self.run.measure))

    @property
    def measured_step_s(self) -> float:
        """The step time that the published figure means."""
        return self.measured if self.run.measure == "step_s" else self.figure(1.0) / self.measured

    @cached_property
    def modelled_step_s(self) -> float:
        """The modelled step with the packaged constants."""
        return self.step_s()

    @property
    def modelled(self) -> float:
        """What was measured, as the model has it."""
        return self.figure(self.modelled_step_s)

    @property
    def error(self) -> float:
        """Modelled step over measured step, less 1."""
        return self.modelled_step_s / self.measured_step_s - 1


@lru_cache(maxsize=32)
def cases(table_id: str) -> tuple[Case, ...]:
    """All runs of a table."""
    table = tables().by_id[table_id]
    return tuple(_case(table, run) for run in table.runs)


def _case(table: Table, run: Run) -> Case:
    precision = run.precision
    job = TrainingJob(
        shape=_shape(run),
        sequence=run.sequence or table.sequence,
        global_batch=run.batch,
        tokens=None,
        precision=precision,
        recompute=run.recompute or "none",
        element_bytes=ElementBytes(gradients=table.gradient_bytes, dispatch=1.0 if precision == "fp8" else 2.0),
        fused_attention=table.fused_attention,
        dropout=table.dropout,
    )
    machine = tables().systems[run.system or table.system].machine(run.gpus, precision)
    practice = practices()[run.practice or table.practice]
    if run.micro_batch is None:
        mapping = _searched(run, job, machine, practice)
    else:
        mapping = _stated(run) if run.recompute is not None else _least_recomputed(_stated(run), job, machine)
    return Case(table, run, job, mapping, machine, practice)


def _shape(run: Run) -> ModelShape:
    if run.model is not None:
        return shapes.preset(run.model)
    if run.shape is not None:
        return tables().shapes[run.shape].model()
    return shapes.gpt(run.layers or 0, run.hidden or 0, run.heads or 0)


def _stated(run: Run) -> Mappings:
    degrees = {name: getattr(run, name) for name in ("tp", "pp", "cp", "ep", "micro_batch", "interleave", "zero")}
    parallel = run.tp > 1 if run.sequence_parallel is None else run.sequence_parallel
    dp = run.gpus // (run.tp * run.pp * run.cp)
    return shapes.mapping(**degrees, dp=dp, recompute=run.recompute or "none", sequence_parallel=parallel)


def _searched(run: Run, job: TrainingJob, machine: Machine, practice: Practice) -> Mappings:
    """The fastest mapping with the stated degrees."""
    found = best_mappings(job, machine, practice=practice, keep=1_000_000).mappings
    fitting = np.all([getattr(found, name) == getattr(run, name) for name in ("tp", "pp", "cp", "ep")], axis=0)
    return found.take(np.flatnonzero(fitting)[:1])


def _least_recomputed(stated: Mappings, job: TrainingJob, machine: Machine) -> Mappings:
    """The mapping with the least recomputation that fits; all of it where nothing does."""
    for mode in range(len(RECOMPUTE)):
        stated = replace(stated, recompute=np.array([mode]))
        if fits_memory(job, stated, (machine.memory_gbytes or 0) * 1e9).all():
            break
    return stated
