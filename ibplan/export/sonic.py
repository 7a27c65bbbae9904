"""SONiC: a fragment of config_db.json for every switch, and routing by FRR's own file."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.export.buffers import Buffers, Total
from ibplan.export.frr import FRR_CONF, Router, width_notes
from ibplan.export.hosts import HOSTS, hosts_file
from ibplan.export.scheme import Scheme
from ibplan.export.settings import ethernet_figures, lossless_of, mtu_bytes
from ibplan.export.sonic_qos import qos_tables
from ibplan.export.switch_models import model_of, port_mode
from ibplan.export.switch_ports import SwitchPort, SwitchPorts, tier_of
from ibplan.export.target import Export, ExportFile, Target

CONFIG_DB: Final = "config_db.json"
Tables = dict[str, Any]
_FILE: Final = Path(__file__).parent / "data" / "sonic.yaml"
_PAM4_LANE_GBPS: Final = 50  # from here on lanes use PAM4, which needs RS-FEC (IEEE 802.3, clauses 134 and 119)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class LanesLikeNames(_Model):
    """Cages whose lanes are numbered like ports; `alias`: what a port is called on the panel, before its cage."""

    cage_classes: tuple[str, ...] = Field(min_length=1)
    alias: str
    source: str
    date: str


class Roles(_Model):
    """What SONiC calls a switch of each tier."""

    leaf: str
    spine: str
    core: str
    source: str
    date: str


class SonicFigures(_Model):
    """All of data/sonic.yaml."""

    lanes_like_names: tuple[LanesLikeNames, ...]
    roles: Roles


@lru_cache(maxsize=1)
def sonic_figures() -> SonicFigures:
    """The packaged data."""
    return validate(SonicFigures, read_document(_FILE))


def _sonic(scheme: Scheme) -> Export:
    ports = SwitchPorts(scheme, "sonic")
    lossless = lossless_of(scheme)
    buffers = None if lossless is None else Buffers(scheme, lossless)
    files: list[ExportFile] = []
    totals: dict[int, Total] = {}
    widest, lanes_open = 0, set()
    for device, found in ports.of.items():
        fragment = Fragment(scheme, device, found, buffers)
        if buffers is not None:
            totals[device] = buffers.total([buffers.port(device, port) for port in found])
        if not fragment.lanes_known:
            lanes_open.add(scheme.wired.switch_ids[tier_of(scheme, device)])
        router = Router(scheme, device, found, None)
        widest = max(widest, router.width)
        name = scheme.names[device]
        files.append(ExportFile(f"{name}/{CONFIG_DB}", fragment.text()))
        files.append(ExportFile(f"{name}/{FRR_CONF}", router.lines()))
    files.append(hosts_file(scheme, ports))
    notes = [*ports.notes(), *width_notes(widest)]
    notes += [_LANES_OPEN.format(model) for model in sorted(lanes_open)]
    notes += [] if buffers is None else buffers.notes(totals)
    return Export(tuple(files), tuple(notes))


_LANES_OPEN: Final = (
    "the lanes of {} are not known here: PORT has none, so break ports out first, and merge the fragment into "
    "what the switch then has"
)


class Fragment:
    """The tables of one switch."""

    def __init__(self, scheme: Scheme, device: int, ports: tuple[SwitchPort, ...], buffers: Buffers | None) -> None:
        self._scheme, self._device, self._ports, self._buffers = scheme, device, ports, buffers
        classes = {cages.cage_class for cages in model_of(scheme, device).geometry.sets}
        self._panel = next((k for k in sonic_figures().lanes_like_names if classes <= set(k.cage_classes)), None)

    @property
    def lanes_known(self) -> bool:
        """Whether the numbers of the lanes of all ports are known."""
        return self._panel is not None

    def text(self) -> Iterator[str]:
        """The file."""
        yield json.dumps(self.tables(), indent=2, ensure_ascii=False) + "\n"

    def tables(self) -> Tables:
        """All tables by name; all values are texts."""
        found: Tables = {
            "DEVICE_METADATA": {"localhost": self._metadata()},
            "PORT": {port.name: self._port(port) for port in self._ports},
            **self._addresses(),
            "DEVICE_NEIGHBOR": {
                port.name: {"name": self._scheme.names[port.far], "port": port.far_port} for port in self._ports
            },
        }
        if self._buffers is not None:
            found |= qos_tables(self._buffers, self._device, self._ports)
        return {name: table for name, table in found.items() if table}

    def _metadata(self) -> dict[str, str]:
        """Routing is read from frr.conf (`split-unified`), so that it is the file that was tested."""
        addresses = self._scheme.addresses
        dynamic = self._buffers is not None and self._buffers.chip(self._device) is not None
        return {
            "hostname": self._scheme.names[self._device],
            "type": getattr(sonic_figures().roles, tier_of(self._scheme, self._device)),
            "bgp_asn": str(addresses.asns[self._device]),
            "bgp_router_id": str(addresses.loopbacks[self._device]),
            "docker_routing_config_mode": "split-unified",
            **({"buffer_model": "dynamic"} if dynamic else {}),
        }

    def _port(self, port: SwitchPort) -> dict[str, str]:
        shared, lanes, _ = port_mode(self._scheme, self._device, port)
        found = {"admin_status": "up", "speed": str(port.gbps * 1000), "mtu": str(mtu_bytes(self._scheme))}
        found["index"] = str(port.cage + 1)
        found["subport"] = str(port.leg + 1 if shared > 1 else 0)
        found["description"] = f"{self._scheme.names[port.far]} {port.far_port}"
        if lanes is not None and port.gbps // lanes >= _PAM4_LANE_GBPS:
            found["fec"] = "rs"
        if self._panel is not None and lanes is not None:
            first = int(port.name.removeprefix("Ethernet"))
            found["lanes"] = ",".join(str(first + lane) for lane in range(lanes))
            letter = string.ascii_lowercase[port.leg] if shared > 1 else ""
            found["alias"] = f"{self._panel.alias}{port.cage + 1}{letter}"
        return found

    def _addresses(self) -> Tables:
        """Loopback, links to other switches without addresses, and one VLAN with the subnet of the hosts."""
        addresses = self._scheme.addresses
        loopback = f"Loopback0|{addresses.loopbacks[self._device]}/32"
        found: Tables = {"LOOPBACK_INTERFACE": {"Loopback0": {}, loopback: {}}}
        found["INTERFACE"] = {
            port.name: {"ipv6_use_link_local_only": "enable"} for port in self._ports if port.role != "host"
        }
        hosts = [port.name for port in self._ports if port.role == "host"]
        if hosts:
            number = ethernet_figures().hosts_vlan.value
            name, subnet = f"Vlan{number}", addresses.subnets[self._device]
            gateway = f"{name}|{addresses.gateway(self._device)}/{subnet.prefixlen}"
            found["VLAN"] = {name: {"vlanid": str(number), "mtu": str(mtu_bytes(self._scheme))}}
            found["VLAN_MEMBER"] = {f"{name}|{port}": {"tagging_mode": "untagged"} for port in hosts}
            found["VLAN_INTERFACE"] = {name: {}, gateway: {}}
        return found


SONIC = Target(
    "sonic",
    "tables of every switch: ports, addresses, RoCE with headroom by real cables; routing by FRR",
    "SONiC: config load -y; frr.conf in /etc/sonic/frr",
    (f"*/{CONFIG_DB}", f"*/{FRR_CONF}", HOSTS),
    _sonic,
    ("roce", "ethernet"),
)
