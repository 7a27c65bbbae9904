"""Storage and in-band traffic on the leaves of the compute network: who stands there, and that all of it adds up."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from io import BytesIO
from itertools import chain
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.cabling.rows import CableRow, cable_rows
from ibplan.errors import InputError
from ibplan.fabric.checks import CHECKS, check_wiring
from ibplan.fabric.wiring import Wiring, wire
from ibplan.host_groups import NORTH_SOUTH
from ibplan.plan.cabled import cable_design
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.results import Design, Plan
from ibplan.spec.load import load_spec
from tests.examples import share
from tests.plan.planning import catalog, only, plan

PAIR = """
servers: 16
server: {gpus: 8, nics: 4, port_gbps: 400, cage_class: nic-qsfp112, rack_units: 4, power: 7 kW}
fabrics: roce
network: {switch: nvidia-sn5610, single_tier: two_leaves}
storage:
  {converged_with: inband, appliances: 2, appliance_ports: 20, appliance_gbps: 100, appliance_cage_class: nic-qsfp28}
management:
  inband: {converged_with: compute, ports_per_server: 2, port_gbps: 200, cage_class: nic-qsfp112}
  oob: {ports_per_server: 3, uplinks: 4}
  hosts: {servers: 8}
"""
# The same pair for the GPUs alone.
ALONE = "network: {switch: nvidia-sn5610, single_tier: two_leaves}\n"
DGX = "servers: 8\nserver: nvidia-dgx-h100\nfabrics: roce\n" + ALONE


def loaded(text: str, *settings: str) -> Any:
    return load_spec("-", settings, stdin=BytesIO(text.encode()))


def evaluated(text: str, *settings: str) -> Evaluated:
    (found,) = make_evaluated_plan(loaded(text, *settings), catalog())[1].values()
    return found


def wired(text: str, *settings: str) -> Wiring:
    return wire(evaluated(text, *settings).network)


@cache
def cables(text: str) -> tuple[CableRow, ...]:
    return tuple(chain.from_iterable(map(cable_rows, cable_design(loaded(text), catalog()).networks)))


def groups(design: Design) -> dict[str, int]:
    found: Counter[str] = Counter()
    for row in design.networks.compute.links:
        if row.kind == "attached":
            found[row.host or ""] += row.count
    return dict(found)


def refused(text: str, *settings: str) -> str:
    result = plan(text, *settings)
    assert not result.designs
    return " ".join(reason.text for row in result.rejected for reason in row.reasons)


def codes(result: Plan) -> set[str]:
    return {finding.code for finding in result.findings}


def test_the_networks_are_said_to_be_on_the_compute_network() -> None:
    design = only(plan(PAIR))
    assert (design.networks.storage, design.networks.inband) == (None, None)
    assert {row.what: row.reason for row in design.left_out} == dict.fromkeys(
        ("storage network", "in-band network"), "the spec has it on the compute network"
    )
    assert "oob-uplinks-open" not in codes(plan(PAIR))
    assert set(design.totals.capex_by_network_usd) == {"compute", "oob"}


def test_storage_ports_of_the_servers_stand_there_where_they_have_any() -> None:
    both = "storage: {converged_with: compute, appliance_ports: 8}\nmanagement: {inband: {converged_with: compute}}\n"
    hosts = groups(only(plan(DGX + both)))
    assert hosts == {"server-storage": 16, "server-inband": 16, "storage.port": 8, "oob.leaf": 2}
    # The in-band network may keep its own switches, and then the out-of-band switches hang there.
    design = only(plan(DGX + "storage: {converged_with: compute, appliance_ports: 8}\n"))
    assert groups(design) == {"server-storage": 16, "storage.port": 8}
    assert design.networks.inband is not None
    # And the other way round.
    design = only(plan(DGX + "management: {inband: {converged_with: compute}}\n"))
    assert set(groups(design)) == {"server-inband", "oob.leaf"}
    assert design.networks.storage is not None


def test_in_band_ports_run_as_fast_as_they_can_beside_those_of_the_gpus() -> None:
    design = only(plan(DGX + "management: {inband: {converged_with: compute}}\n"))
    assert {row.gbps for row in design.networks.compute.links if row.host == "server-inband"} == {400}


def test_what_the_gpus_get_does_not_change_and_only_their_traffic_needs_links_between_the_leaves() -> None:
    head = PAIR[: PAIR.index("storage:")]
    alone = only(plan(head + "storage: none\nmanagement: {inband: false, oob: false}\n")).networks.compute
    together = only(plan(PAIR)).networks.compute
    assert together.bandwidth == alone.bandwidth
    assert together.oversubscription == alone.oversubscription
    assert together.counts.leaf == alone.counts.leaf
    assert together.counts.cages > alone.counts.cages


@pytest.mark.parametrize("switches", ["one_switch", "two_leaves"])
def test_every_server_has_its_ports_on_every_leaf(switches: str) -> None:
    w = wired(PAIR, f"network.single_tier={switches}")
    leaves: dict[str, set[str]] = defaultdict(set)
    names = w.device_names()
    for near, far in zip(w.links.a_device.tolist(), w.links.b_device.tolist(), strict=True):
        leaves[names[far]].add(names[near])
    of_servers = [found for name, found in leaves.items() if name.startswith("server")]
    assert len(of_servers) == 32
    assert {len(found) for found in of_servers} == {w.network.fabric.leaf_count}


def test_an_8_way_breakout_darkens_the_cage_after_it() -> None:
    w = wired(PAIR)
    leaf = int(w.of_kind("leaf")[0])
    speeds: dict[int, set[int]] = defaultdict(set)
    cage, _ = w.cages("a")
    for near, at, kind in zip(w.links.a_device.tolist(), cage.tolist(), w.links.link_class.tolist(), strict=True):
        if near == leaf:
            speeds[at].add(w.classes[kind].gbps)
    assert all(len(found) == 1 for found in speeds.values())
    split = [at for at, found in speeds.items() if found == {100}]
    assert split
    assert all(at % 2 == 0 and at + 1 not in speeds for at in split)


def test_uplinks_of_all_out_of_band_switches_stand_there() -> None:
    design = only(plan(PAIR, "management.oob.pdus=60"))
    assert design.networks.oob is not None
    assert design.networks.oob.counts.switches > 2
    assert groups(design)["oob.leaf"] == 4 * design.networks.oob.counts.switches
    assert "oob.leaf" not in groups(only(plan(PAIR, "management.oob=false")))


def test_switches_of_the_pair_alone_are_managed() -> None:
    design = only(plan(PAIR))
    assert design.networks.oob is not None
    hosts = {row.host: row.count for row in design.networks.oob.links if row.kind == "attached"}
    assert {name for name in hosts if name and "." in name} == {"compute.leaf"}
    assert hosts["compute.leaf"] == 2


def test_a_cable_ends_in_the_server_and_no_port_has_two() -> None:
    used = Counter(
        (end.device, end.port)
        for row in cables(PAIR)
        for end in (row.a, *row.b)
        if not row.cable_id.endswith("/2")  # two fibres of one link share its ports
    )
    assert [port for port, times in used.items() if times > 1] == []
    assert {("server-001", "inband-1"), ("server-016", "inband-2"), ("oob/leaf-001", "49")} <= set(used)
    assert not any(device.startswith(("server-inband", "oob.leaf")) for device, _ in used)


def test_runs_of_in_band_links_are_those_to_the_server() -> None:
    runs: dict[tuple[str, str], set[float]] = defaultdict(set)
    for row in cables(PAIR):
        for end in row.b:
            if end.device.startswith("server-") and row.network == "compute" and row.run_m is not None:
                runs[row.a.device, end.device].add(row.run_m)
    splitters = [row for row in cables(PAIR) if len(row.b) > 1 and row.b[0].device.startswith("server-")]
    assert splitters
    for row in splitters:
        assert row.run_m is not None
        assert row.run_m == max(min(runs[row.a.device, end.device]) for end in row.b)


def test_the_medium_is_that_of_the_network_whose_ports_they_are() -> None:
    design = only(plan(PAIR, "management.inband.medium=single_mode"))
    media = {row.host: row.medium for row in design.networks.compute.links}
    assert media["server-inband"] == "single_mode"
    assert media[None] == "multimode"


def test_ports_that_are_not_known_are_asked_for() -> None:
    with pytest.raises(InputError) as caught:
        plan(PAIR, "management.inband={converged_with: compute}")
    assert "management.inband.ports_per_server and management.inband.port_gbps" in str(caught.value)
    with pytest.raises(InputError) as caught:
        plan("servers: 8\nserver: nvidia-hgx-h100\nstorage: {converged_with: compute}\n")
    assert "storage.ports_per_server and storage.port_gbps" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("fabrics=infiniband", "InfiniBand switches cannot carry them"),
        ("network.tiers=2", "not 2 tiers"),
        ("network.rail_only=true", "not separate rails"),
        ("management.inband.ports_per_server=1", "cannot be on both of two leaves"),
        ("servers=64", "150 cages needed, 64 available; without converged_with: compute"),
        ("network.switch=nvidia-sn4600c", "has no 400 Gb/s ports"),
    ],
)
def test_what_no_published_design_does_is_refused_with_the_reason(change: str, words: str) -> None:
    assert words in refused(PAIR, change)


def test_planes_are_refused() -> None:
    two = PAIR.replace("nics: 4,", "nics: 4, ports_per_nic: 2,")
    assert "not several planes" in refused(two, "network.planes=2")


def test_the_largest_cluster_that_fits_is_named() -> None:
    (nearest,) = plan(PAIR, "servers=64").nearest
    assert nearest.change == "servers"
    fits, most = plan(PAIR, f"servers={nearest.value}"), int(nearest.value) + 1
    assert fits.recommended is not None
    assert "two leaves" in refused(PAIR, f"servers={most}")


def test_one_port_is_enough_on_one_switch() -> None:
    one = plan(PAIR, "management.inband.ports_per_server=1", "network.single_tier=one_switch")
    assert groups(only(one))["server-inband"] == 16
    assert "single-switch" in codes(one)


def test_findings_of_storage_and_hosts_are_those_of_networks_of_their_own() -> None:
    assert "storage-appliances-unknown" in codes(plan(PAIR, "storage={converged_with: compute}"))
    slow = plan(PAIR, "storage={converged_with: inband, gbps_per_gpu: 100}")
    assert "storage-ports-too-slow" in codes(slow)
    assert "far-cages-assumed" in codes(plan(PAIR))
    named = ("management.hosts.inband_cage_class=nic-qsfp112",)
    assert "far-cages-assumed" not in codes(plan(PAIR, *named))


def test_attached_hosts_get_the_breakout_that_their_cages_take() -> None:
    # 4 x 100G of a Spectrum-4 cage has two lanes a port, which no known parts join with QSFP28: 8 x 100G has one.
    host = "[{name: edge, servers: 2, ports: 2, port_gbps: 100, cage_class: nic-qsfp28}]"
    apart = ("storage=none", "management={inband: false, oob: false}", f"attached={host}")
    design = only(plan(PAIR, *apart))
    (row,) = [row for row in design.networks.compute.links if row.host == "edge"]
    assert row.recipe == "eth100-sn5600-8x"


def one_of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


@st.composite
def pairs(draw: st.DrawFn) -> str:
    """Small clusters with storage and in-band traffic on their switches, whether they fit or not."""
    appliances = draw(st.integers(1, 4))
    storage = {
        "converged_with": draw(one_of("inband", "compute")),
        "appliances": appliances,
        "appliance_ports": appliances * draw(st.integers(1, 6)),
        "appliance_gbps": draw(one_of(100, 200)),
    }
    if storage["converged_with"] == "compute" and draw(st.booleans()):
        storage |= {"ports_per_server": 2, "port_gbps": 200}
    spec = {
        "servers": draw(st.integers(1, 24)),
        "server": {"gpus": 8, "nics": draw(st.integers(1, 8)), "port_gbps": 400},
        "fabrics": "roce",
        "network": {
            "switch": "nvidia-sn5610",
            "single_tier": draw(one_of("one_switch", "two_leaves")),
            "rail_optimized": draw(st.booleans()),
            "uplink_gbps": draw(one_of(400, 800)),
        },
        "storage": storage,
        "management": {
            "inband": {
                "converged_with": "compute",
                "ports_per_server": draw(st.integers(2, 4)),
                "port_gbps": draw(one_of(100, 200, 400)),
            },
            "oob": {"ports_per_server": 1, "uplinks": draw(st.integers(1, 4))},
            "hosts": {"servers": 3, "inband_ports": draw(st.integers(1, 3))},
        },
    }
    return yaml.safe_dump(spec)


@settings(max_examples=share(25), deadline=None)
@given(text=pairs())
def test_sizing_and_wiring_agree_on_any_pair(text: str) -> None:
    found = make_evaluated_plan(loaded(text), catalog())[1]
    if not found:
        return
    (design,) = found.values()
    w = wire(design.network)
    assert check_wiring(w) == []
    assert CHECKS
    for group in design.network.request.attached:
        assert group.name in NORTH_SOUTH
        sized = sum(c.count for c in w.classes if c.host == group.name)
        assert sized == group.total_ports
        if group.name.startswith("server-"):
            assert (group.hosts, group.north_south) == (design.network.request.servers, True)
    ends = np.stack([w.links.a_device, w.links.a_port], axis=1)
    assert len(np.unique(ends, axis=0)) == len(ends)
    oob = design.side.named("oob")
    uplinks = [g for g in design.network.request.attached if g.name == "oob.leaf"]
    assert oob is not None
    assert [g.hosts for g in uplinks] == [oob.network.switch_count]
