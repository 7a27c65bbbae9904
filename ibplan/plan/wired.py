"""wire_design: from a loaded spec to every link of one design. The front door for who cables, exports or draws it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from ibplan.catalog.store import Catalog
from ibplan.errors import NoDesignError, UsageError
from ibplan.fabric.wiring_model import Wiring
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.results import Plan
from ibplan.plan.runs import wire_form
from ibplan.spec.load import LoadedSpec

_NEAREST = 3
_LONGEST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class WiredDesign:
    """One design with its links. `name` = of the spec; `recommended`: whether the plan chooses this design."""

    name: str
    evaluated: Evaluated
    wiring: Wiring
    recommended: bool

    @property
    def id(self) -> str:
        """The id of the design."""
        return self.evaluated.id

    @property
    def fabric(self) -> str:
        """The kind of network: infiniband, roce or ethernet."""
        return self.evaluated.form.fabric

    @property
    def switch_ids(self) -> dict[str, str]:
        """The switch of each tier that there is."""
        models = self.evaluated.form.switches
        found = {"leaf": models.leaf.id, "spine": models.spine.id, "core": models.core.id}
        return {row.tier: found[row.tier] for row in self.wiring.network.tiers}


def wire_design(loaded: LoadedSpec, catalog: Catalog, design_id: str | None = None) -> WiredDesign:
    """Wire the recommended design, or any design or alternative of the plan by its id, priced or not.

    Raises InputError as `make_plan` does, UsageError for an unknown id, NoDesignError where none is named and none can
    be recommended.
    """
    plan, evaluated = make_evaluated_plan(loaded, catalog)
    chosen = plan.recommended if design_id is None else design_id
    if chosen is None:
        raise NoDesignError(
            "no design can be recommended: `ibplan design` says why; name one with --design to see it anyway"
        )
    if chosen not in evaluated:
        raise UsageError(_unknown(plan, list(evaluated), chosen))
    return WiredDesign(plan.name, evaluated[chosen], wire_evaluated(evaluated[chosen]), chosen == plan.recommended)


def wire_evaluated(evaluated: Evaluated) -> Wiring:
    """The links of an evaluated form."""
    return wire_form(evaluated.form, evaluated.network)


def _unknown(plan: Plan, ids: list[str], wanted: str) -> str:
    for row in plan.rejected:
        if row.id == wanted:
            return f"--design: {wanted} cannot be built: {row.reasons[0].text}"
    wanted = wanted if len(wanted) <= _LONGEST_SHOWN else wanted[:_LONGEST_SHOWN] + "..."
    near = get_close_matches(wanted, ids, _NEAREST) or ids[:_NEAREST]
    remedy = f"nearest: {', '.join(near)}" if near else "none can be built"
    return f"--design: no design has the id {wanted!r}; {remedy}"
