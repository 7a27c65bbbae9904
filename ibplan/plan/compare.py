"""A sweep: the plan of every combination of values that keys of the spec take in turn, in a few figures each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from ibplan.catalog.store import Catalog, load_catalog
from ibplan.document import capped, printable
from ibplan.errors import EXIT_NO_DESIGN, EXIT_OK, InputError, Problem
from ibplan.findings import plural
from ibplan.plan.extent import check_forms
from ibplan.plan.make import make_plan
from ibplan.plan.processes import in_processes
from ibplan.plan.resolve import resolve
from ibplan.plan.results import Design, Plan, Shortfall
from ibplan.plan.work import step_s, tokens_per_s, training_days
from ibplan.spec.load import LoadedSpec, load_variants
from ibplan.spec.models import Fabric
from ibplan.spec.settings import VARY
from ibplan.spec.variations import Variation, combinations

T = TypeVar("T")
State = Literal["recommended", "over a limit", "cannot be built", "without prices", "too slow"]
_Files = tuple[tuple[Path, ...], Path | None]


@dataclass(frozen=True, slots=True)
class ComparedDesign:
    """A design of a combination in the figures of its plan; `tokens_per_s`, `step_s`, `days` None = not modelled."""

    id: str
    rank: int | None
    recommended: bool
    fabric: Fabric
    gpus: int
    switches: int
    capex_usd: Decimal
    complete: bool
    estimated_fraction: float
    capex_per_gpu_usd: Decimal
    power_w: float | None
    power_known_w: float
    per_gpu_gbps: float
    step_s: float | None
    days: float | None
    tokens_per_s: float | None


@dataclass(frozen=True, slots=True)
class Combination:
    """One combination, numbered from 1. `values` by key, as texts that `--set` takes.

    `state`: how its plan ends, with the exit code of `ibplan design` for it. `shortfall` and `reasons` say why nothing
    fits or can be built. `designs`: the recommended one alone, or all of them.
    """

    number: int
    values: Mapping[str, str]
    state: State
    exit_code: int
    recommended: str | None
    shortfall: tuple[Shortfall, ...]
    reasons: tuple[str, ...]
    designs: tuple[ComparedDesign, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """All combinations, in order: that of the keys and of their values, the last key changing first."""

    name: str
    keys: tuple[str, ...]
    combinations: tuple[Combination, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the spec and what is laid over the catalogue come from, and what is set for all combinations."""

    spec: Path
    settings: tuple[str, ...] = ()
    overlays: tuple[Path, ...] = ()
    prices: Path | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    number: int
    values: Mapping[str, str]
    loaded: LoadedSpec
    files: _Files


def sweep(source: Source, variations: Sequence[Variation], *, all_designs: bool = False, jobs: int = 1) -> Sweep:
    """Plan every combination, on at most `jobs` processes.

    Raises one InputError with what is wrong with any of them: what is wrong with all is said once, the rest with the
    values that it comes with. Everything is looked up before anything is planned.
    """
    keys = tuple(variation.key for variation in variations)
    chosen = [dict(zip(keys, values, strict=True)) for values in combinations(variations)]
    texts = ([f"{key}={value}" for key, value in values.items()] for values in chosen)
    variants = list(load_variants(source.spec, source.settings, texts))
    catalogs: dict[_Files, Catalog | InputError] = {}
    tasks: list[_Task | InputError] = [
        variant if isinstance(variant, InputError) else _task(number, values, variant, source, catalogs)
        for number, (values, variant) in enumerate(zip(chosen, variants, strict=True), 1)
    ]
    ready = _without_errors(tasks, chosen)
    loaded = {files: catalog for files, catalog in catalogs.items() if isinstance(catalog, Catalog)}
    planned = in_processes(partial(_planned, loaded, all_designs), ready, jobs)
    found = _without_errors(planned, chosen)
    return Sweep(ready[0].loaded.spec.name or "spec", keys, tuple(found))


