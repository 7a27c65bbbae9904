"""What `show` says of a topology and of devices agrees with the links."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.errors import NoDesignError, UsageError
from ibplan.fabric.device_ports import DeviceView, device_view, find_device, port_use
from ibplan.fabric.topology_model import NameRange, Switches
from ibplan.plan.wired import chosen_design, wire_design
from ibplan.report.data import to_json
from ibplan.report.topology import topology_text
from ibplan.report.topology_data import device_data, topology_data
from ibplan.report.topology_device import device_text
from tests.examples import share
from tests.golden import check_golden
from tests.report import samples
from tests.report.wired import CASES, RAIL_PODS, TWO_LEAVES, UNPRICED, Case, case_id, described, wired
from tests.test_golden_specs import GOLDEN

WIDTHS = (80, 120, 200)
every_case = pytest.mark.parametrize("case", CASES, ids=case_id)


def named(ranges: tuple[NameRange, ...]) -> list[str]:
    """Every name of some ranges."""
    found = []
    for r in ranges:
        head, first = r.first.rsplit("-", 1)
        assert r.last == f"{head}-{int(first) + r.count - 1:03d}"
        found += [f"{head}-{int(first) + n:03d}" for n in range(r.count)]
    return found


def all_switches(case: Case) -> list[tuple[str, Switches]]:
    topology = described(*case)
    found = [("leaf", leaf.switches) for unit in topology.units for leaf in unit.leaves]
    found += [("spine", pod.switches) for pod in topology.pods if pod.switches is not None]
    return found + ([("core", topology.core.switches)] if topology.core is not None else [])


@every_case
def test_groups_hold_every_device_of_a_fabric_once(case: Case) -> None:
    wiring, topology = wired(*case).wiring, described(*case)
    d, names = wiring.devices, wiring.device_names()
    for tier in ("leaf", "spine", "core"):
        shown = sorted(name for t, group in all_switches(case) if t == tier for name in named(group.names))
        assert shown == sorted(names[i] for i in wiring.of_kind(tier) if d.fabric[i] == 0)
    servers = sorted(name for unit in topology.units for name in named(unit.server_names))
    assert servers == sorted(names[i] for i in wiring.of_kind("server"))
    hosts = Counter(name for group in topology.hosts for name in named(group.names))
    assert hosts == Counter(names[i] for kind in ("attached", "manager") for i in wiring.of_kind(kind))


@every_case
def test_folding_keeps_totals(case: Case) -> None:
    topology, network = described(*case), wired(*case).wiring.network
    assert sum(unit.count * unit.servers for unit in topology.units) == network.request.servers
    assert sum(pod.count * pod.leaves for pod in topology.pods) == network.fabric.leaf_count
    assert sum(pod.count * pod.spines for pod in topology.pods) == network.fabric.spine_count
    assert sum(row.count for row in topology.links) == sum(c.count for c in network.links)
    for row in network.tiers:
        groups = [group for tier, group in all_switches(case) if tier == row.tier]
        assert sum(g.count for g in groups) * topology.fabrics == row.count
        assert sum(g.count * g.use.used for g in groups) * topology.fabrics == row.ports_used
        assert sum(g.count * g.use.free for g in groups) * topology.fabrics == row.ports_free
    up = sum(n.links * g.count for _, g in all_switches(case) for n in g.neighbors if n.direction == "up")
    between = sum(c.count * (2 if c.kind == "leaf-leaf" else 1) for c in network.links if "leaf-" in c.kind)
    between += sum(c.count for c in network.links if c.kind == "spine-core")
    assert up * topology.fabrics == between


@every_case
def test_what_is_said_of_a_group_holds_of_each_of_its_switches(case: Case) -> None:
    wiring = wired(*case).wiring
    for _, group in all_switches(case):
        names = named(group.names)
        for name in {names[0], names[-1], names[len(names) // 2]}:
            view = device_view(wiring, find_device(wiring, name))
            assert view.use == group.use
            links = Counter((p.kind, p.direction, p.gbps) for p in view.ports)
            said: Counter[tuple[object, ...]] = Counter()
            for n in group.neighbors:
                said[n.kind, n.direction, n.gbps] += n.links
            assert links == said


@every_case
def test_rails_are_on_the_leaves_that_it_says(case: Case) -> None:
    wiring, topology = wired(*case).wiring, described(*case)
    for unit in topology.units:
        if not unit.servers:
            continue
        view = device_view(wiring, find_device(wiring, unit.server_names[0].first))
        rails = {(p, r) for leaf in unit.leaves for p, at in zip(leaf.positions, leaf.rails, strict=True) for r in at}
        seen = set()
        for port in view.ports:
            assert port.nic is not None
            leaf = find_device(wiring, port.far_device)
            if wiring.devices.fabric[leaf] == 0:
                seen.add((int(wiring.devices.position[leaf]) + 1, port.nic.rail))
        assert seen <= rails
        assert {rail for _, rail in seen} == {rail for _, rail in rails}


def mirrored(case: Case, view: DeviceView) -> None:
    wiring = wired(*case).wiring
    for port in view.ports:
        far = device_view(wiring, find_device(wiring, port.far_device))
        back = [p for p in far.ports if p.name == port.far_port]
        assert [(p.far_device, p.far_port, p.gbps, p.kind) for p in back] == [
            (view.name, port.name, port.gbps, port.kind)
        ]


@settings(max_examples=share(40), deadline=None)
@given(st.data())
def test_far_ends_mirror_each_other(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    wiring = wired(*case).wiring
    device = data.draw(st.integers(0, len(wiring.devices) - 1))
    view = device_view(wiring, device)
    assert find_device(wiring, view.name) == device
    links = wiring.links
    assert len(view.ports) == int(np.sum(links.a_device == device) + np.sum(links.b_device == device))
    assert len({(p.name.cage, p.name.leg) for p in view.ports}) == len(view.ports)
    mirrored(case, view)


@every_case
def test_free_ports_are_as_many_as_are_counted_and_none_is_in_use(case: Case) -> None:
    wiring = wired(*case).wiring
    for device in np.flatnonzero(wiring.devices.kind >= 3)[:: max(1, len(wiring.devices) // 20)].tolist():
        view, use = device_view(wiring, device), port_use(wiring, device)
        assert sum(r.count for r in view.free) == use.free + use.kept + use.spare
        taken = {(p.name.cage, p.name.leg) for p in view.ports}
        ends = {(name.cage, name.leg) for r in view.free for name in (r.first, r.last)}
        assert not taken & ends


@pytest.mark.parametrize("width", WIDTHS)
@every_case
def test_no_line_is_over_the_width(case: Case, width: int) -> None:
    design, wiring = wired(*case), wired(*case).wiring
    texts = [topology_text(design, described(*case), width=width)]
    for kind in ("server", "attached", "manager", "leaf", "spine", "core"):
        devices = wiring.of_kind(kind)  # type: ignore[arg-type]
        if len(devices):
            texts.append(device_text(design, device_view(wiring, int(devices[-1])), width=width))
    for text in texts:
        assert max(map(len, text.splitlines())) <= width
        assert "\x1b" not in text
        assert "…" not in text


def test_ascii_has_no_other_characters() -> None:
    for case in CASES[:3]:
        topology_text(wired(*case), described(*case), width=80, ascii_only=True).encode("ascii")
        view = device_view(wired(*case).wiring, 0)
        device_text(wired(*case), view, width=80, ascii_only=True).encode("ascii")


def test_hostile_names_do_not_drive_the_terminal() -> None:
    design = replace(wired("three-lines"), name="a\x1b[31mb\n")
    view = device_view(design.wiring, 0)
    for text in (topology_text(design, described("three-lines"), width=80), device_text(design, view, width=80)):
        assert "\x1b" not in text
        assert "a\\x1b[31mb\\x0a: " in text


@every_case
def test_json_has_the_same_facts(case: Case) -> None:
    data = json.loads(to_json(topology_data(wired(*case), described(*case))))
    assert data["design"] == wired(*case).id
    assert sum(u["count"] * u["servers"] for u in data["topology"]["units"]) == data["topology"]["servers"]
    view = device_view(wired(*case).wiring, 0)
    device = json.loads(to_json(device_data(wired(*case), view)))["device"]
    assert [p["far_device"] for p in device["ports"]] == [p.far_device for p in view.ports]
    assert device["use"] is None


@pytest.mark.parametrize("name", ["h100-pod-127", "storage-attached", "three-tiers-16384"])
def test_golden_show(name: str) -> None:
    check_golden(GOLDEN / f"show-{name}.txt", topology_text(wired(name), described(name), width=80))


def test_golden_device() -> None:
    design = wired("h100-pod-127")
    view = device_view(design.wiring, find_device(design.wiring, "leaf-030"))
    check_golden(GOLDEN / "show-h100-pod-127-leaf-030.txt", device_text(design, view, width=80))


def test_pods_by_rail_and_joined_leaves_are_told() -> None:
    assert "leaves of one rail under" in topology_text(wired(*RAIL_PODS), described(*RAIL_PODS), width=100)
    assert "across: 8 x 800 Gb/s to 1 leaf" in topology_text(wired(*TWO_LEAVES), described(*TWO_LEAVES), width=100)


def test_any_design_can_be_wired_by_name() -> None:
    assert not wired("gb300-nvl72", UNPRICED).recommended
    for name in ("three-lines", "small-team"):
        plan = samples.plan(name)
        for design_id in [plan.designs[-1].id, *(other.id for other in plan.designs[0].alternatives[:2])]:
            assert wired(name, design_id).id == design_id


def test_unknown_designs_and_no_recommendation() -> None:
    with pytest.raises(NoDesignError, match="name one with --design"):
        wire_design(samples.spec("three-lines", "budget=$1M"), samples.catalog())
    planned = samples.evaluated("three-lines", "budget=$1M")
    with pytest.raises(UsageError, match="nearest: infiniband-nvidia-qm9700-2t-1to1"):
        chosen_design(*planned, "infiniband-nvidia-qm9700")
    with pytest.raises(UsageError, match="cannot be built"):
        chosen_design(*planned, planned[0].rejected[0].id)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("leaf-99", "nearest: leaf-032"),
        ("leaf-1", "nearest: leaf-001"),
        ("leef-003", "nearest: leaf-003"),
        ("leaf-0", "nearest: leaf-001"),
        ("leaf-²", "nearest: leaf-001"),
        ("", "there are server-001"),
        ("x" * 10000, "there are server-001"),
    ],
)
def test_unknown_devices_name_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_device(wired("h100-pod-127").wiring, name)
    assert near in str(caught.value)
    assert len(str(caught.value)) < 300
