"""Failures: which links no longer work, named or drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ibplan.fabric.wiring_model import KINDS, LEAF, SERVER, Wiring
from ibplan.performance.fairness import Indices
from ibplan.performance.flow_network import Bools

FailureKind = Literal["leaf", "spine", "core", "link", "nic"]
FAILURE_KINDS: Final[tuple[FailureKind, ...]] = ("leaf", "spine", "core", "link", "nic")


@dataclass(frozen=True, slots=True)
class RandomFailure:
    """So many switches of a tier, links between switches, or links of NIC ports of servers."""

    kind: FailureKind
    count: int


@dataclass(frozen=True, slots=True)
class NamedFailure:
    """A switch by its device number; or so many links between two devices."""

    name: str
    device: int
    other: int | None = None
    count: int = 1


Failure = RandomFailure | NamedFailure


def failing(wiring: Wiring, kind: FailureKind) -> Indices:
    """What can fail of a kind: device numbers, or link numbers."""
    devices, links = wiring.devices, wiring.links
    far = devices.kind[links.b_device]
    if kind == "link":
        return np.flatnonzero(far >= LEAF).astype(np.int32)
    if kind == "nic":
        return np.flatnonzero(far == SERVER).astype(np.int32)
    return np.flatnonzero(devices.kind == KINDS.index(kind)).astype(np.int32)


def links_between(wiring: Wiring, device: int, other: int) -> Indices:
    """The links that join two devices."""
    links = wiring.links
    one = (links.a_device == device) & (links.b_device == other)
    return np.flatnonzero(one | ((links.a_device == other) & (links.b_device == device))).astype(np.int32)


def working_links(wiring: Wiring, failures: tuple[Failure, ...], generator: np.random.Generator) -> Bools:
    """Which links still work, shape (links,). A switch takes its links with it.

    There must be as many of each kind as are to fail. What is named fails first; chance takes from what is left.
    """
    links = wiring.links
    works = np.ones(len(links), bool)
    dead = np.zeros(len(wiring.devices), bool)
    for failure in sorted(failures, key=lambda f: isinstance(f, RandomFailure)):
        if isinstance(failure, NamedFailure):
            if failure.other is None:
                dead[failure.device] = True
            else:
                works[links_between(wiring, failure.device, failure.other)[: failure.count]] = False
            continue
        there = failing(wiring, failure.kind)
        if failure.kind in ("link", "nic"):
            works[generator.choice(there[works[there]], failure.count, replace=False)] = False
        else:
            dead[generator.choice(there[~dead[there]], failure.count, replace=False)] = True
    return works & ~dead[links.a_device] & ~dead[links.b_device]
