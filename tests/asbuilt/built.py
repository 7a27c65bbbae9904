"""Fabrics as they were built: a plan's cables, changed by hand, and the texts that real programs print of them.

The forms were taken from the programs' sources (rdma-core, lldpd, sonic-utilities) and, for ibnetdiscover and
iblinkinfo, from what they print under ibsim.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from openpyxl import Workbook

from ibplan.asbuilt.planned import PlannedFabric, planned_fabric
from ibplan.spec.load import load_spec
from tests.report.samples import SPECS, catalog

GENERATIONS = {25: "EDR", 50: "HDR", 100: "NDR"}
PRINTED = {25: "25.78125", 50: "53.125", 100: "106.25", 200: "212.5"}


@dataclass(frozen=True)
class Plug:
    """One end of a cable: device, number of its port from 0 as the wiring counts it, and its name on the panel."""

    device: str
    port: int
    name: str
    number: int


@dataclass(frozen=True)
class Cable:
    """A cable that is there."""

    a: Plug
    b: Plug
    lanes: int = 4
    lane_gbps: int = 100
    state: str = "Active/LinkUp"


@dataclass
class Built:
    """A fabric. `renamed` maps names of the plan to those that devices have; of switches and hosts alike."""

    plan: PlannedFabric
    cables: list[Cable]
    hosts: set[str]
    renamed: dict[str, str] = field(default_factory=dict)

    def name(self, device: str) -> str:
        return self.renamed.get(device, device)

    def at(self, device: str, port: str | int) -> int:
        """The index of the cable at a port, by its name, or by its number from 0."""
        for index, cable in enumerate(self.cables):
            for plug in (cable.a, cable.b):
                if plug.device == device and port in (plug.name, plug.port):
                    return index
        raise KeyError((device, port))

    def of(self, device: str) -> list[int]:
        """The cables of a device."""
        return [n for n, cable in enumerate(self.cables) if device in (cable.a.device, cable.b.device)]

    def swap(self, first: int, second: int, side: str = "b") -> None:
        """Exchange the ends `b` (or `a`) of two cables."""
        one, two = self.cables[first], self.cables[second]
        self.cables[first] = replace(one, **{side: getattr(two, side)})
        self.cables[second] = replace(two, **{side: getattr(one, side)})

    def swap_devices(self, first: str, second: str) -> None:
        """Two devices of one kind change places with all their cables: each is cabled as the other should be."""
        names = {first: second, second: first}

        def renamed(plug: Plug) -> Plug:
            return replace(plug, device=names.get(plug.device, plug.device))

        self.cables = [replace(cable, a=renamed(cable.a), b=renamed(cable.b)) for cable in self.cables]


@cache
def planned(name: str, *settings: str, design: str | None = None) -> PlannedFabric:
    return planned_fabric(load_spec(SPECS / f"{name}.yaml", settings), catalog(), design)


_KNOWN: dict[int, tuple[PlannedFabric, tuple[Cable, ...], frozenset[str]]] = {}


def perfect(plan: PlannedFabric) -> Built:
    """The fabric as planned. Ports of hosts are numbered through, one adapter a port."""
    if id(plan) not in _KNOWN:
        _KNOWN[id(plan)] = (plan, *_cables(plan))
    _, cables, hosts = _KNOWN[id(plan)]
    return Built(plan, list(cables), set(hosts))


def _cables(plan: PlannedFabric) -> tuple[tuple[Cable, ...], frozenset[str]]:
    cables, hosts = [], set()
    for link in range(len(plan.wiring.links)):
        plugs = []
        for port_id in plan.ends(link):
            device, port = plan.at(port_id)
            found = plan.port_name(port_id)
            assert found is not None
            if not plan.is_switch(device):
                hosts.add(plan.names[device])
            plugs.append(Plug(plan.names[device], port, found.name, found.ib_port or port + 1))
        gbps = plan.gbps(link)
        lanes = 4 if gbps % 4 == 0 else 1
        cables.append(Cable(plugs[0], plugs[1], lanes, gbps // lanes))
    return tuple(cables), frozenset(hosts)


# InfiniBand: nodes are switches, and one adapter for each port of a host.


@dataclass
class _Node:
    guid: int
    kind: str
    text: str
    ports: int
    ends: list[tuple[int, _Node, int, Cable]] = field(default_factory=list)

    @property
    def port_guid(self) -> int:
        """That of a switch is its own, that of an adapter's port the next one."""
        return self.guid if self.kind == "Switch" else self.guid + 1

    @property
    def id(self) -> str:
        return f"{'S' if self.kind == 'Switch' else 'H'}-{self.guid:016x}"


