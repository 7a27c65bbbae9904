"""Designs in NetBox: its own import takes every file, and then has what the plan has."""

from __future__ import annotations

import csv
import io
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ibplan.catalog.store import load_catalog
from ibplan.export.registry import find_target, make_export
from ibplan.export.scheme import Scheme, all_schemes, make_scheme
from ibplan.fabric.wiring_model import CORE, LEAF, SERVER, SPINE
from ibplan.plan.runs import layout_of
from ibplan.spec.load import load_spec
from tests.cli.run import run
from tests.system.netbox_site import NetBox, netbox

SPECS = Path(__file__).parents[2] / "specs"
CASES = {
    "InfiniBand, two tiers, cages of two ports": ("converged-16", "servers=4", "network.tiers=2"),
    "RoCE, splitters": ("converged-pair-16", "servers=4"),
    "two planes, 8 NICs a server": ("b300-two-planes", "gpus=32"),
    "no racks": ("small-team",),
}
# Links in one cable, where there are splitters.
MOST_LINKS = {"RoCE, splitters": 4}
# The page of each file, as docs/export.md has their order.
PAGES = {
    "1-manufacturers.csv": "manufacturers",
    "2-device-roles.csv": "device-roles",
    "3-device-types.csv": "device-types",
    "4-sites.csv": "sites",
    "5-racks.csv": "racks",
    "6-devices.csv": "devices",
    "7-interfaces.csv": "interfaces",
    "8-cables.csv": "cables",
}
ROLES = {SERVER: "Server", LEAF: "Leaf switch", SPINE: "Spine switch", CORE: "Core switch"}
# NetBox has speeds in kb/s.
KBPS = 1_000_000

End = tuple[str, str]


class Planned(NamedTuple):
    """A cable of the schedule: its links, each by (device, port) of the switch at side a and the device at side b."""

    links: tuple[tuple[End, str], ...]
    length_m: float | None
    multimode: bool


class Case(NamedTuple):
    """A design, its files by name, and its cable schedule."""

    scheme: Scheme
    files: dict[str, str]
    cables: list[Planned]


@pytest.fixture(scope="module")
def site() -> Iterator[NetBox]:
    # A short path: names of sockets have at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="netbox-") as folder, netbox(Path(folder)) as running:
        yield running


def _case(name: str) -> Case:
    spec, *settings = CASES[name]
    loaded = load_spec(SPECS / f"{spec}.yaml", settings)
    scheme = make_scheme(loaded, load_catalog(loaded.catalog_paths, loaded.price_path))
    files = {file.path: "".join(file.pieces) for file in make_export(find_target("netbox"), scheme).files}
    changes = [word for setting in settings for word in ("--set", setting)]
    done = run("cables", str(SPECS / f"{spec}.yaml"), *changes)
    assert done.returncode == 0, done.stderr
    rows = csv.DictReader(io.StringIO(done.stdout))
    # The second fiber of a link is a cable of its own in the schedule.
    cables = [_planned(row) for row in rows if not row["cable_id"].endswith("/2")]
    return Case(scheme, files, cables)


def _planned(row: dict[str, str]) -> Planned:
    """A row of the schedule. Where a cable has several links, ports of the trunk have commas, devices semicolons."""
    ports, hosts = row["a_port"].split(","), row["b_device"].split("; ")
    trunk = row["a_device"].replace("/", "-")
    if len(hosts) == 1:
        hosts *= len(ports)
    links = tuple(((trunk, port), host.replace("/", "-")) for port, host in zip(ports, hosts, strict=True))
    return Planned(links, float(row["length_m"]) if row["length_m"] else None, row["medium"] == "multimode")


def _import(site: NetBox, files: dict[str, str]) -> dict[str, list[str]]:
    """What NetBox says against each file."""
    return {path: site.load(PAGES[path], files[path]) for path in sorted(files)}


@pytest.mark.parametrize("name", CASES)
def test_netbox_has_what_the_plan_has(site: NetBox, name: str) -> None:
    case = _case(name)
    site.empty()
    refused = _import(site, case.files)
    assert refused == {path: [] for path in case.files}
    assert set(case.files) == set(PAGES) - (set() if _racks(case.scheme) else {"5-racks.csv"})
    _check_racks(case.scheme, site.rows("racks"))
    devices = site.rows("devices")
    _check_devices(case.scheme, devices)
    interfaces = site.rows("interfaces")
    _check_interfaces(case.scheme, interfaces)
    cables = site.rows("cables")
    _check_cables(case.cables, cables)
    largest = max(cables, key=lambda cable: len(cable["a_terminations"]))
    assert len(largest["a_terminations"]) == MOST_LINKS.get(name, 1)
    _check_legs(site, largest)
    _check_traces(case, interfaces)
    # Import adds, and takes a file whole or not at all: the same again is refused and changes nothing. But NetBox does
    # not compare names of racks that have no location.
    again = {path: bool(said) for path, said in _import(site, case.files).items()}
    assert again == {path: path != "5-racks.csv" for path in case.files}
    assert len(site.rows("racks")) == 2 * len(_racks(case.scheme))
    assert [device["rack"] for device in site.rows("devices")] == [device["rack"] for device in devices]
    assert len(site.rows("interfaces")) == len(interfaces)
    assert len(site.rows("cables")) == len(case.cables)


def _racks(scheme: Scheme) -> dict[str, int]:
    """Rack units by name."""
    floor = scheme.wired.evaluated.placed.floor
    return {} if floor is None else {rack.name: rack.rack_units for rack in layout_of(floor).racks}


