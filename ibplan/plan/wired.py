"""wire_design: from a loaded spec to every link of one design. The front door for who cables, exports or draws it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ibplan.catalog.store import Catalog
from ibplan.economics.items import NetworkName
from ibplan.errors import InputError, NoDesignError, UsageError
from ibplan.fabric.wiring_model import Wiring
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.results import Plan
from ibplan.plan.wires import MOST_LINKS, link_count, wire_evaluated
from ibplan.spec.load import LoadedSpec

_NEAREST = 3
_LONGEST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class WiredDesign:
    """One network of a design with its links. `name` = of the spec; `recommended`: whether the plan chooses the design.

    `network`: compute, storage, inband or oob.
    """

    name: str
    evaluated: Evaluated
    wiring: Wiring
    recommended: bool
    network: NetworkName = "compute"

    @property
    def id(self) -> str:
        """The id of the design."""
        return self.evaluated.id

    @property
    def fabric(self) -> str:
        """The kind of network: infiniband, roce or ethernet."""
        side = self.evaluated.side.named(self.network)
        return self.evaluated.form.fabric if side is None else side.fabric

    @property
    def switch_ids(self) -> dict[str, str]:
        """The switch of each tier that there is."""
        side = self.evaluated.side.named(self.network)
        models = self.evaluated.form.switches if side is None else side.switches
        found = {"leaf": models.leaf.id, "spine": models.spine.id, "core": models.core.id}
        return {row.tier: found[row.tier] for row in self.wiring.network.tiers}


def wire_design(
    loaded: LoadedSpec, catalog: Catalog, design_id: str | None = None, network: NetworkName = "compute"
) -> WiredDesign:
    """Wire one network of the recommended design, or of any design or alternative of the plan by its id.

    Raises InputError as `make_plan` does and for a network of more than MOST_LINKS links, UsageError for an unknown id
    or a network that the design does not have, NoDesignError where none is named and none can be recommended.
    """
    name, design, recommended = choose_design(loaded, catalog, design_id)
    return wire_chosen(loaded, name, design, recommended, network)


def wire_chosen(
    loaded: LoadedSpec,
    name: str,
    design: Evaluated,
    recommended: bool,
    network: NetworkName = "compute",
    doing: str = "shown and drawn",
) -> WiredDesign:
    """Wire one network of a design that `choose_design` gave; `doing`: what it is to be used for, in an error."""
    _check_size(loaded, design, network, doing)
    return WiredDesign(name, design, wire_evaluated(design, network), recommended, network)


def choose_design(loaded: LoadedSpec, catalog: Catalog, design_id: str | None) -> tuple[str, Evaluated, bool]:
    """The spec's name, the recommended design or the one of an id, and whether the plan chooses it.

    Raises as `wire_design` does.
    """
    return chosen_design(*make_evaluated_plan(loaded, catalog), design_id)


def chosen_design(plan: Plan, evaluated: Mapping[str, Evaluated], design_id: str | None) -> tuple[str, Evaluated, bool]:
    """As `choose_design`, of a plan that is made. Raises UsageError for an unknown id, NoDesignError for none."""
    chosen = plan.choice if design_id is None else design_id
    if chosen is None:
        raise NoDesignError(
            "no design can be recommended: `ibplan design` says why; name one with --design to see it anyway"
        )
    if chosen not in evaluated:
        raise UsageError(_unknown(plan, list(evaluated), chosen))
    return plan.name, evaluated[chosen], chosen == plan.recommended


def not_the_locked(plan: Plan, wanted: str) -> str:
    """What to say to who names another design than the locked one."""
    return (
        f"--design: {wanted[:_LONGEST_SHOWN]} is not the locked design, {plan.choice}: --no-lock plans without the lock"
    )


def _check_size(loaded: LoadedSpec, design: Evaluated, network: NetworkName, doing: str) -> None:
    """Refuse, from the sizing alone, what wiring would take too long and too much memory for."""
    links = link_count(design, network)
    if links <= MOST_LINKS:
        return
    key = "gpus" if loaded.spec.servers is None else "servers"
    message = f"{key}: {design.id} has {links:,} links; designs of up to {MOST_LINKS:,} links are {doing}"
    remedy = f"take a smaller cluster of the same kind: --set {key}=N; `ibplan design` and `ibplan bom` take any size"
    raise InputError([loaded.document.problem((key,), message, remedy)])


def _unknown(plan: Plan, ids: list[str], wanted: str) -> str:
    if plan.inputs.locked:
        return not_the_locked(plan, wanted)
    for row in plan.rejected:
        if row.id == wanted:
            return f"--design: {wanted} cannot be built: {row.reasons[0].text}"
    wanted = wanted if len(wanted) <= _LONGEST_SHOWN else wanted[:_LONGEST_SHOWN] + "..."
    near = get_close_matches(wanted, ids, _NEAREST) or ids[:_NEAREST]
    remedy = f"nearest: {', '.join(near)}" if near else "none can be built"
    return f"--design: no design has the id {wanted!r}; {remedy}"
