"""Cumulus Linux: the commands of NVUE that set up a switch: ports, addresses, routing, RoCE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ibplan.export.buffers import Buffers, Total
from ibplan.export.ecmp import path_width
from ibplan.export.frr import MOST_PATHS, width_notes
from ibplan.export.hosts import HOSTS, hosts_file
from ibplan.export.nvue_words import classes, marking, port_lists
from ibplan.export.scheme import Scheme
from ibplan.export.settings import ethernet_figures, ethernet_spec, lossless_of, mtu_bytes
from ibplan.export.switch_models import port_mode
from ibplan.export.switch_ports import SwitchPort, SwitchPorts
from ibplan.export.target import Export, ExportFile, Target

COMMANDS: Final = "nvue.sh"
_BGP: Final = "vrf default router bgp"
_BRIDGE: Final = "bridge domain br_default"
_GROUPS: Final = {"up": "up", "down": "down", "peer": "peer"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What releases say differently: an address of an interface, a feature that is on, a choice that is taken.

    `bfd_profile`: whether BFD is asked for by the name of a profile.
    """

    address: str
    on: str
    yes: str
    bfd_profile: bool


# The object models of the releases (package nvueschema) differ in no other word that is used here.
UNTIL_5_14: Final = Dialect("ip address", "enable on", "on", bfd_profile=False)
SINCE_5_15: Final = Dialect("ipv4 address", "state enabled", "enabled", bfd_profile=True)


def _make(dialect: Dialect) -> Callable[[Scheme], Export]:
    return lambda scheme: _nvue(scheme, dialect)


def _nvue(scheme: Scheme, dialect: Dialect) -> Export:
    ports = SwitchPorts(scheme, "cumulus")
    lossless = lossless_of(scheme)
    buffers = None if lossless is None else Buffers(scheme, lossless)
    files, totals, widest = [], {}, 0
    for device, found in ports.of.items():
        commands = Commands(scheme, device, found, buffers, dialect)
        widest = max(widest, commands.width)
        if buffers is not None:
            totals[device] = buffers.total([buffers.port(device, port) for port in found])
        files.append(ExportFile(f"{scheme.names[device]}/{COMMANDS}", commands.lines()))
    files.append(hosts_file(scheme, ports))
    notes = [*ports.notes(), *width_notes(widest), *_buffer_notes(buffers, totals)]
    return Export(tuple(files), tuple(notes))


def _buffer_notes(buffers: Buffers | None, totals: dict[int, Total]) -> Iterator[str]:
    if buffers is not None:
        yield from buffers.notes(totals)
        if buffers.lossless.sharing > 1:
            yield "ethernet.lossless.headroom_sharing is not for Cumulus Linux, which shares headroom as it sees fit"


