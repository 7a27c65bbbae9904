"""Ethernet fabrics in miniature: FRR, as Debian packages it, on every switch, from the exported files alone."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx
import pytest

from ibplan.export.frr import BRIDGE
from ibplan.export.scheme import Scheme
from ibplan.export.switch_ports import SwitchPort, SwitchPorts
from ibplan.fabric.wiring_model import LEAF
from tests.export.ethernet import FORMS, JOINED, PLANES, THREE_TIERS, small
from tests.export.samples import scheme, texts
from tests.system.programs import need
from tests.system.routers import Cable, Lab, eventually, lab

CASES = {"two planes": PLANES, "three tiers, BFD": THREE_TIERS, "two joined leaves": JOINED}
_CONVERGED_S = 60


class Miniature:
    """A scheme whose files are written to a folder, with one NIC port plugged in at every leaf."""

    def __init__(self, scheme: Scheme, folder: Path) -> None:
        self.scheme, self.folder = scheme, folder
        for name, text in texts("frr", scheme).items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.ports = SwitchPorts(scheme).of
        with (folder / "hosts.csv").open(encoding="utf-8", newline="") as stream:
            self.rows = list(csv.DictReader(stream))
        self.switches = {scheme.names[device]: device for device in self.ports}
        self.hosts = {f"{row['host']}/{row['port']}": row for row in self._one_a_leaf()}
        self.links = [(d, port) for d, found in self.ports.items() for port in found if port.role in ("up", "peer")]

    def _one_a_leaf(self) -> list[dict[str, str]]:
        return list({row["leaf"]: row for row in reversed(self.rows)}.values())

    def cables(self) -> Iterator[Cable]:
        """All links between switches by the plan's wiring, and one cable a leaf to a host by the list of hosts."""
        names = self.scheme.names
        for device, port in self.links:
            if port.role == "up" or device < port.far:
                yield Cable((names[device], port.name), (names[port.far], port.far_port))
        plugged = {(row["leaf"], row["leaf_port"]): name for name, row in self.hosts.items()}
        for name, device in self.switches.items():
            for port in self.ports[device]:
                if port.role == "host":
                    # An unplugged port is a cable to nowhere: its other end stays down.
                    host = plugged.get((name, port.name))
                    yield Cable((name, port.name), (host, "eth0") if host else (name, f"x-{port.number}"))

    def plug_in(self, running: Lab) -> None:
        """Set the hosts up as the list says."""
        for name, row in self.hosts.items():
            running.run(name, "ip", "link", "set", "dev", "eth0", "mtu", row["mtu"])
            running.run(name, "ip", "address", "add", f"{row['address']}/{row['prefix_length']}", "dev", "eth0")
            running.run(name, "ip", "link", "set", "dev", "eth0", "up")
            running.run(name, "ip", "route", "add", "default", "via", row["gateway"])

    def neighbors(self) -> dict[str, dict[str, str]]:
        """By switch and interface, the router at the other end: as planned."""
        loopbacks, names = self.scheme.addresses.loopbacks, self.scheme.names
        return {
            names[device]: {port.name: str(loopbacks[port.far]) for port in found if port.role != "host"}
            for device, found in self.ports.items()
        }

    def sessions(self, running: Lab) -> dict[str, dict[str, str]]:
        """The same of established sessions: as BGP has them."""
        return {switch: dict(self._established(running, switch)) for switch in self.switches}

    @staticmethod
    def _established(running: Lab, switch: str) -> Iterator[tuple[str, str]]:
        for interface, peer in running.show(switch, "show bgp neighbors").items():
            if peer["bgpState"] == "Established":
                yield interface, peer["remoteRouterId"]

    def planned_hops(self, switch: str) -> dict[str, list[str]]:
        """By prefix of every other leaf: the interfaces that lie on a shortest way to it, by search in a graph."""
        graph = networkx.Graph((device, port.far) for device, port in self.links)
        graph.add_nodes_from(self.ports)
        here, addresses = self.switches[switch], self.scheme.addresses
        found: dict[str, list[str]] = {}
        for device in self.ports:
            if device == here or self.scheme.wiring.devices.kind[device] != LEAF:
                continue
            far = networkx.single_source_shortest_path_length(graph, device)
            hops = sorted(p.name for p in self.ports[here] if self._nearer(p, far, here))
            if hops:
                found[str(addresses.loopbacks[device])] = hops
                found[str(addresses.subnets[device])] = hops
        return found

    @staticmethod
    def _nearer(port: SwitchPort, far: dict[int, int], here: int) -> bool:
        return port.role != "host" and here in far and far.get(port.far) == far[here] - 1

    def hops(self, running: Lab, switch: str) -> dict[str, list[str]]:
        """The same as the kernel has it, without the loopbacks of other tiers."""
        leaves = {str(self.scheme.addresses.loopbacks[d]) for d in self.scheme.addresses.subnets}
        return {to: hops for to, hops in running.routes(switch).items() if "/" in to or to in leaves}

    def all_hops(self, running: Lab) -> dict[str, dict[str, list[str]]]:
        """Of all switches."""
        return {switch: self.hops(running, switch) for switch in self.switches}

    def reached(self, running: Lab) -> list[tuple[str, str]]:
        """Pairs of hosts that reach each other with the largest packets (28 bytes are headers), unfragmented."""
        return [(a, b) for a in self.hosts for b in self.hosts if a != b and self._pings(running, a, b)]

    def _pings(self, running: Lab, a: str, b: str) -> bool:
        to, size = self.hosts[b]["address"], str(int(self.hosts[b]["mtu"]) - 28)
        said = running.run(a, "ping", "-c", "1", "-W", "2", "-M", "do", "-s", size, to, check=False)
        return "1 received" in said

    def planned_pairs(self) -> list[tuple[str, str]]:
        """Pairs of hosts in the same fabric."""
        fabric = {row["leaf"]: self._fabric(row["leaf"]) for row in self.hosts.values()}
        leaf = {name: row["leaf"] for name, row in self.hosts.items()}
        return [(a, b) for a in self.hosts for b in self.hosts if a != b and fabric[leaf[a]] == fabric[leaf[b]]]

    def _fabric(self, switch: str) -> int:
        return int(self.scheme.wiring.devices.fabric[self.switches[switch]])


