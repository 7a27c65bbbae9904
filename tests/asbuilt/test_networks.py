"""Files that hold all networks of a plan: of one network nothing is lost, and of the others nothing is a stranger."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest

from ibplan.asbuilt.differences import VerifyResult
from ibplan.asbuilt.name_map import EMPTY, read_name_map
from ibplan.asbuilt.planned import PlannedFabric, planned_fabric
from ibplan.asbuilt.reading import read_fabric
from ibplan.asbuilt.verify import MatchBy, verify
from ibplan.economics.items import NetworkName
from ibplan.export.interfaces import link_ends
from ibplan.export.scheme import all_schemes, make_scheme
from ibplan.spec.load import LoadedSpec, load_spec
from tests.asbuilt import built
from tests.report.samples import catalog

ROCE = "servers: 20\nserver: nvidia-dgx-h100\nfabrics: roce\nnetwork: {switch: nvidia-sn5610, tiers: 2}\n"
NAMED = (
    ROCE
    + "naming: {leaf: '{network}sw-l{number:2}', server: 'gpu{number:3}', server_ports: [a, b, c, d, e, f, g, h]}\n"
)
INFINIBAND = "servers: 20\nserver: nvidia-dgx-h100\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, tiers: 2}\n"
NETWORKS: tuple[NetworkName, ...] = ("compute", "storage", "inband", "oob")
HEAD = ("a device", "a port", "b device", "b port")
Row = tuple[str, str, str, str]


def loaded(text: str) -> LoadedSpec:
    return load_spec("-", stdin=BytesIO(text.encode()))


@cache
def plan_of(text: str, network: NetworkName) -> PlannedFabric:
    return planned_fabric(loaded(text), catalog(), None, network)


@cache
def exported(text: str) -> tuple[tuple[NetworkName, Row], ...]:
    """All cables of all networks, as exports call their ends."""
    schemes = all_schemes(make_scheme(loaded(text), catalog()))
    return tuple((scheme.network, tuple(link)[1:]) for scheme in schemes for link in link_ends(scheme))  # type: ignore[misc]


def rows(text: str) -> list[Row]:
    return [row for _, row in exported(text)]


def scheduled(text: str) -> list[Row]:
    """The same as the cable schedule calls them."""
    found = []
    for network in NETWORKS:
        fabric = plan_of(text, network)
        for link in range(len(fabric.wiring.links)):
            ends = []
            for port in fabric.ends(link):
                name = fabric.port_name(port)
                assert name is not None
                ends += [fabric.names[fabric.at(port)[0]], name.name]
            found.append((ends[0], ends[1], ends[2], ends[3]))
    return found


def swapped(found: list[Row], *ends: tuple[str, str]) -> list[Row]:
    """The far ends of two cables change places."""
    first, second = (next(n for n, row in enumerate(found) if row[2:] == end) for end in ends)
    one, two = found[first], found[second]
    changed = list(found)
    changed[first], changed[second] = (*one[:2], *two[2:]), (*two[:2], *one[2:])
    return changed


def checked(
    path: Path,
    text: str,
    network: NetworkName,
    table: list[Row],
    match: MatchBy = "auto",
    names: str | None = None,
) -> VerifyResult:
    (path / "all.csv").write_text(built.list_csv(table, HEAD))
    name_map = EMPTY
    if names is not None:
        (path / "names.map").write_text(names)
        name_map = read_name_map(path / "names.map")
    return verify(plan_of(text, network), read_fabric([path / "all.csv"]), name_map, match)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(
    ("text", "table"),
    [(ROCE, rows), (ROCE, scheduled), (NAMED, rows), (INFINIBAND, rows)],
    ids=["roce", "schedule", "named", "infiniband"],
)
def test_each_network_is_found_in_a_file_of_all(
    tmp_path: Path, text: str, table: Callable[[str], list[Row]], network: NetworkName
) -> None:
    found = table(text)
    result = checked(tmp_path, text, network, found)
    planned = len(plan_of(text, network).wiring.links)
    assert (result.right_links, result.differences, result.unknown) == (planned, (), ())
    others = ", ".join(f"{name} (--network {name})" for name in sorted(set(NETWORKS) - {network}))
    assert result.notes == (
        f"Left out: {len(found) - planned:,} cables of other networks. Not checked here: {others}.",
        "The rate is not stated, and not checked.",
    )


def test_two_swapped_cables_of_a_server_are_found_among_ports_of_all_networks(tmp_path: Path) -> None:
    table = swapped(rows(ROCE), ("server-007", "eth3"), ("server-007", "eth4"))
    result = checked(tmp_path, ROCE, "compute", table)
    assert (result.counts, result.moves, result.unknown) == ({"swapped": 2}, 2, ())
    assert {str(row.at) for row in result.differences} == {"leaf-002:swp7s0", "leaf-002:swp7s1"}
    for network in NETWORKS[1:]:
        assert checked(tmp_path, ROCE, network, table).differences == ()


def test_cables_that_are_swapped_between_networks_are_wrong_on_both(tmp_path: Path) -> None:
    table = swapped(rows(ROCE), ("server-007", "eth2"), ("server-007", "storage-1"))
    for network, elsewhere in (("compute", "storage"), ("storage", "compute")):
        result = checked(tmp_path, ROCE, network, table)  # type: ignore[arg-type]
        assert (result.counts, result.unknown) == ({"wrong-port": 1, "unexpected": 1}, ())
        (note,) = (row.note for row in result.differences if row.kind == "unexpected")
        assert f"on the {elsewhere} network" in note
    for network in ("inband", "oob"):
        assert checked(tmp_path, ROCE, network, table).differences == ()  # type: ignore[arg-type]


def test_cables_that_are_swapped_on_one_network_are_no_matter_of_the_others(tmp_path: Path) -> None:
    table = swapped(rows(ROCE), ("server-007", "bmc"), ("server-008", "bmc"))
    assert checked(tmp_path, ROCE, "oob", table).counts == {"swapped": 2}
    assert checked(tmp_path, ROCE, "compute", table).differences == ()


def test_a_cable_between_switches_of_two_networks_is_unexpected(tmp_path: Path) -> None:
    used = {(row[0], row[1]) for row in rows(ROCE)} | {(row[2], row[3]) for row in rows(ROCE)}
    free = {
        leaf: next(f"swp{n}" for n in range(1, 65) if not any((leaf, f"swp{n}{s}") in used for s in ("", "s0", "s1")))
        for leaf in ("leaf-001", "storage-leaf-001")
    }
    (a, a_port), (b, b_port) = free.items()
    result = checked(tmp_path, ROCE, "compute", [*rows(ROCE), (a, a_port, b, b_port)])
    (row,) = result.differences
    assert (row.kind, row.action, row.at.device, result.unknown) == ("unexpected", "remove", "leaf-001", ())
    assert row.note.startswith("the plan has storage-leaf-001 on the storage network")
    assert checked(tmp_path, ROCE, "oob", [*rows(ROCE), (a, a_port, b, b_port)]).differences == ()


def test_structure_takes_no_device_of_another_network(tmp_path: Path) -> None:
    # The storage leaves are not in the file at all: nothing that has another place stands for them.
    table = [row for network, row in exported(ROCE) if network != "storage"]
    table = [row for row in table if not row[2].startswith("storage-leaf")]
    result = checked(tmp_path, ROCE, "storage", table, "structure")
    assert (result.right_links, result.devices.by_structure, result.unknown) == (0, 0, ())
    assert result.counts == {"unconnected": 22}


def test_names_of_the_wiring_still_tell_a_network_that_stands_alone(tmp_path: Path) -> None:
    fabric = plan_of(ROCE, "storage")
    called = dict(zip(fabric.names, fabric.wiring.device_names(), strict=True))
    alone = scheduled(ROCE)[len(plan_of(ROCE, "compute").wiring.links) :][: len(fabric.wiring.links)]
    table = [(called[a], a_port, called[b], b_port) for a, a_port, b, b_port in alone]
    assert {"leaf-001", "leaf-002"} <= {row[0] for row in table}
    result = checked(tmp_path, ROCE, "storage", table)
    assert (result.differences, result.unknown) == ((), ())


def test_a_name_map_may_name_devices_of_all_networks(tmp_path: Path) -> None:
    names = {"leaf-001": "sw-a", "storage-leaf-001": "sw-b", "oob-leaf-001": "sw-c"}
    table = [(names.get(a, a), a_port, names.get(b, b), b_port) for a, a_port, b, b_port in rows(ROCE)]
    text = "".join(f"{found} {planned}\n" for planned, found in names.items())
    for network in NETWORKS:
        result = checked(tmp_path, ROCE, network, table, names=text)
        assert (result.differences, result.unknown) == ((), ()), network