def _nodes(built: Built, adapter: str) -> list[_Node]:
    nodes: dict[tuple[str, int], _Node] = {}
    request = built.plan.wiring.network.request
    radix = max(
        request.leaf.geometry.ports(request.leaf.down_gbps), *(p.number for c in built.cables for p in (c.a, c.b))
    )
    for cable in built.cables:
        pair = []
        for plug in (cable.a, cable.b):
            host = plug.device in built.hosts
            key = (plug.device, plug.port if host else -1)
            if key not in nodes:
                name = built.name(plug.device)
                text = name if not host else f"{name} {adapter.format(plug.port, plug.port + 1)}".strip()
                nodes[key] = _Node(0x2000 + 16 * len(nodes), "Ca" if host else "Switch", text, 1 if host else radix)
            pair.append((nodes[key], 1 if host else plug.number))
        (a, a_port), (b, b_port) = pair
        a.ends.append((a_port, b, b_port, cable))
        b.ends.append((b_port, a, a_port, cable))
    return sorted(nodes.values(), key=lambda node: node.kind, reverse=True)


def ibnetdiscover(built: Built, adapter: str = "mlx5_{0}") -> str:
    """What ibnetdiscover prints. `adapter`: with the port from 0 and from 1."""
    lines = ["#", "# Topology file: generated on Mon Nov 30 12:00:00 2026", "#", ""]
    for node in _nodes(built, adapter):
        lines += ["vendid=0x2c9", "devid=0xd2f2", f"sysimgguid=0x{node.guid:x}"]
        lines.append(
            f"{'switch' if node.kind == 'Switch' else 'ca'}guid=0x{node.guid:x}"
            + (f"({node.guid:x})" if node.kind == "Switch" else "")
        )
        tail = " base port 0 lid 1 lmc 0" if node.kind == "Switch" else ""
        lines.append(f'{node.kind}\t{node.ports} "{node.id}"\t\t# "{node.text}"{tail}')
        for port, far, far_port, cable in sorted(node.ends, key=lambda end: end[0]):
            rate = f"{cable.lanes}x{GENERATIONS.get(cable.lane_gbps, '???')}"
            if node.kind == "Switch":
                guid = f"({far.guid + 1:x}) " if far.kind == "Ca" else ""
                lines.append(f'[{port}]\t"{far.id}"[{far_port}]{guid}\t\t# "{far.text}" lid 4 {rate}')
            else:
                lines.append(
                    f'[{port}]({node.guid + 1:x}) \t"{far.id}"[{far_port}]\t\t# lid 4 lmc 0 "{far.text}" lid 1 {rate}'
                )
        lines.append("")
    return "\n".join(lines)


def iblinkinfo(
    built: Built, adapter: str = "mlx5_{0}", down: Iterable[tuple[str, int]] = (), by_line: bool = False
) -> str:
    """What iblinkinfo prints, in blocks or (-l) by line. `down`: (switch, number of a port) that show no link."""
    nodes = _nodes(built, adapter)
    lids = {id(node): n for n, node in enumerate(nodes, 1)}
    lines = []
    silent = sorted(down)
    for node in nodes:
        if not by_line:
            guid = f"0x{node.guid:016x} " if node.kind == "Switch" else ""
            lines.append(f"{'Switch' if node.kind == 'Switch' else 'CA'}: {guid}{node.text}:")
        ends = {port: (far, far_port, cable) for port, far, far_port, cable in node.ends}
        ports = sorted({*ends, *(port for name, port in silent if node.text == built.name(name))})
        for port in ports:
            start = f'0x{node.port_guid:016x} "{node.text:>30}"' if by_line else "     "
            if node.kind != "Switch" and not by_line:
                start += f" 0x{node.port_guid:016x}"
            here = f"{start} {lids[id(node)]:6} {port:4}[  ] =="
            if port not in ends:
                lines.append(f'{here}(                Down/ Polling)==>             [  ] "" ( )')
                continue
            far, far_port, cable = ends[port]
            state, physical = cable.state.split("/")
            link = f"({f'{cable.lanes}X':>3} {f'{PRINTED[cable.lane_gbps]} Gbps':>18} {state:>6}/{physical:>8})"
            there = f"0x{far.port_guid:016x} " if by_line else ""
            lines.append(f'{here}{link}==>  {there}{lids[id(far)]:6} {far_port:4}[  ] "{far.text}" ( )')
    return "\n".join(lines) + "\n"


