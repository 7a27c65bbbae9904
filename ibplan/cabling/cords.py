"""The rows of structured cabling in the schedule: two cords in place of every cable over a trunk, then the trunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ibplan.cabling.rows import CableRow, End
from ibplan.cabling.trunks import Planned, Trunks, trunk_part, trunk_words
from ibplan.catalog.entries import Cable
from ibplan.parts.lengths import ordered_m


class Panels:
    """The panel ports of a network, as ends of cables. `racks` = those of the layout."""

    def __init__(self, network: str, planned: Planned, racks: Any) -> None:
        self._network, self._racks = network, racks
        self._size = planned.structured.rules.panel_ports
        self._first = {(row.rack, row.glass): row.first for row in planned.structured.panels}

    def end(self, trunks: Trunks, rack: int, numbers: range) -> End:
        """Ports by their numbers in the rack, from 0; those of a further panel are named with it."""
        runs: list[list[int]] = []
        for number in numbers:
            if runs and number % self._size:
                runs[-1].append(number)
            else:
                runs.append([number])
        first = self._first[rack, trunks.glass]
        panels = [first + run[0] // self._size for run in runs]
        texts = [_range(run[0] % self._size + 1, run[-1] % self._size + 1) for run in runs]
        names = [f"{self._network}-panel-{panel:02d}" for panel in panels]
        port = ", ".join([texts[0], *(f"{name}:{text}" for name, text in zip(names[1:], texts[1:], strict=True))])
        place = self._racks[rack]
        device = f"{place.name}:{names[0]}"
        return End(place.hall, place.row, place.name, None, device, panels[0], port, None, None, 0, f"{device}:{port}")


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def cord_rows(
    rows: Iterable[CableRow], number: int, planned: Planned, cable: Cable | None, panels: Panels
) -> Iterator[CableRow]:
    """The rows of one choice of parts, with `<id>/a` and `<id>/b` in place of those over trunks.

    `rows` = one for each cable, in order; `number`: index of the choice. Both labels of a cord name both panel ports.
    """
    channels = planned.channels.get(number)
    if channels is None or cable is None:
        yield from rows
        return
    columns = (channels.trunks, channels.nth, channels.near_is_a, channels.near_m, channels.far_m)
    for row, which, nth, near_is_a, near_m, far_m in zip(rows, *(c.tolist() for c in columns), strict=True):
        if which < 0:
            yield row
            continue
        trunks = planned.structured.trunks[which]
        at_a = panels.end(trunks, trunks.rack_a, range(trunks.first_a + nth, trunks.first_a + nth + 1))
        at_b = panels.end(trunks, trunks.rack_b, range(trunks.first_b + nth, trunks.first_b + nth + 1))
        near, far = (at_a, at_b) if near_is_a else (at_b, at_a)
        yield _cord(row, "a", row.a, (near, far), near_m, cable)
        yield _cord(row, "b", row.b[0], (far, near), far_m, cable)


def _cord(row: CableRow, which: str, device: End, ports: tuple[End, End], run_m: float, cable: Cable) -> CableRow:
    """One cord: from a device to the first of two panel ports; the second is at the other end of the trunk."""
    here, there = ports
    length_m = ordered_m(cable, run_m)
    return row._replace(
        cable_id=f"{row.cable_id}/{which}",
        label_a=f"{device.label} / {here.label} > {there.label}",
        label_b=(f"{here.label} > {there.label} / {device.label}",),
        a=device,
        b=(here,),
        part_number=cable.part_number_at(length_m),
        run_m=run_m,
        length_m=length_m,
        bundle=here.rack,
    )


def trunk_rows(network: str, planned: Planned, panels: Panels) -> Iterator[CableRow]:
    """One row a trunk, with all its panel ports at both ends."""
    rules = planned.structured.rules
    for trunks in planned.structured.trunks:
        glass = trunks.glass
        for nth in range(trunks.count):
            a, b = (
                panels.end(trunks, rack, range(first + nth * trunks.plugs, first + (nth + 1) * trunks.plugs))
                for rack, first in ((trunks.rack_a, trunks.first_a), (trunks.rack_b, trunks.first_b))
            )
            yield CableRow(
                network,
                f"{network}/trunk/{a.rack}--{b.rack}/{glass.slug}/{nth + 1}",
                "trunk",
                f"{a.label} / {b.label}",
                (f"{b.label} / {a.label}",),
                a,
                (b,),
                trunk_part(glass, rules),
                None,
                None,
                trunk_words(glass, trunks.plugs, rules),
                glass.kind,
                glass.connector,
                glass.polish,
                glass.connector,
                glass.polish,
                glass.polarity,
                None,
                trunks.run_m,
                float(trunks.length_m),
                f"{a.rack}--{b.rack}",
            )
