"""What stands in each rack: devices with their rack units, power and weight, against the limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ibplan.site.floor import Floor
from ibplan.site.layout import make_racks
from ibplan.site.model import Rack
from ibplan.site.packing import Box

# From a group of the layout (`compute/leaf`) and a number in it to the device's name.
Naming = Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class Standing:
    """One device in a rack. `unit` = the lowest rack unit, None where the rack comes assembled."""

    name: str
    group: str
    unit: int | None
    box: Box


@dataclass(frozen=True, slots=True)
class RackContent:
    """One rack, its devices from the top down, and what it holds. None = unknown, or no limit.

    units: in use, free below those kept free at the top, and kept free (None, None, 0: it comes assembled). power and
    weight: of all devices, None if one's is unknown; `power_known_w`, `weight_known_kg`: of those that are known.
    """

    rack: Rack
    devices: tuple[Standing, ...]
    units_used: int | None
    units_free: int | None
    units_reserved: int
    power_w: float | None
    power_known_w: float
    power_limit_w: float | None
    weight_kg: float | None
    weight_known_kg: float
    weight_limit_kg: float | None
    pdus: int | None
    assembled: bool

    @property
    def form(self) -> tuple[object, ...]:
        """What racks alike have in common."""
        return (self.rack.purpose, self.assembled, tuple((d.box, d.unit) for d in self.devices))


def rack_contents(floor: Floor, naming: Naming) -> tuple[RackContent, ...]:
    """Every rack, in the order of the floor."""
    inside: dict[int, list[Standing]] = {place: [] for place in floor.places}
    for number in range(floor.servers.count):
        place, unit = floor.server(number)
        inside[place].append(Standing(naming("server", number), "server", unit, floor.servers.box))
    boxes = {n.name: n.boxes for n in floor.networks}
    for group, spots in floor.spots.items():
        network, _, tier = group.partition("/")
        for number, (place, unit) in enumerate(spots):
            inside[place].append(Standing(naming(group, number), group, unit, boxes[network][tier]))
    return tuple(
        _content(floor, rack, inside[place]) for rack, place in zip(make_racks(floor), floor.places, strict=True)
    )


def _content(floor: Floor, rack: Rack, devices: list[Standing]) -> RackContent:
    rules, servers = floor.rules, floor.servers
    assembled = rack.purpose == "server" and servers.whole_rack is not None
    devices.sort(key=lambda d: -(d.unit or 0))
    used = sum(d.box.units for d in devices)
    power, known_w = _sum([d.box.power_w for d in devices])
    weight, known_kg = _sum([d.box.weight_kg for d in devices])
    if assembled and servers.rack_box is not None:
        power, weight = servers.rack_box.power_w, servers.rack_box.weight_kg
        known_w, known_kg = power or 0.0, weight or 0.0
    pdus = rules.server_rack_pdus if rack.purpose == "server" else rules.network_rack_pdus
    return RackContent(
        rack,
        tuple(devices),
        None if assembled else used,
        None if assembled else rules.usable_units - used,
        0 if assembled else rules.rack_units - rules.usable_units,
        power,
        known_w,
        rules.power_w if rules.power_stated or not assembled else None,
        weight,
        known_kg,
        rules.weight_kg,
        None if assembled else pdus,
        assembled,
    )


def _sum(amounts: Sequence[float | None]) -> tuple[float | None, float]:
    """The sum, None if one is unknown; and the sum of those that are known."""
    known = sum(amount for amount in amounts if amount is not None)
    return (None if None in amounts else known), known


def alike(racks: Sequence[RackContent]) -> Iterator[tuple[RackContent, list[Rack]]]:
    """Racks that hold the same at the same heights, together: the first of them, and all of them."""
    found: dict[tuple[object, ...], tuple[RackContent, list[Rack]]] = {}
    for content in racks:
        found.setdefault(content.form, (content, []))[1].append(content.rack)
    yield from found.values()


def wiring_names(labels: Mapping[str, Sequence[str]], per_fabric: Mapping[str, int]) -> Naming:
    """Names as the wiring gives them: `server-001`, `leaf-p1-003`; those of other networks than compute after its name.

    labels: by network, the label of each fabric (`p1`, or nothing). per_fabric: by group, devices of one fabric.
    """

    def name(group: str, number: int) -> str:
        network, _, tier = group.partition("/")
        if group == "server":
            return f"server-{number + 1:03d}"
        before = "" if network == "compute" else f"{network}/"
        if tier.startswith("attached:"):
            return f"{before}{tier.removeprefix('attached:')}-{number + 1:03d}"
        fabric, index = divmod(number, max(1, per_fabric[group]))
        label = labels[network][fabric]
        return f"{before}{tier}-{label + '-' if label else ''}{index + 1:03d}"

    return name