def _check_racks(scheme: Scheme, racks: list[dict[str, Any]]) -> None:
    assert {rack["name"]: rack["u_height"] for rack in racks} == _racks(scheme)
    assert {rack["status"]["value"] for rack in racks} <= {"planned"}


def _check_devices(scheme: Scheme, devices: list[dict[str, Any]]) -> None:
    schemes = all_schemes(scheme)
    assert {device["name"] for device in devices} == {name for one in schemes for name in one.names}
    roles = Counter(device["role"]["name"] for device in devices)
    for kind, role in ROLES.items():
        wanted = {
            name
            for one in schemes
            for name, its, alias in zip(one.names, one.wiring.devices.kind, one.aliases, strict=True)
            if its == kind and not alias
        }
        if kind != SERVER:  # networks have switches of their own, and the servers of the compute network
            assert roles[role] == len(wanted), role
    assert roles["Server"] == sum(int(kind) == SERVER for kind in scheme.wiring.devices.kind)
    racks = _racks(scheme)
    placed = [device for device in devices if device["rack"]]
    assert bool(placed) == bool(racks)
    for device in placed:
        upright = device["role"]["name"] == "Rack PDU"
        assert (device["position"] is None) == upright, device["name"]
        if not upright:
            assert device["face"]["value"] == "front"
            assert 1 <= device["position"] <= racks[device["rack"]["name"]]


def _check_interfaces(scheme: Scheme, interfaces: list[dict[str, Any]]) -> None:
    """One for each end of each link, with the speed of the link."""
    wanted: Counter[tuple[str, int]] = Counter()
    for one in all_schemes(scheme):
        for a, b, link_class in zip(
            one.wiring.links.a_device, one.wiring.links.b_device, one.wiring.links.link_class, strict=True
        ):
            speed = int(one.wiring.classes[link_class].gbps * KBPS)
            wanted.update([(one.names[a], speed), (one.names[b], speed)])
    assert Counter((found["device"]["name"], found["speed"]) for found in interfaces) == wanted
    kinds = {found["type"]["value"] for found in interfaces if found["description"] == "compute network"}
    infiniband = scheme.wired.fabric == "infiniband"
    assert {kind.startswith("infiniband-") for kind in kinds} == {infiniband}


def _links(cable: dict[str, Any]) -> tuple[tuple[End, str], ...]:
    sides = [
        [(end["object"]["device"]["name"], end["object"]["name"]) for end in cable[side]]
        for side in ("a_terminations", "b_terminations")
    ]
    assert len(sides[0]) == len(sides[1])
    return tuple((a, b[0]) for a, b in zip(*sides, strict=True))


def _check_cables(planned: list[Planned], cables: list[dict[str, Any]]) -> None:
    """Those of the schedule: the same links in each, its length, and the profile that keeps links apart."""
    found = {frozenset(_links(cable)): cable for cable in cables}
    assert len(found) == len(cables) == len(planned)
    assert set(found) == {frozenset(cable.links) for cable in planned}
    for cable in planned:
        has = found[frozenset(cable.links)]
        count = len(cable.links)
        assert has["profile"]["value"] == ("single-1c1p" if count == 1 else f"trunk-{count}c1p")
        assert has["length"] == cable.length_m
        assert (has["type"] == "mmf") == cable.multimode
        assert has["status"]["value"] == "planned"


def _check_traces(case: Case, interfaces: list[dict[str, Any]]) -> None:
    """From each port NetBox's own trace comes to one port: the one at the far end of the planned link, and back."""
    far: dict[End, End] = {}
    for interface in interfaces:
        (end,) = interface["connected_endpoints"]
        far[interface["device"]["name"], interface["name"]] = end["device"]["name"], end["name"]
    assert all(far[other] == one for one, other in far.items())
    for cable in case.cables:
        for switch_port, host in cable.links:
            assert far[switch_port][0] == host, switch_port


def _check_legs(site: NetBox, cable: dict[str, Any]) -> None:
    """NetBox follows each leg of a splitter to its own end."""
    for near, far in zip(cable["a_terminations"], cable["b_terminations"], strict=True):
        ((ends, through, others),) = site.trace(near["object_id"])
        assert [end["id"] for end in ends] == [near["object_id"]]
        assert through["id"] == cable["id"]
        assert [end["id"] for end in others] == [far["object_id"]]


def test_what_netbox_refuses_is_seen(site: NetBox) -> None:
    """Devices before what they refer to, a type of interface that NetBox does not know, and ports that are taken."""
    files = _case("no racks").files
    site.empty()
    head, first, *others = files["7-interfaces.csv"].splitlines(keepends=True)
    assert "Record 1 role" in site.load("devices", files["6-devices.csv"])[0]
    assert site.rows("devices") == []
    assert not any(_import(site, {path: files[path] for path in sorted(files)[:5]}).values())
    assert "type" in site.load("interfaces", head + first.replace("25gbase-x-sfp28", "25gbase-x-unheard"))[0]
    assert site.rows("interfaces") == []
    assert site.load("interfaces", "".join([head, first, *others])) == []
    assert site.load("cables", files["8-cables.csv"]) == []
    assert "already connected" in site.load("cables", files["8-cables.csv"])[0]


def test_names_are_looked_up_in_all_of_netbox(site: NetBox) -> None:
    """A second site may have the same names, but interfaces do not find their devices then."""
    files = _case("no racks").files
    site.empty()
    assert not any(_import(site, files).values())
    elsewhere = {path: files[path].replace("small-team", "elsewhere") for path in ("4-sites.csv", "6-devices.csv")}
    assert not any(_import(site, elsewhere).values())
    assert "not a unique value" in site.load("interfaces", files["7-interfaces.csv"])[0]
