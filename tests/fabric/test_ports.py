"""Names of ports as switches show them, and what is assumed of them."""

from __future__ import annotations

import pytest

from ibplan.catalog.store import load_catalog
from ibplan.errors import UsageError
from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.fabric.ports import PortName, class_port_names, port_label, port_names, port_schemes, systems_for
from ibplan.fabric.request import Attached
from ibplan.fabric.wiring import wire
from ibplan.fabric.wiring_cages import port_stride
from ibplan.plan.switches import catalog_switch
from tests.fabric.shapes import QM8700, QM9700, SN2010, SN5600, network, request


def of(switch: str) -> Geometry:
    catalog = load_catalog()
    return catalog_switch(catalog.switches[switch], catalog).geometry


def named(geometry: Geometry, gbps: int, cage: int, leg: int, system: str | None = None) -> PortName:
    name = port_names(geometry, gbps, system)[(cage - 1) * port_stride(geometry) + leg - 1]
    assert name is not None
    assert (name.cage, name.leg) == (cage, leg)
    return name


def test_panel_name_and_infiniband_number_differ_on_ndr() -> None:
    # Pain 45: cage 3 leg 2 is 1/3/2 on the panel; the InfiniBand number 6 is an inference.
    assert named(QM9700, 400, 3, 2) == PortName(3, 2, "1/3/2", "mlnx-os", False, 6, True)
    assert named(QM9700, 400, 32, 2).ib_port == 64


@pytest.mark.parametrize(
    ("switch", "gbps", "cage", "leg", "system", "name", "assumed"),
    [
        ("nvidia-qm9700", 200, 3, 4, None, "1/3/2/2", True),
        ("nvidia-qm8700", 200, 40, 1, None, "1/40", False),
        ("nvidia-qm8700", 100, 5, 2, None, "1/5/2", False),
        ("nvidia-sb7800", 100, 36, 1, None, "1/36", False),
        ("nvidia-q3400-ra", 800, 10, 2, None, "sw10p2", True),
        ("nvidia-sn5600", 800, 1, 1, None, "swp1", False),
        ("nvidia-sn5600", 400, 64, 2, None, "swp64s1", False),
        ("nvidia-sn5600", 800, 64, 1, "sonic", "Ethernet504", False),
        ("nvidia-sn5600", 400, 1, 2, "sonic", "Ethernet4", False),
        ("nvidia-sn5600", 200, 2, 4, "sonic", "Ethernet14", False),
        ("nvidia-sn2010", 25, 19, 2, "cumulus", "swp19s1", False),
        ("nvidia-sn2010", 100, 20, 1, "sonic", "Ethernet22", True),
        ("celestica-ds5000", 400, 2, 2, "sonic", "Ethernet12", True),
        ("celestica-ds5000", 400, 2, 2, None, "2/2", False),
        ("celestica-ds5000", 800, 2, 1, None, "2", False),
    ],
)
def test_names(switch: str, gbps: int, cage: int, leg: int, system: str | None, name: str, assumed: bool) -> None:
    found = named(of(switch), gbps, cage, leg, system)
    assert (found.name, found.assumed) == (name, assumed)


def test_numbers_that_no_source_gives_are_left_out() -> None:
    assert named(QM9700, 200, 1, 1).ib_port is None
    assert named(QM8700, 100, 1, 1).ib_port is None
    assert named(of("nvidia-q3400-ra"), 800, 1, 1).ib_port is None
    assert named(SN5600, 400, 1, 1).ib_port is None


def test_ports_that_a_speed_does_not_have_have_no_name() -> None:
    names = port_names(SN5600, 800)
    assert len([n for n in names if n]) == 64
    assert port_names(SN2010, 100)[0] is None


def test_a_system_that_does_not_name_such_cages_is_refused_with_those_that_do() -> None:
    with pytest.raises(
        UsageError, match="how sonic names the ports of ndr-osfp cages is not known; known: mlnx-os, plain"
    ):
        port_names(QM9700, 400, "sonic")
    assert named(QM9700, 400, 3, 2, "plain").name == "3/2"
    assert systems_for("spectrum4-osfp") == ("cumulus", "sonic")


def test_switches_of_unknown_cages_have_plain_names() -> None:
    inline = Geometry("inline", (CageSet(4, (Mode(400, 2), Mode(800, 1))),))
    assert [n.name for n in port_names(inline, 400) if n][:3] == ["1/1", "1/2", "2/1"]
    assert [n.name for n in port_names(inline, 800) if n] == ["1", "2", "3", "4"]


def test_every_switch_of_the_catalogue_has_one_name_a_port() -> None:
    catalog = load_catalog()
    for entry in catalog.switches.values():
        geometry = catalog_switch(entry, catalog).geometry
        for gbps in {m.gbps for s in geometry.sets for m in s.modes}:
            for system in (None, "plain"):
                names = [n.name for n in port_names(geometry, gbps, system) if n]
                assert len(set(names)) == len(names) > 0, (entry.id, gbps, system)


def test_infiniband_switches_of_the_catalogue_have_the_names_of_their_system() -> None:
    catalog = load_catalog()
    plain = {
        entry.id
        for entry in catalog.switches.values()
        if "infiniband" in entry.link_layers
        for n in port_names(catalog_switch(entry, catalog).geometry, entry.uplink_gbps)
        if n is not None and n.system == "plain"
    }
    assert plain == {"nvidia-q3450-ld"}  # co-packaged optics: no source says how its connectors are named


def test_every_scheme_has_a_source_and_one_default_a_class() -> None:
    defaults = [c for s in port_schemes() if s.default for c in s.cage_classes]
    assert len(defaults) == len(set(defaults))
    pairs = [(s.system, c) for s in port_schemes() for c in s.cage_classes]
    assert len(pairs) == len(set(pairs))
    known = {g.cage_class for entry in load_catalog().switches.values() for g in entry.cages}
    assert {c for _, c in pairs} <= known


def test_both_ends_of_a_class_are_named() -> None:
    storage = (Attached("nfs", 2, 1, 400),)
    net = network(request(30, 8, attached=storage, reserved_total=1), server_ports_per_cage=2)
    w = wire(net)
    for k, link in enumerate(w.classes):
        for side in ("a", "b"):
            names = class_port_names(w, k, side)  # type: ignore[arg-type]
            ports = w.links.end(side)[1][w.links.link_class == k]  # type: ignore[arg-type]
            assert all(names[p] is not None for p in ports.tolist()), link.kind
    assert port_label(w, 0, "a").name == "1/1/1"
    assert port_label(w, 3, "b").name == "2/2"  # the fourth port of a server with two ports a cage
