"""All networks of a form sized and placed together, before cables are cut to length and anything is priced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from ibplan.cabling.choice import network_parts
from ibplan.errors import Reason
from ibplan.fabric.growing import plan_ahead
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import NetworkSize, build_network
from ibplan.fabric.request import FabricRequest, FabricSize
from ibplan.parts.links import LinkClass
from ibplan.parts.select import LinkParts, MediumChoice
from ibplan.plan.converged import NorthSouth, size_with, with_hosts
from ibplan.plan.forms import Form
from ibplan.plan.hosts import link_layer
from ibplan.plan.means import Means
from ibplan.plan.place import NetworkToPlace, Placed, place_design, tier_models
from ibplan.plan.side_model import SideNetwork, SideNetworks
from ibplan.spec.models import Spec

_MOST_ROUNDS: Final = 16


@dataclass(frozen=True, slots=True)
class Sized:
    """The networks of a form. `carried`: who stands on the compute network beside the GPUs' ports.

    `out_of_reach`: why it cannot grow to the last stage.
    """

    network: NetworkSize
    parts: tuple[LinkParts, ...]
    side: SideNetworks
    placed: Placed
    out_of_reach: Reason | None
    carried: NorthSouth | None

    def medium(self, spec: Spec, link: LinkClass) -> MediumChoice:
        """The medium of a class of links of the compute network."""
        return _medium(spec, link, self.carried)


def size_networks(form: Form, spec: Spec, means: Means) -> Sized:
    """Size and place all networks of a form. Raises Unbuildable with the reasons.

    Out-of-band switches can hang on the compute network, whose switches they manage: repeated until both agree.
    """
    planner, servers = means.planner, form.request.servers
    carried = planner.north_south(servers, 0)
    for _ in range(_MOST_ROUNDS):
        sized = _sized(form, spec, means, carried)
        oob = sized.side.named("oob")
        again = planner.north_south(servers, 0 if oob is None else oob.network.switch_count)
        if again == carried:
            return sized
        carried = again
    raise AssertionError("one or two switches need as many management ports, whatever hangs on them")


def _sized(form: Form, spec: Spec, means: Means, carried: NorthSouth | None) -> Sized:
    ends = (*(HostEnd(a.cage_class, None) for a in spec.attached), *(() if carried is None else carried.ends))
    layer = link_layer(form.fabric)
    ahead = plan_ahead(with_hosts(form.request, layer, ends, carried, means.book), form.later_servers)
    network = _network(form, ends, ahead.request, size_with(ahead.request, carried))
    last = None if ahead.last is None else _network(form, ends, *ahead.last)
    parts = network_parts(network, layer, means.book, lambda link: _medium(spec, link, carried))
    side, placed = _beside(form, network, last, spec, means)
    return Sized(network, parts, side, placed, ahead.out_of_reach, carried)


def _network(form: Form, ends: tuple[HostEnd, ...], request: FabricRequest, fabric: FabricSize) -> NetworkSize:
    return build_network(
        request,
        fabric,
        form.fabrics,
        server=HostEnd(form.hosts.cage_class, form.hosts.ports_per_cage),
        server_ports=form.hosts.ports,
        attached=ends,
        manager=_manager(form),
    )


def _beside(
    form: Form, network: NetworkSize, last: NetworkSize | None, spec: Spec, means: Means
) -> tuple[SideNetworks, Placed]:
    """The side networks, and the floor on which all networks stand.

    The racks' PDUs hang on the out-of-band network, whose switches can take a rack more: repeated until both agree.
    """
    pdus: int | None = None
    for _ in range(_MOST_ROUNDS):
        side = means.planner.with_pdus(pdus).plan(form.fabric, network, last)
        placed = place_design(
            spec,
            means.book.catalog,
            means.ground,
            [_to_place(form, network, spec), *map(_side_to_place, side.planned)],
        )
        found = None if placed.floor is None else placed.floor.pdu_count
        if found is None or found == pdus:
            return side, placed
        pdus = found
    raise AssertionError("every round adds a rack, and the side networks hold a bounded number of switches")


def _to_place(form: Form, network: NetworkSize, spec: Spec) -> NetworkToPlace:
    """The compute network as something to place; nothing stands at ports reserved on Ethernet: they are kept free."""
    return NetworkToPlace("compute", network, tier_models(form.switches), form.has_managers, spec.attached)


def _side_to_place(side: SideNetwork) -> NetworkToPlace:
    return NetworkToPlace(side.name, side.network, tier_models(side.switches))


def _manager(form: Form) -> HostEnd | None:
    cage = form.switches.leaf.manager_cage_class
    return HostEnd(cage, None) if form.has_managers and cage is not None else None


def _medium(spec: Spec, link: LinkClass, carried: NorthSouth | None) -> MediumChoice:
    own = None if carried is None else carried.medium(link.host)
    return own or cast("MediumChoice", getattr(spec.network.medium, link.kind.replace("-", "_")))
