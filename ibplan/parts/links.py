"""Classes of links and what each needs at its two ends, counted per device so that modules round up per cage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ibplan.integers import ceil_div

LinkKind = Literal["server-leaf", "leaf-spine", "spine-core", "leaf-leaf", "attached", "reserved"]


@dataclass(frozen=True, slots=True)
class DeviceLoad:
    """`devices` devices alike with `ports` ports of this class each, from port `beside` of a bank of cages on.

    Classes that share a bank stand one after the other, so this class pays only for what it adds. Ports below `lit`
    carry links of the others; between `lit` and `beside` ports may be kept dark (None: there are none).
    """

    devices: int
    ports: int
    beside: int = 0
    lit: int | None = None

    def shares(self, size: int) -> bool:
        """Whether the first group of `size` ports that it uses is one that other classes light."""
        lit = self.beside if self.lit is None else self.lit
        return self.ports > 0 and self.beside // size < ceil_div(lit, size)

    def groups_of(self, size: int) -> int:
        """How many groups of `size` consecutive ports (cages, twin cables) this class adds over all devices."""
        if self.ports == 0:
            return 0
        used = ceil_div(self.beside + self.ports, size) - self.beside // size
        return self.devices * (used - (1 if self.shares(size) else 0))


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
