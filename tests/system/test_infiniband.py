"""Every InfiniBand design of specs/ in simulation: brought up, discovered and routed by the programs of real ones."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
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
from ibplan.fabric.wiring_model import LEAF, SERVER
from ibplan.plan.make import make_plan
from ibplan.plan.results import Design
from ibplan.spec.load import load_spec
from ibplan.units import format_ratio
from tests.golden import check_golden
from tests.system.programs import need
from tests.system.routes import Routes, follow, read_tables
from tests.system.simulation import simulated

ROOT = Path(__file__).parents[2]
MOST_ENDPOINTS = 2100
REPORT = ROOT / "docs" / "routing.md"
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


class Found(NamedTuple):
    """What the programs say of one subnet: ibsim, opensm, ibnetdiscover; and the tables that opensm wrote."""

    label: str
    simulator_log: str
    manager_says: str
    manager_log: str
    discovered: str
    exported: str
    tables: str


@pytest.fixture(scope="session")
def bring_up(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], list[Found]]:
    """Runs the programs on a case: once, whichever tests look at it."""

    @cache
    def run(case: Case) -> list[Found]:
        opensm, discover = need("opensm", "opensm"), need("ibnetdiscover", "infiniband-diags")
        scheme, _ = _design(case)
        folder = tmp_path_factory.mktemp("fabric")
        for target in ("ibsim", "opensm", "ibnetdiscover"):
            _write(scheme, target, folder)
        subnets = Subnets(scheme)
        return [_run(subnets, fabric, folder / label, opensm, discover) for fabric, label in enumerate(subnets.labels)]

    return run


def _run(subnets: Subnets, fabric: int, folder: Path, opensm: str, discover: str) -> Found:
    host = next(subnets.adapters(fabric))
    log = folder / "osm.log"
    with simulated(folder / "fabric.net", folder, f"H-{host.guid:016x}", _sizes(subnets, fabric)) as simulation:
        said = simulation.run(opensm, "-o", "-e", "-F", str(folder / "opensm.conf"), "-f", str(log), "-D", "0x43")
        found = simulation.run(discover, "--node-name-map", str(folder / "node_names.map"))
    files = (folder / "ibnetdiscover.txt", folder / "opensm-lfts.dump")
    texts = [path.read_text(encoding="utf-8") for path in files]
    simulator_log, manager_log = (path.read_text(encoding="utf-8") for path in (simulation.log, log))
    return Found(subnets.labels[fabric], simulator_log, said, manager_log, found, *texts)


@pytest.mark.parametrize("case", CASES)
def test_the_fabric_comes_up_as_planned(case: Case, bring_up: Callable[[Case], list[Found]]) -> None:
    scheme, design = _design(case)
    subnets = Subnets(scheme)
    for fabric, found in enumerate(bring_up(case)):
        assert "warn" not in found.simulator_log, "ibsim could not read a line"
        _holds_log(found, trees=scheme.wiring.network.fabric.tiers > 1)
        wanted = _planned_links(subnets, fabric)
        assert _links(found.discovered) == wanted
        assert _links(found.exported) == wanted
        _lengths_are_planned(scheme, design, follow(subnets, fabric, read_tables(found.tables)))


def _sizes(subnets: Subnets, fabric: int) -> tuple[int, int, int]:
    nodes = sum(1 for _ in subnets.adapters(fabric))
    switches = list(subnets.switches(fabric))
    return nodes + len(switches) + 1, len(switches) + 1, 2 * nodes + sum(s.port_count + 1 for s in switches) + 1


def _holds_log(found: Found, *, trees: bool) -> None:
    assert "nrecognized" not in found.manager_says
    assert "SUBNET UP" in found.manager_log
    # The exit code says nothing: where ftree finds no tree, another engine takes over in silence.
    engines = re.findall(r"(\w+) tables configured on all switches", found.manager_log)
    assert engines == ["ftree" if trees else "minhop"]
    assert [line for line in found.manager_log.splitlines() if "ERR" in line] == []


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
    """Every NIC port is reached from every leaf over as many switches as the plan says."""
    network = design.networks.compute
    switches = network.latency_us.switches
    d = scheme.wiring.devices
    to = routes.leaves[routes.leaf]
    same = routes.leaves[:, None] == to[None, :]
    pod = d.pod[routes.leaves][:, None] == d.pod[to][None, :]
    wanted = np.where(same, switches.same_leaf or 0, np.where(pod, switches.cross_leaf or 0, switches.cross_pod or 0))
    assert (routes.length == wanted).all()


def test_a_missing_link_is_seen_and_routed_around(tmp_path: Path) -> None:
    """One cable between a leaf and a spine is missing: with the roots stated ftree still routes, without them not."""
    opensm, discover = need("opensm", "opensm"), need("ibnetdiscover", "infiniband-diags")
    case = Case("converged-16.yaml", (), None)
    scheme, _ = _design(case)
    subnets = Subnets(scheme)
    missing = np.flatnonzero(scheme.wiring.devices.kind[scheme.wiring.links.b_device] > LEAF)[0]
    planned = _planned_links(subnets, 0)
    engines = {}
    for roots in (True, False):
        folder = tmp_path / str(roots)
        for target in ("ibsim", "opensm", "ibnetdiscover"):
            _write(scheme, target, folder)
        _cut(folder / "fabric.net", subnets, int(missing))
        conf = folder / "opensm.conf"
        if not roots:
            conf.write_text(re.sub(r"^root_guid_file.*$", "", conf.read_text(encoding="utf-8"), flags=re.MULTILINE))
        found = _run(subnets, 0, folder, opensm, discover)
        engines[roots] = re.findall(r"(\w+) tables configured on all switches", found.manager_log)
        assert len(planned - _links(found.discovered)) == 1
        assert _links(found.discovered) < planned
    assert engines == {True: ["ftree"], False: ["updn"]}


def _cut(net: Path, subnets: Subnets, link: int) -> None:
    """Take one link out of a netlist, at both ends."""
    ends = [(node.guid, port.number) for node in subnets.switches(0) for port in node.ports if port.link == link]
    blocks = net.read_text(encoding="utf-8").split("\n\n")
    for guid, number in ends:
        at = next(i for i, block in enumerate(blocks) if f'"S-{guid:016x}"\t' in block)
        blocks[at], count = re.subn(rf"^\[{number}\].*\n?", "", blocks[at], flags=re.MULTILINE)
        assert count == 1
    net.write_text("\n\n".join(blocks), encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_the_topology_checker_sees_the_planned_paths(case: Case, tmp_path: Path) -> None:
    program = need("ibdmchk", "ibutils")
    scheme, _ = _design(case)
    _write(scheme, "ibdiagnet", tmp_path)
    subnets = Subnets(scheme)
    for fabric, label in enumerate(subnets.labels):
        host = next(subnets.adapters(fabric)).description.replace(" ", "/")
        done = subprocess.run(
            [program, "-t", str(tmp_path / label / "fabric.topo"), "-n", host, "-p", "1"],
            env=os.environ | {"IBDM_IBNL_PATH": str(tmp_path / label / "ibnl")},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        # The exit code says nothing: ibutils 1.5.7 crashes after its report, whatever the file.
        said = done.stdout + done.stderr
        assert re.findall(r"^-[EW]-.*", said, re.MULTILINE) == []
        assert "no credit loops found" in said
        assert _defined(said) == _defined_by_plan(scheme, fabric)
        for title in ("MIN HOP HISTOGRAM", "LFT ROUTE HOP HISTOGRAM"):
            assert _histogram(said, title) == _planned_hops(scheme, fabric)


def _defined(said: str) -> tuple[int, int]:
    found = re.search(r"Defined (\d+)/(\d+) systems/nodes", said)
    assert found is not None
    return int(found[1]), int(found[2])


def _defined_by_plan(scheme: Scheme, fabric: int) -> tuple[int, int]:
    """Systems and nodes of one subnet: every NIC port is a node."""
    d, links = scheme.wiring.devices, scheme.wiring.links
    hosts = links.b_device[(links.fabric == fabric) & (d.kind[links.b_device] < LEAF)]
    switches = int((d.fabric[d.kind >= LEAF] == fabric).sum())
    return len(set(hosts.tolist())) + switches, len(hosts) + switches


def _histogram(said: str, title: str) -> dict[int, int]:
    """Pairs of NIC ports by hops."""
    table = said.partition(title)[2].partition("HOPS NUM-CA-CA-PAIRS")[2].partition("---")[0]
    return {int(hops): int(pairs) for hops, pairs in re.findall(r"(\d+)\s+(\d+)", table)}


def _planned_hops(scheme: Scheme, fabric: int) -> dict[int, int]:
    """The same from the plan's leaves and pods: a hop is a link, one more than the switches on the way."""
    d, links = scheme.wiring.devices, scheme.wiring.links
    hosts = (links.fabric == fabric) & (d.kind[links.b_device] < LEAF)
    leaf = links.a_device[hosts]
    tiers, joined = scheme.wiring.network.fabric.tiers, scheme.wiring.network.fabric.isl > 0
    below = np.bincount(leaf)
    pods = np.bincount(d.pod[leaf]) if tiers == 3 else np.array([len(leaf)])
    total, same_leaf, same_pod = len(leaf) ** 2, int((below**2).sum()), int((pods**2).sum())
    found = {2: same_leaf - len(leaf), 3 if joined else 4: same_pod - same_leaf, 6: total - same_pod}
    return {hops: pairs for hops, pairs in found.items() if pairs}


