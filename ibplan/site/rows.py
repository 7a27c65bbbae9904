"""The form that all server rows share: servers of a rack, network racks, and where the leaves of each unit go in it.

A row is laid out for as many units as can ever begin in it, so that no leaf moves when servers are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ibplan.errors import Reason, Unbuildable
from ibplan.integers import ceil_div
from ibplan.site.packing import Box, Packer, most_in_rack
from ibplan.site.rules import SiteRules
from ibplan.site.shape import Shape


@dataclass(frozen=True, slots=True)
class LeafDemand:
    """Leaves of one network near their servers: `leaves` of each of `fabrics` for every `unit_servers` servers.

    `unit_servers` None: there is one unit only.
    """

    network: str
    box: Box
    unit_servers: int | None
    leaves: int
    fabrics: int

    @property
    def of_unit(self) -> int:
        """Leaves of one unit over all fabrics."""
        return self.leaves * self.fabrics

    def units_in(self, servers: int) -> int:
        """The most units that can begin among so many servers in a row."""
        return 1 if self.unit_servers is None else ceil_div(servers, self.unit_servers)

    def leaves_in(self, servers: int) -> int:
        """The most leaves that belong to so many servers in a row, when leaves are spread evenly over their servers."""
        return self.of_unit if self.unit_servers is None else ceil_div(servers * self.of_unit, self.unit_servers)


@dataclass(frozen=True, slots=True)
class Rows:
    """Every server row: racks are counted in the order in which the slots of a row are filled, network racks first.

    `spots`: by network, (rack, lowest unit) of the leaves of the units that begin in a row, unit by unit, fabric by
    fabric. `tops`: by network, the unit under which its leaves stand in server racks. Neither: no leaf is in a row.
    `packed`: the network racks of a full row.
    """

    servers_per_rack: int
    server_racks: int
    network_racks: int
    demands: Mapping[str, LeafDemand]
    spots: Mapping[str, Sequence[tuple[int, int]]]
    tops: Mapping[str, int]
    packed: Packer | None

    @property
    def servers_per_row(self) -> int:
        """Servers of a full row."""
        return self.servers_per_rack * self.server_racks

    def of(self, network: str) -> object:
        """All that the places of a network's leaves depend on."""
        filled = (self.servers_per_rack, self.server_racks, self.network_racks)
        return filled, self.demands[network], tuple(self.spots.get(network, ())), self.tops.get(network)

    def leaves(self, network: str, units: range, fabric: int) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        """Row by row the leaves of units that have a place there: (rack in the order of filling, lowest unit)."""
        demand = self.demands[network]
        if network in self.tops:
            for unit in units:
                for position in range(demand.leaves):
                    row, spot = self._on_top(demand, unit, fabric, position)
                    yield row, [spot]
        elif network in self.spots:
            yield from self._beside(demand, units, fabric)

    def _beside(self, demand: LeafDemand, units: range, fabric: int) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        """Leaves in network racks: the units that begin in a row, one after the other."""
        spots, each = self.spots[demand.network], demand.leaves
        firsts = range(fabric * each, len(spots), demand.of_unit)
        own = [spot for first in firsts for spot in spots[first : first + each]]
        if demand.unit_servers is None:
            yield 0, own[:each]
            return
        servers = self.servers_per_row
        while units:
            row = units.start * demand.unit_servers // servers
            begin, end = (
                ceil_div(row * servers, demand.unit_servers),
                ceil_div((row + 1) * servers, demand.unit_servers),
            )
            here = units[: end - units.start]
            yield row, own[(here.start - begin) * each : (here.stop - begin) * each]
            units = units[len(here) :]

    def _on_top(self, demand: LeafDemand, unit: int, fabric: int, position: int) -> tuple[int, tuple[int, int]]:
        """Leaf g of all stands with server g x (servers of a unit) / (leaves of a unit), rounded down."""
        number = (unit * demand.fabrics + fabric) * demand.leaves + position
        rack, nth = 0, number
        if demand.unit_servers is not None:
            rack = number * demand.unit_servers // demand.of_unit // self.servers_per_rack
            nth = number - ceil_div(rack * self.servers_per_rack * demand.of_unit, demand.unit_servers)
        row, in_row = divmod(rack, self.server_racks)
        return row, (self.network_racks + in_row, self.tops[demand.network] - (nth + 1) * demand.box.units + 1)

    def spare_room(self) -> Packer | None:
        """The network racks of a row with what stays free when all units of the row are there; None without any."""
        return None if self.packed is None else self.packed.copy()


