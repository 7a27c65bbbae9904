"""The load-balancing figure of a design: points of the curve made again, forms between them simulated, its rules."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from benchmarks.load_balancing import point, seeds_for, wired_form
from ibplan.fabric.request import FabricRequest
from ibplan.fabric.wiring import wire
from ibplan.performance.load_balancing import (
    Curve,
    FabricForm,
    Scheme,
    default_scheme,
    fabric_form,
    load_balancing,
    load_balancing_data,
)
from ibplan.performance.simulate import Experiment, simulate
from tests.fabric.shapes import SN5600, network, plain, request

TWO = FabricForm(2, 8, 16, 1.0, 1.0)
# Points of the curves that are made again: small ones, of every scheme, both numbers of tiers and every axis.
AGAIN: list[tuple[FabricForm, Scheme, int]] = [
    (TWO, "ecmp", 1),
    (TWO, "static", 1),
    (FabricForm(2, 32, 16, 1.0, 1.0), "flowlet", 1),
    (FabricForm(2, 2, 16, 0.5, 2.0), "ecmp", 4),
    (FabricForm(2, 32, 4, 4.0, 1.0), "ecmp", 16),
    (FabricForm(3, 16, 8, 1.0, 1.0, 2, 2.0), "ecmp", 4),
    (FabricForm(3, 32, 4, 2.0, 2.0, 8, 1.0), "static", 1),
    (FabricForm(3, 64, 8, 1.0, 2.0, 8, 4.0), "flowlet", 1),
]


@pytest.mark.parametrize(("form", "scheme", "flows"), AGAIN)
def test_points_of_the_curve_are_what_the_simulator_gives(form: FabricForm, scheme: Scheme, flows: int) -> None:
    found = load_balancing(form, scheme, flows)
    assert found.basis == "simulated"
    # The same seeds and the same arithmetic: what is left is the rounding of the file, and the order of sums.
    assert (found.mean, found.worst) == pytest.approx(point(form, scheme, flows), abs=6e-4)


BETWEEN = [
    (FabricForm(2, 12, 8, 1.0, 1.0), 1),
    (FabricForm(2, 20, 32, 1.5, 1.0), 1),
    (FabricForm(2, 16, 10, 1.0, 2.0), 2),
    (FabricForm(2, 6, 8, 3.0, 1.0), 6),
    (FabricForm(3, 32, 8, 1.0, 1.0, 4, 1.0), 2),
    (FabricForm(3, 48, 16, 1.5, 1.0, 3, 2.0), 4),
]


@pytest.mark.parametrize(("form", "flows"), BETWEEN)
def test_between_points_the_curve_is_near_a_simulation(form: FabricForm, flows: int) -> None:
    found = load_balancing(form, "ecmp", flows)
    assert found.basis == "interpolated"
    mean, worst = point(form, "ecmp", flows)
    assert found.mean == pytest.approx(mean, abs=0.035)
    assert found.worst == pytest.approx(worst, abs=0.07)


@pytest.mark.parametrize("curve", load_balancing_data().curves, ids=lambda c: f"{c.scheme}-{c.tiers}")
def test_curves_hold_shares_and_more_flows_never_do_worse(curve: Curve) -> None:
    assert all(0 < worst <= mean <= 1 for mean, worst in zip(curve.mean, curve.worst, strict=True))
    flows = len(curve.axes["flows"])
    for start in range(0, len(curve.mean), flows):
        means = curve.mean[start : start + flows]
        assert all(later >= earlier - 0.01 for earlier, later in pairwise(means))


def test_every_scheme_has_curves_for_two_and_three_tiers() -> None:
    assert {(c.scheme, c.tiers) for c in load_balancing_data().curves} == set(
        product(("ecmp", "static", "flowlet"), (2, 3))
    )


def test_spreading_loses_nothing_and_there_is_nothing_to_lose_on_one_switch() -> None:
    for scheme in ("adaptive", "spray"):
        found = load_balancing(TWO, scheme)
        assert (found.mean, found.worst, found.basis) == (1.0, 1.0, "exact")
    one = load_balancing(FabricForm(1, 1, 0, 1.0, 1.0), "ecmp")
    assert (one.mean, one.basis) == (1.0, "exact")


def test_beyond_the_curve_the_nearest_point_stands_and_says_so() -> None:
    far = load_balancing(FabricForm(2, 1000, 16, 1.0, 1.0), "ecmp")
    edge = load_balancing(FabricForm(2, 32, 16, 1.0, 1.0), "ecmp")
    assert far.basis == "nearest"
    assert (far.mean, far.worst) == (edge.mean, edge.worst)


def test_two_leaves_joined_to_each_other_are_balls_in_bins() -> None:
    # 16 links, 16 flows each way: mean 1 - (1 - 1/16)^16.
    sized = network(request(16, 2, plain(32), tiers=1, single_tier="two_leaves"))
    form = fabric_form(sized)
    assert (form.leaves, form.uplinks, form.tiers) == (2, 16, 1)
    found = load_balancing(form, "ecmp")
    assert found.mean == pytest.approx(1 - (1 - 1 / 16) ** 16, abs=0.02)
    (row,) = simulate(wire(sized), 2, 2, Experiment(("cross-leaf",), ("ecmp",), 1, 200))
    assert row.worst is not None
    assert found.worst == pytest.approx(row.worst.mean, abs=0.02)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (request(128), FabricForm(2, 32, 32, 1.0, 1.0)),
        (request(32, ratio=2, tiers=2), FabricForm(2, 8, 16, 2.0, 1.0)),
        (request(64, 8, SN5600, down=400, up=800, tiers=2), FabricForm(2, 8, 32, 1.0, 2.0)),
        (request(256, 8, tiers=3, pod_units=2, spine_ratio=2), FabricForm(3, 64, 32, 1.0, 1.0, 4, 2.0)),
    ],
)
def test_the_form_of_a_sized_fabric(asked: FabricRequest, wanted: FabricForm) -> None:
    assert fabric_form(network(asked)) == wanted


def test_a_real_fabric_is_near_its_figure() -> None:
    """128 DGX H100 on 64-port switches, two links from each leaf to every spine; the curve has one."""
    sized = network(request(64))
    found = load_balancing(fabric_form(sized), "ecmp", 4)
    (row,) = simulate(wire(sized), 8, 8, Experiment(("cross-leaf",), ("ecmp",), 4, 10))
    assert row.mean is not None
    assert found.mean == pytest.approx(row.mean.mean, abs=0.03)


def test_what_the_switch_states_goes_before_the_default_of_its_fabric() -> None:
    assert default_scheme("infiniband", None).scheme == "adaptive"
    assert (default_scheme("roce", None).scheme, default_scheme("roce", None).flows) == ("ecmp", 4)
    assert default_scheme("roce", "spray").scheme == "spray"
    assert default_scheme("ethernet", "spray").scheme == "ecmp"  # stated of RDMA traffic


def test_a_point_is_simulated_on_the_form_it_says() -> None:
    for form in (TWO, FabricForm(3, 32, 8, 1.0, 2.0, 4, 2.0)):
        wiring = wired_form(form)
        assert fabric_form(wiring.network) == form
        assert seeds_for(wiring) >= 3
