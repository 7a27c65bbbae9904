"""The text of ibnetdiscover: what the fabric should look like once it is built, and what ibsim simulates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ibplan.export.scheme import Scheme
from ibplan.export.subnet import Node, SubnetPort, Subnets, in_subnet
from ibplan.export.target import Export, ExportFile, Target

# ibsim 0.10 reads speeds up to this one; it takes faster links, too, but complains of each end of each.
_FASTEST_SIMULATED: Final = "HDR"
_FASTER: Final = ("NDR", "XDR")


def _ibnetdiscover(scheme: Scheme) -> Export:
    subnets = Subnets(scheme)
    files = [
        ExportFile(in_subnet(label, "ibnetdiscover.txt"), _text(subnets, fabric, subnets.speeds))
        for fabric, label in enumerate(subnets.labels)
    ]
    return Export(tuple(files), subnets.notes())


def _ibsim(scheme: Scheme) -> Export:
    subnets = Subnets(scheme)
    speeds = [f"{speed[:-3]}{_FASTEST_SIMULATED}" if speed.endswith(_FASTER) else speed for speed in subnets.speeds]
    notes = () if speeds == subnets.speeds else (f"ibsim knows no link above {_FASTEST_SIMULATED}: {_CAPPED}",)
    files = [
        ExportFile(in_subnet(label, "fabric.net"), _text(subnets, fabric, speeds))
        for fabric, label in enumerate(subnets.labels)
    ]
    return Export(tuple(files), notes)


_CAPPED: Final = "faster ones are written as that. Port counts, links and routes are those of the plan"


def _text(subnets: Subnets, fabric: int, speeds: list[str]) -> Iterator[str]:
    """The nodes of a subnet, switches first; each link stands at both ends."""
    link_class = subnets.scheme.wiring.links.link_class
    for node in subnets.switches(fabric):
        yield f'switchguid=0x{node.guid:x}({node.guid:x})\nSwitch\t{node.port_count} "S-{node.guid:016x}"'
        yield f'\t\t# "{node.description}" base port 0 lid 0 lmc 0\n'
        for port in node.ports:
            yield _port(port, speeds[link_class[port.link]])
        yield "\n"
    for node in subnets.adapters(fabric):
        yield _adapter(node, speeds[link_class[node.ports[0].link]])


def _port(port: SubnetPort, speed: str) -> str:
    kind, behind = ("S", "") if port.far_switch else ("H", f"({port.far_port_guid:x})")
    about = f'"{port.far_description}" lid 0 {speed}'.rstrip()
    return f'[{port.number}]\t"{kind}-{port.far_guid:016x}"[{port.far_number}]{behind}\t\t# {about}\n'


def _adapter(node: Node, speed: str) -> str:
    far = node.ports[0]
    about = f'lid 0 lmc 0 "{far.far_description}" lid 0 {speed}'.rstrip()
    return (
        f"caguid=0x{node.guid:x}\n"
        f'Ca\t{node.port_count} "H-{node.guid:016x}"\t\t# "{node.description}"\n'
        f'[1]({node.port_guid:x})\t"S-{far.far_guid:016x}"[{far.far_number}]\t\t# {about}\n\n'
    )


IBNETDISCOVER = Target(
    "ibnetdiscover",
    "the fabric as ibnetdiscover will show it, to compare with what was built",
    "ibnetdiscover --diff, iblinkinfo --load-cache's peers, scripts",
    ("ibnetdiscover.txt",),
    _ibnetdiscover,
    ("infiniband",),
)
IBSIM = Target(
    "ibsim",
    "a netlist to bring the fabric up in simulation",
    "ibsim, and through it opensm and infiniband-diags",
    ("fabric.net",),
    _ibsim,
    ("infiniband",),
)
