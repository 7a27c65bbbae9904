"""A part of a class of links, as a class of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ibplan.fabric.wiring_model import Side, Wiring
from ibplan.parts.links import DeviceLoad, LinkClass, LinkEnd


def part_of_class(wiring: Wiring, at: npt.NDArray[np.intp]) -> LinkClass:
    """The class of some links (indices) of one class, all that their devices have of it.

    So that cages add up, no device may have links of the class in the part and others outside.
    """
    link = wiring.classes[int(wiring.links.link_class[at[0]])]
    return replace(link, a=_part(wiring, link.a, at, "a"), b=_part(wiring, link.b, at, "b"))


def _part(wiring: Wiring, end: LinkEnd, at: npt.NDArray[np.intp], side: Side) -> LinkEnd:
    if all(load.ports == 1 for load in end.loads):
        return replace(end, loads=(DeviceLoad(len(at), 1),))
    ports = np.bincount(wiring.links.end(side)[0][at])
    sizes, devices = np.unique(ports[ports > 0], return_counts=True)
    loads = zip(devices.tolist(), sizes.tolist(), strict=True)
    return replace(end, loads=tuple(DeviceLoad(count, size) for count, size in loads))
