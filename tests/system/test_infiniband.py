"""Every InfiniBand design of specs/ in simulation: brought up, discovered and routed by the programs of real ones."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ibplan.export.scheme import Scheme
from ibplan.export.subnet import Subnets
from ibplan.fabric.wiring_model import LEAF
from ibplan.plan.results import Design
from tests.system.fabrics import CASES, Case, Found, design_of, run, write
from tests.system.programs import need
from tests.system.routes import Routes, follow, read_tables


@pytest.mark.parametrize("case", CASES)
def test_the_fabric_comes_up_as_planned(case: Case, bring_up: Callable[[Case], list[Found]]) -> None:
    scheme, design = design_of(case)
    subnets = Subnets(scheme)
    for fabric, found in enumerate(bring_up(case)):
        assert "warn" not in found.simulator_log, "ibsim could not read a line"
        _holds_log(found, trees=scheme.wiring.network.fabric.tiers > 1)
        wanted = _planned_links(subnets, fabric)
        assert _links(found.discovered) == wanted
        assert _links(found.exported) == wanted
        _lengths_are_planned(scheme, design, follow(subnets, fabric, read_tables(found.tables)))


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
    scheme, _ = design_of(case)
    subnets = Subnets(scheme)
    missing = np.flatnonzero(scheme.wiring.devices.kind[scheme.wiring.links.b_device] > LEAF)[0]
    planned = _planned_links(subnets, 0)
    engines = {}
    for roots in (True, False):
        folder = tmp_path / str(roots)
        for target in ("ibsim", "opensm", "ibnetdiscover"):
            write(scheme, target, folder)
        _cut(folder / "fabric.net", subnets, int(missing))
        conf = folder / "opensm.conf"
        if not roots:
            conf.write_text(re.sub(r"^root_guid_file.*$", "", conf.read_text(encoding="utf-8"), flags=re.MULTILINE))
        found = run(subnets, 0, folder, opensm, discover)
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
    scheme, _ = design_of(case)
    write(scheme, "ibdiagnet", tmp_path)
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
