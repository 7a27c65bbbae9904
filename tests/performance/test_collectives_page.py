"""docs/collectives-validation.md: measured against modelled, made anew by `make golden` and held for staleness."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ibplan.performance.collective_constants import constants
from ibplan.performance.collectives import all_reduce_algorithm
from tests.golden import check_golden
from tests.performance.collective_measurements import (
    Measurements,
    Sweep,
    exchange_s,
    measurements,
    modelled_busbw,
    modelled_exchange,
    modelled_s,
)

PAGE = Path(__file__).parents[2] / "docs" / "collectives-validation.md"
ROLES = {"fit": "fitted on", "held_out": "held out", "check": "check"}
HEAD = """# Collectives: measured and modelled

This page is made by `make golden` from `tests/measured/collectives.yaml`, where each figure has its source. The models
are those of [collectives.md](collectives.md). GB = 10⁹ bytes; bus bandwidth as nccl-tests defines it. An error is
modelled time over measured time, less one: above zero the model is too slow. *Fitted on*: constants rest on it. *Held
out*: kept out of every fit. *Check*: neither. The algorithm is the model's choice; only the H200 sweep publishes its
own, and the two agree at every size. No sweep over several nodes is held out: both come from one system, and give its
path latency and what a cold call adds. Their large sizes rest on the network's share of the line rate, which is
NVIDIA's.
"""
MARKS = ((2**28, "256 MiB and more", 0.05, 0.10), (2**18, "256 KiB and more", np.inf, 0.30))


def page(data: Measurements) -> str:
    sections = [HEAD, summary(data), constants_section(), excluded(data)]
    sections += [sweep_section(sweep, data) for sweep in data.sweeps]
    sections += [figures(data), exchanges(data), low_latency(data), sources(data)]
    return "".join(sections)


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def percent(error: float) -> str:
    return f"{100 * error:+.1f} %"


def summary(data: Measurements) -> str:
    rows = []
    for sweep in data.sweeps:
        errors = np.abs(modelled_s(sweep, data) / sweep.measured_s - 1)
        for least, name, median, worst in MARKS:
            chosen = errors[sweep.counted & (sweep.sizes >= least)]
            if chosen.size:
                met = "yes" if np.median(chosen) <= median and chosen.max() <= worst else "**no**"
                found = f"{100 * np.median(chosen):.1f} %", f"{100 * chosen.max():.1f} %"
                rows.append((sweep.title, ROLES[sweep.role], name, chosen.size, *found, met))
    text = "\n## Sweeps\n\nThe marks: median 5 % and worst 10 % from 256 MiB on, worst 30 % from 256 KiB on.\n\n"
    return text + table(("sweep", "role", "sizes", "points", "median", "worst", "marks met"), rows)


def constants_section() -> str:
    known = constants()
    rows: list[tuple[object, ...]] = [
        (f"ring, {name}", f"{g.ring_efficiency.value} of {g.nominal_gbytes_per_s:g} GB/s", listed(g.ring_efficiency))
        for name, g in known.generations.items()
    ]
    rows += [
        (
            f"sums in switches, {name}",
            f"{g.nvls.efficiency.value} of {g.nominal_gbytes_per_s:g} GB/s",
            listed(g.nvls.efficiency),
        )
        for name, g in known.generations.items()
        if g.nvls is not None
    ]
    fill, rate = known.nvls_fill_bytes, known.nvls_fill_gbytes_per_s
    rows += [
        ("filling of buffers", f"{fill.value / 2**20:g} MiB at {rate.value:g} GB/s", listed(rate)),
        ("sums in switches, with the network", known.nvls_network_share.value, listed(known.nvls_network_share)),
        ("all-to-all, share of the line rate", known.wire.rdma_all_to_all.value, listed(known.wire.rdma_all_to_all)),
        ("all-to-all, start", f"{known.all_to_all_us.value} µs", listed(known.all_to_all_us)),
    ]
    text = "\n## Fitted constants\n\nAll others are NCCL's or NVIDIA's published ones. A test repeats every fit.\n\n"
    return text + table(("constant", "value", "fitted on"), rows)


def listed(constant: object) -> str:
    return ", ".join(getattr(constant, "fitted_on", ()))


def excluded(data: Measurements) -> str:
    rows = [(item.what, item.reason) for item in data.excluded_sweeps]
    for sweep in data.sweeps:
        errors = modelled_s(sweep, data) / sweep.measured_s - 1
        for point in sweep.excluded:
            error = percent(float(errors[sweep.sizes == point.bytes][0]))
            rows.append((f"{sweep.title}: {size(point.bytes)}", f"{point.reason}. Error {error}"))
    return "\n## Left out\n\n" + table(("what", "why"), rows)


def sweep_section(sweep: Sweep, data: Measurements) -> str:
    machine = data.machines[sweep.machine]
    names = all_reduce_algorithm(
        sweep.sizes, sweep.gpus, machine.domain_gpus, machine.interconnect(), algorithms=sweep.algorithms
    )
    to_busbw = 2 * (sweep.gpus - 1) / sweep.gpus * sweep.sizes / 1e9
    measured, modelled = sweep.measured_s, modelled_s(sweep, data)
    added = f"; a cold call adds {data.cold[sweep.cold].value:g} µs" if sweep.cold else ""
    rows = [
        (size(s), f"{b / t:.1f}", f"{b / m:.1f}", percent(m / t - 1) + ("" if c else " (left out)"), name)
        for s, b, t, m, c, name in zip(sweep.sizes, to_busbw, measured, modelled, sweep.counted, names, strict=True)
        if s >= 2**18
    ]
    text = f"\n## {sweep.title}\n\n{ROLES[sweep.role].capitalize()}. Calls {sweep.timing}{added}. {sweep.note}.\n\n"
    return text + table(("size", "measured GB/s", "modelled GB/s", "error of the time", "algorithm"), rows)


def size(count: float) -> str:
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count:g} B"


def figures(data: Measurements) -> str:
    rows = []
    for figure in data.figures:
        modelled = modelled_busbw(figure, data)
        role, error = ROLES[figure.role], percent(figure.busbw / modelled - 1)
        rows.append((figure.title, figure.collective, role, f"{figure.busbw:g}", f"{modelled:.1f}", error))
    head = ("what", "collective", "role", "measured GB/s", "modelled GB/s", "error of the time")
    return "\n## Single figures of large messages\n\n" + table(head, rows)


def exchanges(data: Measurements) -> str:
    rows = []
    for row in data.exchanges:
        measured, modelled = row.rate or row.nic or np.nan, modelled_exchange(row, data)
        counted = "all that a GPU sends" if row.nic is None else "what passes the NIC"
        error = percent(measured / modelled - 1)
        rows.append((row.title, ROLES[row.role], counted, f"{measured:g}", f"{modelled:.1f}", error))
    text = "\n## All-to-all\n\nThe tables do not print sizes: 128 MiB a GPU is assumed.\n\n"
    head = ("what", "role", "counted", "measured GB/s", "modelled GB/s", "error of the time")
    return text + table(head, rows)


def low_latency(data: Measurements) -> str:
    machine, rows = data.machines[data.low_latency.machine], []
    for role, found in (("fit", data.low_latency.rows), ("held_out", data.low_latency.held_out)):
        for row in found:
            for name, us, rate in (
                ("dispatch", row.dispatch_us, row.dispatch_rate),
                ("combine", row.combine_us, row.combine_rate),
            ):
                modelled = exchange_s(row.gpus, us * rate * 1e3, machine) * 1e6
                rows.append((row.gpus, name, ROLES[role], f"{us:g}", f"{modelled:.0f}", percent(modelled / us - 1)))
    head = ("GPUs", "what", "role", "measured µs", "modelled µs", "error")
    return "\n## All-to-all, DeepEP's low-latency kernels\n\n" + table(head, rows)


def sources(data: Measurements) -> str:
    return "\n## Sources\n\n" + "\n".join(f"- {text}" for text in data.sources.values()) + "\n"


def test_the_page_is_what_the_model_gives() -> None:
    check_golden(PAGE, page(measurements()))