def test_golden_loads_under_shifts(bring_up: Callable[[Case], list[Found]]) -> None:
    """docs/routing.md: how the routes of OpenSM bear shifts, the steps of rings and of all-to-all."""
    rows = [_row(str(param.id), param.values[0], bring_up) for param in CASES]
    check_golden(REPORT, _HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows))


def _row(name: str, case: Case, bring_up: Callable[[Case], list[Found]]) -> list[str]:
    scheme, design = _design(case)
    subnets = Subnets(scheme)
    routes = follow(subnets, 0, read_tables(bring_up(case)[0].tables))
    servers = np.flatnonzero(scheme.wiring.devices.kind[scheme.wiring.links.b_device[routes.ports]] == SERVER)
    loads = Counter(routes.shift_loads(servers))
    network = design.networks.compute
    built = network.oversubscription.leaf.built
    if _is_even(scheme) and built is not None:
        assert max(loads) == math.ceil(built), "where all leaves are alike, no shift is worse than the oversubscription"
    shown = ", ".join(f"{load}: {count:,}" for load, count in sorted(loads.items()))
    spec, _, rest = name.partition(":")
    ratio = "" if built is None else format_ratio(built)
    return [spec.removesuffix(".yaml"), rest.strip(), str(network.tiers), f"{len(servers):,}", ratio, shown]


