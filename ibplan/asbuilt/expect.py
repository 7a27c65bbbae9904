"""Which links of a plan a partial build should have: `units=1-2`, `pods=1,3`."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from ibplan.asbuilt.planned import PlannedFabric
from ibplan.errors import UsageError
from ibplan.fabric.wiring_model import LEAF

_KEYS: Final = ("units", "pods")
_RANGE: Final = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def expected_links(plan: PlannedFabric, written: str | None) -> npt.NDArray[np.bool_] | None:
    """Whether each planned link is expected; None = all are. Raises UsageError.

    Links of hosts and uplinks are expected where their leaf is of the units or pods; links of spines to cores where the
    pod has such a leaf.
    """
    if written is None:
        return None
    key, _, rest = written.partition("=")
    if key.strip() not in _KEYS or not rest.strip():
        raise UsageError(f"--expect: {written!r} is not of the form units=1-2 or pods=1,3")
    devices, links = plan.wiring.devices, plan.wiring.links
    leaves = devices.kind == LEAF
    group = devices.unit if key.strip() == "units" else devices.pod
    count = int(group[leaves].max(initial=-1)) + 1
    wanted = np.array(sorted(n - 1 for n in _numbers(rest, key.strip(), count)), group.dtype)
    chosen = leaves & np.isin(group, wanted)
    pods = np.unique(devices.pod[chosen])
    # Spines, hosts and cores are of no unit; a link is expected if its lower end is, or for a spine, its pod.
    lower = chosen | ((devices.kind > LEAF) & np.isin(devices.pod, pods))
    return np.asarray(lower[links.a_device], np.bool_)


def _numbers(written: str, key: str, count: int) -> set[int]:
    found: set[int] = set()
    for part in written.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise UsageError(f"--expect: {part.strip()!r} is no number and no range such as 1-2")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= count:
            raise UsageError(f"--expect: {part.strip()} is outside of the {key} of this design, 1 to {count:,}")
        found |= set(range(first, last + 1))
    return found