# LLDP: a file a switch.


def _heard(built: Built, host_port: str) -> Iterator[tuple[str, str, str, str, Cable]]:
    """(switch, its port, neighbor, its port, cable) of every end at a switch."""
    for cable in built.cables:
        for here, there in ((cable.a, cable.b), (cable.b, cable.a)):
            if here.device not in built.hosts:
                port = host_port.format(there.port) if there.device in built.hosts else there.name
                yield built.name(here.device), here.name, built.name(there.device), port, cable


def lldp_json(built: Built, host_port: str = "eth{}", old: bool = False) -> dict[str, str]:
    """By switch, what `lldpctl -f json` (`old`: `-f json0`) prints there."""
    ports: dict[str, list[dict[str, object]]] = {}
    for switch, port, far, far_port, cable in _heard(built, host_port):
        chassis: dict[str, object] = {"id": {"type": "mac", "value": "02:00:00:00:00:01"}, "descr": "Debian"}
        current = f"{cable.lanes * cable.lane_gbps}GbaseCR4"
        its: dict[str, object] = {"id": {"type": "ifname", "value": far_port}, "descr": far_port, "ttl": "120"}
        its["auto-negotiation"] = {"supported": True, "enabled": True, "current": current}
        entry: dict[str, object] = {"via": "LLDP", "rid": "1", "chassis": {far: chassis}, "port": its}
        if old:
            named = [{"id": [chassis["id"]], "name": [{"value": far}]}]
            identity = [{"type": "mac", "value": "02:00:00:00:00:07"}]
            entry = {"name": port, "chassis": named, "port": [{"id": identity, "descr": [{"value": far_port}]}]}
            ports.setdefault(switch, []).append(entry)
        else:
            ports.setdefault(switch, []).append({port: entry})
    wrap = (lambda part: [{"interface": part}]) if old else (lambda part: {"interface": part})
    return {switch: json.dumps({"lldp": wrap(part)}, indent=2) for switch, part in ports.items()}


def lldp_table(built: Built, host_port: str = "eth{}") -> dict[str, str]:
    """By switch, what SONiC's `show lldp table` prints there."""
    head = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    rows: dict[str, list[tuple[str, ...]]] = {}
    for switch, port, far, far_port, _ in _heard(built, host_port):
        rows.setdefault(switch, []).append((port, far, far_port, "BR", f"to {switch}"))
    texts = {}
    for switch, its in rows.items():
        widths = [max(len(row[n]) for row in (head, *its)) for n in range(len(head))]
        lines = ["Capability codes: (R) Router, (B) Bridge, (O) Other"]
        for row in (head, tuple("-" * width for width in widths), *its):
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        texts[switch] = "\n".join([*lines, "-" * 50, f"Total entries displayed:  {len(its)}"]) + "\n"
    return texts


# Lists.

HEAD = ("Cable", "A Device", "A Port", "B Device", "B Port", "Speed")


def rows(built: Built) -> list[tuple[str, ...]]:
    """One row a cable."""
    return [
        (
            f"C{n:05}",
            built.name(cable.a.device),
            cable.a.name,
            built.name(cable.b.device),
            cable.b.name,
            f"{cable.lanes * cable.lane_gbps}G",
        )
        for n, cable in enumerate(built.cables, 1)
    ]


def list_csv(table: Iterable[Iterable[str]], head: Iterable[str] = HEAD, delimiter: str = ",") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([tuple(head), *table])
    return text.getvalue()


def list_xlsx(path: Path, table: Iterable[Iterable[str]], head: Iterable[str] = HEAD) -> Path:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Cable schedule, hall 1"])
    sheet.append(list(head))
    for row in table:
        sheet.append(list(row))
    book.save(path)
    return path