@pytest.mark.parametrize("name", CASES)
def test_the_fabric_routes_as_planned(name: str, tmp_path: Path) -> None:
    mini = Miniature(small(CASES[name]), tmp_path)
    wanted = {switch: mini.planned_hops(switch) for switch in mini.switches}
    with lab(tmp_path, mini.switches, mini.hosts, mini.cables()) as running:
        mini.plug_in(running)
        eventually(lambda: mini.sessions(running), mini.neighbors(), _CONVERGED_S)
        eventually(lambda: mini.all_hops(running), wanted, _CONVERGED_S)
        assert mini.reached(running) == mini.planned_pairs()
        _every_line_is_taken(mini, running)
        if "BFD" in name:
            _links_are_watched(mini, running)
        _a_broken_link_narrows(mini, running)


def _every_line_is_taken(mini: Miniature, running: Lab) -> None:
    """Nothing of a file is missing in what runs; some words are shown in another order."""
    for switch in mini.switches:
        text = (mini.folder / switch / "frr.conf").read_text(encoding="utf-8")
        shown = {_sorted_words(line) for line in running.configuration(switch)}
        asked = [line for line in text.splitlines() if line.strip() and line.strip()[0] not in "!#"]
        known = ("hostname ", "line vty", "end")
        missing = [line for line in asked if _sorted_words(line) not in shown and not line.startswith(known)]
        # One line of the file sets the interface and the AS number of a neighbor, two show them.
        missing = [line for line in missing if " interface remote-as " not in line and " peer-group " not in line]
        assert missing == [], switch


