"""The InfiniBand fabrics that system tests bring up: every such design of specs/, and forms that no spec has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ibplan.catalog.store import Catalog, load_catalog
from ibplan.export.opensm import HOME
from ibplan.export.registry import find_target, make_export
from ibplan.export.scheme import Scheme, make_scheme
from ibplan.export.subnet import Subnets
from ibplan.plan.make import make_plan
from ibplan.plan.results import Design
from ibplan.spec.load import load_spec
from tests.system.simulation import simulated

ROOT = Path(__file__).parents[2]
MOST_ENDPOINTS = 2100
LARGE = "budget=$900M"
# Forms that no spec of the project has.
MORE: dict[str, tuple[str, ...]] = {
    "three-lines.yaml: 2,048 GPUs": (LARGE, "fabrics=infiniband", "gpus=2048"),
    "three-lines.yaml: three tiers": (LARGE, "fabrics=infiniband", "network.tiers=3", "network.pod_units=2"),
    "three-lines.yaml: pods by rail": (LARGE, "fabrics=infiniband", "network.tiers=3", "network.second_tier=rail"),
    "three-lines.yaml: 1,000 GPUs packed": (
        LARGE,
        "fabrics=infiniband",
        "gpus=1000",
        "network.partial_units=packed",
        "network.reserved_ports=4",
    ),
    "three-lines.yaml: 1,000 GPUs 2:1": (LARGE, "fabrics=infiniband", "gpus=1000", "network.oversubscription=2"),
    "three-lines.yaml: uneven uplinks 3:1": (LARGE, "fabrics=infiniband", "network.oversubscription=3"),
    "three-lines.yaml: three tiers, 1,000 GPUs": (
        LARGE,
        "fabrics=infiniband",
        "gpus=1000",
        "network.tiers=3",
        "network.pod_units=2",
    ),
    "three-lines.yaml: three tiers, spines 2:1": (
        LARGE,
        "fabrics=infiniband",
        "network.tiers=3",
        "network.pod_units=2",
        "network.oversubscription={leaf: 1, spine: 2}",
    ),
    "one-switch.yaml: two leaves": (
        LARGE,
        "fabrics=infiniband",
        "network.tiers=1",
        "network.single_tier=two_leaves",
        "servers=6",
    ),
}


class Case(NamedTuple):
    spec: str
    settings: tuple[str, ...]
    design: str | None


@cache
def catalog() -> Catalog:
    return load_catalog()


def _cases() -> Iterator[Any]:
    for path in sorted((ROOT / "specs").glob("*.yaml")):
        if ".lock" in path.name:
            continue
        for design in make_plan(load_spec(path), catalog()).designs:
            if design.fabric == "infiniband" and design.networks.compute.counts.endpoints <= MOST_ENDPOINTS:
                yield pytest.param(Case(path.name, (), design.id), id=f"{path.stem}:{design.id}")
    for name, settings in MORE.items():
        yield pytest.param(Case(name.partition(":")[0], settings, None), id=name)


CASES = list(_cases())


@cache
def design_of(case: Case) -> tuple[Scheme, Design]:
    loaded = load_spec(ROOT / "specs" / case.spec, case.settings)
    scheme = make_scheme(loaded, catalog(), case.design)
    designs = make_plan(loaded, catalog()).designs
    return scheme, next(design for design in designs if design.id == scheme.wired.id)


def write(scheme: Scheme, target: str, folder: Path) -> None:
    for file in make_export(find_target(target), scheme).files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(file.pieces).replace(HOME, str(folder)), encoding="utf-8")


class Found(NamedTuple):
    """What the programs say of one subnet: ibsim, opensm, ibnetdiscover; and the tables that opensm wrote."""

    label: str
    simulator_log: str
    manager_says: str
    manager_log: str
    discovered: str
    exported: str
    tables: str


def run(subnets: Subnets, fabric: int, folder: Path, opensm: str, discover: str) -> Found:
    host = next(subnets.adapters(fabric))
    log = folder / "osm.log"
    with simulated(folder / "fabric.net", folder, f"H-{host.guid:016x}", _sizes(subnets, fabric)) as simulation:
        said = simulation.run(opensm, "-o", "-e", "-F", str(folder / "opensm.conf"), "-f", str(log), "-D", "0x43")
        found = simulation.run(discover, "--node-name-map", str(folder / "node_names.map"))
    files = (folder / "ibnetdiscover.txt", folder / "opensm-lfts.dump")
    texts = [path.read_text(encoding="utf-8") for path in files]
    simulator_log, manager_log = (path.read_text(encoding="utf-8") for path in (simulation.log, log))
    return Found(subnets.labels[fabric], simulator_log, said, manager_log, found, *texts)


def _sizes(subnets: Subnets, fabric: int) -> tuple[int, int, int]:
    nodes = sum(1 for _ in subnets.adapters(fabric))
    switches = list(subnets.switches(fabric))
    return nodes + len(switches) + 1, len(switches) + 1, 2 * nodes + sum(s.port_count + 1 for s in switches) + 1