def _is_even(scheme: Scheme) -> bool:
    """Whether all leaves are alike: as many links to servers below each, and nothing else."""
    d, links = scheme.wiring.devices, scheme.wiring.links
    below = links.a_device[d.kind[links.b_device] < LEAF]
    counts = np.bincount(below, minlength=len(d))[d.kind == LEAF]
    return scheme.wiring.network.fabric.tiers > 1 and len(set(counts.tolist())) == 1


_HEAD = """\
# How planned fabrics are routed

Made by `IBPLAN_GOLDEN=1 make test-system`, which brings every InfiniBand design of `specs/` with up to 2,100 endpoints,
and a few forms more, up in simulation: ibsim 0.10, opensm 3.3.23 and ibnetdiscover 44.0 of Debian 12, with the files of
`ibplan export` ([export.md](export.md)). The tests hold for each of them:

- opensm routes every tree with its fat-tree engine, and its log has no error;
- ibnetdiscover finds every link of the plan at the planned ports, and no other;
- by the routing tables, every NIC port is reached from every leaf over as many switches as the plan says.

The table shows the load that these routes give under *shifts*: the NIC ports of all servers, in the order of the plan,
each send to the port *k* places behind them. Rings and all-to-all are made of such steps. For every *k* the most flows
that meet on one direction of one link between switches are counted: `1: 1,023` says that in each of 1,023 shifts no
link carries more than one flow. Where all leaves are alike, no shift is worse than the oversubscription, rounded up
(tested). A last unit that is not full, and other hosts on the fabric, make routes uneven. Of several planes or rails,
the first is shown.

| spec | design | tiers | NIC ports | oversubscription | most flows on a link: number of shifts |
|---|---|---:|---:|---:|---|
"""
