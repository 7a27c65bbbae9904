"""What OpenSM needs to route the fabric as planned: roots, compute nodes, names, and a configuration that says why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ibplan.export.scheme import Scheme
from ibplan.export.subnet import Node, Subnets, in_subnet
from ibplan.export.target import Export, ExportFile, Target
from ibplan.fabric.wiring_model import CORE, KINDS, LEAF, MANAGER, SPINE

CONF: Final = "opensm.conf"
ROOTS: Final = "root_guids.cfg"
COMPUTE_NODES: Final = "cn_guids.cfg"
NAMES: Final = "node_names.map"
# Where the configuration looks for the other files.
HOME: Final = "/etc/opensm"
_SUBNET_PREFIX: Final = 0xFE80000000000000


def _opensm(scheme: Scheme) -> Export:
    subnets = Subnets(scheme)
    files: list[ExportFile] = []
    for fabric, label in enumerate(subnets.labels):
        switches, adapters = list(subnets.switches(fabric)), list(subnets.adapters(fabric))
        others = [node for node in adapters if not subnets.is_server(node)]
        kinds = {int(scheme.wiring.devices.kind[node.device]) for node in switches}
        top = max(kinds)
        texts = {
            CONF: _conf(scheme, fabric, top, others),
            NAMES: (f'0x{node.guid:016x} "{node.description}"\n' for node in switches),
        }
        if _is_fat_tree(scheme):
            texts[ROOTS] = _guids(n for n in switches if scheme.wiring.devices.kind[n.device] == top)
            if others:
                texts[COMPUTE_NODES] = _port_guids(n for n in adapters if subnets.is_server(n))
        files += [ExportFile(in_subnet(label, name), text) for name, text in texts.items()]
    return Export(tuple(files), subnets.notes())


def _is_fat_tree(scheme: Scheme) -> bool:
    """Whether there are leaves below something: one switch, or two that are joined, are no tree."""
    return scheme.wiring.network.fabric.tiers > 1


def _guids(nodes: Iterable[Node]) -> Iterator[str]:
    return (f"0x{node.guid:016x}\n" for node in nodes)


def _port_guids(nodes: Iterable[Node]) -> Iterator[str]:
    return (f"0x{node.port_guid:016x}\n" for node in nodes)


def _conf(scheme: Scheme, fabric: int, top: int, others: list[Node]) -> Iterator[str]:
    label = scheme.label(fabric)
    home = f"{HOME}/{label}" if label else HOME
    yield f"# OpenSM for {scheme.title}, {scheme.network} network"
    yield f", fabric {label}.\n" if label else ".\n"
    yield "# Only what the plan decides: everything else stays at OpenSM's defaults (opensm -c FILE writes them all).\n"
    yield f"# Paths: put these files into {home}, or change the paths below.\n\n"
    yield from _which_port(scheme, fabric, others)
    yield from _prefix(scheme, fabric)
    yield from (_tree(scheme, home, top, others) if _is_fat_tree(scheme) else _no_tree())
    yield "# Logs and tools show the names of the plan instead of what switches call themselves.\n"
    yield f"node_name_map_name {home}/{NAMES}\n"


def _which_port(scheme: Scheme, fabric: int, others: list[Node]) -> Iterator[str]:
    managers = [n for n in others if scheme.wiring.devices.kind[n.device] == MANAGER]
    yield "# The port that OpenSM binds to; 0 takes the first one that is up.\n"
    if managers:
        yield "# The plan keeps these ports for managers; on each of them, give its own:\n"
        yield from (f"#   0x{n.port_guid:016x}  {n.description} on {n.ports[0].far_description}\n" for n in managers)
    yield "guid 0x0000000000000000\n\n"


def _prefix(scheme: Scheme, fabric: int) -> Iterator[str]:
    count = scheme.wiring.network.fabrics
    if count == 1:
        return
    yield f"# {count} subnets that nothing joins: each needs an OpenSM of its own, and a prefix of its own, by which\n"
    yield "# communication libraries tell which ports reach each other.\n"
    yield f"subnet_prefix 0x{_SUBNET_PREFIX + fabric + 1:016x}\n\n"


def _tree(scheme: Scheme, home: str, top: int, others: list[Node]) -> Iterator[str]:
    tiers = {LEAF: "leaves", SPINE: "spines", CORE: "cores"}
    yield "# A fat tree of " + ", ".join(tiers[kind] for kind in (LEAF, SPINE, CORE) if kind <= top) + ".\n"
    yield "# ftree spreads destinations over uplinks, so that the shifts that collectives are made of do not meet.\n"
    yield "# If it finds no fat tree, OpenSM goes on with the next engine, and says so in its log alone. Look for\n"
    yield '# "ftree tables configured on all switches". updn is next: it cannot deadlock on a broken tree either.\n'
    yield "routing_engine ftree,updn\n\n"
    yield f"# The {tiers[top]}. With them stated, ftree still accepts the tree when links or switches are down.\n"
    yield f"root_guid_file {home}/{ROOTS}\n\n"
    if others:
        kinds = " and ".join(dict.fromkeys(_kind_words(scheme, node) for node in others))
        yield f"# The NIC ports of servers: {kinds} are routed after them, and do not disturb their balance.\n"
        yield f"cn_guid_file {home}/{COMPUTE_NODES}\n\n"


def _kind_words(scheme: Scheme, node: Node) -> str:
    d = scheme.wiring.devices
    kind = int(d.kind[node.device])
    if kind == MANAGER:
        return "managers"
    group = scheme.wiring.network.request.attached[int(d.group[node.device])].name
    return f"hosts of {group}" if KINDS[kind] == "attached" else KINDS[kind]


def _no_tree() -> Iterator[str]:
    yield "# Two hosts are at most one link between switches apart: there is no cycle, so the shortest way is safe.\n"
    yield "routing_engine minhop\n\n"


OPENSM = Target(
    "opensm",
    "configuration of the subnet manager: routing, roots, names",
    "opensm -F opensm.conf; ibnetdiscover --node-name-map node_names.map",
    (CONF, ROOTS, COMPUTE_NODES, NAMES),
    _opensm,
    ("infiniband",),
)
