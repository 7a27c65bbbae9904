"""FRR on every switch: eBGP over unnumbered links, equal-cost paths, and the interfaces that it runs on."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Final

from ibplan.export.ecmp import path_width
from ibplan.export.hosts import HOSTS, hosts_file
from ibplan.export.scheme import Scheme
from ibplan.export.settings import ethernet_spec, mtu_bytes
from ibplan.export.switch_ports import SwitchPort, SwitchPorts, tier_of
from ibplan.export.target import Export, ExportFile, Target
from ibplan.spec.addressing import AddressingSpec, parse_prefix

FRR_CONF: Final = "frr.conf"
VTYSH_CONF: Final = "vtysh.conf"
DAEMONS: Final = "daemons"
LINKS: Final = "links.batch"
SYSCTL: Final = "sysctl.conf"
# The bridge of a leaf's host ports.
BRIDGE: Final = "hosts"
# The most next hops of a route that Debian's package is built for (--enable-multipath=256).
MOST_PATHS: Final = 256
_GROUPS: Final = {"up": "UP", "down": "DOWN", "peer": "PEER"}


def _frr(scheme: Scheme) -> Export:
    ports = SwitchPorts(scheme)
    files: list[ExportFile] = []
    widest = 0
    for device, found in ports.of.items():
        router = Router(scheme, device, found, BRIDGE)
        widest = max(widest, router.width)
        texts = {
            FRR_CONF: router.lines(),
            VTYSH_CONF: ("service integrated-vtysh-config\n",),
            DAEMONS: _daemons(bfd=ethernet_spec(scheme).bfd),
            LINKS: _links(scheme, found),
            SYSCTL: _sysctl(),
        }
        files += [ExportFile(f"{scheme.names[device]}/{name}", text) for name, text in texts.items()]
    files.append(hosts_file(scheme, ports))
    return Export(tuple(files), (*ports.notes(), *width_notes(widest)))


def width_notes(widest: int) -> Iterator[str]:
    """What is to be said of the widest set of paths."""
    if widest > MOST_PATHS:
        yield f"a switch has {widest} equal paths; FRR as Debian builds it takes {MOST_PATHS}: the others stay idle"


class Router:
    """frr.conf of one switch. `hosts`: the interface of its host subnet; None = addresses are set by other means."""

    def __init__(self, scheme: Scheme, device: int, ports: tuple[SwitchPort, ...], hosts: str | None) -> None:
        self._scheme, self._device, self._ports, self._hosts = scheme, device, ports, hosts
        self.width = path_width(scheme.wiring, device, ports)
        self._peers = [port for port in ports if port.role != "host"]
        self._loopback = scheme.addresses.loopbacks[device]

    @property
    def _subnet(self) -> IPv4Network | None:
        """The subnet of the hosts of this switch, None if it has none."""
        has_hosts = any(port.role == "host" for port in self._ports)
        return self._scheme.addresses.subnets.get(self._device) if has_hosts else None

    def lines(self) -> Iterator[str]:
        """The file."""
        scheme = self._scheme
        yield f"! {scheme.title}: "
        yield f"{tier_of(scheme, self._device)} {scheme.names[self._device]}\n"
        yield f"frr defaults datacenter\nhostname {scheme.names[self._device]}\nlog syslog informational\n!\n"
        yield from self._interfaces()
        yield from self._policy()
        yield from self._bgp()
        yield "line vty\nend\n"

    def _interfaces(self) -> Iterator[str]:
        scheme, subnet = self._scheme, self._subnet
        if self._hosts is not None:
            yield f"interface lo\n ip address {self._loopback}/32\nexit\n!\n"
            if subnet is not None:
                gateway = scheme.addresses.gateway(self._device)
                yield f"interface {self._hosts}\n ip address {gateway}/{subnet.prefixlen}\nexit\n!\n"
        for port in self._peers:
            yield f"interface {port.name}\n description {scheme.names[port.far]} {port.far_port}\nexit\n!\n"

    def _policy(self) -> Iterator[str]:
        """Only what the plan deals out is told and believed: loopbacks, and the subnets of leaves."""
        spec = self._scheme.loaded.spec.addressing or AddressingSpec()
        prefixes = [(getattr(spec.loopbacks, tier), 32) for tier in ("leaf", "spine", "core")]
        lengths = {subnet.prefixlen for subnet in self._scheme.addresses.subnets.values()}
        hosts = parse_prefix(spec.hosts)
        for number, (prefix, length) in enumerate([*prefixes, *((hosts, n) for n in sorted(lengths))], 1):
            longer = "" if parse_prefix(str(prefix)).prefixlen == length else f" ge {length} le {length}"
            yield f"ip prefix-list FABRIC seq {5 * number} permit {prefix}{longer}\n"
        yield "!\nroute-map FABRIC permit 10\n match ip address prefix-list FABRIC\nexit\n!\n"

    def _bgp(self) -> Iterator[str]:
        asns, bfd = self._scheme.addresses.asns, ethernet_spec(self._scheme).bfd
        yield f"router bgp {asns[self._device]}\n bgp router-id {self._loopback}\n"
        yield " bgp bestpath as-path multipath-relax\n no bgp default ipv4-unicast\n"
        groups = sorted({_GROUPS[port.role] for port in self._peers})
        for group in groups:
            yield f" neighbor {group} peer-group\n"
            if bfd:
                yield f" neighbor {group} bfd\n"
        for port in self._peers:
            # The number of the planned neighbor, not just any: a cable to the wrong pod or tier does not come up.
            yield f" neighbor {port.name} interface remote-as {asns[port.far]}\n"
            yield f" neighbor {port.name} peer-group {_GROUPS[port.role]}\n"
            yield f" neighbor {port.name} description {self._scheme.names[port.far]} {port.far_port}\n"
        yield f" !\n address-family ipv4 unicast\n  network {self._loopback}/32\n"
        if (subnet := self._subnet) is not None:
            yield f"  network {subnet}\n"
        for group in groups:
            yield f"  neighbor {group} activate\n"
            yield f"  neighbor {group} route-map FABRIC in\n  neighbor {group} route-map FABRIC out\n"
        yield f"  maximum-paths {min(self.width, MOST_PATHS)}\n exit-address-family\nexit\n!\n"


def _daemons(*, bfd: bool) -> Iterator[str]:
    yield "# Which daemons the frr package starts; zebra and staticd always are.\n"
    yield f"bgpd=yes\nbfdd={'yes' if bfd else 'no'}\n\n"
    yield 'vtysh_enable=yes\nfrr_profile="datacenter"\n'
    yield 'zebra_options="  -A 127.0.0.1 -s 90000000"\n'
    for daemon in ("bgpd", "bfdd", "staticd"):
        yield f'{daemon}_options="-A 127.0.0.1"\n'


def _links(scheme: Scheme, ports: tuple[SwitchPort, ...]) -> Iterator[str]:
    """Interfaces for `ip -batch`. FRR sets addresses, but makes no bridge and sets no packet size."""
    mtu = mtu_bytes(scheme)
    hosts = [port for port in ports if port.role == "host"]
    yield "link set dev lo up\n"
    if hosts:
        yield f"link add name {BRIDGE} mtu {mtu} type bridge stp_state 0\n"
    for port in ports:
        yield f"link set dev {port.name} mtu {mtu}{f' master {BRIDGE}' if port.role == 'host' else ''}\n"
        yield f"link set dev {port.name} up\n"
    if hosts:
        yield f"link set dev {BRIDGE} up\n"


def _sysctl() -> Iterator[str]:
    yield "net.ipv4.ip_forward = 1\nnet.ipv6.conf.all.forwarding = 1\n"
    yield "# Paths are chosen by addresses and ports: RoCE tells its flows apart by the port it sends from.\n"
    yield "net.ipv4.fib_multipath_hash_policy = 1\n"


FRR = Target(
    "frr",
    "routing on every switch: eBGP over unnumbered links, equal-cost paths",
    "zebra, bgpd and bfdd of FRR 8.4 and later, as Debian's frr package reads them; ip -batch; sysctl -p",
    (f"*/{FRR_CONF}", f"*/{VTYSH_CONF}", f"*/{DAEMONS}", f"*/{LINKS}", f"*/{SYSCTL}", HOSTS),
    _frr,
    ("roce", "ethernet"),
)
