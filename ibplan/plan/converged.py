"""Storage and in-band traffic on the leaves of the compute network: whose ports stand there, and the fabric with them.

Published for small clusters of one pair of switches; the rules and their sources are in docs/side-networks.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ibplan.catalog.entries import LinkLayer
from ibplan.errors import Problem, Reason, Unbuildable
from ibplan.fabric.geometry import CageSet, Mode
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.request import Attached, FabricRequest, FabricSize
from ibplan.fabric.sizing import size_fabric
from ibplan.host_groups import SERVER_INBAND, SERVER_PORTS, SERVER_STORAGE, STORAGE_HOSTS
from ibplan.parts.links import LinkEnd
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import MediumChoice, any_parts
from ibplan.plan.hosts import ServerModel
from ibplan.plan.management import inband_hosts
from ibplan.plan.side_build import WORDS, Group, ServerPorts
from ibplan.plan.side_model import LeftOut, SideName
from ibplan.plan.side_ports import inband_ports, storage_ports
from ibplan.plan.storage import appliance_group
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import InbandSpec, Spec, StorageSpec

_APART = "without converged_with: compute, storage and in-band traffic get switches of their own"


@dataclass(frozen=True, slots=True)
class NorthSouth:
    """The groups of hosts, the far ends of their links, and the medium of each group by its name."""

    groups: tuple[Attached, ...]
    ends: tuple[HostEnd, ...]
    media: tuple[tuple[str, MediumChoice], ...]

    def medium(self, host: str | None) -> MediumChoice | None:
        """The medium of the links to a group; None where it is none of these."""
        return dict(self.media).get(host or "")


def server_ports(spec: Spec, server: ServerModel) -> dict[str, ServerPorts | LeftOut]:
    """The ports of one server that stand on the compute network beside those of its GPUs, by group.

    A server without storage ports of its own reaches storage over its in-band ports, where those are there, too.
    """
    found: dict[str, ServerPorts | LeftOut] = {}
    storage, inband = spec.storage, spec.management.inband
    if isinstance(storage, StorageSpec) and storage.converged_with == "compute":
        ports = storage_ports(storage, server, "roce")
        if isinstance(ports, ServerPorts) or "inband" not in spec.on_compute:
            found[SERVER_STORAGE] = ports
    if "inband" in spec.on_compute and isinstance(inband, InbandSpec):
        found[SERVER_INBAND] = inband_ports(inband, server)
    return found


def storage_reach(spec: Spec, server: ServerModel) -> ServerPorts | LeftOut:
    """The ports over which a server reaches storage that has no network of its own."""
    on_compute, inband = server_ports(spec, server), spec.management.inband
    if "storage" in spec.on_compute and on_compute:
        return next(iter(on_compute.values()))
    return inband_ports(inband, server) if isinstance(inband, InbandSpec) else LeftOut(WORDS["inband"], "left out")


def port_problems(loaded: LoadedSpec, server: ServerModel) -> Iterator[Problem]:
    """Ports that are to stand on the compute network and are not known: nothing can be sized without them."""
    at: Mapping[str, tuple[str | int, ...]] = {
        SERVER_STORAGE: ("storage", "converged_with"),
        SERVER_INBAND: ("management", "inband", "converged_with"),
    }
    for name, ports in server_ports(loaded.spec, server).items():
        if isinstance(ports, LeftOut):
            reason, _, remedy = ports.reason.partition("; ")
            yield loaded.document.problem(at[name], f"{ports.what}: {reason}", remedy)


def north_south(spec: Spec, server: ServerModel, servers: int, uplinks: Group | None) -> NorthSouth | None:
    """Everything that stands on the compute network beside the GPUs' ports; None where nothing does.

    `uplinks`: those of the out-of-band switches, which go where the in-band ports are.
    """
    found = server_ports(spec, server)
    if not found:
        return None
    rows = [
        (Attached(name, servers, ports.ports, ports.gbps), HostEnd(ports.cage_class, ports.ports_per_cage))
        for name, ports in found.items()
        if isinstance(ports, ServerPorts)
    ]
    rows += [(group.hosts, HostEnd(group.cage_class, 1)) for group in _other_groups(spec, server, servers, uplinks)]
    groups = tuple(replace(hosts, own_leaves=False, leaves=None, ratio=None, north_south=True) for hosts, _ in rows)
    return NorthSouth(groups, tuple(end for _, end in rows), tuple((g.name, _medium(spec, g.name)) for g in groups))


def _other_groups(spec: Spec, server: ServerModel, servers: int, uplinks: Group | None) -> Iterator[Group]:
    reach, inband = storage_reach(spec, server), spec.management.inband
    if "storage" in spec.on_compute and isinstance(spec.storage, StorageSpec) and isinstance(reach, ServerPorts):
        group, _ = appliance_group(spec.storage, servers * server.gpus, reach.gbps, reach.cage_class)
        if group is not None:
            yield group
    if "inband" in spec.on_compute and isinstance(inband, InbandSpec):
        ports = inband_ports(inband, server)
        hosts = inband_hosts(spec.management.hosts, ports) if isinstance(ports, ServerPorts) else None
        yield from (group for group in (hosts, uplinks) if group is not None)


def _medium(spec: Spec, host: str) -> MediumChoice:
    storage, inband = spec.storage, spec.management.inband
    own = isinstance(storage, StorageSpec) and storage.converged_with == "compute" and host in STORAGE_HOSTS
    if own and isinstance(storage, StorageSpec):
        return storage.medium
    return inband.medium if isinstance(inband, InbandSpec) else "optical"


def with_hosts(
    request: FabricRequest, layer: LinkLayer, ends: Sequence[HostEnd], beside: NorthSouth | None, book: PartsBook
) -> FabricRequest:
    """The request with these hosts on its leaves, and with breakouts that parts join with what hangs on them.

    `ends` of all attached hosts, these last. Raises Unbuildable where a server cannot be on both of two leaves.
    """
    if beside is not None:
        request = replace(request, attached=(*request.attached, *beside.groups), tiers=1)
        _check_both_leaves(request, beside)
    taken = {request.leaf.down_gbps, request.leaf.up_gbps}
    far: dict[int, list[LinkEnd]] = {}
    for group, end in zip(request.attached, ends, strict=True):
        if end.cage_class is not None and group.gbps not in taken:
            far.setdefault(group.gbps, []).append(LinkEnd("attached", end.cage_class, end.ports_per_cage, ()))
    if not far:
        return request
    geometry = request.leaf.geometry
    sets = tuple(_fitting_set(cages, layer, far, book) for cages in geometry.sets)
    return replace(request, leaf=replace(request.leaf, geometry=replace(geometry, sets=sets)))


def _check_both_leaves(request: FabricRequest, beside: NorthSouth) -> None:
    for group in beside.groups:
        if group.name in SERVER_PORTS and group.ports == 1 and request.single_tier == "two_leaves":
            text = f"a server has one port ({SERVER_PORTS[group.name]}), which cannot be on both of two leaves"
            raise Unbuildable(Reason("converged-one-port", f"{text}; {_APART}", 2, 1))


def size_with(request: FabricRequest, beside: NorthSouth | None) -> FabricSize:
    """The fabric. Raises Unbuildable, with what else to do where it would hold no storage and in-band traffic."""
    try:
        return size_fabric(request)
    except Unbuildable as refusal:
        full = beside is not None and {r.code for r in refusal.reasons} <= {"one-switch", "two-leaves"}
        if not full:
            raise
        raise Unbuildable(*(replace(r, text=f"{r.text}; {_APART}") for r in refusal.reasons)) from refusal


def _fitting_set(cages: CageSet, layer: LinkLayer, far: Mapping[int, Sequence[LinkEnd]], book: PartsBook) -> CageSet:
    """The cages without the breakouts of a speed for which no parts to its hosts are known, where another has some.

    A cage may give a speed in several breakouts (4 x 100G with two lanes each, 8 x 100G with one), of which the far
    ends fit only one.
    """
    dropped = set()
    for gbps, ends in far.items():
        modes = [mode for mode in cages.modes if mode.gbps == gbps]
        known = [mode for mode in modes if all(_joined(book, layer, cages, mode, end) for end in ends)]
        if known and cages.mode(gbps) not in known:
            dropped |= {mode for mode in modes if mode not in known}
    return replace(cages, modes=tuple(mode for mode in cages.modes if mode not in dropped)) if dropped else cages


def _joined(book: PartsBook, layer: LinkLayer, cages: CageSet, mode: Mode, far: LinkEnd) -> bool:
    return any_parts(book, layer, mode.gbps, LinkEnd("leaf", cages.cage_class, mode.ports, ()), far)


def place_of(name: SideName, spec: Spec) -> str | None:
    """Where the spec has a network that is to have no switches of its own; None where it has."""
    if name in spec.on_compute:
        return "the compute network"
    storage = spec.storage
    with_inband = name == "storage" and isinstance(storage, StorageSpec) and storage.converged_with is not None
    return "the in-band network" if with_inband else None
