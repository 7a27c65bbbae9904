"""From an evaluated form to its links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ibplan.economics.items import NetworkName
from ibplan.errors import UsageError
from ibplan.fabric.network import NetworkSize
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.runs import wire_form, wire_side
from ibplan.plan.side_build import WORDS

if TYPE_CHECKING:
    from ibplan.fabric.wiring_model import Wiring

# What is wired to be shown, drawn or compared: a fat tree of a million NIC ports in three tiers, and some. It takes
# about a second and 300 MB (docs/show.md); both grow with the links.
MOST_LINKS: Final = 4_000_000


def network_size(evaluated: Evaluated, network: NetworkName) -> NetworkSize:
    """One network of an evaluated form. Raises UsageError where it is not planned."""
    if network == "compute":
        return evaluated.network
    side = evaluated.side.named(network)
    if side is None:
        words = WORDS[network]
        reasons = [row.reason for row in evaluated.side.left_out if row.what == words]
        raise UsageError(f"--network: the {words} of {evaluated.id} is not planned: {'; '.join(reasons)}")
    return side.network


def wire_evaluated(evaluated: Evaluated, network: NetworkName = "compute") -> Wiring:
    """The links of one network of an evaluated form, as they are bought. Raises UsageError where it is not planned."""
    size = network_size(evaluated, network)
    if network != "compute":
        return wire_side(size)
    wiring = wire_form(evaluated.form, size)
    if evaluated.form.has_managers:
        return wiring
    from ibplan.fabric.kept_free import without_managers  # numpy only where links are made

    return without_managers(wiring)


def link_count(evaluated: Evaluated, network: NetworkName) -> int:
    """The links that `wire_evaluated` gives."""
    managed = network != "compute" or evaluated.form.has_managers
    return sum(c.count for c in network_size(evaluated, network).links if managed or c.kind != "reserved")