def _sorted_words(line: str) -> tuple[str, ...]:
    return tuple(sorted(line.split()))


def _links_are_watched(mini: Miniature, running: Lab) -> None:
    for switch, neighbors in mini.neighbors().items():
        peers = running.show(switch, "show bfd peers")
        assert {peer["interface"]: peer["status"] for peer in peers} == dict.fromkeys(neighbors, "up")


def _a_broken_link_narrows(mini: Miniature, running: Lab) -> None:
    """Without one link, every way that used it is narrower by that link, and all hosts still reach each other."""
    device, port = mini.links[0]
    switch = mini.scheme.names[device]
    before = mini.planned_hops(switch)
    running.run(switch, "ip", "link", "set", "dev", port.name, "down")
    narrower = {to: [hop for hop in hops if hop != port.name] for to, hops in before.items()}
    assert any(len(narrower[to]) < len(hops) for to, hops in before.items())
    eventually(lambda: mini.hops(running, switch), narrower, _CONVERGED_S)
    eventually(lambda: mini.reached(running), mini.planned_pairs(), _CONVERGED_S)


def test_a_cable_to_the_wrong_pod_does_not_come_up(tmp_path: Path) -> None:
    mini = Miniature(small(THREE_TIERS), tmp_path)
    cables = list(mini.cables())
    up = [n for n, cable in enumerate(cables) if cable.a[0].startswith("leaf") and cable.b[0].startswith("spine")]
    first, last = up[0], up[-1]
    swapped = {cables[first], cables[last]}
    cables[first], cables[last] = (
        Cable(cables[first].a, cables[last].b),
        Cable(cables[last].a, cables[first].b),
    )
    wanted: dict[str, dict[str, Any]] = {s: dict(n) for s, n in mini.neighbors().items()}
    for cable in swapped:
        for switch, interface in cable:
            del wanted[switch][interface]
    with lab(tmp_path, mini.switches, mini.hosts, cables) as running:
        eventually(lambda: mini.sessions(running), wanted, _CONVERGED_S)
        for cable in swapped:
            eventually(lambda: _refused(running, *cable.a) | _refused(running, *cable.b), {"Bad Peer AS"}, _CONVERGED_S)  # noqa: B023
        assert mini.sessions(running) == wanted


def _refused(running: Lab, switch: str, interface: str) -> set[str]:
    """Why a session was last refused."""
    reason = running.show(switch, f"show bgp neighbors {interface}")[interface].get("lastNotificationReason", "")
    return {reason.rpartition("/")[2]} if reason else set()


def test_the_bridge_of_hosts_is_the_one_that_is_configured(tmp_path: Path) -> None:
    """What `ip` makes and what FRR gives an address to have one name."""
    mini = Miniature(small(JOINED), tmp_path)
    for switch in mini.switches:
        assert f"link add name {BRIDGE} " in (tmp_path / switch / "links.batch").read_text(encoding="utf-8")
        assert f"\ninterface {BRIDGE}\n" in (tmp_path / switch / "frr.conf").read_text(encoding="utf-8")


# Switches that a spec itself describes have no ports that SONiC names.
_FILES = [*(("frr", name) for name in FORMS), ("frr", "roce-2048"), ("sonic", "two planes"), ("sonic", "roce-2048")]


@pytest.mark.parametrize(("target", "name"), _FILES)
def test_vtysh_takes_every_file(target: str, name: str, tmp_path: Path) -> None:
    """Every line of every frr.conf, by the package's own check; of a large fabric, one switch a tier."""
    vtysh = need("vtysh", "frr")
    made = small(FORMS[name]) if name in FORMS else scheme("roce-2048")
    files = {path: text for path, text in texts(target, made).items() if path.endswith("frr.conf")}
    chosen = files if name in FORMS else {path: files[path] for path in ("leaf-001/frr.conf", "spine-001/frr.conf")}
    for path, text in chosen.items():
        file = tmp_path / "frr.conf"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([vtysh, "-C", "-f", str(file)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), path
