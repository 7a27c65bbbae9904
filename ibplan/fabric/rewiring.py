"""What becomes of the links when a network grows: which stay, which must be re-cabled, which are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ibplan.fabric.wiring_model import Devices, Side, Wiring

_SIDES: tuple[Side, Side] = ("a", "b")
_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rewiring:
    """Links between two stages. `kept`: same ports at both ends. `moved`: unplugged, to serve as another of its kind.

    `removed` = unplugged and of no further use; `added` = links that no earlier one can serve.
    """

    kept: int
    moved: int
    removed: int
    added: int


def rewiring(before: Wiring, after: Wiring) -> Rewiring:
    """Compare two stages link by link, by the names of devices and the numbers of ports. A few vectors a link."""
    old, new = _link_keys(before, after)
    old_kept, new_kept = np.isin(old, new, assume_unique=True), np.isin(new, old, assume_unique=True)
    old_kinds, new_kinds = _free_by_kind(before, ~old_kept), _free_by_kind(after, ~new_kept)
    moved = sum(min(count, new_kinds.get(kind, 0)) for kind, count in old_kinds.items())
    return Rewiring(int(old_kept.sum()), moved, sum(old_kinds.values()) - moved, sum(new_kinds.values()) - moved)


def _free_by_kind(wiring: Wiring, free: npt.NDArray[np.bool_]) -> dict[tuple[str, int], int]:
    """Links that did not stay, by kind and speed: only such can take each other's place."""
    counts = np.bincount(wiring.links.link_class[free], minlength=len(wiring.classes)).tolist()
    found: dict[tuple[str, int], int] = {}
    for link, count in zip(wiring.classes, counts, strict=True):
        found[link.kind, link.gbps] = found.get((link.kind, link.gbps), 0) + count
    return found


def _link_keys(before: Wiring, after: Wiring) -> tuple[_Ints, _Ints]:
    """One number a link that is the same in both wirings exactly where devices and ports are."""
    ids = _device_ids([before.devices, after.devices])
    ends = []
    for wiring, device_ids in zip((before, after), ids, strict=True):
        for side in _SIDES:
            device, port = wiring.links.end(side)
            ends.append((device_ids[device] << 20) | port)
    known, numbers = np.unique(np.concatenate(ends), return_inverse=True)
    numbers = numbers.astype(np.int64)
    split = np.split(numbers, np.cumsum([len(end) for end in ends])[:-1])
    return split[0] * len(known) + split[1], split[2] * len(known) + split[3]


def _device_ids(tables: Sequence[Devices]) -> list[_Ints]:
    """A number for every device of each table, equal where the devices have the same name."""
    rows = [np.stack([d.kind, d.group, d.fabric, d.index], axis=1).astype(np.int64) for d in tables]
    packed = [((r[:, 0] * 65536 + r[:, 1] + 1) * 65536 + r[:, 2] + 1) * 2**24 + r[:, 3] for r in rows]
    _, numbers = np.unique(np.concatenate(packed), return_inverse=True)
    split = np.split(numbers.astype(np.int64), [len(packed[0])])
    return [split[0], split[1]]
