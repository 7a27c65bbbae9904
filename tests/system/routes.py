"""Ways from every leaf to every NIC port: by the tables a subnet manager has written, and by the simulator's model."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ibplan.export.subnet import Subnets
from ibplan.fabric.wiring_model import LEAF, Wiring
from ibplan.performance.flow_network import server_ports
from ibplan.performance.rates import Fabric, static_paths
from ibplan.performance.routing import PortFlows

Ints = npt.NDArray[np.int64]
_SWITCH = re.compile(r"Unicast lids .* of switch Lid \d+ guid (0x[0-9a-f]+)")
_ENTRY = re.compile(r"(0x[0-9a-f]+) (\d+) # (?:Channel Adapter|Switch) portguid (0x[0-9a-f]+)")


@dataclass(frozen=True)
class Routes:
    """Every way in a subnet. `ports`: links of the NIC ports, shape (ports,), in the order of the plan.

    leaf: of each port, as a row of `length`. length: switches passed from a leaf to a port, shape (leaves, ports).
    links: the links between switches that are passed, as the simulator numbers them (link k from its end a, k + the
    number of all links from its end b), shape (steps, leaves, ports); -1 where the way is shorter.
    """

    ports: Ints
    leaf: Ints
    leaves: Ints
    length: Ints
    links: Ints

    def part(self, ports: Ints) -> Routes:
        """The ways to some of the ports."""
        return Routes(self.ports[ports], self.leaf[ports], self.leaves, self.length[:, ports], self.links[:, :, ports])

    def paths(self, target: Ints, all_links: int) -> Ints:
        """What flows pass if every port sends to `target`, hosts' links too: shape (ports, hops), -1 = none."""
        between = self.links[:, self.leaf, target]
        return np.concatenate([[self.ports + all_links], between, [self.ports[target]]]).T

    def shift_loads(self) -> list[int]:
        """The most flows that meet on one direction of a link where every port sends to the one k behind it.

        One number for every k from 1.
        """
        count = len(self.ports)
        found = []
        for shift in range(1, count):
            passed = self.links[:, self.leaf, (np.arange(count) + shift) % count]
            found.append(int(np.bincount(passed[passed >= 0]).max(initial=0)))
        return found


def read_tables(text: str) -> dict[int, dict[int, int]]:
    """By GUID of a switch: the port that leads to each port GUID. From `opensm-lfts.dump`."""
    tables: dict[int, dict[int, int]] = {}
    here: dict[int, int] = {}
    for line in text.splitlines():
        head = _SWITCH.match(line)
        if head:
            here = tables.setdefault(int(head[1], 16), {})
        elif found := _ENTRY.match(line):
            here[int(found[3], 16)] = int(found[2])
    return tables


def follow(subnets: Subnets, fabric: int, tables: dict[int, dict[int, int]]) -> Routes:
    """All ways from all leaves to all NIC ports, by the plan's links and the tables that were read."""
    w, guids = subnets.scheme.wiring, subnets.scheme.guids
    d, links = w.devices, w.links
    switches = np.flatnonzero((d.kind >= LEAF) & (d.fabric == fabric))
    row = np.full(len(d), -1, np.int64)
    row[switches] = np.arange(len(switches))
    hosts = np.flatnonzero((links.fabric == fabric) & (d.kind[links.b_device] < LEAF))
    # By switch and port number: the link as it is passed from there, and the device behind it.
    a_number, b_number = subnets.numbers
    most = int(max(a_number.max(), b_number.max())) + 1
    link_at, far_at = np.full((2, len(switches), most), -1, np.int64)
    own = np.flatnonzero(links.fabric == fabric)
    for first, near, far, number in (
        (0, links.a_device, links.b_device, a_number),
        (len(links), links.b_device, links.a_device, b_number),
    ):
        at = own[row[near[own]] >= 0]
        link_at[row[near[at]], number[at]] = first + at
        far_at[row[near[at]], number[at]] = far[at]
    wanted = [guids.ports[link] for link in hosts.tolist()]
    out = np.array([[tables[guids.switches[s]][g] for g in wanted] for s in switches.tolist()], np.int64)
    leaves = switches[d.kind[switches] == LEAF]
    here = np.repeat(row[leaves][:, None], len(hosts), axis=1)
    nth = np.broadcast_to(np.arange(len(hosts)), here.shape)
    length, steps = np.zeros(here.shape, np.int64), []
    for _ in range(2 * int(d.kind[switches].max() - LEAF) + 2):
        on_the_way = here >= 0
        port = out[here, nth]
        link, far = link_at[here, port], far_at[here, port]
        assert (link[on_the_way] >= 0).all(), "a table leads to a port without a link"
        length += on_the_way
        arrived = on_the_way & (row[far] < 0)
        assert (link[arrived] == hosts[nth[arrived]]).all(), "a table leads to another host"
        steps.append(np.where(on_the_way & ~arrived, link, -1))
        here = np.where(on_the_way & ~arrived, row[far], -1)
    assert (here < 0).all(), "a way does not end"
    leaf_row = np.full(len(d), -1, np.int64)
    leaf_row[leaves] = np.arange(len(leaves))
    return Routes(hosts, leaf_row[links.a_device[hosts]], leaves, length, np.stack(steps))


def places(wiring: Wiring) -> Ints:
    """By link of a NIC port of a server: the number of the port at its leaf; -1 for other links."""
    ports = server_ports(wiring)
    found = np.full(len(wiring.links), -1, np.int64)
    found[ports.link.ravel()] = ports.place.ravel()
    return found


def port_flows(wiring: Wiring, source: Ints, leaf: Ints, target: Ints) -> PortFlows:
    """Flows of the simulator from NIC ports (their links) on leaves to NIC ports of servers."""
    source, leaf, target = (each.astype(np.int32) for each in (source, leaf, target))
    place = places(wiring)[target].astype(np.int32)
    assert (place >= 0).all()
    return PortFlows(source, target, leaf, wiring.links.a_device[target], place)


def modelled(fabric: Fabric, like: Routes) -> Routes:
    """The ways to the same NIC ports of servers by the static routing of `ibplan simulate`."""
    # A flow from every leaf to every port. Where it comes in changes nothing: the links of hosts all work.
    target = np.tile(like.ports, len(like.leaves))
    flows = port_flows(fabric.network.wiring, target, np.repeat(like.leaves, len(like.ports)), target)
    taken, path = static_paths(fabric, flows)
    assert path.all()
    links = taken[:, 1:-1].reshape(len(like.leaves), len(like.ports), -1).transpose(2, 0, 1).astype(np.int64)
    return Routes(like.ports, like.leaf, like.leaves, 1 + (links >= 0).sum(axis=0), links)
