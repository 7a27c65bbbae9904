"""What NVUE's commands say of classes of traffic, and how they list ports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from ibplan.export.settings import Lossless, ethernet_figures

# `nv` takes one line; a long list of ports is cut into several.
_MOST_PORTS: Final = 64
_PRIORITIES: Final = range(8)


def classes(lossless: Lossless) -> Iterator[str]:
    """Marks to priorities, priorities to traffic classes, classes to bandwidth; stated even where NVUE has them so.

    In its RoCE mode the data are always in one class and notifications in another, whatever their priorities.
    """
    known = ethernet_figures().lossless
    share, data, cnp = known.bandwidth_percent.value, known.priority.value, known.cnp_priority.value
    yield "qos mapping default-global trust l3"
    for mark, priority in ((lossless.dscp, lossless.priority), (lossless.cnp_dscp, lossless.cnp_priority)):
        yield f"qos mapping default-global dscp {mark} switch-priority {priority}"
    own = {lossless.priority: data, lossless.cnp_priority: cnp}
    for priority in _PRIORITIES:
        yield f"qos egress-queue-mapping default-global switch-priority {priority} traffic-class {own.get(priority, 0)}"
    for traffic, percent in ((0, 100 - share), (data, share)):
        yield f"qos egress-scheduler default-global traffic-class {traffic} mode dwrr"
        yield f"qos egress-scheduler default-global traffic-class {traffic} bw-percent {percent}"
    yield f"qos egress-scheduler default-global traffic-class {cnp} mode strict"
    yield f"qos pfc default-global switch-priority {lossless.priority}"


def marking() -> Iterator[str]:
    """Where the marking of the data begins, and from where on every packet is marked."""
    known = ethernet_figures()
    queue = f"qos congestion-control default-global traffic-class {known.lossless.priority.value}"
    yield f"{queue} ecn enable"
    yield f"{queue} min-threshold {known.marking.least_bytes.value}"
    yield f"{queue} max-threshold {known.marking.most_bytes.value}"
    yield f"{queue} probability {known.marking.percent.value}"


def port_lists(ports: Sequence[str]) -> Iterator[str]:
    """Ports as NVUE lists them: swp1-4,swp5s0-1; in pieces that fit a line."""
    pieces: list[str] = []
    for head, numbers in groupby(ports, key=lambda name: re.sub(r"\d+$", "", name)):
        last: int | None = None
        first = 0
        for number in (int(name[len(head) :]) for name in numbers):
            if last is None or number != last + 1:
                first = number
                pieces.append(f"{head}{number}")
            else:
                pieces[-1] = f"{head}{first}-{number}"
            last = number
    for start in range(0, len(pieces), _MOST_PORTS):
        yield ",".join(pieces[start : start + _MOST_PORTS])
