"""Every InfiniBand design of specs/ in simulation: brought up, discovered and routed by the programs of real ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from ibplan.catalog.store import Catalog, load_catalog
from ibplan.export.opensm import HOME
from ibplan.export.registry import find_target, make_export
from ibplan.export.scheme import Scheme, make_scheme
from ibplan.export.subnet import Subnets
from ibplan.plan.make import make_plan
from ibplan.plan.results import Design
from ibplan.spec.load import load_spec
from tests.system.programs import need
from tests.system.routes import Routes, follow, read_tables
from tests.system.simulation import Simulation, simulated

ROOT = Path(__file__).parents[2]
MOST_ENDPOINTS = 2100
REPORT = ROOT / "docs" / "routing.md"
LARGE = "budget=$900M"
# Forms that no spec of the project has.
MORE: dict[str, tuple[str, ...]] = {
    "three-lines.yaml: 2,048 GPUs": (LARGE, "fabrics=infiniband", "gpus=2048"),
    "three-lines.yaml: three tiers": (LARGE, "fabrics=infiniband", "network.tiers=3"),
    "three-lines.yaml: pods by rail": (LARGE, "fabrics=infiniband", "network.tiers=3", "network.second_tier=rail"),
    "three-lines.yaml: 1,000 GPUs packed": (
        LARGE,
        "fabrics=infiniband",
        "gpus=1000",
        "network.partial_units=packed",
        "network.reserved_ports=4",
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


def _design(case: Case) -> tuple[Scheme, Design]:
    loaded = load_spec(ROOT / "specs" / case.spec, case.settings)
    scheme = make_scheme(loaded, catalog(), case.design)
    designs = make_plan(loaded, catalog()).designs
    return scheme, next(design for design in designs if design.id == scheme.wired.id)


def _write(scheme: Scheme, target: str, folder: Path) -> None:
    for file in make_export(find_target(target), scheme).files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(file.pieces).replace(HOME, str(folder)), encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_the_fabric_comes_up_as_planned(case: Case, tmp_path: Path) -> None:
    opensm, discover = need("opensm", "opensm"), need("ibnetdiscover", "infiniband-diags")
    scheme, design = _design(case)
    for target in ("ibsim", "opensm", "ibnetdiscover"):
        _write(scheme, target, tmp_path)
    subnets = Subnets(scheme)
    for fabric, label in enumerate(subnets.labels):
        folder = tmp_path / label
        host = next(subnets.adapters(fabric))
        counts = _sizes(subnets, fabric)
        with simulated(folder / "fabric.net", folder, f"H-{host.guid:016x}", counts) as simulation:
            _brought_up(simulation, opensm, folder, trees=scheme.wiring.network.fabric.tiers > 1)
            found = simulation.run(discover, "--node-name-map", str(folder / "node_names.map"))
        assert "warn" not in simulation.log.read_text(encoding="utf-8"), "ibsim could not read a line"
        wanted = _planned_links(subnets, fabric)
        assert _links(found) == wanted
        assert _links((folder / "ibnetdiscover.txt").read_text(encoding="utf-8")) == wanted
        routes = follow(subnets, fabric, read_tables((folder / "opensm-lfts.dump").read_text(encoding="utf-8")))
        _lengths_are_planned(scheme, design, routes)


def _sizes(subnets: Subnets, fabric: int) -> tuple[int, int, int]:
    nodes = sum(1 for _ in subnets.adapters(fabric))
    switches = list(subnets.switches(fabric))
    return nodes + len(switches) + 1, len(switches) + 1, 2 * nodes + sum(s.port_count + 1 for s in switches) + 1


def _brought_up(simulation: Simulation, opensm: str, folder: Path, *, trees: bool) -> None:
    said = simulation.run(
        opensm, "-o", "-e", "-F", str(folder / "opensm.conf"), "-f", str(folder / "osm.log"), "-D", "0x43"
    )
    assert "nrecognized" not in said
    log = (folder / "osm.log").read_text(encoding="utf-8")
    assert "SUBNET UP" in log
    # The exit code says nothing: where ftree finds no tree, another engine takes over in silence.
    assert re.findall(r"(\w+) tables configured on all switches", log) == ["ftree" if trees else "minhop"]
    assert [line for line in log.splitlines() if "ERR" in line] == []


def _planned_links(subnets: Subnets, fabric: int) -> set[frozenset[tuple[str, int]]]:
    """The links of the plan as its arrays have them: names of both devices, numbers of both ports."""
    scheme = subnets.scheme
    links = scheme.wiring.links
    at = np.flatnonzero(links.fabric == fabric).tolist()
    b_names = list(scheme.descriptions())
    a_numbers, b_numbers = (numbers.tolist() for numbers in subnets.numbers)
    planned = {
        frozenset({(scheme.names[int(links.a_device[i])], a_numbers[i]), (b_names[i], b_numbers[i])}) for i in at
    }
    assert len(planned) == len(at)
    return planned


def _links(text: str) -> set[frozenset[tuple[str, int]]]:
    """The links that ibnetdiscover lists, each of them at both ends."""
    names = dict(re.findall(r'^(?:Switch|Ca)\s+\d+ "([^"]+)"\s+# "([^"]+)"', text, re.MULTILINE))
    found: dict[tuple[str, int], tuple[str, int]] = {}
    here = ""
    for line in text.splitlines():
        if head := re.match(r'(?:Switch|Ca)\s+\d+ "([^"]+)"', line):
            here = names[head[1]]
        elif port := re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"([^"]+)"\[(\d+)\]', line):
            found[here, int(port[1])] = (names[port[2]], int(port[3]))
    assert all(found.get(far) == near for near, far in found.items())
    return {frozenset(pair) for pair in found.items()}


def _lengths_are_planned(scheme: Scheme, design: Design, routes: Routes) -> None:
    """Every NIC port of a server is reached from every leaf over as many switches as the plan says."""
    network = design.networks.compute
    switches = network.latency_us.switches
    d = scheme.wiring.devices
    to = routes.leaves[routes.leaf]
    same = routes.leaves[:, None] == to[None, :]
    pod = d.pod[routes.leaves][:, None] == d.pod[to][None, :]
    wanted = np.where(same, switches.same_leaf or 0, np.where(pod, switches.cross_leaf or 0, switches.cross_pod or 0))
    assert (routes.length == wanted).all()
