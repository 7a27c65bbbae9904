"""From an evaluated form to its links."""

from __future__ import annotations

from ibplan.fabric.wiring import wire
from ibplan.fabric.wiring_model import Wiring
from ibplan.plan.evaluate import Evaluated


def wire_evaluated(evaluated: Evaluated) -> Wiring:
    """The links of an evaluated form."""
    form = evaluated.form
    return wire(evaluated.network, planes=form.choices.planes, ports_per_nic=form.hosts.ports_per_nic)