def _task(
    number: int,
    values: Mapping[str, str],
    loaded: LoadedSpec,
    source: Source,
    catalogs: dict[_Files, Catalog | InputError],
) -> _Task | InputError:
    """A combination with all that it names looked up. Catalogues are loaded once for all that take the same files."""
    files = (*loaded.catalog_paths, *source.overlays), source.prices or loaded.price_path
    try:
        if files not in catalogs:
            catalogs[files] = _loaded(files)
        catalog = catalogs[files]
        if isinstance(catalog, InputError):
            return catalog
        check_forms(loaded, catalog, resolve(loaded, catalog))
    except InputError as error:
        return error
    return _Task(number, values, loaded, files)


def _loaded(files: _Files) -> Catalog | InputError:
    try:
        return load_catalog(*files)
    except InputError as error:
        return error


def _planned(catalogs: Mapping[_Files, Catalog], all_designs: bool, task: _Task) -> Combination | InputError:
    try:
        plan = make_plan(task.loaded, catalogs[task.files])
    except InputError as error:
        return error
    state = _state(plan)
    shown = [d for d in plan.designs if all_designs or d.id == plan.recommended]
    reasons = (reason.text for row in plan.rejected for reason in row.reasons)
    return Combination(
        task.number,
        task.values,
        state,
        EXIT_OK if plan.fits else EXIT_NO_DESIGN,
        plan.recommended,
        plan.shortfall,
        tuple(dict.fromkeys(reasons)) if state == "cannot be built" else (),
        tuple(_compared(design, plan) for design in shown),
    )


def _state(plan: Plan) -> State:
    if plan.recommended is not None:
        return "recommended"
    if not plan.designs:
        return "cannot be built"
    if plan.shortfall:
        return "over a limit"
    pinned = [design for design in plan.designs if design.pinned]
    return "without prices" if all(d.rank is None for d in pinned or plan.designs) else "too slow"


def _compared(design: Design, plan: Plan) -> ComparedDesign:
    totals, performance = design.totals, design.performance
    return ComparedDesign(
        id=design.id,
        rank=design.rank,
        recommended=design.id == plan.recommended,
        fabric=design.fabric,
        gpus=totals.gpus,
        switches=totals.switches,
        capex_usd=totals.capex_usd,
        complete=totals.complete,
        estimated_fraction=totals.estimated_fraction,
        capex_per_gpu_usd=totals.capex_per_gpu_usd,
        power_w=totals.power_w,
        power_known_w=totals.power_known_w,
        per_gpu_gbps=design.networks.compute.bandwidth.per_gpu_gbps,
        step_s=step_s(performance),
        days=training_days(performance),
        tokens_per_s=tokens_per_s(performance),
    )


def _without_errors(results: Sequence[T | InputError], chosen: Sequence[Mapping[str, str]]) -> list[T]:
    """The results if none is an error. Raises one InputError with all problems of all combinations."""
    where: dict[Problem, list[int]] = {}
    for index, result in enumerate(results):
        for problem in result.problems if isinstance(result, InputError) else ():
            where.setdefault(problem, []).append(index)
    if where:
        raise InputError(capped([_placed(problem, found, chosen) for problem, found in where.items()]))
    return [result for result in results if not isinstance(result, InputError)]


def _placed(problem: Problem, found: Sequence[int], chosen: Sequence[Mapping[str, str]]) -> Problem:
    """A problem with the values that it comes with, unless it comes with all or is that of the one value it names."""
    if len(found) == len(chosen):
        return problem
    values = chosen[found[0]]
    for key, value in values.items():
        if list(found) == [index for index, other in enumerate(chosen) if other[key] == value]:
            setting = f"{key}={value}"
            named = problem.source == printable(f"{VARY} {setting}")
            return problem if named else _with(problem, setting)
    more = f" and {plural(len(found) - 1, 'more combination')}" if len(found) > 1 else ""
    return _with(problem, ", ".join(f"{key}={value}" for key, value in values.items()) + more)


def _with(problem: Problem, values: str) -> Problem:
    return replace(problem, message=f"with {printable(values)}: {problem.message}")
