"""The runs of a network on the floor of its site, as the choice of parts asks for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ibplan.cabling.choice import Runs
from ibplan.fabric.network import NetworkSize
from ibplan.parts.links import LinkKind
from ibplan.plan.forms import Form
from ibplan.site.floor import Floor
from ibplan.site.lengths import length_histogram
from ibplan.site.tally import Histogram

if TYPE_CHECKING:
    from ibplan.fabric.wiring_model import Wiring
    from ibplan.site.model import Layout


def site_runs(floor: Floor, name: str, network: NetworkSize, wiring: Callable[[], Wiring], *, assumed: bool) -> Runs:
    """The runs of one network; layout and wiring are made only when asked for. `assumed`: as in `Runs`."""

    @cache
    def histogram(kind: LinkKind, host: str | None) -> tuple[Histogram, ...] | None:
        return length_histogram(floor, name, network, kind, host)

    return Runs(histogram, lambda: layout_of(floor), wiring, name, assumed)


def layout_of(floor: Floor) -> Layout:
    """The places of all devices, as arrays."""
    from ibplan.site.layout import make_layout

    return make_layout(floor)


def wire_form(form: Form, network: NetworkSize) -> Wiring:
    """The links of the compute network of a form."""
    from ibplan.fabric.wiring import wire

    return wire(network, planes=form.choices.planes, ports_per_nic=form.hosts.ports_per_nic)


def wire_side(network: NetworkSize) -> Wiring:
    """The links of a side network."""
    from ibplan.fabric.wiring import wire

    return wire(network, planes=1, ports_per_nic=1)
