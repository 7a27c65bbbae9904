"""Which switch stands in a place of a network, and how a port of it is made up."""

from __future__ import annotations

from ibplan.export.scheme import Scheme
from ibplan.export.switch_ports import tier_of
from ibplan.plan.switches import SwitchModel, TierModels


def tier_models(scheme: Scheme) -> TierModels:
    """The switch of each tier of the network."""
    side = scheme.wired.evaluated.side.named(scheme.network)
    return scheme.wired.evaluated.form.switches if side is None else side.switches


def model_of(scheme: Scheme, device: int) -> SwitchModel:
    """The switch that a device is."""
    model: SwitchModel = getattr(tier_models(scheme), tier_of(scheme, device))
    return model


def lanes_of(model: SwitchModel, gbps: int) -> int | None:
    """Electrical lanes of a port at a speed; None = unknown, as of switches that the spec itself describes."""
    groups = () if model.entry is None else model.entry.cages
    return next((mode.lanes for group in groups if (mode := group.breakout_at(gbps)) is not None), None)


def ports_a_cage(model: SwitchModel, gbps: int) -> int:
    """Ports at a speed that a cage is run as."""
    modes = (mode for cages in model.geometry.sets if (mode := cages.mode(gbps)) is not None)
    return max((mode.ports for mode in modes), default=1)
