"""Specs that are valid and as large as the reader takes them: an answer or a clear refusal, at once, in little memory.

Each stands for a kind of work that once grew with the size: pods, downlinks, numbers of spines and cores, hosts, forms.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import measured
from tests.hostile.inside import cli
from tests.hostile.measured import MAX_MB, MAX_SECONDS, refused, start_seconds
from tests.plan.planning import plan

# A comparison is wanted and takes its time for each design: a whole plan of 2,048 servers with all its networks, its
# floor and its prices, for every design and for each change that the search for a design within budget tries.
MAX_SECONDS_A_DESIGN = 0.15

LIST = ", ".join(f"{i}:1" for i in range(1, 17))
ONE = "{gpus: 1, nics: 1, port_gbps: 400}"
EIGHT = "{gpus: 8, nics: 8, port_gbps: 400}"
MOST = "{gpus: 64, nics: 64, ports_per_nic: 16, port_gbps: 400}"
HOSTS = ", ".join(f"{{name: h{i}, servers: {10**6 - i}, ports: {i % 64 + 1}, port_gbps: 400}}" for i in range(100))
FEW_HOSTS = ", ".join(f"{{name: h{i}, servers: {7 + 991 * i}, ports: 3, port_gbps: 400}}" for i in range(8))


def spec(servers: int, server: str, ports: int, network: str, hosts: str = "") -> str:
    switch = f"{{ports: {ports}, port_gbps: 400}}"
    attached = f"attached: [{hosts}]\n" if hosts else ""
    return f"servers: {servers}\nserver: {server}\n{attached}network: {{switch: {switch}, {network}}}\n"


THREE = "tiers: 3, partial_units: packed"
KEPT = "reserved_ports: {total: 100000, per_leaf: 3}"
MANY = "leaf_ports: all, oversubscription: {leaf: [1:1, 3:2, 9:7], spine: [1:1, 1:1000, 7:5]}"
SPECS = {
    "a pod for every server": spec(4_194_304, ONE, 2, "tiers: 3"),
    "pods of one unit of one server": spec(4_194_304, ONE, 64, "tiers: 3, unit_servers: 1, pod_units: 1"),
    "rail pods of 1,024 rails": spec(65_536, MOST, 64, "tiers: 3, second_tier: rail, pod_units: 1"),
    "few downlinks of many ports": spec(400_000, EIGHT, 16_381, f"oversubscription: 1:1000, {KEPT}"),
    "reserved ports on leaves of one": spec(1000, ONE, 2, "tiers: 3, partial_units: packed, reserved_ports: 100000"),
    "hosts on every leaf": spec(500_000, EIGHT, 16_384, THREE, HOSTS),
    "many numbers of spines": spec(300_000, EIGHT, 15_120, f"{THREE}, {MANY}", FEW_HOSTS),
}


@pytest.mark.parametrize("name", SPECS)
def test_valid_specs_of_any_size_are_answered_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "s.yaml").write_text(SPECS[name])
    done = measured("design", "s.yaml", cwd=tmp_path)
    assert done.code in (0, 3), done.err
    assert done.seconds < MAX_SECONDS + start_seconds()
    assert done.mb < MAX_MB


def test_as_many_designs_as_are_compared_and_no_money_for_any(tmp_path: Path) -> None:
    ratios = f"{{leaf: [{LIST}], spine: [1:1, 2:1, 3:1, 4:1, 5:1, 6:1, 7:1, 8:1]}}"
    network = f"{{switch: nvidia-qm9700, oversubscription: {ratios}}}"
    text = f"gpus: 16384\nfabrics: infiniband\nbudget: $1\nnetwork: {network}\n"
    (tmp_path / "s.yaml").write_text(text)
    done = measured("bom", "s.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.seconds < 128 * MAX_SECONDS_A_DESIGN + start_seconds()
    assert done.mb < MAX_MB


def test_forms_are_counted_before_they_are_made(tmp_path: Path) -> None:
    ratios = f"{{leaf: [{LIST}], spine: [{LIST}]}}"
    (tmp_path / "s.yaml").write_text(f"gpus: 1024\nfabrics: roce\nnetwork:\n  oversubscription: {ratios}\n")
    words = "designs to try, 512 is the limit: roce 256 x "
    refused(measured("design", "s.yaml", cwd=tmp_path), "s.yaml:4:3: there are ", words, "name a switch")
    for action in ("bom", "validate", "show", "diagram"):
        done = cli(action, str(tmp_path / "s.yaml"))
        assert (done.code, done.out) == (2, "")
        assert words in done.err


@pytest.mark.parametrize(
    "text",
    [
        "gpus: 262144\nnetwork: {oversubscription: [1:1, 2:1, 4:1], uplink_gbps: 400}\n",
        "gpus: 1048576\nserver: {gpus: 8, nics: 8, ports_per_nic: 2, port_gbps: 200}\nfabrics: [roce]\n"
        "network: {planes: 2, uplink_gbps: 200, switch: {cages: 64, ports_per_cage: 4, port_gbps: 200}}\n",
    ],
)
def test_large_clusters_that_are_meant_are_planned(text: str) -> None:
    assert plan(text).designs
