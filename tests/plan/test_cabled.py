"""The cables of all networks together: one name a device, no port twice, uplinks in cages that are fast enough."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import chain

import pytest

from ibplan.cabling.rows import CableRow, cable_rows
from ibplan.plan.cabled import cable_design
from ibplan.plan.make import make_plan
from ibplan.spec.load import load_spec
from tests.cli.run import ROOT
from tests.plan.planning import catalog, loaded


@cache
def rows(name: str) -> list[CableRow]:
    cabled = cable_design(load_spec(ROOT / "specs" / f"{name}.yaml"), catalog())
    return list(chain.from_iterable(map(cable_rows, cabled.networks)))


@pytest.mark.parametrize("name", ["converged-16", "converged-pair-16", "one-switch", "b300-two-planes"])
def test_no_port_of_any_device_has_two_cables(name: str) -> None:
    used = Counter(
        (end.device, end.port)
        for row in rows(name)
        for end in (row.a, *row.b)
        if row.medium is not None and not row.cable_id.endswith("/2")  # two fibres of one link share its ports
    )
    assert [port for port, times in used.items() if times > 1] == []


def test_a_device_stands_in_one_place() -> None:
    places: dict[str, set[tuple[str | None, float | None]]] = {}
    for row in rows("converged-16"):
        for end in (row.a, *row.b):
            places.setdefault(end.device, set()).add((end.rack, end.unit))
    assert {device for device, found in places.items() if len(found) > 1} == set()
    assert {"leaf-001", "inband/leaf-001", "oob/leaf-001", "server-001", "pdu-001"} <= set(places)


def test_uplinks_of_out_of_band_switches_leave_their_copper_ports_alone() -> None:
    # SN2201: cages 1 to 48 are copper, 49 to 52 take 100G.
    ups = [row.b[0] for row in rows("converged-16") if row.b[0].device == "oob/leaf-001"]
    assert [(end.cage, end.port) for end in ups] == [(51, "51"), (52, "52")]


def test_ports_of_hosts_are_called_by_what_they_are_for() -> None:
    ends = {(row.network, end.device, end.port) for row in rows("converged-16") for end in row.b}
    assert {("oob", "server-001", "bmc"), ("inband", "server-001", "inband-1"), ("oob", "leaf-001", "mgmt")} <= ends
    assert ("oob", "pdu-001", "mgmt") in ends


UNPLACED = {
    "a host in the cages of servers": (
        "servers: 127\nserver: nvidia-dgx-h100\nfabrics: roce\nstorage: none\nmanagement: {inband: false, oob: false}\n"
        "network: {switch: nvidia-sn5610, medium: optical, partial_units: packed}\n"
        "attached: [{name: sto, servers: 1, ports: 8, port_gbps: 400, cage_class: nic-qsfp112}]\n"
    ),
    "storage in the cages of servers": (
        "servers: 33\nserver: nvidia-dgx-h200\nfabrics: roce\nstorage: {appliance_ports: 8}\n"
        "management: {inband: false, oob: false}\n"
    ),
}


@pytest.mark.parametrize("case", UNPLACED)
def test_hosts_without_a_place_leave_the_lengths_of_the_others_known(case: str) -> None:
    spec = loaded(UNPLACED[case])
    made = make_plan(spec, catalog())
    items = made.design(made.recommended or "").line_items
    billed: Counter[tuple[str, str, float | None]] = Counter()
    for item in items:
        if item.category == "cable":
            billed[item.network, item.part, item.length_m] += item.quantity
    scheduled: Counter[tuple[str, str | None, float | None]] = Counter()
    for row in chain.from_iterable(map(cable_rows, cable_design(spec, catalog()).networks)):
        scheduled[row.network, row.cable, row.length_m] += 1
    assert scheduled == billed
    assert sum(count for (_, _, length), count in billed.items() if length is None) == 8


def test_hosts_without_a_place_do_not_hide_that_the_runs_of_others_are_too_long() -> None:
    text = UNPLACED["a host in the cages of servers"].replace("optical", "multimode")
    hall = "site: {hall: {racks_per_row: 300}, rack: {power: 11 kW, width: 0.8 m}}\n"
    made = make_plan(loaded(text + hall), catalog())
    assert made.designs == ()
    assert {reason.code for rejected in made.rejected for reason in rejected.reasons} == {"run-too-long"}
