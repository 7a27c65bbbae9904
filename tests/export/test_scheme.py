"""Names, GUIDs and addresses of one design: unique, stable, by the site's patterns."""

from __future__ import annotations

from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path

import pytest

from ibplan.cabling.rows import cable_rows
from ibplan.errors import InputError
from ibplan.export.addresses import make_addresses
from ibplan.export.guids import read_guids
from ibplan.export.scheme import Scheme, all_schemes, make_scheme
from ibplan.fabric.wiring_model import KINDS, LEAF, SERVER
from ibplan.plan.cabled import cable_design
from ibplan.plan.site_names import DeviceNames
from ibplan.plan.sited import site_design
from ibplan.spec.load import load_spec
from tests.export.samples import SPECS, catalog, scheme

PLANES = ("b300-two-planes",)
LARGE = "budget=$900M"


def _by_kind(made: Scheme, kind: str) -> list[str]:
    number = KINDS.index(kind)  # type: ignore[arg-type]
    return [name for name, k in zip(made.names, made.wiring.devices.kind.tolist(), strict=True) if k == number]


@pytest.mark.parametrize("name", ["h100-pod-127", "b300-two-planes", "storage-attached", "rail-only-512"])
def test_default_names_are_those_of_the_wiring(name: str) -> None:
    made = scheme(name)
    assert list(made.names) == made.wiring.device_names()


def test_names_by_unit_position_and_rack() -> None:
    made = scheme(
        "h100-pod-127",
        "naming.server='su{unit}-n{position:2}'",
        "naming.leaf='su{unit}l{position}'",
        "naming.spine='{rack}-u{rack_unit:2}'",
    )
    assert _by_kind(made, "server")[31:33] == ["su1-n32", "su2-n01"]
    assert _by_kind(made, "leaf")[7:9] == ["su1l8", "su2l1"]
    floor = made.wired.evaluated.placed.floor
    assert floor is not None
    racks = {floor.ground.name(place) for place in floor.places}
    assert all(name.rpartition("-")[0] in racks for name in _by_kind(made, "spine"))


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "naming.leaf='leaf{position}'",
            "--set naming.leaf='leaf{position}': naming.leaf: leaf-001 and leaf-009 would both",
        ),
        ("naming.leaf='server-{number:3}'", "server-001 and leaf-001 would both be called 'server-001'"),
        ("naming.leaf='LEAF-{number}'", None),
        ("naming.spine='{number}-'", "start and end with a letter or a digit"),
        (f"naming.core='{'x' * 70}{{number}}'", None),
        (f"naming.leaf='{'x' * 70}{{number}}'", "at most 63 characters"),
    ],
)
def test_names_that_cannot_be(setting: str, said: str | None) -> None:
    made = scheme("h100-pod-127")
    names = DeviceNames(load_spec(SPECS / "h100-pod-127.yaml", [setting]), made.wired.evaluated)
    if said is None:
        assert len(names.named(made.wiring, "compute")) == len(made.names)
        return
    with pytest.raises(InputError, match="naming") as caught:
        names.named(made.wiring, "compute")
    assert said in str(caught.value)


def test_a_device_without_what_its_pattern_names() -> None:
    with pytest.raises(InputError, match=r"naming\.attached: storage-001 has no rack \(every one has a \{number\}\)"):
        scheme("storage-attached", "naming.attached='s{rack}{number}'")


def test_all_networks_have_names_of_their_own() -> None:
    made = all_schemes(scheme("h100-pod-127"))
    assert [one.network for one in made] == ["compute", "storage", "inband", "oob"]
    servers = {tuple(_by_kind(one, "server")) for one in made}
    assert len(servers) == 1
    switches = [name for one in made for kind in ("leaf", "spine", "core") for name in _by_kind(one, kind)]
    assert len(switches) == len(set(switches))
    oob = made[-1]
    there = {name for one in made[:3] for kind in ("leaf", "spine", "core") for name in _by_kind(one, kind)}
    assert there <= set(oob.names), "switches are called alike where they are hosts of the out-of-band network"


