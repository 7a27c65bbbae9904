"""Classes of links and what each needs at its two ends, counted per device so that modules round up per cage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ibplan.integers import ceil_div

LinkKind = Literal["server-leaf", "leaf-spine", "spine-core", "leaf-leaf", "attached", "reserved"]


@dataclass(frozen=True, slots=True)
class DeviceLoad:
    """`devices` devices alike with `ports` ports of this class each, behind `beside` ports of other classes.

    Classes that share a bank of cages fill it one after the other, so this class pays only for what it adds.
    """

    devices: int
    ports: int
    beside: int = 0

    def groups_of(self, size: int) -> int:
        """How many groups of `size` consecutive ports (cages, twin cables) this class adds over all devices."""
        return self.devices * (ceil_div(self.beside + self.ports, size) - ceil_div(self.beside, size))


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """One end of a link class: the tier, what can be plugged in and how many ports a cage gives (None = unknown)."""

    tier: str
    cage_class: str | None
    ports_per_cage: int | None
    loads: tuple[DeviceLoad, ...]

    @property
    def ports(self) -> int:
        """Ports of this class at this end."""
        return sum(load.devices * load.ports for load in self.loads)

    def groups_of(self, size: int) -> int:
        """Cages, or cables of `size` links that start in one cage, that this class adds at this end."""
        return sum(load.groups_of(size) for load in self.loads)


@dataclass(frozen=True, slots=True)
class LinkClass:
    """Links alike: kind, speed in Gb/s, both ends. `pair_links` = links between the same two devices (1 if unknown)."""

    kind: LinkKind
    gbps: int
    a: LinkEnd
    b: LinkEnd
    pair_links: int = 1
    host: str | None = None

    @property
    def count(self) -> int:
        """Number of links. The ends agree: every link has two."""
        return self.a.ports
