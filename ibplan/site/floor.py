"""Every device of a design in a place, as `ibplan.site.placing` puts it: made for each design of a plan."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Self

from ibplan.fabric.network import NetworkSize
from ibplan.integers import ceil_div
from ibplan.site.ground import Ground
from ibplan.site.packing import Box
from ibplan.site.rows import Rows
from ibplan.site.rules import SiteRules
from ibplan.site.shape import Shape

# The group of attached hosts that the rack PDUs are on the out-of-band network.
PDU_HOSTS = "pdu"


class Spot(NamedTuple):
    """A place on the floor and the lowest rack unit in the rack there (None = not known)."""

    place: int
    unit: int | None


class Spots:
    """Places and lowest rack units of devices alike, in the order of the wiring: six bytes a device."""

    def __init__(self, count: int) -> None:
        self.places = array("i", bytes(4 * count))
        self.units = array("h", bytes(2 * count))

    @classmethod
    def of(cls, places: array[int], units: array[int]) -> Self:
        """Devices of which all places are known."""
        found = cls(0)
        found.places, found.units = places, units
        return found

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Spot]:
        return map(Spot, self.places, self.units)

    def __getitem__(self, number: int) -> Spot:
        return Spot(self.places[number], self.units[number])

    def fill(self, first: int, places: array[int], units: array[int]) -> None:
        """Enter the places and units of devices from the first one on."""
        self.places[first : first + len(places)] = places
        self.units[first : first + len(units)] = units

    @property
    def columns(self) -> tuple[array[int], array[int]]:
        """Places, and units."""
        return self.places, self.units

    def around(self, first: int, count: int) -> Self:
        """So many devices from a number on; after the last comes the first again."""
        times = ceil_div(first + count, len(self))
        end = first + count
        return self.of((self.places * times)[first:end], (self.units * times)[first:end])

    def some(self, numbers: Sequence[int]) -> Self:
        """Some devices, in the order of their numbers here."""
        places, units = self.places, self.units
        return self.of(array("i", [places[n] for n in numbers]), array("h", [units[n] for n in numbers]))

    def at(self, numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
        """(place, unit) of some devices."""
        places, units = self.places, self.units
        return ((places[number], units[number]) for number in numbers)


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers: how many, and one of them. `whole_rack`: they come in racks of so many, with what a rack draws."""

    count: int
    box: Box
    whole_rack: int | None = None
    rack_box: Box | None = None


@dataclass(frozen=True, slots=True)
class SitedNetwork:
    """A network to place: its sizes, and a box by tier (`leaf`, `spine`, `core`, `manager`, `attached:<name>`).

    Managers and attached hosts without a box have no known place; switches must have one.
    """

    name: str
    size: NetworkSize
    boxes: Mapping[str, Box]

    def stands(self, hosts: str) -> bool:
        """Whether the attached hosts of a name have a place."""
        return f"attached:{hosts}" in self.boxes


