"""What every evaluation needs besides the form: parts that can be bought, side networks, licences and spares."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.economics.licences import Licence
from ibplan.fabric.network import NetworkSize
from ibplan.parts.offers import PartsBook
from ibplan.plan.extras import Extras
from ibplan.plan.side_model import SideNetworks
from ibplan.plan.side_networks import SidePlanner
from ibplan.spec.models import Fabric


@dataclass(frozen=True, slots=True)
class Means:
    """Parts, the planner of side networks, and what a bill holds besides."""

    book: PartsBook
    planner: SidePlanner
    extras: Extras

    def licences(self, fabric: Fabric, network: NetworkSize, side: SideNetworks) -> tuple[Licence, ...]:
        """The licences that the networks of a design can need."""
        found = self.extras.licences("compute", fabric, network)
        for other in side.planned:
            found = (*found, *self.extras.licences(other.name, other.fabric, other.network))
        return found
