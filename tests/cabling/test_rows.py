"""The cable schedule against the bill and against what must hold of any cable, for the example designs."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from ibplan.cabling.rows import CabledNetwork, CableRow, cable_rows
from ibplan.economics.bill import make_bill
from ibplan.economics.items import LineItem
from tests.cabling.places import Row, cabled
from tests.report.wired import CASES, Case, case_id, wired

SPLIT: Case = (
    "three-lines",
    None,
    (
        "gpus=264",
        "server={gpus: 8, nics: 8, ports_per_nic: 1, port_gbps: 200, cage_class: nic-osfp-400}",
        "fabrics=infiniband",
        "network.switch=nvidia-qm9700",
        "network.uplink_gbps=400",
    ),
)
COPPER: Case = ("three-lines", None, ("gpus=256", "server=nvidia-hgx-h100", "fabrics=infiniband"))
ALL = (*CASES, SPLIT)


@cache
def network(case: Case, medium: str = "optical", scale: float = 1.0) -> CabledNetwork:
    design = wired(*case)
    return cabled(design, Row(design.wiring, scale), medium)  # type: ignore[arg-type]


@cache
def rows(case: Case, medium: str = "optical", scale: float = 1.0) -> tuple[CableRow, ...]:
    return tuple(cable_rows(network(case, medium, scale)))


def bill(case: Case, medium: str = "optical", scale: float = 1.0) -> tuple[LineItem, ...]:
    return make_bill("compute", [], network(case, medium, scale).parts)


@pytest.mark.parametrize("case", ALL, ids=case_id)
def test_every_cable_has_its_ends_in_places_of_their_own(case: Case) -> None:
    ports: Counter[tuple[str, str]] = Counter()
    for row in rows(case):
        devices = [row.a.device, *(end.device for end in row.b)]
        assert len(set(devices)) >= 2
        assert row.a.device not in devices[1:]
        for end in (row.a, *row.b):
            assert end.rack
            assert end.label.startswith(f"{end.rack}.U")
            for port in end.port.split(","):
                ports[end.device, port] += 1
    fibers = max((1 / p.recipe.links_per_cable for p in network(case).parts if p.recipe is not None), default=1)
    assert max(ports.values()) <= max(1, fibers)
    ids = [row.cable_id for row in rows(case)]
    assert len(set(ids)) == len(ids)
    labels = [label for row in rows(case) for label in (row.label_a, *row.label_b)]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("case", ALL, ids=case_id)
def test_cables_and_modules_are_those_of_the_bill(case: Case) -> None:
    lengths: Counter[tuple[str | None, float | None]] = Counter()
    modules: Counter[str] = Counter()
    for row in rows(case):
        if row.cable is not None:
            lengths[row.cable, row.length_m] += 1
        for end in (row.a, *row.b):
            if end.module is not None:
                modules[end.module] += end.module_quantity
    items = bill(case)
    billed: Counter[tuple[str | None, float | None]] = Counter()
    for item in items:
        if item.category in ("cable", "splitter"):
            billed[item.part, item.length_m] += item.quantity
    assert lengths == billed
    known = Counter({i.part: 0 for i in items if not i.part.startswith("unknown") and i.category == "transceiver"})
    for item in items:
        if item.part in known:
            known[item.part] += item.quantity
    assert modules == known


@pytest.mark.parametrize("case", ALL, ids=case_id)
def test_a_length_covers_its_run_and_the_signal_passes_it(case: Case) -> None:
    reach = {p.link_class: p for p in network(case).parts}
    assert reach
    by_recipe = {(p.link.kind, p.cable.entry.id): p.recipe for p in network(case).parts if p.recipe and p.cable}
    for row in rows(case):
        if row.length_m is None:
            continue
        recipe = by_recipe[row.kind, row.cable or ""]
        assert row.run_m is not None
        assert row.run_m <= row.length_m
        assert recipe.max_length_m is None or row.length_m <= recipe.max_length_m
        assert row.length_m >= (recipe.min_length_m or 0)


@pytest.mark.parametrize("case", ALL, ids=case_id)
def test_a_layout_changes_no_count(case: Case) -> None:
    design = wired(*case)
    without = {(p.link.kind, p.link.host): (p.modules_a, p.modules_b, p.cables) for p in cabled(design, None).parts}
    within: dict[tuple[str, str | None], tuple[int, int, int]] = {}
    for p in network(case).parts:
        have = within.get((p.link.kind, p.link.host), (0, 0, 0))
        within[p.link.kind, p.link.host] = (have[0] + p.modules_a, have[1] + p.modules_b, have[2] + p.cables)
    assert within == without


def test_labels_name_their_own_end_first() -> None:
    first = rows(CASES[0])[0]
    near, far = first.label_a.split(" / ")
    assert (near, far) == (first.a.label, first.b[0].label)
    assert first.label_b == (f"{far} / {near}",)
    assert near == f"{first.a.rack}.U{first.a.unit:02}:{first.a.device}:{first.a.port}"


def test_a_splitter_is_one_cable_with_several_far_ends() -> None:
    split = [row for row in rows(SPLIT) if row.kind == "server-leaf"]
    # 33 servers with 8 rails of 200G: 2 links a cable, and one server is alone on its legs.
    assert {len(row.b) for row in split} == {1, 2}
    whole = next(row for row in split if len(row.b) == 2)
    assert whole.a.port.count(",") == 1
    assert whole.label_a.count(";") == 1
    assert len(whole.label_b) == 2
    assert all(label.endswith(whole.a.label) for label in whole.label_b)
    # Its length covers the longer of its legs.
    assert whole.run_m is not None
    assert whole.length_m is None or whole.length_m >= whole.run_m


def test_without_places_the_lengths_and_racks_are_blank() -> None:
    design = wired(*CASES[0])
    row = next(iter(cable_rows(cabled(design, None))))
    assert (row.run_m, row.length_m, row.bundle, row.a.rack, row.a.unit) == (None, None, None, None, None)
    assert row.label_a == f"{row.a.device}:{row.a.port} / {row.b[0].device}:{row.b[0].port}"


def test_a_group_without_places_leaves_its_own_lengths_blank() -> None:
    design = wired("h100-pod-127")
    places = Row(design.wiring, without=("compute/manager",))
    found = list(cable_rows(cabled(design, places)))
    blank = {row.kind for row in found if row.run_m is None}
    assert blank == {"reserved"}
    assert all(row.a.rack and row.b[0].rack is None for row in found if row.kind == "reserved")


@pytest.mark.parametrize("gpus", [(256, 264), (512, 1000), (1016, 1024)])
def test_cables_keep_their_name_and_ends_as_servers_are_added(gpus: tuple[int, int]) -> None:
    small, large = (
        {row.cable_id: (row.a[4:7], [end[4:7] for end in row.b]) for row in rows(_sized(number))} for number in gpus
    )
    kept = {key for key, ends in small.items() if large.get(key) == ends}
    assert kept == set(small)


def _sized(gpus: int) -> Case:
    settings = (f"gpus={gpus}", "server=nvidia-hgx-h100", "fabrics=infiniband", "network.switch=nvidia-qm9700")
    return ("three-lines", None, (*settings, "network.tiers=2", "network.unit_servers=32", "network.min_spines=16"))
