"""The networks beside the compute network: what planning answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ibplan.economics.items import LineItem
from ibplan.fabric.network import NetworkSize
from ibplan.parts.select import LinkParts, MediumChoice
from ibplan.plan.switches import TierModels
from ibplan.spec.models import Fabric

if TYPE_CHECKING:
    from ibplan.cabling.trunks import Structured

SideName = Literal["storage", "inband", "oob"]
SIDE_NAMES: tuple[SideName, ...] = ("storage", "inband", "oob")


@dataclass(frozen=True, slots=True)
class SideNetwork:
    """A sized, equipped and priced network. Its attached groups are named `<network>.<tier>` where they are switches of
    another network: host k of the group is device k of that tier there.
    """

    name: SideName
    fabric: Fabric
    switches: TierModels
    network: NetworkSize
    parts: tuple[LinkParts, ...]
    items: tuple[LineItem, ...]
    medium: MediumChoice
    structured: Structured | None = None

    @property
    def switch_counts(self) -> tuple[tuple[str, int], ...]:
        """The switches of each tier, by the name of their group on the out-of-band network."""
        return tuple((f"{self.name}.{tier.tier}", tier.count) for tier in self.network.tiers)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A network that a reader may expect in the plan, and why it is not there. `by_spec`: the spec wants it so."""

    what: str
    reason: str
    by_spec: bool = False


@dataclass(frozen=True, slots=True)
class SideNote:
    """A finding about the side networks: its code, the key of the spec it belongs to, and its fields."""

    code: str
    pointer: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SideNetworks:
    """The side networks of a design: those that are planned, in order, and why the others are not."""

    planned: tuple[SideNetwork, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[SideNote, ...]

    def named(self, name: str) -> SideNetwork | None:
        """The one of a name; None if it is not planned."""
        return next((n for n in self.planned if n.name == name), None)
