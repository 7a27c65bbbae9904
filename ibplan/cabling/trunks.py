"""What structured cabling is made of: rules, kinds of glass, trunks, panels, channels and their loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ibplan.cabling.cables import Cables
from ibplan.cabling.figures import GlassKind
from ibplan.cabling.runs import Metres
from ibplan.fabric.wiring_model import Ints


@dataclass(frozen=True, slots=True)
class StructuredRules:
    """How structured cabling is built. `spare`: plugs kept free, as a share of those in use between two racks.

    `trunk_fibers`: fibres of a trunk; `panel_ports`, `panel_units`: ports and rack units of a panel; `trunk_step_m`:
    trunks are ordered in steps of so many metres.
    """

    trunk_fibers: int
    panel_ports: int
    panel_units: int
    spare: Fraction
    trunk_step_m: int


class Glass(NamedTuple):
    """The kind of a trunk and of a panel: fibre, plug, polish and polarity (None = no source states it)."""

    kind: GlassKind
    connector: str
    polish: str | None
    polarity: str | None

    @property
    def words(self) -> str:
        """`multimode, MPO-12 APC, polarity B`."""
        plug = self.connector if self.polish is None else f"{self.connector} {self.polish}"
        polarity = "" if self.polarity is None else f", polarity {self.polarity}"
        return f"{self.kind.replace('_', '-')}, {plug}{polarity}"

    @property
    def slug(self) -> str:
        """`multimode-mpo-12-apc-b`: what ids are made of."""
        parts = (self.kind.replace("_", "-"), self.connector, self.polish, self.polarity)
        return "-".join(part.lower() for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Trunks:
    """The trunks of one kind between two racks (indices in the layout). `links`: fibre channels that they carry.

    `plugs` of each trunk at each end, all of them in a panel port: from number `first_a` in rack a and `first_b` in
    rack b, counted from 0 over the panels of that kind in the rack. run and length in metres.
    """

    glass: Glass
    rack_a: int
    rack_b: int
    links: int
    count: int
    plugs: int
    first_a: int
    first_b: int
    run_m: float
    length_m: int

    @property
    def ports(self) -> int:
        """Panel ports at each end."""
        return self.count * self.plugs


@dataclass(frozen=True, slots=True)
class RackPanels:
    """The panels of one kind in a rack: ports in use by trunks, panels, and the number of the first (from 1)."""

    glass: Glass
    rack: int
    ports: int
    panels: int
    first: int


@dataclass(frozen=True, slots=True)
class Channels:
    """How each cable of one choice of parts runs, shape (cables,), in the order of `Cables`.

    trunks: index of the trunks, -1 = the cable goes straight; nth: which of their plugs, from 0; near_is_a: whether its
    near end is in their rack a; near_m and far_m: run of the cord at each end.
    """

    trunks: Ints
    nth: Ints
    near_is_a: npt.NDArray[np.bool_]
    near_m: Metres
    far_m: Metres


@dataclass(frozen=True, slots=True)
class Budget:
    """The channels of one choice of parts: how many, the longest in metres and what light loses in it, in dB.

    `limit_db`: the most it may lose (None = not known); `over`: channels that lose more; `reach_m` = of the recipe.
    """

    parts: int
    channels: int
    longest_m: float
    loss_db: float
    limit_db: float | None
    application: str | None
    basis: str | None
    over: int
    reach_m: float | None


@dataclass(frozen=True, slots=True)
class Structured:
    """The structured cabling of a network: trunks, panels, loss. `racks`: names of the racks by index."""

    rules: StructuredRules
    racks: tuple[str, ...]
    trunks: tuple[Trunks, ...]
    panels: tuple[RackPanels, ...]
    budgets: tuple[Budget, ...]

    def panel_units(self) -> dict[str, int]:
        """Rack units of panels, by the name of the rack."""
        found: dict[str, int] = {}
        for row in self.panels:
            name = self.racks[row.rack]
            found[name] = found.get(name, 0) + row.panels * self.rules.panel_units
        return found


@dataclass(frozen=True, slots=True)
class Planned:
    """Structured cabling cable by cable: `channels` by the index of the parts, for those that can run over trunks."""

    structured: Structured
    cables: tuple[Cables, ...]
    channels: Mapping[int, Channels]


def trunk_part(glass: Glass, rules: StructuredRules) -> str:
    """The id of a trunk, under which a price file can give it a price: `trunk-144f-multimode-mpo-12-apc-b`."""
    return f"trunk-{rules.trunk_fibers}f-{glass.slug}"


def trunk_words(glass: Glass, plugs: int, rules: StructuredRules) -> str:
    """What a trunk is, in words."""
    return f"trunk of {rules.trunk_fibers} fibers, {plugs} plugs at each end: {glass.words}; made to order"


def panel_part(glass: Glass, rules: StructuredRules) -> str:
    """The id of a panel: `panel-48p-multimode-mpo-12-apc`. The polarity is that of its trunks."""
    return f"panel-{rules.panel_ports}p-{glass._replace(polarity=None).slug}"


def panel_words(glass: Glass, rules: StructuredRules) -> str:
    """What a panel is, in words."""
    ports = f"{rules.panel_ports} ports in {rules.panel_units} rack unit{'s' if rules.panel_units > 1 else ''}"
    return f"panel of {ports}: {glass._replace(polarity=None).words}"
