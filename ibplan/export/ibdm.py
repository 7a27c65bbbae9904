"""The fabric as systems with front panels: a .topo file, and an .ibnl file for every kind of system in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ibplan.export.scheme import Scheme
from ibplan.export.subnet import Subnets, in_subnet
from ibplan.export.target import Export, ExportFile, Target
from ibplan.fabric.wiring_model import ATTACHED, KINDS, MANAGER, SERVER

_TOPOLOGY = "fabric.topo"
_SYSTEMS = "ibnl"


def _ibdm(scheme: Scheme) -> Export:
    subnets = Subnets(scheme)
    files: list[ExportFile] = []
    for fabric, label in enumerate(subnets.labels):
        kinds = _Kinds(subnets, fabric)
        files.append(ExportFile(in_subnet(label, _TOPOLOGY), _topology(subnets, kinds, fabric)))
        systems = kinds.systems()
        files += [ExportFile(in_subnet(label, f"{_SYSTEMS}/{name}.ibnl"), text) for name, text in systems]
    return Export(tuple(files))


class _Kinds:
    """The kinds of systems of a subnet: a switch model with its ports; servers, hosts of one group and managers.

    A host has the NIC ports that it has in this subnet alone: what is not in it would be taken for unconnected.
    """

    def __init__(self, subnets: Subnets, fabric: int) -> None:
        self._subnets, self._fabric = subnets, fabric
        self._hosts: dict[str, dict[str, None]] = {}
        ports = subnets.scheme.port_names("b")
        for node in subnets.adapters(fabric):
            self._hosts.setdefault(self.of(node.device), {})[ports[node.ports[0].link]] = None

    def of(self, device: int) -> str:
        """The kind of a device."""
        w = self._subnets.scheme.wiring
        kind = int(w.devices.kind[device])
        if kind == SERVER:
            return "SERVER"
        if kind == MANAGER:
            return "MANAGER"
        if kind == ATTACHED:
            hosts = w.network.request.attached[int(w.devices.group[device])]
            return "SERVER" if hosts.device_group(self._subnets.scheme.network) == "server" else f"HOST-{hosts.name}"
        return f"SW{self._subnets.radix[kind]}-{self._subnets.scheme.wired.switch_ids[KINDS[kind]]}"

    def systems(self) -> Iterator[tuple[str, Iterator[str]]]:
        """Every kind with its text."""
        kinds: dict[str, int] = {}
        for node in self._subnets.switches(self._fabric):
            kinds.setdefault(self.of(node.device), node.port_count)
        for name, count in kinds.items():
            yield name, _switch(name, count)
        for name, ports in self._hosts.items():
            yield name, _host(name, ports)


def _switch(name: str, ports: int) -> Iterator[str]:
    yield f"TOPSYSTEM {name}\n\nNODE SW {ports} SWITCH U1\n"
    yield from (f"{port} -> P{port}\n" for port in range(1, ports + 1))


def _host(name: str, ports: Iterable[str]) -> Iterator[str]:
    """A host has an adapter for every NIC port, as its operating system shows it."""
    yield f"TOPSYSTEM {name}\n"
    for port in ports:
        yield f"\nNODE CA 1 ADAPTER {port}\n1 -> {port}/P1\n"


def _topology(subnets: Subnets, kinds: _Kinds, fabric: int) -> Iterator[str]:
    """Every switch with its links; each link stands once, at the switch of the lower tier."""
    w, names = subnets.scheme.wiring, subnets.scheme.names
    ports = subnets.scheme.port_names("b")
    b_numbers = subnets.numbers[1]
    for node in subnets.switches(fabric):
        lines = []
        for port in node.ports:
            if int(w.links.a_device[port.link]) != node.device:
                continue
            far = int(w.links.b_device[port.link])
            panel = f"P{b_numbers[port.link]}" if port.far_switch else f"{ports[port.link]}/P1"
            lines.append(f"\tP{port.number} -> {kinds.of(far)} {names[far]} {panel}\n")
        if lines:
            yield f"{kinds.of(node.device)} {node.description}\n{''.join(lines)}\n"


IBDIAGNET = Target(
    "ibdiagnet",
    "the fabric as systems with front panels, to hold a discovered one against",
    "ibdiagnet -t, ibdmchk -t, UFM cable validation",
    (_TOPOLOGY, f"{_SYSTEMS}/*.ibnl"),
    _ibdm,
    ("infiniband",),
)
