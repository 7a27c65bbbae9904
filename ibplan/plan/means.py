"""What every evaluation needs besides the form: parts that can be bought, side networks, licences and spares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ibplan.economics.licences import Licence
from ibplan.fabric.network import NetworkSize
from ibplan.parts.offers import PartsBook
from ibplan.plan.equip import Airflow
from ibplan.plan.extras import Extras
from ibplan.plan.side_build import cabled
from ibplan.plan.side_model import SideNetwork, SideNetworks
from ibplan.plan.side_networks import SidePlanner
from ibplan.site.floor import Floor
from ibplan.site.ground import Ground
from ibplan.spec.models import Fabric

if TYPE_CHECKING:
    from ibplan.cabling.trunks import StructuredRules


@dataclass(frozen=True, slots=True)
class Means:
    """Parts, the planner of side networks, what a bill holds besides, and the ground on which all of it stands.

    `known`: side networks cabled before, because many forms have the same ones on floors alike. `site_stated`: the spec
    says something of the layout, so that a run that no parts cover refuses a design. `lengths`: whether cables are
    looked at by their lengths; a search goes without, and looks at them in what it finds. `structured`: how links
    between racks run over trunks, if they do.
    """

    book: PartsBook
    planner: SidePlanner
    extras: Extras
    ground: Ground
    site_stated: bool
    lengths: bool = True
    structured: StructuredRules | None = None
    known: dict[object, SideNetwork] = field(default_factory=dict)

    def cabled(self, side: SideNetwork, floor: Floor, airflow: Airflow) -> SideNetwork:
        """The network with its cables by the runs on a floor."""
        key = (id(side.network), floor.signature)  # the planner keeps its networks, so that an id is of one alone
        if key not in self.known:
            self.known[key] = cabled(side, floor, self.book, airflow, self.structured)
        return self.known[key]

    def licences(self, fabric: Fabric, network: NetworkSize, side: SideNetworks) -> tuple[Licence, ...]:
        """The licences that the networks of a design can need."""
        found = self.extras.licences("compute", fabric, network)
        for other in side.planned:
            found = (*found, *self.extras.licences(other.name, other.fabric, other.network))
        return found
