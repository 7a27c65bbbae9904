"""What a spec names, looked up in the catalogue: all that does not exist is reported in one go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from ibplan.catalog.store import Catalog
from ibplan.errors import InputError, Problem
from ibplan.plan.converged import port_problems
from ibplan.plan.extras import spare_policy
from ibplan.plan.hosts import ServerModel, resolve_server, server_count
from ibplan.plan.job import workload_problems
from ibplan.plan.pricing import pricing_problems
from ibplan.plan.switches import TierModels, pinned_switches
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import InlineServer, InlineSwitch, StorageSpec, SwitchRef

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The server with how many there are, and the switches that the spec names (None = every one that can be used)."""

    server: ServerModel
    servers: int
    gpus: int
    switches: list[TierModels] | None


def resolve(loaded: LoadedSpec, catalog: Catalog) -> Resolved:
    """Look everything up. Raises one InputError with every name that does not exist and every contradiction."""
    problems = [
        *_unknown_cage_classes(loaded, catalog),
        *_unknown_switches(loaded, catalog),
        *pricing_problems(loaded, catalog),
    ]
    _tried(problems, lambda: spare_policy(loaded))
    server = _tried(problems, lambda: resolve_server(loaded, catalog))
    switches = _tried(problems, lambda: pinned_switches(loaded, catalog))
    counted = None if server is None else _tried(problems, lambda: server_count(loaded, server))
    if server is not None:
        problems += port_problems(loaded, server)
    problems += workload_problems(loaded, server, None if counted is None else counted[1])
    if problems or server is None or counted is None:
        raise InputError(problems)
    return Resolved(server, *counted, switches)


def _tried(problems: list[Problem], look_up: Callable[[], T]) -> T | None:
    try:
        return look_up()
    except InputError as error:
        problems += error.problems
        return None


def _unknown_cage_classes(loaded: LoadedSpec, catalog: Catalog) -> Iterator[Problem]:
    for loc, name in _stated_cage_classes(loaded):
        if name is not None and name not in catalog.cage_classes:
            near = get_close_matches(name, catalog.cage_classes, 1)
            known = ", ".join(sorted(catalog.cage_classes))
            remedy = f"did you mean {near[0]}?" if near else f"known: {known}"
            yield loaded.document.problem(loc, f"unknown cage_class {name!r}", remedy)


def _unknown_switches(loaded: LoadedSpec, catalog: Catalog) -> Iterator[Problem]:
    """Switches that the spec names for the storage and management networks."""
    for loc, part in _side_specs(loaded):
        name: str | None = getattr(part, "switch", None)
        if name is not None and name not in catalog.switches:
            near = catalog.nearest(name, "switches")
            remedy = f"did you mean {near}?" if near else "`ibplan catalog list --kind switches` lists them"
            yield loaded.document.problem((*loc, "switch"), f"unknown switch {name!r}", remedy)


def _side_specs(loaded: LoadedSpec) -> Iterator[tuple[tuple[str | int, ...], object]]:
    storage, management = loaded.spec.storage, loaded.spec.management
    if isinstance(storage, StorageSpec):
        yield ("storage",), storage
    yield ("management", "inband"), management.inband
    yield ("management", "oob"), management.oob
    if management.hosts is not None:
        yield ("management", "hosts"), management.hosts


_CAGE_KEYS = ("cage_class", "appliance_cage_class", "inband_cage_class")


def _stated_cage_classes(loaded: LoadedSpec) -> Iterator[tuple[tuple[str | int, ...], str | None]]:
    spec, tiers = loaded.spec, loaded.spec.network.switch
    if isinstance(spec.server, InlineServer):
        yield ("server", "cage_class"), spec.server.cage_class
    for index, group in enumerate(spec.attached):
        yield ("attached", index, "cage_class"), group.cage_class
    for loc, part in _side_specs(loaded):
        for key in _CAGE_KEYS:
            yield (*loc, key), getattr(part, key, None)
    named: list[tuple[tuple[str | int, ...], SwitchRef | None]] = [
        (("leaf", index), ref) for index, ref in enumerate(tiers.leaf or ())
    ]
    for tier, ref in [*named, (("spine",), tiers.spine), (("core",), tiers.core)]:
        if isinstance(ref, InlineSwitch):
            yield ("network", "switch", *tier, "cage_class"), ref.cage_class
