"""The scorecard of a design: how its kind of fabric works and what it asks of those who run it. Facts, no scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LossMethod = Literal["credits", "PFC and ECN", "retransmission"]
Counted = Literal["subnets", "switches", "switch_ports", "nic_ports"]


@dataclass(frozen=True, slots=True)
class LossAvoidance:
    """How packet loss is avoided or made good. Ports to tune: of switches and of NICs, 0 where nothing is."""

    method: LossMethod
    switch_ports_to_tune: int
    nic_ports_to_tune: int
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Balancing:
    """How traffic is spread over several paths; `scheme` and `source` None = there is one path."""

    scheme: str | None
    text: str
    source: str | None


@dataclass(frozen=True, slots=True)
class Reduction:
    """Whether all switches of the compute network can sum an all-reduce; None = not known. `name`: as it is sold."""

    available: bool | None
    name: str | None
    text: str
    source: str | None


@dataclass(frozen=True, slots=True)
class OperatingTask:
    """Something to run or to set up, and for how many of what. `optional`: only for a feature that can be left out."""

    task: str
    quantity: int
    counted: Counted
    optional: bool
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Of the compute network, and of the storage network where it is of the same fabric.

    `makers`: those of whom the catalogue has switches for every tier of the form, in the order of their names.
    """

    loss: LossAvoidance
    balancing: Balancing
    reduction: Reduction
    makers: tuple[str, ...]
    tasks: tuple[OperatingTask, ...]
