"""Size a form, choose its parts, cost it: from a Form to everything a Design says except its rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ibplan.cabling.choice import network_parts
from ibplan.economics.bill import Equipment, make_bill
from ibplan.economics.capital import Capital, capital_cost, maximum_power_w, typical_power_w
from ibplan.economics.items import LineItem
from ibplan.economics.licences import Licence, unpriced_and_required
from ibplan.errors import Reason
from ibplan.fabric.network import NetworkSize
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import LinkParts
from ibplan.plan.equip import all_switches
from ibplan.plan.forms import Form
from ibplan.plan.hosts import link_layer
from ibplan.plan.means import Means
from ibplan.plan.names import form_id
from ibplan.plan.place import Placed
from ibplan.plan.runs import site_runs, wire_form
from ibplan.plan.side_model import SideNetworks
from ibplan.plan.sized import size_networks
from ibplan.plan.structured import structure
from ibplan.spec.models import Spec

if TYPE_CHECKING:
    from ibplan.cabling.trunks import Structured


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A sized, placed, equipped and priced form. `power_w` = maximum, None if unknown.

    `network` and `parts` are those of the compute network; `side` are the others; items, capital and power of all.
    `out_of_reach`: why it cannot grow to the last stage; None = it can, or need not.
    `structured`: the trunks of the compute network; None = there are none, or there is no floor to plan them on.
    `licences`: all that its network can need; those that are bought are among the `items`, too.
    """

    id: str
    form: Form
    network: NetworkSize
    parts: tuple[LinkParts, ...]
    side: SideNetworks
    items: tuple[LineItem, ...]
    capital: Capital
    power_w: float | None
    power_typical_w: float | None
    placed: Placed
    licences: tuple[Licence, ...] = ()
    out_of_reach: Reason | None = None
    structured: Structured | None = None

    @property
    def all_parts(self) -> Iterator[tuple[str, LinkParts]]:
        """The parts of the link classes of every network, with its name."""
        yield from (("compute", parts) for parts in self.parts)
        yield from ((network.name, parts) for network in self.side.planned for parts in network.parts)

    @property
    def price_is_certain(self) -> bool:
        """Whether nothing that must be bought lacks a price."""
        return self.capital.complete and not unpriced_and_required(self.licences)

    def nic_gbps_per_gpu(self, gpus: int) -> Fraction:
        """Bandwidth of a server's ports on this network over its GPUs, Gb/s."""
        hosts = self.form.hosts
        return Fraction(hosts.gbps * hosts.ports * self.network.request.servers, gpus)

    @property
    def form_key(self) -> tuple[object, ...]:
        """What makes two designs of one form: all but which switch it is (radix, speeds, tiers, ratio, wiring)."""
        request = self.network.request
        tiers = self.network.fabric.tiers
        radix: list[int] = [request.leaf.geometry.ports(request.leaf.down_gbps)]
        if tiers > 1:
            radix += [request.leaf.geometry.ports(request.leaf.up_gbps)]
            radix += [request.spine.geometry.ports(request.leaf.up_gbps), request.leaf.up_gbps]
        if tiers > 2:
            radix += [request.core.ports(request.spine.up_gbps), request.spine.up_gbps]
        tail = self.id.removeprefix(f"{self.form.fabric}-{self.form.switches.name}-")
        return (self.form.fabric, self.form.hosts.gbps, tuple(radix), tail)


def evaluate(form: Form, spec: Spec, means: Means) -> Evaluated:
    """Evaluate one form with its side networks. Raises Unbuildable with the reasons when it cannot be built."""
    sized = size_networks(form, spec, means)
    network, parts, side, placed, book = sized.network, sized.parts, sized.side, sized.placed, means.book
    if placed.floor is not None and means.lengths:
        floor = placed.floor
        runs = site_runs(floor, "compute", network, lambda: wire_form(form, network), assumed=not means.site_stated)
        parts = network_parts(network, link_layer(form.fabric), book, lambda link: sized.medium(spec, link), runs)
        side = replace(side, planned=tuple(means.cabled(n, floor, spec.site.airflow) for n in side.planned))
    parts, structured, trunks = _structured(form, network, parts, placed, means)
    bill = make_bill("compute", _equipment(form, network, spec, book), [p for p in parts if is_billed(p, form)])
    items = (*bill, *trunks, *(item for other in side.planned for item in other.items))
    licences = means.licences(form.fabric, network, side)
    items = (*items, *means.extras.items(items, licences))
    return Evaluated(
        form_id(form, network.fabric.tiers),
        form,
        network,
        parts,
        side,
        items,
        capital_cost(items),
        maximum_power_w(items),
        typical_power_w(items),
        placed,
        licences,
        sized.out_of_reach,
        structured,
    )


def _structured(
    form: Form, network: NetworkSize, parts: tuple[LinkParts, ...], placed: Placed, means: Means
) -> tuple[tuple[LinkParts, ...], Structured | None, tuple[LineItem, ...]]:
    """The compute network's parts with cords, its trunks and their lines, if they are wanted and there is a floor."""
    if means.structured is None or placed.floor is None:
        return parts, None, ()
    return structure(
        "compute", network, parts, placed.floor, means.structured, means.book, lambda: wire_form(form, network)
    )


def is_billed(parts: LinkParts, form: Form) -> bool:
    """Ports reserved without a known far end are kept free: nothing is bought for them."""
    return parts.link.kind != "reserved" or form.has_managers


def _equipment(form: Form, network: NetworkSize, spec: Spec, book: PartsBook) -> list[Equipment]:
    found = all_switches(network, form.switches, spec.site.airflow)
    nic = form.hosts.nic
    if nic is not None:
        found.append(
            Equipment(
                "server",
                "NIC",
                nic.id,
                nic.vendor,
                nic.part_numbers[0] if nic.part_numbers else None,
                nic.model,
                network.request.servers,
                book.catalog.prices.choose(nic.id),
                nic.power.max_w,
                nic.power.typical_w,
                False,
                "servers, one each",
            )
        )
    return found


def counts_of(parts: Sequence[LinkParts], kind_is_reserved: bool) -> list[LinkParts]:
    """The link classes that are reserved, or those that are not."""
    return [p for p in parts if (p.link.kind == "reserved") == kind_is_reserved]
