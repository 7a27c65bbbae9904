"""FRR's files: what must hold of any fabric, read line by line; that they run is held by tests/system/test_frr.py."""

from __future__ import annotations

import csv
import io
import re
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

import networkx as nx  # type: ignore[import-untyped]
import pytest

from ibplan.export.ecmp import path_width
from ibplan.export.scheme import Scheme
from ibplan.export.switch_ports import SwitchPorts
from ibplan.fabric.wiring_model import LEAF
from tests.export.ethernet import FORMS, ONE, PLANES, THREE_TIERS, small
from tests.export.samples import scheme, texts
from tests.golden import check_golden

GOLDEN = Path(__file__).parent / "golden"
_NEIGHBOR = re.compile(r"^ neighbor (\S+) interface remote-as (\d+)$", re.MULTILINE)


def _configurations(made: Scheme) -> dict[str, str]:
    files = texts("frr", made)
    return {path.partition("/")[0]: text for path, text in files.items() if path.endswith("/frr.conf")}


def _asn(text: str) -> int:
    (found,) = re.findall(r"^router bgp (\d+)$", text, re.MULTILINE)
    return int(found)


@pytest.mark.parametrize("tier", ["leaf", "spine"])
@pytest.mark.parametrize("target", ["frr", "sonic", "nvue"])
def test_the_files_of_a_small_fabric_are_kept(target: str, tier: str) -> None:
    for path, text in texts(target, small(PLANES)).items():
        if path.startswith(f"{tier}-p1-001/"):
            check_golden(GOLDEN / target / path, text)


@pytest.mark.parametrize("form", FORMS)
def test_both_ends_of_every_link_expect_each_other(form: str) -> None:
    made = small(FORMS[form])
    configured = _configurations(made)
    links = SwitchPorts(made).of
    assert set(configured) == {made.names[device] for device in links}
    for device, ports in links.items():
        wanted = {(p.name, made.addresses.asns[p.far]) for p in ports if p.role != "host"}
        found = {(name, int(asn)) for name, asn in _NEIGHBOR.findall(configured[made.names[device]])}
        assert found == wanted
        assert _asn(configured[made.names[device]]) == made.addresses.asns[device]
        # One AS number on both ends would be no external session.
        assert all(asn != made.addresses.asns[device] for _, asn in found)


@pytest.mark.parametrize("form", FORMS)
def test_a_path_never_meets_an_as_number_twice(form: str) -> None:
    """From leaf to leaf every shortest path has different AS numbers, so none is refused as a loop."""
    made = small(FORMS[form])
    graph = nx.Graph((d, p.far) for d, found in SwitchPorts(made).of.items() for p in found if p.role != "host")
    leaves = [int(d) for d in made.wiring.of_kind("leaf") if d in graph]
    for a in leaves:
        for b in leaves:
            if a < b and nx.has_path(graph, a, b):
                for path in nx.all_shortest_paths(graph, a, b):
                    numbers = [made.addresses.asns[device] for device in path]
                    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("form", FORMS)
def test_the_width_is_that_of_the_widest_set_of_shortest_paths(form: str) -> None:
    made = small(FORMS[form])
    ports = SwitchPorts(made).of
    graph = nx.Graph((d, p.far) for d, found in ports.items() for p in found if p.role != "host")
    graph.add_nodes_from(ports)
    widest = dict.fromkeys(ports, 1)
    for leaf in made.wiring.of_kind("leaf").tolist():
        far = nx.single_source_shortest_path_length(graph, leaf)
        for device, found in ports.items():
            hops = [p for p in found if p.role != "host" and device in far and far.get(p.far) == far[device] - 1]
            widest[device] = max(widest[device], len(hops))
    assert {d: path_width(made.wiring, d, found) for d, found in ports.items()} == widest
    for device, text in ((d, _configurations(made)[made.names[d]]) for d in ports):
        assert f"  maximum-paths {widest[device]}\n" in text


@pytest.mark.parametrize("form", FORMS)
def test_every_host_port_has_an_address_of_its_leaf(form: str) -> None:
    made = small(FORMS[form])
    files = texts("frr", made)
    rows = list(csv.DictReader(io.StringIO(files["hosts.csv"])))
    wiring = made.wiring
    assert len(rows) == int((wiring.devices.kind[wiring.links.b_device] < LEAF).sum())
    assert len({row["address"] for row in rows}) == len(rows)
    assert len({(row["host"], row["port"]) for row in rows}) == len(rows)
    for row in rows:
        text = files[f"{row['leaf']}/frr.conf"]
        (gateway,) = re.findall(r"^interface hosts\n ip address (\S+)$", text, re.MULTILINE)
        subnet = IPv4Interface(gateway).network
        assert IPv4Address(row["address"]) in subnet
        assert f"{row['gateway']}/{row['prefix_length']}" == gateway
        assert f"  network {subnet}\n" in text
        assert f"link set dev {row['leaf_port']} mtu {row['mtu']} master hosts\n" in files[f"{row['leaf']}/links.batch"]


def test_what_is_announced_is_what_is_believed() -> None:
    """The prefix list takes every prefix that any switch announces, and nothing longer or shorter in its place."""
    for text in _configurations(small(THREE_TIERS)).values():
        allowed = re.findall(r"^ip prefix-list FABRIC seq \d+ permit (\S+)(?: ge (\d+) le (\d+))?$", text, re.MULTILINE)
        for announced in re.findall(r"^  network (\S+)$", text, re.MULTILINE):
            network = IPv4Network(announced)
            taken = [
                prefix
                for prefix, least, most in allowed
                if network.subnet_of(IPv4Network(prefix))
                and int(least or IPv4Network(prefix).prefixlen) <= network.prefixlen
                and network.prefixlen <= int(most or IPv4Network(prefix).prefixlen)
            ]
            assert len(taken) == 1


def test_bfd_is_started_where_it_is_asked_for() -> None:
    for text, watched in ((THREE_TIERS, True), (ONE, False)):
        files = texts("frr", small(text))
        for path, content in files.items():
            if path.endswith("/daemons"):
                assert ("bfdd=yes" in content) is watched
        leaves = [content for path, content in files.items() if path.startswith("leaf") and path.endswith("frr.conf")]
        assert all((" neighbor UP bfd\n" in content) is watched for content in leaves)


def test_packet_size_is_that_of_the_spec() -> None:
    files = texts("frr", small(ONE, "ethernet.mtu=4200"))
    assert " mtu 4200 " in files["leaf-001/links.batch"]
    assert all(line.endswith(",4200") for line in files["hosts.csv"].splitlines()[1:])


def test_a_description_names_the_far_end() -> None:
    made = scheme("roce-2048")
    text = _configurations(made)["leaf-001"]
    assert "interface swp33\n description spine-001 swp1\n" in text
    assert text.count(" remote-as ") == 32
