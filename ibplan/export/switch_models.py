"""Which switch stands in a place of a network, and how a port of it is made up."""

from __future__ import annotations

from typing import NamedTuple

from ibplan.export.scheme import Scheme
from ibplan.export.switch_ports import SwitchPort, tier_of
from ibplan.plan.switches import SwitchModel, TierModels


class PortMode(NamedTuple):
    """Ports that a cage is run as; electrical lanes of each, None = unknown, as of switches in the spec itself.

    `cages_lost`: cages behind it that go dark for it.
    """

    ports: int
    lanes: int | None
    cages_lost: int


def tier_models(scheme: Scheme) -> TierModels:
    """The switch of each tier of the network."""
    side = scheme.wired.evaluated.side.named(scheme.network)
    return scheme.wired.evaluated.form.switches if side is None else side.switches


def model_of(scheme: Scheme, device: int) -> SwitchModel:
    """The switch that a device is."""
    model: SwitchModel = getattr(tier_models(scheme), tier_of(scheme, device))
    return model


def port_mode(scheme: Scheme, device: int, port: SwitchPort) -> PortMode:
    """How the cage of a port is run: as the wiring has it, where a speed can be had in several ways."""
    tier, request = tier_of(scheme, device), scheme.wiring.network.request
    geometry = request.core if tier == "core" else getattr(request, tier).geometry
    cage, number = port.cage, 0
    while cage >= geometry.sets[number].count:
        cage -= geometry.sets[number].count
        number += 1
    mode = geometry.sets[number].mode(port.gbps)
    assert mode is not None, "a port of the wiring has a mode"
    entry = model_of(scheme, device).entry
    if entry is None:
        return PortMode(mode.ports, None, mode.cages_lost)
    known = (b for b in entry.cages[number].breakouts if (b.gbps, b.ports) == (mode.gbps, mode.ports))
    return PortMode(mode.ports, next((b.lanes for b in known), None), mode.cages_lost)