def leaf_demand(network: str, box: Box, shape: Shape, fabrics: int) -> LeafDemand:
    """What a network asks of the rows."""
    return LeafDemand(network, box, shape.unit_servers, shape.unit_leaves, fabrics)


def plan_rows(rules: SiteRules, server: Box, whole_rack: int | None, demands: Sequence[LeafDemand]) -> Rows:
    """The form of the rows; `whole_rack`: servers of a rack that comes assembled. Raises Unbuildable."""
    if rules.placement == "top_of_rack":
        return _on_top_of_racks(rules, server, whole_rack, demands)
    per_rack = whole_rack or most_in_rack(server, rules)
    named = {d.network: d for d in demands}
    if rules.placement != "central_rows":
        for network_racks in range(_least_racks(rules, per_rack, demands), rules.racks_per_row):
            servers = (rules.racks_per_row - network_racks) * per_rack
            packer = Packer(rules)
            stacks = {d.network: packer.put(d.box, d.units_in(servers) * d.of_unit) for d in demands}
            if len(packer.rooms) <= network_racks:
                spots = {name: [(s.rack, unit) for s in found for unit in s.units] for name, found in stacks.items()}
                return Rows(per_rack, rules.racks_per_row - network_racks, network_racks, named, spots, {}, packer)
    return Rows(per_rack, rules.racks_per_row, 0, named, {}, {}, None)


def _least_racks(rules: SiteRules, per_rack: int, demands: Sequence[LeafDemand]) -> int:
    """Network racks of a row below which nothing needs to be tried: each box takes its share of a rack."""
    shares = [(d, Fraction(d.of_unit, most_in_rack(d.box, rules))) for d in demands]
    for racks in range(1, rules.racks_per_row):
        servers = (rules.racks_per_row - racks) * per_rack
        if sum(d.units_in(servers) * share for d, share in shares) <= racks:
            return racks
    return rules.racks_per_row


def _on_top_of_racks(rules: SiteRules, server: Box, whole_rack: int | None, demands: Sequence[LeafDemand]) -> Rows:
    if whole_rack:
        text = "rack: site.placement top_of_rack needs room in the server racks, but these come assembled"
        raise Unbuildable(Reason("rack-assembled", text))
    for per_rack in range(most_in_rack(server, rules), 0, -1):
        boxes = [(server, per_rack), *((d.box, d.leaves_in(per_rack)) for d in demands)]
        if _fit(boxes, rules, assumed_power=per_rack > 1):
            tops, top = {}, rules.usable_units
            for demand in demands:
                tops[demand.network] = top
                top -= demand.leaves_in(per_rack) * demand.box.units
            return Rows(per_rack, rules.racks_per_row, 0, {d.network: d for d in demands}, {}, tops, None)
    need = server.units + sum(d.leaves_in(1) * d.box.units for d in demands)
    text = (
        f"rack: one server with the leaves that stand with it takes {need} rack units, or exceeds a limit of the rack"
    )
    raise Unbuildable(Reason("rack-units", text, need, rules.usable_units))


def _fit(boxes: Sequence[tuple[Box, int]], rules: SiteRules, *, assumed_power: bool) -> bool:
    units = sum(box.units * count for box, count in boxes)
    power = sum((box.power_w or 0) * count for box, count in boxes)
    weight = sum((box.weight_kg or 0) * count for box, count in boxes)
    too_hot = power > rules.power_w and (rules.power_stated or assumed_power)
    too_heavy = rules.weight_kg is not None and weight > rules.weight_kg
    return units <= rules.usable_units and not too_hot and not too_heavy
