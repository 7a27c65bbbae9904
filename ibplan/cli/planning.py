"""What the commands on a spec share: from the command line's words to a plan, and to the design that was named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from ibplan.errors import UsageError

if TYPE_CHECKING:
    from ibplan.catalog.store import Catalog
    from ibplan.plan.results import Plan
    from ibplan.spec.load import LoadedSpec


def load_inputs(
    spec: Path, settings: Sequence[str], overlays: Sequence[Path], prices: Path | None
) -> tuple[LoadedSpec, Catalog]:
    """The spec, and the catalogue with what the spec and the command line lay over it. Raises InputError."""
    from ibplan.catalog.store import load_catalog
    from ibplan.spec.load import load_spec

    loaded = load_spec(spec, settings)
    return loaded, load_catalog([*loaded.catalog_paths, *overlays], prices or loaded.price_path)


def plan_spec(
    spec: Path, settings: Sequence[str], overlays: Sequence[Path], prices: Path | None, design: str | None
) -> Plan:
    """The plan of a spec. A `design` that is listed under another of its form comes to stand for the form.

    Raises InputError; UsageError where no design has the id.
    """
    from ibplan.plan.make import make_plan

    loaded, catalog = load_inputs(spec, settings, overlays, prices)
    plan = make_plan(loaded, catalog)
    if design is None or any(d.id == design for d in plan.designs):
        return plan
    if any(other.id == design for d in plan.designs for other in d.alternatives):
        return make_plan(replace(loaded, spec=loaded.spec.model_copy(update={"design": design})), catalog)
    raise UsageError(_unknown(plan, design))


def pinned_plan(loaded: LoadedSpec, catalog: Catalog, design: str | None) -> Plan:
    """The plan of a spec in which the design, if one is named, is the choice. Raises as `plan_spec` does."""
    from ibplan.plan.make import make_plan

    if design is None:
        return make_plan(loaded, catalog)
    plan = make_plan(replace(loaded, spec=loaded.spec.model_copy(update={"design": None})), catalog)
    if design not in [i for d in plan.designs for i in (d.id, *(other.id for other in d.alternatives))]:
        raise UsageError(_unknown(plan, design))
    return make_plan(replace(loaded, spec=loaded.spec.model_copy(update={"design": design})), catalog)


def _unknown(plan: Plan, design: str) -> str:
    for row in plan.rejected:
        if row.id == design:
            return f"--design: {design} cannot be built: {row.reasons[0].text}"
    ids = [d.id for d in plan.designs] + [other.id for d in plan.designs for other in d.alternatives]
    near = get_close_matches(design, ids, 3) or ids[:3]
    return f"--design: no design has the id {design!r}; " + (
        f"nearest: {', '.join(near)}" if near else "none can be built"
    )


def only(plan: Plan, design: str | None) -> Plan:
    """The plan with one design, and the findings that are not about others."""
    if design is None:
        return plan
    return replace(
        plan,
        designs=tuple(d for d in plan.designs if d.id == design),
        findings=tuple(f for f in plan.findings if f.design in (None, design)),
    )
