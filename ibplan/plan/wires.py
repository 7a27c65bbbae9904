"""From an evaluated form to its links."""

from __future__ import annotations

from typing import Final

from ibplan.fabric.wiring import wire
from ibplan.fabric.wiring_model import Wiring
from ibplan.plan.evaluate import Evaluated

# What is wired to be shown, drawn or compared: a fat tree of a million NIC ports in three tiers, and some. It takes
# about a second and 300 MB (docs/show.md); both grow with the links.
MOST_LINKS: Final = 4_000_000


def wire_evaluated(evaluated: Evaluated) -> Wiring:
    """The links of an evaluated form."""
    form = evaluated.form
    return wire(evaluated.network, planes=form.choices.planes, ports_per_nic=form.hosts.ports_per_nic)
