"""What each target writes: of every link, of every name, whatever the design."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

import kubernetes_validate  # type: ignore[import-untyped]
import networkx as nx  # type: ignore[import-untyped]
import pytest

from ibplan.cabling.rows import cable_rows
from ibplan.document import parse_document, parse_value
from ibplan.errors import InputError, UsageError
from ibplan.export.hierarchy import host_list, make_hierarchy
from ibplan.export.interfaces import link_ends
from ibplan.export.labels import node_labels
from ibplan.export.registry import TARGETS, find_target, make_export
from ibplan.export.scheme import Scheme, all_schemes
from ibplan.fabric.graph import full_graph, node_link
from ibplan.fabric.wiring_model import SERVER
from ibplan.plan.cabled import cable_design
from ibplan.spec.naming import NamingSpec
from tests.export.samples import SPECS, catalog, scheme, texts

LARGE = "budget=$900M"
SAMPLES = {
    "one switch": ("one-switch",),
    "other hosts": ("storage-attached",),
    "two planes": ("b300-two-planes", "gpus=64"),
    "separate rails": ("rail-only-512", "network.rail_only=true", LARGE),
    "three tiers": ("three-lines", LARGE, "fabrics=infiniband", "network.tiers=3", "network.pod_units=2", "gpus=512"),
    "converged": ("converged-16",),
    "servers on it twice": ("converged-pair-16",),
}


def _links(made: Scheme) -> Counter[frozenset[tuple[str, str]]]:
    return Counter(frozenset({(e.a_device, e.a_port), (e.b_device, e.b_port)}) for e in link_ends(made))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("target", [target.name for target in TARGETS])
def test_every_target_says_why_or_writes_what_it_lists(name: str, target: str) -> None:
    chosen = find_target(target)
    made = scheme(*SAMPLES[name])
    if made.wired.fabric not in chosen.fabrics:
        with pytest.raises(UsageError, match="is for"):
            make_export(chosen, made)
        return
    files = texts(target, made)
    assert files
    patterns = [re.escape(f).replace(r"\*", "[^/]+").replace("<name>", "[^/]+") for f in chosen.files]
    for path, text in files.items():
        assert text.endswith("\n")
        inside = re.sub(r"^(p\d+)?(r\d+)?/", "", path) if made.wiring.network.fabrics > 1 else path
        assert any(re.fullmatch(pattern, inside) for pattern in patterns), path
    assert texts(target, made) == files


def test_graphs_are_read_by_networkx_as_they_were() -> None:
    made = scheme("one-switch")
    read = nx.parse_graphml(texts("graphml", made)["fabric.graphml"], force_multigraph=True)
    data = json.loads(texts("node-link", made)["fabric.json"])
    same = nx.node_link_graph(data, edges="links")
    for graph in (read, same):
        assert set(graph) == set(made.names)
        ports = Counter(frozenset({(d["a"], d["port_a"]), (d["b"], d["port_b"])}) for *_, d in graph.edges(data=True))
        assert ports == _links(made)
    assert ElementTree.fromstring(texts("graphml", made)["fabric.graphml"]) is not None
    assert node_link(full_graph(made.wiring)) != texts("node-link", made)["fabric.json"], "ports have the site's names"


def test_prescribed_topology_has_every_port_once() -> None:
    made = scheme("one-switch")
    found = re.findall(
        r'^  "([^"]+)":"([^"]+)" -- "([^"]+)":"([^"]+)"$', texts("ptm", made)["topology.dot"], re.MULTILINE
    )
    assert Counter(frozenset({(a, p), (b, q)}) for a, p, b, q in found) == _links(made)
    ends = [end for a, p, b, q in found for end in ((a, p), (b, q))]
    assert len(ends) == len(set(ends))


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["a1"], "a1"),
        (["a1", "a2", "a3", "a5"], "a[1-3,5]"),
        (["n098", "n099", "n100", "n101"], "n[098-101]"),
        (["n998", "n999", "n1000"], "n[998-999,1000]"),
        (["a1", "b1", "b2", "login", "login"], "a1,b[1-2],login,login"),
        (["su1-01", "su1-02", "su2-01"], "su1-[01-02],su2-01"),
        (["n2", "n1"], "n[2,1]"),
    ],
)
def test_host_lists(names: list[str], short: str) -> None:
    assert host_list(names) == short


def test_blocks_are_nvlink_domains_and_their_multiples() -> None:
    made = scheme("gb300-nvl72")
    text = texts("slurm-block", made)["topology.conf"]
    blocks = re.findall(r"^BlockName=(\S+) Nodes=server-\[(\d+)-(\d+)\]$", text, re.MULTILINE)
    assert [int(last) - int(first) + 1 for _, first, last in blocks] == [18] * 8
    assert "BlockSizes=18,36,72,144\n" in text
    data = parse_value(texts("slurm-yaml", made)["topology.yaml"], "topology.yaml")
    tree, block = data
    assert [entry["topology"] for entry in data] == ["tree", "blocks"]
    assert list(block["block"]["block_sizes"]) == [18, 36, 72, 144]
    assert [b["nodes"] for b in block["block"]["blocks"]] == [f"server-[{a}-{b}]" for _, a, b in blocks]
    lines = re.findall(r"SwitchName=(\S+) (?:Nodes|Switches)=(\S+)", texts("slurm", made)["topology.conf"])
    assert {(s["switch"], s.get("nodes") or s["children"]) for s in tree["tree"]["switches"]} == set(lines)


def test_a_small_last_block_is_told_of() -> None:
    made = scheme("three-lines", LARGE, "fabrics=infiniband", "gpus=264")
    export = make_export(find_target("slurm-block"), made)
    assert "BlockSizes=1,2\n" in "".join(export.files[0].pieces)
    assert "the smallest block has 1 of up to 32 servers" in export.notes[0]


def test_labels_say_what_servers_have_in_common() -> None:
    made = scheme("gb300-nvl72")
    hierarchy = make_hierarchy(made)
    labels = node_labels(hierarchy, NamingSpec())
    docs = texts("k8s-labels", made)["node-labels.yaml"].split("---\n")[1:]
    nodes = [parse_document(doc, "labels.yaml").data for doc in docs]
    assert [node["metadata"]["name"] for node in nodes] == list(hierarchy.servers)
    assert [node["metadata"]["labels"] for node in nodes] == labels
    d, links = made.wiring.devices, made.wiring.links
    leaves: dict[int, set[int]] = {}
    for leaf, server in zip(links.a_device.tolist(), links.b_device.tolist(), strict=True):
        if d.kind[server] == SERVER:
            leaves.setdefault(server, set()).add(leaf)
    for one in range(0, len(labels), 7):
        for other in range(len(labels)):
            alike = {key for key in labels[one] if labels[one][key] == labels[other][key]}
            assert ("fabric.topograph.run/tier-0" in alike) == (leaves[one] == leaves[other])
            assert ("accelerator.topograph.run/domain" in alike) == (one // 18 == other // 18)
    levels = [
        level["nodeLabel"]
        for level in parse_document(texts("kueue", made)["kueue-topology.yaml"], "k.yaml").data["spec"]["levels"]
    ]
    assert levels[-1] == "kubernetes.io/hostname"
    assert set(levels[:-1]) == {label for node in labels for label in node}
    # From the widest to the narrowest: what shares a level shares all before it.
    for upper, lower in pairwise(levels[:-1]):
        assert len({(node[upper], node[lower]) for node in labels}) == len({node[lower] for node in labels})
    with pytest.raises(UsageError, match="Kubernetes has no node called"):
        texts("k8s-labels", scheme("gb300-nvl72", "naming.server='GPU{number}'"))


@pytest.mark.parametrize("version", ["1.28", kubernetes_validate.latest_version()])
def test_labels_are_what_kubernetes_takes(version: str) -> None:
    made = scheme("gb300-nvl72")
    nodes = [parse_document(doc, "x").data for doc in texts("k8s-labels", made)["node-labels.yaml"].split("---\n")[1:]]
    assert len(nodes) == 144
    for node in nodes[::20]:
        kubernetes_validate.validate(node, version, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(nodes[0] | {"metadata": {"labels": {"a": 1}}}, version, strict=True)


def test_labels_are_called_as_the_site_calls_them() -> None:
    before_2026 = [f"network.topology.nvidia.com/{tier}" for tier in ("leaf", "spine", "core")]
    made = scheme("gb300-nvl72", f"naming.tier_labels={before_2026}", "naming.domain_label=example.com/nvlink")
    levels = len(make_hierarchy(made).levels)
    (node, *_) = texts("k8s-labels", made)["node-labels.yaml"].split("---\n")[1:]
    keys = set(parse_document(node, "x").data["metadata"]["labels"])
    assert keys == {*before_2026[:levels], "example.com/nvlink"}
    topology = parse_document(texts("kueue", made)["kueue-topology.yaml"], "x").data
    used = [level["nodeLabel"] for level in topology["spec"]["levels"]]
    assert used[:levels] == before_2026[:levels][::-1]
    assert "labels:\n    example.com/nvlink: nvlink-001\n" in texts("topograph", made)["topograph.yaml"]
    with pytest.raises(InputError, match=rf"naming.tier_labels: 1 labels for {levels} levels of servers \(add one"):
        texts("kueue", scheme("gb300-nvl72", "naming.tier_labels=[a]"))


def test_jobs_are_placed_by_the_compute_network_alone() -> None:
    with pytest.raises(UsageError, match="not by the storage network"):
        texts("slurm", scheme("h100-pod-127", network="storage"))


@pytest.mark.parametrize("name", ["h100-pod-127", "gb300-nvl72", "small-team", "storage-attached", "converged-pair-16"])
def test_rows_for_netbox_refer_to_rows_before_them(name: str) -> None:
    made = scheme(name)
    files = {path: list(csv.DictReader(io.StringIO(text))) for path, text in texts("netbox", made).items()}
    makers, roles, types, sites = (files[f] for f in sorted(files)[:4])
    racks, devices = files.get("5-racks.csv", []), files["6-devices.csv"]
    interfaces, cables = files["7-interfaces.csv"], files["8-cables.csv"]
    assert {t["manufacturer"] for t in types} == {m["name"] for m in makers}
    assert {d["role"] for d in devices} == {r["name"] for r in roles}
    assert {(d["manufacturer"], d["device_type"]) for d in devices} == {(t["manufacturer"], t["model"]) for t in types}
    assert {d["site"] for d in devices} == {s["name"] for s in sites}
    assert {d["rack"] for d in devices} - {""} <= {r["name"] for r in racks}
    for table in (makers, roles, types, sites):
        slugs = [row["slug"] for row in table]
        assert len(slugs) == len(set(slugs))
        assert all(re.fullmatch(r"[a-z0-9_-]{1,100}", slug) for slug in slugs)
    names = [d["name"] for d in devices]
    assert len(names) == len(set(names))
    assert set(names) == {name for one in all_schemes(made) for name in one.names}
    places = [(d["rack"], d["position"]) for d in devices if d["position"]]
    assert len(places) == len(set(places))
    ports = [(i["device"], i["name"]) for i in interfaces]
    assert len(ports) == len(set(ports))
    assert {device for device, _ in ports} <= set(names)
    ends = [
        pair
        for c in cables
        for side in ("a", "b")
        for pair in zip(c[f"side_{side}_device"].split(","), c[f"side_{side}_name"].split(","), strict=True)
    ]
    assert Counter(ends) == Counter(ports), "every interface has one cable, every cable its interfaces"
    for cable in cables:
        legs = cable["side_a_name"].count(",") + 1
        assert cable["profile"] == ("single-1c1p" if legs == 1 else f"trunk-{legs}c1p")


def test_lengths_for_netbox_are_those_of_the_cable_schedule() -> None:
    made = scheme("h100-pod-127")
    rows = list(csv.DictReader(io.StringIO(texts("netbox", made)["8-cables.csv"])))
    lengths = Counter(float(row["length"]) if row["length"] else None for row in rows)
    cabled = cable_design(made.loaded, catalog())
    wanted = Counter(
        row.length_m for network in cabled.networks for row in cable_rows(network) if not row.cable_id.endswith("/2")
    )
    assert lengths == wanted
    assert len(rows) > 3000


def test_copper_of_management_ports_is_twisted_pair_in_netbox() -> None:
    files = {
        path: list(csv.DictReader(io.StringIO(text))) for path, text in texts("netbox", scheme("converged-16")).items()
    }
    twisted = {(i["device"], i["name"]) for i in files["7-interfaces.csv"] if i["type"] == "1000base-t"}
    types = {(c["side_a_device"], c["side_a_name"]): c["type"] for c in files["8-cables.csv"]}
    assert twisted
    assert {end for end, kind in types.items() if kind == "cat6"} == twisted & set(types)


def test_netbox_takes_all_networks_at_once() -> None:
    with pytest.raises(UsageError, match="leave --network out"):
        texts("netbox", scheme("h100-pod-127", network="storage"))


@pytest.mark.parametrize("target", ["slurm", "slurm-yaml", "opensm", "kueue", "netbox"])
def test_the_name_of_a_spec_adds_no_lines(target: str) -> None:
    plain, evil = (
        scheme("converged-16", "name=x"),
        scheme("converged-16", 'name="x\\nSwitchName=evil Nodes=server-001"'),
    )
    for (_, one), (_, other) in zip(texts(target, plain).items(), texts(target, evil).items(), strict=True):
        assert one.count("\n") == other.count("\n")
        assert "\nSwitchName=evil" not in other


def test_unknown_targets_come_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no target 'slrum'; nearest: slurm"):
        find_target("slrum")
    with pytest.raises(UsageError, match=r"no target 'x{100}\.\.\.'"):
        find_target("x" * 5000)


def test_names_of_targets_and_files_are_their_own() -> None:
    names = [target.name for target in TARGETS]
    assert len(names) == len(set(names))
    assert (SPECS / "one-switch.yaml").exists()
