"""Ports and devices of a comparison in words: as the plan calls them, else as the source does; and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ibplan.asbuilt.compare import Comparison, Edge
from ibplan.asbuilt.differences import End
from ibplan.asbuilt.found import FoundEnd, FoundFabric
from ibplan.asbuilt.identity import UNKNOWN
from ibplan.asbuilt.planned import PlannedFabric

_SAME_RACK, _OTHER_RACK = 1, 2


class Words:
    """The words of one comparison. `planned`: by found device the planned one, UNKNOWN = none.

    Ports are numbers over the fabric, below 0 those that the plan does not have.
    """

    def __init__(self, plan: PlannedFabric, found: FoundFabric, comparison: Comparison, planned: Sequence[int]) -> None:
        self._plan, self._found, self._comparison, self._planned = plan, found, comparison, planned
        self._ends: dict[int, End] = {}

    @cached_property
    def _found_at(self) -> dict[int, FoundEnd]:
        """The found end at the port of every extra link."""
        ends: dict[int, FoundEnd] = {}
        for edge in self._comparison.extra:
            ends |= self.found_ends(edge)
        return ends

    def found_ends(self, edge: Edge) -> dict[int, FoundEnd]:
        """The found ends of an extra link, by the numbers of their ports."""
        link = self._found.links[edge.found]
        return {edge.a: link.a, edge.b: link.b}

    def end(self, port: int) -> End:
        """A port by its number."""
        if port not in self._ends:
            self._ends[port] = self._end(port)
        return self._ends[port]

    def _end(self, port: int) -> End:
        if port < 0:
            return self.found_end(self._found_at[port])
        device, number = self._plan.at(port)
        name = self._plan.port_name(port)
        if name is not None:
            return self._placed(device, name.name)
        there = self._found_at.get(port)
        return self._placed(device, there.port if there is not None and there.port is not None else str(number + 1))

    def found_end(self, end: FoundEnd) -> End:
        """An end as the source calls it."""
        planned = self._planned[end.device]
        if planned == UNKNOWN:
            return End(self._found.devices[end.device].name, end.port, None, None)
        return self._placed(planned, end.port)

    def device(self, device: int) -> End:
        """A whole planned device."""
        return self._placed(device, None)

    def _placed(self, device: int, port: str | None) -> End:
        _, _, rack, unit, name = self._plan.places[device].columns
        return End(name, port, rack, unit)

    def device_of(self, port: int) -> int:
        """The planned device of a port; below 0 = none of the plan's."""
        return self._plan.at(port)[0] if port >= 0 else self._comparison.spots[port].device

    def cost(self, leaves: int, enters: int) -> int:
        """How far an end is carried from one port to another: 0 in one device, 1 in one rack, else 2."""
        device, other = self.device_of(leaves), self.device_of(enters)
        if device == other:
            return 0
        rack = self._plan.places[device].columns[2] if device >= 0 else None
        return _SAME_RACK if rack is not None and rack == self._plan.places[other].columns[2] else _OTHER_RACK

    def source(self, number: int) -> str:
        """The file and line that tell of a found link."""
        return self._found.where(self._found.links[number].place)

    def down(self, port: int) -> str | None:
        """The state that the source tells of a port without a link; None where it tells none."""
        if not self._down:
            return None
        device, number = self._plan.at(port)
        name = self._plan.port_name(port)
        texts = [str(number + 1)] if name is None else [str(name.ib_port or number + 1), name.name]
        return next((self._down[device, text] for text in texts if (device, text) in self._down), None)

    @cached_property
    def _down(self) -> dict[tuple[int, str], str]:
        return {(self._planned[end.device], end.port or ""): state for end, state in self._found.down.items()}
