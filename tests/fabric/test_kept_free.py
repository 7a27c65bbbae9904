"""Reserved ports without a far end: everything else stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from ibplan.fabric.device_ports import device_view
from ibplan.fabric.kept_free import without_managers
from ibplan.fabric.topology import topology
from ibplan.fabric.wiring import Wiring, wire
from ibplan.plan.wired import wire_design
from ibplan.plan.wires import network_size
from tests.plan.planning import COMPUTE_ONLY, catalog, loaded

SPEC = "servers: 16\nserver: nvidia-dgx-h100\nfabrics: roce\n" + COMPUTE_ONLY
FORMS = {
    "total": ("network={reserved_ports: 3}",),
    "one leaf of its own": ("network={reserved_ports: 1, switch: nvidia-sn5610}",),
    "per leaf": ("network={reserved_ports: {per_leaf: 2, per_spine: 1}}",),
    "separate rails": ("network={reserved_ports: 2, rail_only: true}",),
    "attached hosts": (
        "network={reserved_ports: 2}",
        "attached=[{name: store, servers: 3, ports: 2, port_gbps: 400, cage_class: nic-qsfp112}]",
    ),
    "one tier": ("servers=2", "network={reserved_ports: 2, tiers: 1}"),
}


def both(*settings: str) -> tuple[Wiring, Wiring]:
    """A design as it is wired, and all ports as they were sized."""
    found = wire_design(loaded(SPEC, *settings), catalog())
    form = found.evaluated.form
    sized = wire(
        network_size(found.evaluated, "compute"), planes=form.choices.planes, ports_per_nic=form.hosts.ports_per_nic
    )
    return found.wiring, sized


def cables(wiring: Wiring) -> set[tuple[str, int, str, int]]:
    names, links = wiring.device_names(), wiring.links
    columns = (links.a_device, links.a_port, links.b_device, links.b_port)
    return {(names[a], p, names[b], q) for a, p, b, q in zip(*(c.tolist() for c in columns), strict=True)}


@pytest.mark.parametrize("settings", FORMS.values(), ids=FORMS)
def test_only_managers_and_their_links_are_gone(settings: tuple[str, ...]) -> None:
    wiring, sized = both(*settings)
    gone = cables(sized) - cables(wiring)
    assert cables(wiring) < cables(sized) or not gone
    assert all(host.startswith("manager-") for _, _, host, _ in gone)
    assert wiring.device_names() == [n for n in sized.device_names() if not n.startswith("manager-")]
    wanted = sum(c.count for c in sized.classes if c.kind == "reserved")
    assert len(gone) == wanted
    assert len(wiring.links) == sum(c.count for c in wiring.classes if c.kind != "reserved")
    kept = wiring.kept
    there = [] if kept is None else list(zip(kept.device.tolist(), kept.port.tolist(), strict=True))
    assert {(wiring.device_name(leaf), port) for leaf, port in there} == {(leaf, port) for leaf, port, _, _ in gone}


@pytest.mark.parametrize("settings", FORMS.values(), ids=FORMS)
def test_ports_that_are_kept_are_neither_used_nor_free(settings: tuple[str, ...]) -> None:
    wiring, sized = both(*settings)
    for leaf in wiring.of_kind("leaf").tolist():
        name = wiring.device_name(leaf)
        now, before = device_view(wiring, leaf), device_view(sized, sized.device_names().index(name))
        managers = sum(p.kind == "reserved" for p in before.ports)
        assert now.use is not None
        assert before.use is not None
        assert now.ports == tuple(p for p in before.ports if p.kind != "reserved")
        assert (now.use.used, now.use.kept) == (before.use.used - managers, before.use.kept + managers)
        assert (now.use.free, now.use.spare) == (before.use.free, before.use.spare)
        assert sum(r.count for r in now.free) == sum(r.count for r in before.free) + managers


def test_leaves_that_keep_other_numbers_of_ports_are_not_alike() -> None:
    wiring, _ = both("network={reserved_ports: 1, switch: nvidia-sn5610}")
    shown = topology(wiring)
    assert sorted(leaf.switches.use.kept for unit in shown.units for leaf in unit.leaves) == [0, 0, 1]
    assert {row.kind for row in shown.links} == {"server-leaf", "leaf-spine"}
    assert not shown.hosts


def test_managers_of_infiniband_stay() -> None:
    wiring = wire_design(loaded(SPEC.replace("roce", "infiniband"), "network={reserved_ports: 2}"), catalog()).wiring
    assert wiring.kept is None
    assert len(wiring.of_kind("manager")) == 2
    assert without_managers(wiring).kept is not None


def test_nothing_to_leave_out_leaves_the_wiring_as_it_is() -> None:
    wiring, sized = both("network={reserved_ports: 0}")
    assert wiring.kept is None
    assert np.array_equal(wiring.links.a_port, sized.links.a_port)
