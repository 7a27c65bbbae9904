"""The fits behind the constants marked `fitted_on`: least squares of relative errors, on the sets that they name."""

from __future__ import annotations

import numpy as np

from ibplan.performance.collective_constants import constants
from ibplan.performance.collectives import all_reduce_s
from tests.performance.collective_measurements import Floats, Measurements, Sweep

MIB = 2**20


def ring_efficiency(data: Measurements, sets: tuple[str, ...]) -> float:
    """The share of the nominal rate that large rings reach: geometric mean of the figures."""
    figures = [f for f in data.figures if f.set in sets]
    shares = [f.busbw / (data.machines[f.machine].domain_gbytes_per_s or np.nan) for f in figures]
    return float(np.exp(np.mean(np.log(shares))))


def nvls(data: Measurements) -> tuple[float, float, int, float]:
    """Efficiency with NVLink 4 and 5, fill bytes, fill GB/s: linear in three reciprocal rates for each fill size."""
    rows = [(data.sweep("h200_1node"), 2 * MIB, 0), (data.sweep("b200_1node"), 4 * MIB, 1)]
    best = min((_nvls_at(data, rows, fill * MIB) for fill in (4, 8, 16, 32, 64, 128)), key=lambda fit: fit[0])
    _, rates, fill = best
    return rates[0] / 450e9, rates[1] / 900e9, fill, rates[2] / 1e9


def _nvls_at(data: Measurements, rows: list[tuple[Sweep, int, int]], fill: int) -> tuple[float, Floats, int]:
    left, right = [], []
    for sweep, least, column in rows:
        chosen = (sweep.sizes >= least) & sweep.counted
        sizes, seconds = sweep.sizes[chosen], sweep.measured_s[chosen]
        start_us = constants().protocols.nvls_us + data.cold["inside"].value + _launch_us(data, sweep)
        terms = np.zeros((len(sizes), 3))
        terms[:, column] = sizes * 9 / 8
        terms[:, 2] = np.minimum(sizes, fill)
        left.append(terms / seconds[:, None])
        right.append(1 - 1e-6 * start_us / seconds)
    a, b = np.concatenate(left), np.concatenate(right)
    solution, *_ = np.linalg.lstsq(a, b, rcond=None)
    return float(np.sum((a @ solution - b) ** 2)), 1 / solution, fill


def _launch_us(data: Measurements, sweep: Sweep) -> float:
    generation = data.machines[sweep.machine].domain_generation
    assert generation is not None
    return constants().generations[generation].launch_us.value


def efa(data: Measurements) -> tuple[float, float]:
    """Path latency of EFA by the queued sweep, what a cold call adds by the cold one, us: least squares on grids."""
    queued, cold = data.sweep("b200_4node_efa_queued"), data.sweep("b200_4node_efa")
    latencies = np.arange(3.0, 40.0, 0.5)
    latency = min(latencies, key=lambda us: _squares(queued, _efa_s(data, queued, us), 32 * 1024))
    modelled = _efa_s(data, cold, latency)
    additions = np.arange(0.0, 500.0, 5.0)
    addition = min(additions, key=lambda us: _squares(cold, modelled + 1e-6 * us, 256 * 1024))
    return float(latency), float(addition)


def _efa_s(data: Measurements, sweep: Sweep, latency_us: float) -> Floats:
    machine = data.machines[sweep.machine].model_copy(update={"latency_us": latency_us})
    return all_reduce_s(sweep.sizes, sweep.gpus, 8, machine.interconnect(), algorithms=sweep.algorithms)


def _squares(sweep: Sweep, modelled: Floats, least: int) -> float:
    chosen = (sweep.sizes >= least) & sweep.counted
    return float(np.sum((modelled / sweep.measured_s - 1)[chosen] ** 2))


def all_to_all(data: Measurements) -> tuple[float, float]:
    """Share of the NIC's line rate, and us before data flow: linear in 1 / share and the start."""
    known = constants()
    points = [
        (r.gpus, float(r.bytes), r.bytes / (r.rate * 1e9), data.machines[r.machine])
        for r in data.exchanges
        if r.role == "fit" and r.rate is not None
    ]
    machine = data.machines[data.low_latency.machine]
    for row in data.low_latency.rows:
        for us, rate in ((row.dispatch_us, row.dispatch_rate), (row.combine_us, row.combine_rate)):
            points.append((row.gpus, us * rate * 1e3, us * 1e-6, machine))
    left, right = [], []
    for gpus, size, seconds, on in points:
        domains = gpus / on.domain_gpus
        assert on.domain_generation is not None
        launch_us = known.generations[on.domain_generation].launch_us.value
        beyond_us = (on.latency_us or 0.0) - known.network_latency_us.assumed_by_nccl.value
        hop_us = known.protocols.ring_step_us.nvlink.simple
        given_us = launch_us + beyond_us + hop_us + known.protocols.message_us * (domains - 1)
        moved = (1 - 1 / domains) * size / (on.nic_gbytes_per_s * 1e9)
        left.append([moved / seconds, 1e-6 / seconds])
        right.append(1 - 1e-6 * given_us / seconds)
    solution, *_ = np.linalg.lstsq(np.array(left), np.array(right), rcond=None)
    return float(1 / solution[0]), float(solution[1])


def nvls_network_share(data: Measurements) -> float:
    """What SHARP keeps of the domain's rate: the figure over what the sum of one domain would give its GPUs."""
    figure = next(f for f in data.figures if f.set == "nvidia_sharp")
    machine = data.machines[figure.machine]
    sums = constants().generations["nvlink4"].nvls
    assert sums is not None
    assert machine.domain_gbytes_per_s is not None
    inside = machine.domain_gpus
    without = machine.domain_gbytes_per_s * sums.efficiency.value * inside / (inside + 1)
    return figure.busbw / (2 * (figure.gpus - 1) / figure.gpus) / without