@dataclass(frozen=True)
class Floor:
    """Where everything stands. `spots`: by group (`compute/leaf`), in the order of that network's wiring."""

    rules: SiteRules
    ground: Ground
    servers: Servers
    networks: tuple[SitedNetwork, ...]
    shapes: Mapping[str, Shape]
    rows: Rows
    spots: Mapping[str, Spots]

    def server(self, number: int) -> Spot:
        """Where a server stands."""
        rack, nth = divmod(number, self.rows.servers_per_rack)
        unit = None if self.servers.whole_rack else nth * self.servers.box.units + 1
        return Spot(self.server_rack(rack), unit)

    def server_rack(self, rack: int) -> int:
        """The place of the n-th server rack."""
        row, nth = divmod(rack, self.rows.server_racks)
        return row * self.ground.slots + self.ground.order[self.rows.network_racks + nth]

    def row_of_server(self, number: int) -> int:
        """The row in which a server stands."""
        return number // self.rows.servers_per_row

    @cached_property
    def server_places(self) -> tuple[int, ...]:
        """Places of the racks that hold servers, in the order of the servers."""
        racks, slots = ceil_div(self.servers.count, self.rows.servers_per_rack), self.ground.slots
        row = [self.ground.order[self.rows.network_racks + nth] for nth in range(self.rows.server_racks)]
        firsts = range(0, ceil_div(racks, len(row)) * slots, slots)
        return tuple(islice((first + slot for first in firsts for slot in row), racks))

    @cached_property
    def places(self) -> tuple[int, ...]:
        """All places where a rack stands, in the order of the floor: server rows, then the network area."""
        return tuple(self._in_order({*self.server_places, *self.network_places}))

    @cached_property
    def network_places(self) -> tuple[int, ...]:
        """Places of the racks without a server, in the order of the floor."""
        used = set[int]().union(*(spots.places for spots in self.spots.values()))
        return tuple(self._in_order(used.difference(self.server_places)))

    def _in_order(self, places: Collection[int]) -> list[int]:
        area = sorted((p for p in places if p < 0), key=lambda place: (-(place // self.ground.slots), place))
        return sorted(p for p in places if p >= 0) + area

    @cached_property
    def signature(self) -> object:
        """Equal for floors of one site on which all devices stand alike, whatever they are."""
        spots = tuple((group, s.places.tobytes(), s.units.tobytes()) for group, s in self.spots.items())
        rows, servers = self.rows, self.servers
        fill = (rows.servers_per_rack, rows.server_racks, rows.network_racks, servers.count, servers.box.units)
        return hash((spots, fill, servers.whole_rack)), fill, len(spots)

    @cached_property
    def hosts(self) -> Mapping[str, Spots]:
        """Attached hosts that are other devices of the floor: switches (`compute.leaf`), servers, rack PDUs."""
        found = {}
        for network in self.networks:
            for hosts in network.size.request.attached:
                group = hosts.device_group(network.name)
                spots = self._servers() if group == "server" else self.spots.get(group or "")
                if group == PDU_HOSTS and hosts.hosts == self.pdu_count:
                    spots = self._pdus()
                if spots is not None and len(spots) == hosts.hosts:
                    found[f"{network.name}/attached:{hosts.name}"] = spots
        return found

    def spots_of(self, group: str) -> Spots | None:
        """Where the devices of a group stand; None = not known."""
        return self.spots.get(group, self.hosts.get(group))

    @cached_property
    def not_placed(self) -> tuple[str, ...]:
        """The attached hosts of which it is not known where they stand; those of other networks with its name."""
        return tuple(
            hosts.name if network.name == "compute" else f"{hosts.name} ({network.name})"
            for network in self.networks
            for hosts in network.size.request.attached
            if self.spots_of(f"{network.name}/attached:{hosts.name}") is None
        )

    def _servers(self) -> Spots:
        """All servers; where the unit is not known, cables are measured from the bottom of the rack."""
        each, count = self.rows.servers_per_rack, self.servers.count
        within = [1] * each if self.servers.whole_rack else [nth * self.servers.box.units + 1 for nth in range(each)]
        places = array("i", [place for place in self.server_places for _ in range(each)][:count])
        return Spots.of(places, (array("h", within) * len(self.server_places))[:count])

    def _pdus(self) -> Spots:
        """The rack PDUs, rack by rack: those of server racks first. Cables are measured from the bottom of the rack."""
        served = () if self.servers.whole_rack else self.server_places
        places = array("i", [place for place in served for _ in range(self.rules.server_rack_pdus)])
        places.extend(place for place in self.network_places for _ in range(self.rules.network_rack_pdus))
        return Spots.of(places, array("h", [1]) * len(places))

    @property
    def network_rack_count(self) -> int:
        """Racks without a server."""
        return len(self.network_places)

    @property
    def bought_rack_count(self) -> int:
        """Racks to buy: those that come assembled are part of what their servers cost."""
        return self.network_rack_count + (0 if self.servers.whole_rack else len(self.server_places))

    @property
    def pdu_count(self) -> int:
        """Rack PDUs over all racks; those of racks that come assembled are the maker's and not counted."""
        own = 0 if self.servers.whole_rack else len(self.server_places)
        return own * self.rules.server_rack_pdus + self.network_rack_count * self.rules.network_rack_pdus
