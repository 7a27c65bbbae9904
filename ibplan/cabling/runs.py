"""How far the two ends of every link are apart, and which links must be of one medium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ibplan.fabric.wiring_model import ATTACHED, KINDS, LEAF, SERVER, Ints, Wiring

Metres = npt.NDArray[np.float64]
# Layouts count in whole micrometres: rounded up from there, what floating point adds is no length.
_UM: Final = 1_000_000
_TENTH_UM: Final = 100_000


class Places(Protocol):
    """What a layout knows of devices: in which rack and unit each of a group stands, and how far two are apart."""

    @property
    def rack_of(self) -> Mapping[str, Ints]:
        """Index of the rack of every device, by group."""
        ...

    @property
    def unit_of(self) -> Mapping[str, npt.NDArray[np.float32]]:
        """Lowest rack unit of every device, by group; NaN = unknown."""
        ...

    @property
    def racks(self) -> Any:
        """The racks, by index: name, hall, row."""
        ...

    def run_m(self, group_a: str, index_a: Any, group_b: str, index_b: Any) -> Metres:
        """Run between devices of two groups, in metres."""
        ...


def device_groups(wiring: Wiring, network: str) -> dict[tuple[int, int], tuple[str, int]]:
    """By (kind, group of attached hosts): the group in a layout and the wiring's first device of it."""
    d, found = wiring.devices, {}
    for kind in range(len(KINDS)):
        for group in range(len(wiring.network.request.attached)) if kind == ATTACHED else [-1]:
            at = np.flatnonzero((d.kind == kind) & (d.group == group))
            if len(at):
                found[kind, group] = (_group_name(wiring, network, kind, group), int(at[0]))
    return found


def _group_name(wiring: Wiring, network: str, kind: int, group: int) -> str:
    """`server`, also where its ports stand apart as attached hosts; else the network and the tier or the hosts."""
    if kind != ATTACHED:
        return "server" if kind == SERVER else f"{network}/{KINDS[kind]}"
    hosts = wiring.network.request.attached[group]
    return "server" if hosts.device_group(network) == "server" else f"{network}/attached:{hosts.name}"


def link_runs_m(wiring: Wiring, places: Places | None, network: str) -> Metres:
    """Run of every link in metres, rounded up to 0.1 m, shape (links,); NaN where the place of an end is unknown."""
    runs = np.full(len(wiring.links), np.nan)
    if places is None:
        return runs
    groups = device_groups(wiring, network)
    d, links = wiring.devices, wiring.links
    for number in range(len(wiring.classes)):
        at = np.flatnonzero(links.link_class == number)
        if not len(at):
            continue
        ends = []
        for device in (links.a_device[at], links.b_device[at]):
            name, first = groups[int(d.kind[device[0]]), int(d.group[device[0]])]
            ends.append((name, device - first))
        if all(name in places.rack_of for name, _ in ends):
            runs[at] = rounded_up_m(places.run_m(ends[0][0], ends[0][1], ends[1][0], ends[1][1]))
    return runs


def rounded_up_m(run_m: Metres) -> Metres:
    """Runs in metres, rounded up to 0.1 m."""
    tenths = -(-np.rint(run_m * _UM).astype(np.int64) // _TENTH_UM)
    return np.asarray(tenths / 10, np.float64)


def groups_of_links(wiring: Wiring, at: npt.NDArray[np.intp]) -> Ints:
    """The group of links that must be of one medium, for links of one class, from 0.

    Links share modules, two to a cage, and wiring spreads: so all links of a unit's servers are one group, all between
    the leaves and spines of a pod, and all of any other kind in a fabric. Attached hosts and managers: one group.
    """
    d, links = wiring.devices, wiring.links
    kind = wiring.classes[int(links.link_class[at[0]])].kind if len(at) else "reserved"
    if kind == "server-leaf":
        return np.asarray(d.unit[links.b_device[at]], np.int32)
    if kind == "leaf-spine":
        pods = int(d.pod[d.kind == LEAF].max(initial=0)) + 1
        return np.asarray(links.fabric[at].astype(np.int32) * pods + d.pod[links.a_device[at]], np.int32)
    if kind in ("spine-core", "leaf-leaf"):
        return np.asarray(links.fabric[at], np.int32)
    return np.zeros(len(at), np.int32)