def test_switches_of_two_networks_alike_are_refused() -> None:
    made = scheme("h100-pod-127", "naming.leaf='leaf{number}'")
    with pytest.raises(InputError, match="compute and storage networks alike"):
        all_schemes(made)


def test_guids_are_local_unique_and_stay() -> None:
    small, large = (
        scheme("three-lines", LARGE, "fabrics=infiniband", "gpus=512"),
        scheme("three-lines", LARGE, "fabrics=infiniband", "gpus=1024"),
    )
    found = {}
    for made in (small, large):
        guids = made.guids
        every = [*guids.switches.values(), *(g for g in guids.ports if g), *(g for g in guids.adapters if g)]
        assert len(every) == len(set(every))
        assert all(guid >> 56 == 0x02 for guid in every)
        found[made.wired.id, len(made.names)] = {made.names[i]: guid for i, guid in guids.switches.items()}
        assert guids.planned == len(guids.switches) + sum(map(bool, guids.ports))
    one, other = found.values()
    assert one.items() <= other.items()


def test_known_guids_replace_made_up_ones(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        f"{(SPECS / 'converged-16.yaml').read_text(encoding='utf-8')}\naddressing: {{guids: guids.map}}\n",
        encoding="utf-8",
    )
    known = '# switches\n0x0c42a103001f2e00 "leaf-001"\n0x0c42a10300aa0001 "server-003 mlx5_2"\n'
    (tmp_path / "guids.map").write_text(known, encoding="utf-8")
    made = make_scheme(load_spec(tmp_path / "s.yaml"), catalog())
    names = {made.names[i]: guid for i, guid in made.guids.switches.items()}
    assert names["leaf-001"] == 0x0C42A103001F2E00
    ports = dict(zip(made.descriptions(), zip(made.guids.adapters, made.guids.ports, strict=True), strict=True))
    assert ports["server-003 mlx5_2"] == (0x0C42A10300AA0001, 0x0C42A10300AA0001)
    assert made.guids.planned == len(names) + sum(map(bool, made.guids.ports)) - 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leaf-001 0x1\n", "guids.map:1:1: a line is a GUID and a name"),
        ('\n0x0 "a"\n', "guids.map:2:1: 0 is no GUID"),
        ('0x1 "a"\n0x2 "a"\n', "guids.map:2:1: 'a' stands in two lines"),
        ('0x1 "a"\n0x1 "b"\n', "guids.map:2:1: 0x1 is that of 'a', too"),
    ],
)
def test_files_of_guids_that_are_wrong(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "guids.map"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_guids(path)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["b300-two-planes", "roce-2048", "one-switch"])
def test_addresses_are_unique_and_within_their_ranges(name: str) -> None:
    made = scheme(name)
    a, d, links = made.addresses, made.wiring.devices, made.wiring.links
    leaves = [i for i, kind in enumerate(d.kind.tolist()) if kind == LEAF]
    assert len({a.asns[i] for i in leaves}) == len(leaves)
    switches = list(a.loopbacks)
    assert len({a.loopbacks[i] for i in switches}) == len(switches)
    assert all(4200000000 <= asn <= 4294967294 for asn in a.asns.values())
    subnets = sorted(a.subnets.values())
    assert all(not one.overlaps(other) for one, other in pairwise(subnets))
    hosts = [int(x) for x in a.host if x]
    assert len(hosts) == len(set(hosts)) == int((d.kind[links.b_device] < LEAF).sum())
    for leaf, host in zip(links.a_device.tolist(), a.host.tolist(), strict=True):
        if host:
            subnet = a.subnets[leaf]
            assert IPv4Address(host) in subnet
            assert IPv4Address(host) not in (subnet.network_address, subnet.broadcast_address, a.gateway(leaf))


