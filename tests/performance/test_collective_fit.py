"""The constants marked `fitted_on` are what the fits give, and the fits meet the marks on sweeps kept out of them."""

from __future__ import annotations

import numpy as np
import pytest

from ibplan.performance.collective_constants import Fitted, constants
from tests.performance import collective_fit as fit
from tests.performance.collective_measurements import (
    Sweep,
    exchange_s,
    measurements,
    modelled_busbw,
    modelled_exchange,
    modelled_s,
)

DATA = measurements()
KNOWN = constants()
ROUNDED = 1e-3  # constants are kept with three digits


@pytest.mark.parametrize("name", KNOWN.generations)
def test_ring_efficiencies_are_the_means_of_their_figures(name: str) -> None:
    efficiency = KNOWN.generations[name].ring_efficiency  # type: ignore[index]
    assert efficiency.value == pytest.approx(fit.ring_efficiency(DATA, efficiency.fitted_on), rel=ROUNDED)


def test_sums_in_switches_are_fitted_on_the_two_sweeps() -> None:
    by_4, by_5, fill, rate = fit.nvls(DATA)
    fourth, fifth = KNOWN.generations["nvlink4"].nvls, KNOWN.generations["nvlink5"].nvls
    assert fourth is not None
    assert fifth is not None
    assert (fourth.efficiency.value, fifth.efficiency.value) == pytest.approx((by_4, by_5), rel=ROUNDED)
    assert KNOWN.nvls_fill_bytes.value == fill
    assert KNOWN.nvls_fill_gbytes_per_s.value == pytest.approx(rate, rel=ROUNDED)


def test_what_sharp_keeps_is_fitted_on_its_figure() -> None:
    assert KNOWN.nvls_network_share.value == pytest.approx(fit.nvls_network_share(DATA), rel=ROUNDED)


def test_all_to_all_is_fitted_on_deepep() -> None:
    share, start_us = fit.all_to_all(DATA)
    assert KNOWN.wire.rdma_all_to_all.value == pytest.approx(share, rel=ROUNDED)
    assert KNOWN.all_to_all_us.value == pytest.approx(start_us, rel=0.005)


def test_the_latency_of_efa_and_of_cold_calls_are_fitted_on_its_sweeps() -> None:
    latency_us, cold_us = fit.efa(DATA)
    assert DATA.machines["b200_efa"].latency_us == latency_us
    assert DATA.cold["across"].value == cold_us


def test_no_fit_rests_on_what_is_held_out() -> None:
    held_out = {s.id for s in DATA.sweeps if s.role == "held_out"}
    used = {name for item in _fitted(KNOWN) for name in item.fitted_on}
    assert held_out
    assert not used & held_out
    known = {s.id for s in DATA.sweeps} | {f.set for f in DATA.figures} | {e.set for e in DATA.exchanges}
    assert used <= known | {DATA.low_latency.set}
    assert not {f.set for f in DATA.figures if f.role != "fit"} & used


def _fitted(item: object) -> list[Fitted]:
    if isinstance(item, Fitted):
        return [item]
    if isinstance(item, dict):
        return [found for value in item.values() for found in _fitted(value)]
    fields = getattr(type(item), "model_fields", {})
    return [found for name in fields for found in _fitted(getattr(item, name))]


@pytest.mark.parametrize("sweep", DATA.sweeps, ids=lambda sweep: sweep.id)
def test_sweeps_meet_the_marks(sweep: Sweep) -> None:
    # 5 % median and 10 % worst from 256 MiB on, 30 % worst from 256 KiB on; excluded points have their reason.
    errors = np.abs(modelled_s(sweep, DATA) / sweep.measured_s - 1)
    large, medium = (sweep.counted & (sweep.sizes >= least) for least in (2**28, 2**18))
    if large.any():
        assert np.median(errors[large]) <= 0.05
        assert errors[large].max() <= 0.10
    assert medium.any()
    assert errors[medium].max() <= 0.30
    assert {point.bytes for point in sweep.excluded} <= set(sweep.sizes)


def test_figures_of_large_messages_are_met() -> None:
    known = [f for f in DATA.figures if DATA.machines[f.machine].domain_generation or f.gpus_in_domain == 1]
    errors = [abs(modelled_busbw(f, DATA) / f.busbw - 1) for f in known]
    assert np.median(errors) <= 0.05
    assert max(errors) <= 0.10


def test_exchanges_are_met() -> None:
    errors = [abs(modelled_exchange(e, DATA) / (e.rate or e.nic or 0) - 1) for e in DATA.exchanges]
    assert np.median(errors) <= 0.05
    assert max(errors) <= 0.15  # 128 GPUs, combine: read from a plot


def test_low_latency_exchanges_are_met() -> None:
    machine = DATA.machines[DATA.low_latency.machine]
    for row in (*DATA.low_latency.rows, *DATA.low_latency.held_out):
        for us, rate in ((row.dispatch_us, row.dispatch_rate), (row.combine_us, row.combine_rate)):
            assert exchange_s(row.gpus, us * rate * 1e3, machine) * 1e6 == pytest.approx(us, rel=0.2)
