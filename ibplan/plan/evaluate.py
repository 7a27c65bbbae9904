"""Size a form, choose its parts, cost it: from a Form to everything a Design says except its rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from ibplan.cabling.choice import network_parts
from ibplan.economics.bill import Equipment, make_bill
from ibplan.economics.capital import Capital, capital_cost, maximum_power_w, typical_power_w
from ibplan.economics.items import LineItem
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import NetworkSize, build_network
from ibplan.fabric.sizing import size_fabric
from ibplan.parts.links import LinkClass
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import LinkParts, MediumChoice
from ibplan.plan.forms import Form
from ibplan.plan.hosts import link_layer
from ibplan.plan.names import form_id
from ibplan.plan.place import NetworkToPlace, Placed, place_design, tier_models
from ibplan.plan.runs import site_runs, wire_form
from ibplan.plan.switches import SwitchModel
from ibplan.spec.models import Spec


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A sized, placed, equipped and priced form. `power_w` = maximum, None if unknown."""

    id: str
    form: Form
    network: NetworkSize
    parts: tuple[LinkParts, ...]
    items: tuple[LineItem, ...]
    capital: Capital
    power_w: float | None
    power_typical_w: float | None
    placed: Placed

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


def evaluate(form: Form, spec: Spec, book: PartsBook) -> Evaluated:
    """Evaluate one form. Raises Unbuildable with the reasons when it cannot be built."""
    fabric = size_fabric(form.request)
    network = build_network(
        form.request,
        fabric,
        form.fabrics,
        server=HostEnd(form.hosts.cage_class, form.hosts.ports_per_cage),
        server_ports=form.hosts.ports,
        attached=tuple(HostEnd(a.cage_class, None) for a in spec.attached),
        manager=_manager(form),
    )
    placed = place_design(spec, book.catalog, [_to_place(form, network, spec)])
    runs = site_runs(placed.floor, "compute", network, lambda: wire_form(form, network))
    parts = network_parts(network, link_layer(form.fabric), book, lambda link: _medium(spec, link), runs)
    items = make_bill("compute", _equipment(form, network, spec, book), [p for p in parts if is_billed(p, form)])
    return Evaluated(
        form_id(form, fabric.tiers),
        form,
        network,
        parts,
        items,
        capital_cost(items),
        maximum_power_w(items),
        typical_power_w(items),
        placed,
    )


def _to_place(form: Form, network: NetworkSize, spec: Spec) -> NetworkToPlace:
    """The compute network as something to place; nothing stands at ports reserved on Ethernet: they are kept free."""
    return NetworkToPlace("compute", network, tier_models(form.switches), form.fabric == "infiniband", spec.attached)


def _manager(form: Form) -> HostEnd | None:
    cage = form.switches.leaf.manager_cage_class
    return HostEnd(cage, None) if form.fabric == "infiniband" and cage is not None else None


def is_billed(parts: LinkParts, form: Form) -> bool:
    """Ports reserved without a known far end are kept free: nothing is bought for them."""
    return not (parts.link.kind == "reserved" and parts.recipe is None and form.fabric != "infiniband")


def _medium(spec: Spec, link: LinkClass) -> MediumChoice:
    return cast("MediumChoice", getattr(spec.network.medium, link.kind.replace("-", "_")))


def _equipment(form: Form, network: NetworkSize, spec: Spec, book: PartsBook) -> list[Equipment]:
    models = {"leaf": form.switches.leaf, "spine": form.switches.spine, "core": form.switches.core}
    found = [_switch(models[t.tier], t.tier, t.count, spec.site.airflow) for t in network.tiers]
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


def _switch(model: SwitchModel, tier: str, count: int, airflow: Literal["p2c", "c2p"]) -> Equipment:
    entry = model.entry
    return Equipment(
        tier,
        "switch",
        model.id,
        entry.vendor if entry else None,
        (entry.part_numbers.get(airflow) or entry.part_numbers.get("any")) if entry else None,
        f"{entry.model} switch" if entry else "switch stated in the spec",
        count,
        model.price,
        model.power_max_w,
        model.power_typical_w,
        model.holds_module_power,
        f"{tier} tier",
    )


def counts_of(parts: Sequence[LinkParts], kind_is_reserved: bool) -> list[LinkParts]:
    """The link classes that are reserved, or those that are not."""
    return [p for p in parts if (p.link.kind == "reserved") == kind_is_reserved]
