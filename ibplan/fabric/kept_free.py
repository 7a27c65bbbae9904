"""A wiring without fabric managers: the ports reserved for them stay where they are, and carry no link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ibplan.fabric.wiring_model import MANAGER, Devices, KeptPorts, Links, Wiring

_DEVICE_COLUMNS = ("kind", "index", "group", "fabric", "unit", "pod", "position", "stride")


def without_managers(wiring: Wiring) -> Wiring:
    """The same devices and links under the same names and in the same ports, but no managers and no links of theirs.

    The ports of the leaves become `kept`. Classes of links keep their numbers, so a class can be without links.
    """
    links, stays = wiring.links, wiring.devices.kind != MANAGER
    if stays.all():
        return wiring
    renumbered = (np.cumsum(stays) - 1).astype(np.int32)
    reserved = np.array([c.kind == "reserved" for c in wiring.classes], bool)[links.link_class]
    there = ~reserved
    return replace(
        wiring,
        devices=Devices(*(getattr(wiring.devices, name)[stays] for name in _DEVICE_COLUMNS)),
        links=Links(
            links.link_class[there],
            renumbered[links.a_device[there]],
            links.a_port[there],
            renumbered[links.b_device[there]],
            links.b_port[there],
            links.fabric[there],
        ),
        kept=KeptPorts(links.link_class[reserved], renumbered[links.a_device[reserved]], links.a_port[reserved]),
    )
