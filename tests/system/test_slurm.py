"""Topologies for Slurm, as slurmctld reads them and shows them again."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ibplan.catalog.store import load_catalog
from ibplan.export.hierarchy import host_list
from ibplan.export.registry import find_target, make_export
from ibplan.export.scheme import Scheme, make_scheme
from ibplan.fabric.wiring_model import SERVER
from ibplan.spec.load import load_spec
from tests.system.scheduler import Controller, controller

ROOT = Path(__file__).parents[2]
ROCE = ("fabrics=roce", "budget=$900M")
CASES = {
    "one leaf": ("small-team.yaml", ()),
    "rails, last unit not full": ("h100-pod-127.yaml", ()),
    "two planes": ("b300-two-planes.yaml", ()),
    "NVLink racks": ("gb300-nvl72.yaml", ()),
    "separate rails": ("rail-only-512.yaml", ("network.rail_only=true", "budget=$900M")),
    "other hosts beside servers": ("storage-attached.yaml", ()),
    "rails not optimized": ("three-lines.yaml", (*ROCE, "network.rail_optimized=false", "gpus=600")),
    "three tiers": ("three-lines.yaml", (*ROCE, "network.tiers=3", "network.pod_units=2", "gpus=3000")),
    "pods by rail": ("three-lines.yaml", (*ROCE, "network.tiers=3", "network.second_tier=rail", "gpus=4096")),
    "names of the site": (
        "h100-pod-127.yaml",
        ("naming.server='gpu{unit}-{position:2}'", "naming.unit='su{number}'", "naming.pod='row{number}'"),
    ),
}


def _scheme(name: str) -> Scheme:
    spec, settings = CASES[name]
    loaded = load_spec(ROOT / "specs" / spec, settings)
    return make_scheme(loaded, load_catalog(loaded.catalog_paths, loaded.price_path))


def _topology(scheme: Scheme) -> str:
    (file,) = make_export(find_target("slurm"), scheme).files
    return "".join(file.pieces)


def _servers(scheme: Scheme) -> list[str]:
    return [name for name, kind in zip(scheme.names, scheme.wiring.devices.kind, strict=True) if kind == SERVER]


@pytest.mark.parametrize("name", CASES)
def test_the_controller_shows_the_plan(name: str, tmp_path: Path) -> None:
    scheme = _scheme(name)
    with controller(_topology(scheme), host_list(_servers(scheme)), tmp_path) as running:
        shown = _shown(running)
        nodes = set(re.findall(r"NodeName=(\S+)", running.scontrol("-o", "show", "nodes")))
    assert running.complaints() == []
    assert nodes == set(_servers(scheme))
    lowest = {frozenset(members): switch for switch, (level, members) in shown.items() if level == 0}
    planned = _planned_groups(scheme)
    assert set(lowest) == set(planned)
    for members, leaves in planned.items():
        only = {scheme.names[leaf] for leaf in leaves}
        assert lowest[members] in only if len(only) == 1 else re.fullmatch(r"unit-\d{3}|su\d+", lowest[members])
    (root,) = [switch for switch, (_, members) in shown.items() if members == nodes]
    assert shown[root][0] == max(level for level, _ in shown.values())


def _shown(running: Controller) -> dict[str, tuple[int, set[str]]]:
    """By switch: its level and the nodes below it, as slurmctld counts them."""
    found = {}
    for line in running.scontrol("show", "topology").splitlines():
        switch = re.match(r"SwitchName=(\S+) Level=(\d+) .*Nodes=(\S+)", line)
        assert switch is not None, line
        found[switch[1]] = (int(switch[2]), set(running.scontrol("show", "hostnames", switch[3]).split()))
    return found


def _planned_groups(scheme: Scheme) -> dict[frozenset[str], frozenset[int]]:
    """Servers that have all their leaves in common, by the links of the plan, with these leaves."""
    d, links = scheme.wiring.devices, scheme.wiring.links
    leaves: dict[int, set[int]] = {}
    at = np.flatnonzero(d.kind[links.b_device] == SERVER)
    for server, leaf in zip(links.b_device[at].tolist(), links.a_device[at].tolist(), strict=True):
        leaves.setdefault(server, set()).add(leaf)
    groups: dict[frozenset[int], set[str]] = {}
    for server, mine in leaves.items():
        groups.setdefault(frozenset(mine), set()).add(scheme.names[server])
    return {frozenset(group): mine for mine, group in groups.items()}


def test_three_levels_are_units_pods_and_all(tmp_path: Path) -> None:
    scheme = _scheme("three tiers")
    with controller(_topology(scheme), host_list(_servers(scheme)), tmp_path) as running:
        shown = _shown(running)
    d, pods = scheme.wiring.devices, {}
    for server in np.flatnonzero(d.kind == SERVER).tolist():
        pods.setdefault(int(d.pod[server]), set()).add(scheme.names[server])
    assert len(pods) > 1
    assert sorted(map(sorted, (m for level, m in shown.values() if level == 1))) == sorted(map(sorted, pods.values()))
    assert [switch for switch, (level, _) in shown.items() if level == 2] == ["fabric"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Nodes=server-[001-032]", "Nodes=server-[002-032]", "lack access to 1 nodes"),
        ("Nodes=server-[001-032]", "Nodes=server-[001-033]", "Multiple leaf switches contain nodes"),
    ],
)
def test_a_wrong_topology_is_complained_of(old: str, new: str, said: str, tmp_path: Path) -> None:
    """The test above can fail: slurmctld says so where a node is on no switch, or on two."""
    scheme = _scheme("rails, last unit not full")
    topology = _topology(scheme)
    assert topology.count(old) == 1
    with controller(topology.replace(old, new), host_list(_servers(scheme)), tmp_path) as running:
        pass
    assert [line for line in running.complaints() if said in line]
