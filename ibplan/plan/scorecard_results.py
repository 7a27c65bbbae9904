"""The scorecard of a design: how its kind of fabric works and what it asks of those who run it. Facts, no scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Counted = Literal["subnets", "switches", "switch_ports", "nic_ports"]


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a network does or does not do; `available` None = not known. `name`: how it is called.

    `source` None = nothing was found, or there is nothing to say.
    """

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

    `loss`: packets are kept from being lost; `balancing`: traffic is spread over several paths; `reduction`: all
    switches of the compute network can sum an all-reduce. Ports to tune against loss: 0 where nothing is tuned.
    `makers`: those of whom the catalogue has switches for every tier of the form, in the order of their names.
    """

    loss: Feature
    switch_ports_to_tune: int
    nic_ports_to_tune: int
    balancing: Feature
    reduction: Feature
    makers: tuple[str, ...]
    tasks: tuple[OperatingTask, ...]
