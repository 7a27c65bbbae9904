"""What goes into one rack: boxes by height, power and weight, from the top down."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple

from ibplan.errors import Reason, Unbuildable
from ibplan.site.rules import SiteRules


@dataclass(frozen=True, slots=True)
class Box:
    """Something that stands in racks: its name for messages, height, maximum power in W, weight, air or liquid.

    None = unknown.
    """

    name: str
    rack_units: float
    power_w: float | None = None
    weight_kg: float | None = None
    cooling: str | None = None

    @property
    def units(self) -> int:
        """Whole rack units it takes."""
        return ceil(self.rack_units)


class Stack(NamedTuple):
    """Boxes alike in one rack, from the top down: the number of the rack, and the lowest unit of each."""

    rack: int
    units: range


@dataclass(slots=True)
class _Room:
    units: int
    power_w: float
    weight_kg: float
    empty: bool = True


@dataclass(slots=True)
class Packer:
    """Fills racks one after the other, each from the top of its usable units down.

    A box that exceeds a limit which the spec states cannot be placed; one that exceeds the power assumed where nothing
    is stated gets a rack of its own.
    """

    rules: SiteRules
    rooms: list[_Room] = field(default_factory=list)

    def put(self, box: Box, count: int, *, fresh: bool = False) -> list[Stack]:
        """Where `count` boxes stand, rack by rack; `fresh`: they start in a new rack. Raises Unbuildable."""
        if count:
            check_box(box, self.rules)
        if fresh or not self.rooms:
            self._open()
        placed: list[Stack] = []
        units, most = box.units, _room_for(box, new_room(self.rules))
        while count:
            room = self.rooms[-1]
            taken = min(count, most if room.empty else _room_for(box, room))
            if not taken:
                self._open()
                continue
            top = room.units - units + 1
            placed.append(Stack(len(self.rooms) - 1, range(top, top - taken * units, -units)))
            room.units -= taken * units
            room.power_w -= taken * (box.power_w or 0)
            room.weight_kg -= taken * (box.weight_kg or 0)
            room.empty = False
            count -= taken
        return placed

    def copy(self) -> Packer:
        """The same racks, to be filled on."""
        return Packer(self.rules, [replace(room) for room in self.rooms])

    def _open(self) -> None:
        if not self.rooms or not self.rooms[-1].empty:
            self.rooms.append(new_room(self.rules))


def new_room(rules: SiteRules, units: int = 0, power_w: float = 0, weight_kg: float = 0) -> _Room:
    """A rack's room beside what is in it already."""
    most = float("inf") if rules.weight_kg is None else rules.weight_kg
    return _Room(rules.usable_units - units, rules.power_w - power_w, most - weight_kg, units == 0)


def _room_for(box: Box, room: _Room) -> int:
    """How many boxes alike still fit; an empty rack takes at least one."""
    limits = [room.units // box.units]
    if box.power_w:
        limits.append(int(room.power_w // box.power_w))
    if box.weight_kg and room.weight_kg != float("inf"):
        limits.append(int(room.weight_kg // box.weight_kg))
    return max(1 if room.empty else 0, min(limits))


def check_box(box: Box, rules: SiteRules) -> None:
    """Refuse what fits no rack. Raises Unbuildable with the limit and the number."""
    if box.units > rules.usable_units:
        text = (
            f"rack: {box.name} takes {box.units} rack units, but {rules.usable_units} of {rules.rack_units} are usable"
        )
        raise Unbuildable(Reason("rack-units", text, box.units, rules.usable_units))
    if rules.power_stated and box.power_w is not None and box.power_w > rules.power_w:
        text = f"rack: {box.name} draws {box.power_w:,.0f} W, but site.rack.power allows {rules.power_w:,.0f} W"
        raise Unbuildable(Reason("rack-power", text, ceil(box.power_w), int(rules.power_w)))
    if rules.weight_kg is not None and box.weight_kg is not None and box.weight_kg > rules.weight_kg:
        text = f"rack: {box.name} weighs {box.weight_kg:g} kg, but site.rack.weight_kg allows {rules.weight_kg:g} kg"
        raise Unbuildable(Reason("rack-weight", text, ceil(box.weight_kg), int(rules.weight_kg)))


def most_in_rack(box: Box, rules: SiteRules) -> int:
    """How many boxes alike a rack takes, at least one. Raises Unbuildable where not even one fits."""
    check_box(box, rules)
    return _room_for(box, new_room(rules))