def test_spines_of_a_pod_share_an_as_number_and_cores_too() -> None:
    made = scheme("three-lines", LARGE, "fabrics=roce", "network.tiers=3", "network.pod_units=2", "gpus=2048")
    a, d = made.addresses, made.wiring.devices
    by_pod: dict[int, set[int]] = {}
    for i, kind in enumerate(d.kind.tolist()):
        if KINDS[kind] == "spine":
            by_pod.setdefault(int(d.pod[i]), set()).add(a.asns[i])
    assert len(by_pod) > 1
    assert all(len(found) == 1 for found in by_pod.values())
    assert len(set.union(*by_pod.values())) == len(by_pod)
    assert len({a.asns[i] for i, kind in enumerate(d.kind.tolist()) if KINDS[kind] == "core"}) == 1


def test_addresses_stay_where_servers_are_added() -> None:
    settings = (LARGE, "fabrics=roce", "network.switch=nvidia-sn5610", "network.tiers=2", "network.min_spines=16")
    found = []
    for gpus in (512, 1536):
        made = scheme("three-lines", *settings, f"gpus={gpus}")
        a, links = made.addresses, made.wiring.links
        ends = zip(links.b_device.tolist(), links.b_port.tolist(), a.host.tolist(), strict=True)
        hosts = {(made.names[b], port): host for b, port, host in ends if host}
        found.append(hosts | {(made.names[i], "asn"): asn for i, asn in a.asns.items()})
    assert found[0].items() <= found[1].items()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("addressing.asn={leaf: 65000-65003}", "addressing.asn.leaf: {leaves} AS numbers needed, 4 available"),
        (
            "addressing.hosts=10.0.0.0/22",
            "addressing.hosts: {leaves} subnets of /24 for the hosts of a leaf needed, 4 ",
        ),
        (
            "addressing.loopbacks={leaf: 10.224.0.0/30}",
            "addressing.loopbacks.leaf: {leaves} loopbacks needed, 2 available",
        ),
    ],
)
def test_ranges_that_are_too_small(setting: str, said: str) -> None:
    made = scheme("roce-2048")
    with pytest.raises(InputError, match="give a larger range") as caught:
        make_addresses(load_spec(SPECS / "roce-2048.yaml", [setting]), made.wiring)
    assert said.format(leaves=made.wiring.network.fabric.leaf_count) in str(caught.value)


def test_ports_of_servers_by_list_and_pattern() -> None:
    real = [f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11)]
    made = scheme("h100-pod-127", f"naming.server_ports={real}".replace("'", ""))
    ports = {text.rpartition(" ")[2] for text in made.descriptions() if text.startswith("server-")}
    assert ports == set(real)
    with pytest.raises(InputError, match="2 ports are listed, but a server has 8"):
        _ = scheme("h100-pod-127", "naming.server_ports=[a, b]").host_ports
    with pytest.raises(InputError, match="two ports of a host would be called 'nic1'"):
        _ = scheme("b300-two-planes", "naming.host_port='nic{nic}'").host_ports
    planes = scheme("b300-two-planes", "naming.host_port='r{rail}p{plane}'")
    kinds = planes.wiring.devices.kind[planes.wiring.links.b_device]
    ports = {port for port, kind in zip(planes.port_names("b"), kinds, strict=True) if kind == SERVER}
    assert ports == {f"r{rail}p{plane}" for rail in range(1, 9) for plane in (1, 2)}


def test_cable_schedule_and_racks_use_the_names_of_the_site() -> None:
    naming = "{leaf: '{network}-su{unit}-l{position}', server: 'gpu{number:3}', attached: '{group}.{number}'}"
    made = scheme("h100-pod-127", f"naming={naming}")
    names = {one.network: set(one.names) for one in all_schemes(made)}
    for network in cable_design(made.loaded, catalog()).networks:
        rows = list(cable_rows(network))
        assert {end.device for row in rows for end in (row.a, *row.b)} == names[network.name]  # type: ignore[index]
    racks = site_design(made.loaded, catalog()).racks
    placed = {device.name for content in racks for device in content.devices}
    assert placed < set.union(*names.values())
    assert {name for name in placed if name.startswith("gpu")} == {f"gpu{n:03d}" for n in range(1, 128)}
    assert len(placed) == sum(len(content.devices) for content in racks)
