"""The hosts' side of an Ethernet network: the address of every NIC port, its gateway, and where it is plugged in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from ipaddress import IPv4Address

import numpy as np

from ibplan.export.scheme import Scheme
from ibplan.export.settings import mtu_bytes
from ibplan.export.switch_ports import SwitchPorts
from ibplan.export.target import ExportFile
from ibplan.fabric.wiring_model import LEAF, SERVER

HOSTS = "hosts.csv"
COLUMNS = ("host", "port", "plane", "rail", "leaf", "leaf_port", "address", "prefix_length", "gateway", "mtu")


def hosts_file(scheme: Scheme, ports: SwitchPorts) -> ExportFile:
    """One row a NIC port, host by host. Plane and rail count from 1; they are empty for hosts other than servers."""
    return ExportFile(HOSTS, _lines(scheme, ports))


def _lines(scheme: Scheme, ports: SwitchPorts) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    w, addresses, mtu = scheme.wiring, scheme.addresses, mtu_bytes(scheme)
    names = {(leaf, port.link): port.name for leaf, found in ports.of.items() for port in found if port.role == "host"}
    there = scheme.port_names("b")
    at = np.flatnonzero(w.devices.kind[w.links.b_device] < LEAF)
    order = at[np.lexsort((w.links.b_port[at], w.links.b_device[at]))]
    for link in order.tolist():
        leaf, host = int(w.links.a_device[link]), int(w.links.b_device[link])
        fabric = int(w.links.fabric[link])
        plane_rail: tuple[int | str, int | str] = ("", "")
        if w.devices.kind[host] == SERVER:
            _, rail = w.hosts.rail_of(w.links.b_port[link : link + 1])
            plane_rail = fabric // w.hosts.rails + 1, int(rail[0]) + fabric % w.hosts.rails + 1
        address = IPv4Address(int(addresses.host[link]))
        subnet = addresses.subnets[leaf]
        writer.writerow(
            (
                scheme.names[host],
                there[link],
                *plane_rail,
                scheme.names[leaf],
                names[leaf, link],
                address,
                subnet.prefixlen,
                addresses.gateway(leaf),
                mtu,
            )
        )
        yield out.getvalue()
        out.seek(0)
        out.truncate()
