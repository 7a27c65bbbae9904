"""Placing the devices of a design on the floor, by closed forms. The rules are in docs/site.md.

Servers fill racks in their order; leaves stand in the network racks of the row of their unit's first server (or in its
racks, or in the network area); everything above them, and what belongs to no unit, stands in the network area. No
server's place depends on how many servers come after it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple, cast

from ibplan.errors import Reason, Unbuildable
from ibplan.fabric.network import NetworkSize
from ibplan.site.floor import Floor, Servers, SitedNetwork, Spots
from ibplan.site.ground import Ground
from ibplan.site.packing import Box, Packer, Stack, check_box, new_room
from ibplan.site.rows import Rows, leaf_demand, plan_rows
from ibplan.site.rules import SiteRules
from ibplan.site.shape import Shape, network_shape


def plan_floor(ground: Ground, servers: Servers, networks: Sequence[SitedNetwork]) -> Floor:
    """Place every device. Raises Unbuildable where a device or the whole exceeds what the site allows."""
    rules = ground.rules
    shapes = {network.name: _shape(ground, network.size) for network in networks}
    if servers.rack_box is not None:
        check_box(replace(servers.rack_box, rack_units=1), rules)  # as tall as it is sold
    demands = [leaf_demand(n.name, n.boxes["leaf"], shapes[n.name], n.size.fabrics) for n in networks]
    rows = plan_rows(rules, servers.box, servers.whole_rack, demands)
    spots: dict[str, Spots] = {}
    rest = [*_leaves(ground, networks, shapes, rows, spots), *_central(networks, shapes)]
    together = _in_one_rack(rules, ground, servers, rows, networks, rest)
    if together is None:
        _place_central(rules, ground, rows, rest, spots)
    floor = Floor(rules, ground, servers, tuple(networks), shapes, rows, together or spots)
    _check_hall(floor)
    return floor


def _shape(ground: Ground, network: NetworkSize) -> Shape:
    """The shape of a network: many floors have some of the same networks on them."""
    known = cast("dict[object, Shape]", ground.known)
    asked = (network.request, network.fabric)
    found = known.get(asked)
    if found is None:
        found = known[asked] = network_shape(network)
    return found


class _Segment(NamedTuple):
    """Devices alike for the network area: their group, numbers in it, box, and whether they start a new rack."""

    group: str
    numbers: Sequence[range]
    box: Box
    fresh: bool = False

    @property
    def boxes(self) -> int:
        return sum(map(len, self.numbers))


def _leaves(
    ground: Ground,
    networks: Sequence[SitedNetwork],
    shapes: Mapping[str, Shape],
    rows: Rows,
    spots: dict[str, Spots],
) -> Iterable[_Segment]:
    """Put the leaves of units into rows; yields those that stand in the network area."""
    known = cast("dict[object, Spots]", ground.known)
    for network in networks:
        shape, fabrics, group = shapes[network.name], network.size.fabrics, f"{network.name}/leaf"
        asked = (group, id(shape), fabrics, rows.of(network.name))  # the ground keeps its shapes: an id is of one alone
        if asked in known:
            spots[group] = known[asked]
            continue
        spots[group], central = _in_rows(ground, network.name, shape, fabrics, rows)
        if central:
            yield _Segment(group, sorted(central, key=lambda numbers: numbers.start), network.boxes["leaf"])
        else:
            known[asked] = spots[group]


def _in_rows(ground: Ground, network: str, shape: Shape, fabrics: int, rows: Rows) -> tuple[Spots, list[range]]:
    """The leaves of a network with their places in rows, and the numbers of those that have none there."""
    found = Spots(shape.leaf_count * fabrics)
    central: list[range] = []
    for fabric, units, leaves in _together(shape, fabrics, rows.demands[network].leaves):
        number = leaves.start
        for row, room in rows.leaves(network, units, fabric):
            here = room[: leaves.stop - number]
            places = array("i", [row * ground.slots + ground.order[rack] for rack, _ in here])
            found.fill(number, places, array("h", [height for _, height in here]))
            number += len(here)
        if number < leaves.stop:
            central.append(range(number, leaves.stop))
    return found, central


def _together(shape: Shape, fabrics: int, places: int) -> Iterable[tuple[int, range, range]]:
    """(fabric, units, their leaves): units alike together where each fills the places that it has, else one by one.

    Leaves of units without servers have no place in the rows: with them go no units.
    """
    for fabric, run in product(range(fabrics), shape.runs):
        first = fabric * shape.leaf_count + run.first_leaf
        units, leaves = range(run.first, run.first + run.count), range(first, first + run.count * run.leaves)
        if not run.servers or run.leaves == places:
            yield fabric, units if run.servers else range(0), leaves
        else:
            for nth, unit in enumerate(units):
                yield fabric, range(unit, unit + 1), leaves[nth * run.leaves : (nth + 1) * run.leaves]


def _central(networks: Sequence[SitedNetwork], shapes: Mapping[str, Shape]) -> Iterable[_Segment]:
    """What always stands in the network area: upper tiers and managers, then attached hosts in racks of their own."""
    for network in networks:
        for row in network.size.tiers:
            if row.tier != "leaf":
                yield _Segment(f"{network.name}/{row.tier}", [range(row.count)], network.boxes[row.tier])
        if "manager" in network.boxes:
            count = sum(load.reserved for _, load in shapes[network.name].leaf_loads()) * network.size.fabrics
            yield _Segment(f"{network.name}/manager", [range(count)], network.boxes["manager"])
    for network in networks:
        for hosts in network.size.request.attached:
            box = network.boxes.get(f"attached:{hosts.name}")
            if box is not None:
                yield _Segment(f"{network.name}/attached:{hosts.name}", [range(hosts.hosts)], box, True)


def _place_central(
    rules: SiteRules, ground: Ground, rows: Rows, segments: Sequence[_Segment], spots: dict[str, Spots]
) -> None:
    """Into the room that the network racks of the first row keep free if all of it fits there, else into own rows."""
    spare = rows.spare_room()
    if spare is not None and not any(s.fresh for s in segments):
        placed = [spare.put(s.box, s.boxes) for s in segments]
        if len(spare.rooms) <= rows.network_racks:
            _record(segments, placed, spots, lambda rack: ground.order[rack])
            return
    packer = Packer(rules)
    placed = [packer.put(s.box, s.boxes, fresh=s.fresh) for s in segments]

    def place(rack: int) -> int:
        row, nth = divmod(rack, ground.slots)
        return (-1 - row) * ground.slots + ground.order[nth]

    _record(segments, placed, spots, place)


def _record(
    segments: Sequence[_Segment],
    placed: Sequence[Sequence[Stack]],
    spots: dict[str, Spots],
    place: Callable[[int], int],
) -> None:
    """Enter packed segments; groups that are not there yet get as many places as they have numbers."""
    for segment, stacks in zip(segments, placed, strict=True):
        found = spots.setdefault(segment.group, Spots(segment.boxes))
        places, units = array("i"), array("h")
        for stack in stacks:
            places.extend(array("i", [place(stack.rack)]) * len(stack.units))
            units.extend(stack.units)
        done = 0
        for numbers in segment.numbers:
            end = done + len(numbers)
            found.fill(numbers.start, places[done:end], units[done:end])
            done = end


def _in_one_rack(
    rules: SiteRules,
    ground: Ground,
    servers: Servers,
    rows: Rows,
    networks: Sequence[SitedNetwork],
    rest: Sequence[_Segment],
) -> dict[str, Spots] | None:
    """Everything in the first rack, where it holds all servers and has room for all switches; else None."""
    one = servers.count <= rows.servers_per_rack and not servers.whole_rack and rows.packed is not None
    if not one or any(s.fresh for s in rest):
        return None
    box, count = servers.box, servers.count
    power, weight = (box.power_w or 0) * count, (box.weight_kg or 0) * count
    packer = Packer(rules, [new_room(rules, box.units * count, power, weight)])
    leaves = [_Segment(f"{n.name}/leaf", [range(_leaf_total(n))], n.boxes["leaf"]) for n in networks]
    segments = [*leaves, *(s for s in rest if not s.group.endswith("/leaf"))]
    placed = [packer.put(s.box, s.boxes) for s in segments]
    if len(packer.rooms) > 1:
        return None
    spots: dict[str, Spots] = {}
    # The room's top is that of the units left; the servers stand at the bottom.
    above = box.units * count
    raised = [[Stack(s.rack, _raised(s.units, above)) for s in stacks] for stacks in placed]
    _record(segments, raised, spots, lambda _: _first(ground, rows))
    return spots


def _raised(units: range, by: int) -> range:
    return range(units.start + by, units.stop + by, units.step)


def _first(ground: Ground, rows: Rows) -> int:
    return ground.order[rows.network_racks]


def _leaf_total(network: SitedNetwork) -> int:
    return sum(row.count for row in network.size.tiers if row.tier == "leaf")


def _check_hall(floor: Floor) -> None:
    """Refuse more rows than the spec says that the hall has."""
    rows = floor.rules.rows
    if rows is None:
        return
    used = [place // floor.ground.slots for place in floor.places]
    need = max(used) + 1 + max(0, -min(used))
    if need > rows:
        text = f"hall: {need:,} rows of {floor.ground.slots} racks needed, site.hall.rows allows {rows:,}"
        raise Unbuildable(Reason("hall-rows", text, need, rows))