class Commands:
    """The commands for one switch."""

    def __init__(
        self,
        scheme: Scheme,
        device: int,
        ports: tuple[SwitchPort, ...],
        buffers: Buffers | None,
        dialect: Dialect,
    ) -> None:
        self._scheme, self._device, self._ports = scheme, device, ports
        self._buffers, self._dialect = buffers, dialect
        self.width = path_width(scheme.wiring, device, ports)

    def lines(self) -> Iterator[str]:
        """The file: a shell script of `nv set` lines."""
        scheme = self._scheme
        yield f"# {scheme.title}\n"
        yield "# Applies nothing by itself: look at `nv config diff`, then run `nv config apply`.\n"
        for words in (*self._system(), *self._links(), *self._hosts(), *self._routing(), *self._lossless()):
            yield f"nv set {words}\n"

    def _system(self) -> Iterator[str]:
        yield f"system hostname {self._scheme.names[self._device]}"
        yield f"interface lo {self._dialect.address} {self._scheme.addresses.loopbacks[self._device]}/32"

    def _links(self) -> Iterator[str]:
        """Breakouts of whole cages first, and those that go dark for them; then speed and packet size of the ports."""
        broken: dict[str, list[int]] = {}
        for port in self._ports:
            ports, lanes, lost = port_mode(self._scheme, self._device, port)
            if ports > 1:
                mode = f"{ports}x" + ("" if lanes is None else f" lanes-per-port {lanes}")
                broken.setdefault(mode, []).append(port.cage + 1)
                for dark in range(lost):
                    broken.setdefault("disabled", []).append(port.cage + 2 + dark)
        for mode, cages in broken.items():
            for names in port_lists([f"swp{cage}" for cage in dict.fromkeys(cages)]):
                yield f"interface {names} link breakout {mode}"
        for gbps in dict.fromkeys(port.gbps for port in self._ports):
            for names in port_lists([port.name for port in self._ports if port.gbps == gbps]):
                yield f"interface {names} link speed {gbps}G"
                yield f"interface {names} link mtu {mtu_bytes(self._scheme)}"
                yield f"interface {names} link state up"

    def _hosts(self) -> Iterator[str]:
        hosts = [port.name for port in self._ports if port.role == "host"]
        if not hosts:
            return
        vlan, addresses = ethernet_figures().hosts_vlan.value, self._scheme.addresses
        yield f"{_BRIDGE} vlan {vlan}"
        for names in port_lists(hosts):
            yield f"interface {names} {_BRIDGE} access {vlan}"
        gateway = addresses.gateway(self._device)
        yield f"interface vlan{vlan} {self._dialect.address} {gateway}/{addresses.subnets[self._device].prefixlen}"
        yield f"interface vlan{vlan} vlan {vlan}"
        yield f"interface vlan{vlan} link mtu {mtu_bytes(self._scheme)}"

    def _routing(self) -> Iterator[str]:
        addresses, names = self._scheme.addresses, self._scheme.names
        loopback = addresses.loopbacks[self._device]
        yield f"router bgp autonomous-system {addresses.asns[self._device]}"
        yield f"router bgp router-id {loopback}"
        yield f"{_BGP} path-selection multipath aspath-ignore {self._dialect.yes}"
        unicast = f"{_BGP} address-family ipv4-unicast"
        yield f"{unicast} {self._dialect.on}"
        yield f"{unicast} multipaths ebgp {min(self.width, MOST_PATHS)}"
        yield f"{unicast} network {loopback}/32"
        if any(port.role == "host" for port in self._ports):
            yield f"{unicast} network {addresses.subnets[self._device]}"
        peers = [port for port in self._ports if port.role != "host"]
        groups = list(dict.fromkeys(_GROUPS[port.role] for port in peers))
        for group in groups:
            yield f"{_BGP} peer-group {group} address-family ipv4-unicast {self._dialect.on}"
        if ethernet_spec(self._scheme).bfd:
            yield from self._bfd(groups)
        for port in peers:
            neighbor = f"{_BGP} neighbor {port.name}"
            yield f"{neighbor} type unnumbered"
            yield f"{neighbor} peer-group {_GROUPS[port.role]}"
            yield f"{neighbor} remote-as {addresses.asns[port.far]}"
            yield f"{neighbor} description {names[port.far]}-{port.far_port}"

    def _bfd(self, groups: Sequence[str]) -> Iterator[str]:
        if not self._dialect.bfd_profile:
            yield from (f"{_BGP} peer-group {group} bfd {self._dialect.on}" for group in groups)
            return
        yield f"router bfd {self._dialect.on}"
        yield f"router bfd profile fabric detect-multiplier {ethernet_figures().bfd_missed.value}"
        yield from (f"{_BGP} peer-group {group} bfd profile fabric" for group in groups)

    def _lossless(self) -> Iterator[str]:
        if self._buffers is None:
            return
        lossless = self._buffers.lossless
        yield "qos roce mode lossless"
        yield from classes(lossless)
        yield from marking()
        yield from self._pauses(self._buffers)
        # How long it waits is left to NVUE: three intervals of 100 ms.
        for names in port_lists([port.name for port in self._ports]):
            yield f"interface {names} qos pfc-watchdog state enable"

    def _pauses(self, buffers: Buffers) -> Iterator[str]:
        """One profile a length of cable: the switch works the headroom out from it, by the speed of each port."""
        lengths = [(buffers.port(self._device, port).length_m, port.name) for port in self._ports]
        for length, rows in groupby(sorted(lengths, key=lambda row: row[0] or 0), key=lambda row: row[0]):
            if length is None:
                continue
            profile = f"roce-{length}m"
            yield f"qos pfc {profile} switch-priority {buffers.lossless.priority}"
            yield f"qos pfc {profile} tx enable"
            yield f"qos pfc {profile} rx enable"
            yield f"qos pfc {profile} cable-length {length}"
            for names in port_lists([name for _, name in rows]):
                yield f"interface {names} qos pfc profile {profile}"


NVUE = Target(
    "nvue",
    "commands for every switch: ports, addresses, routing, RoCE by real cables",
    "Cumulus Linux 5.15 and later: sh nvue.sh; nv config apply",
    (f"*/{COMMANDS}", HOSTS),
    _make(SINCE_5_15),
    ("roce", "ethernet"),
)
NVUE_5_11 = Target(
    "nvue-5.11",
    "the same in the words of older releases",
    "Cumulus Linux 5.11 to 5.14: sh nvue.sh; nv config apply",
    (f"*/{COMMANDS}", HOSTS),
    _make(UNTIL_5_14),
    ("roce", "ethernet"),
)
