"""Cords and trunks that meet in patch panels, as one link from device to device."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ibplan.asbuilt.found import FoundDevice, FoundEnd, FoundFabric, FoundLink
from ibplan.findings import plural

# What panels are called; ibplan's own are `R01-10:compute-panel-06`.
_PANEL: Final = re.compile(r"(?:^|[^a-z])(?:patch ?)?panels?(?:[^a-z]|$)|(?:^|[^a-z])odf(?:[^a-z]|$)", re.IGNORECASE)
_RANGE: Final = re.compile(r"([0-9]{1,5})-([0-9]{1,5})")
_MOST_PORTS: Final = 10_000


def through_panels(found: FoundFabric) -> FoundFabric:
    """The fabric with every way over panels as one link. A cord that leads no farther stays, with the panel as its end.

    Trunks state their ports as ranges (`1-12` at both ends). What no cord is in is left out.
    """
    panels = {n for n, device in enumerate(found.devices) if is_panel(device)}
    if not panels:
        return found
    links = [one for link in found.links for one in _ports(link, panels)]
    at: dict[FoundEnd, list[int]] = defaultdict(list)
    for number, link in enumerate(links):
        for end in (link.a, link.b):
            if end.device in panels:
                at[end].append(number)
    result = [link for link in links if panels.isdisjoint((link.a.device, link.b.device))]
    ways = list(_ways(links, panels, at))
    note = f"Followed over panels: {plural(len(ways), 'link')}; of the panels themselves nothing is compared."
    return replace(found, links=(*result, *ways), notes=(*found.notes, note))


def is_panel(device: FoundDevice) -> bool:
    """Whether a device is a panel by its name."""
    return device.kind is None and _PANEL.search(device.name) is not None


def _ports(link: FoundLink, panels: set[int]) -> Iterator[FoundLink]:
    """A trunk between panels, port by port."""
    ranges = [_RANGE.fullmatch(end.port or "") for end in (link.a, link.b)]
    if ranges[0] is None or ranges[1] is None or not panels.issuperset((link.a.device, link.b.device)):
        yield link
        return
    (a, a_last), (b, b_last) = ([int(number) for number in found.groups()] for found in ranges if found is not None)
    if a_last - a != b_last - b or not 0 <= a_last - a < _MOST_PORTS:
        yield link
        return
    for step in range(a_last - a + 1):
        here, there = (FoundEnd(end.device, str(first + step)) for end, first in ((link.a, a), (link.b, b)))
        yield link._replace(a=here, b=there)


def _ways(links: Sequence[FoundLink], panels: set[int], at: dict[FoundEnd, list[int]]) -> Iterator[FoundLink]:
    """From every device with a cord to a panel, the link to whatever is at the other end; each once."""
    done: set[int] = set()
    for number, link in enumerate(links):
        inside = [end for end in (link.a, link.b) if end.device in panels]
        if number in done or len(inside) != 1:
            continue
        near = link.b if inside[0] == link.a else link.a
        there, rates, here = inside[0], [link.rate], number
        done.add(number)
        while there.device in panels:
            following = next((n for n in at[there] if n != here and n not in done), None)
            if following is None:
                break
            done.add(following)
            here, onward = following, links[following]
            rates.append(onward.rate)
            there = onward.b if onward.a == there else onward.a
        known = [rate for rate in rates if rate is not None]
        yield FoundLink(near, there, min(known, default=None), link.state, link.place)
