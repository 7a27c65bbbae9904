"""What the commands on a spec share: from the command line's words to a plan, and to the design that was named."""

from __future__ import annotations

import os
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
    spec: Path,
    settings: Sequence[str],
    overlays: Sequence[Path],
    prices: Path | None,
    lock: Path | None = None,
    no_lock: bool = False,
) -> tuple[LoadedSpec, Catalog]:
    """The spec with its lock, and the catalogue with what the spec and the command line lay over it.

    Raises InputError; UsageError where options do not go together.
    """
    from ibplan.catalog.store import load_catalog
    from ibplan.spec.load import load_spec

    if lock is not None and no_lock:
        raise UsageError("--lock does not go with --no-lock")
    loaded = load_spec(spec, settings)
    found = None if no_lock else lock or lock_beside(spec)
    if found is not None:
        from ibplan.document import printable
        from ibplan.spec.lock import read_lock

        if prices is not None:
            raise UsageError(
                f"--prices changes nothing under the lock {printable(found)}: `ibplan lock SPEC --update-prices "
                "--prices FILE` takes new prices, --no-lock plans without the lock"
            )
        loaded = replace(loaded, lock=read_lock(found))
    return loaded, load_catalog([*loaded.catalog_paths, *overlays], prices or loaded.price_path)


def lock_beside(spec: Path) -> Path | None:
    """The lock that stands beside a spec file; None if there is none."""
    from ibplan.spec.load import lock_path

    if str(spec) == "-":
        return None
    path = lock_path(spec)
    return path if os.path.lexists(path) else None


def plan_spec(
    spec: Path,
    settings: Sequence[str],
    overlays: Sequence[Path],
    prices: Path | None,
    design: str | None,
    lock: Path | None = None,
    no_lock: bool = False,
) -> Plan:
    """The plan of a spec. A `design` that is listed under another of its form comes to stand for the form.

    Raises InputError; UsageError where no design has the id.
    """
    loaded, catalog = load_inputs(spec, settings, overlays, prices, lock, no_lock)
    return plan_loaded(loaded, catalog, design)


def plan_loaded(loaded: LoadedSpec, catalog: Catalog, design: str | None, option: str = "--design") -> Plan:
    """As `plan_spec`; `option` is what named the design."""
    from ibplan.plan.make import make_plan

    plan = make_plan(loaded, catalog)
    if design is None or any(d.id == design for d in plan.designs):
        return plan
    if plan.inputs.locked:
        from ibplan.plan.wired import not_the_locked

        raise UsageError(not_the_locked(plan, design))
    if any(other.id == design for d in plan.designs for other in d.alternatives):
        return make_plan(replace(loaded, spec=loaded.spec.model_copy(update={"design": design})), catalog)
    raise UsageError(_unknown(plan, design, option))


def pinned_plan(loaded: LoadedSpec, catalog: Catalog, design: str | None) -> Plan:
    """The plan of a spec in which the design, if one is named, is the choice. Raises as `plan_spec` does."""
    from ibplan.plan.make import make_plan

    if design is None:
        return make_plan(loaded, catalog)
    plan = make_plan(replace(loaded, spec=loaded.spec.model_copy(update={"design": None})), catalog)
    if design not in [i for d in plan.designs for i in (d.id, *(other.id for other in d.alternatives))]:
        raise UsageError(_unknown(plan, design, "--design"))
    if design == plan.recommended:
        return plan
    return make_plan(replace(loaded, spec=loaded.spec.model_copy(update={"design": design})), catalog)


def _unknown(plan: Plan, design: str, option: str) -> str:
    for row in plan.rejected:
        if row.id == design:
            return f"{option}: {design} cannot be built: {row.reasons[0].text}"
    ids = [d.id for d in plan.designs] + [other.id for d in plan.designs for other in d.alternatives]
    near = get_close_matches(design, ids, 3) or ids[:3]
    return f"{option}: no design has the id {design!r}; " + (
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
