"""How near servers are, for Kubernetes: labels of nodes, a Kueue topology of them, and a model for Topograph."""

from __future__ import annotations

import re
from typing import Any, Final

from ibplan.document import dump_yaml
from ibplan.errors import InputError, UsageError
from ibplan.export.hierarchy import Hierarchy, host_list, make_hierarchy
from ibplan.export.scheme import Scheme
from ibplan.export.target import Export, ExportFile, Target
from ibplan.spec.naming import NamingSpec

_HOST: Final = "kubernetes.io/hostname"
_NODE: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


def _labels(scheme: Scheme) -> Export:
    hierarchy = make_hierarchy(scheme)
    patches = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": hierarchy.servers[number], "labels": labels}}
        for number, labels in enumerate(node_labels(hierarchy, _naming(scheme, hierarchy)))
    ]
    head = f"# {scheme.title}\n# kubectl apply --server-side -f node-labels.yaml\n"
    pieces = (head, *(f"---\n{dump_yaml(patch)}" for patch in patches))
    return Export((ExportFile("node-labels.yaml", pieces),))


def _naming(scheme: Scheme, hierarchy: Hierarchy) -> NamingSpec:
    """The keys of the labels. Raises InputError if there are fewer than levels."""
    loaded = scheme.loaded
    naming = loaded.spec.naming or NamingSpec()
    if len(naming.tier_labels) < len(hierarchy.levels):
        message = f"{len(naming.tier_labels)} labels for {len(hierarchy.levels)} levels of servers"
        remedy = "add one for each further level, from the lowest up"
        raise InputError([loaded.document.problem(("naming", "tier_labels"), f"naming.tier_labels: {message}", remedy)])
    return naming


def node_labels(hierarchy: Hierarchy, naming: NamingSpec) -> list[dict[str, str]]:
    """The labels of every server: its group on each level, from the lowest up, and its NVLink domain if it shares one.

    Raises UsageError for names that Kubernetes does not take.
    """
    for name in hierarchy.servers:
        if not _NODE.fullmatch(name):
            raise UsageError(f"Kubernetes has no node called {name!r}: lower-case letters, digits, '-' and '.' alone")
    labels: list[dict[str, str]] = [{} for _ in hierarchy.servers]
    for number, level in enumerate(hierarchy.levels):
        for group in level:
            for server in group.servers:
                labels[server][naming.tier_labels[number]] = group.name
    for number, members in enumerate(hierarchy.domains, 1):
        for server in members:
            labels[server][naming.domain_label] = _domain(number)
    return labels


def _domain(number: int) -> str:
    return f"nvlink-{number:03d}"


def _kueue(scheme: Scheme) -> Export:
    hierarchy = make_hierarchy(scheme)
    naming = _naming(scheme, hierarchy)
    levels = [*reversed(naming.tier_labels[: len(hierarchy.levels)])]
    if _nested(hierarchy):
        levels.append(naming.domain_label)
    data = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Topology",
        "metadata": {"name": "fabric"},
        "spec": {"levels": [{"nodeLabel": label} for label in (*levels, _HOST)]},
    }
    about = "# Every node needs all of these labels: target k8s-labels.\n"
    head = f"# {scheme.title}\n"
    return Export((ExportFile("kueue-topology.yaml", (head, about, dump_yaml(data))),))


def _nested(hierarchy: Hierarchy) -> bool:
    """Whether there are NVLink domains, and each is within one group of the lowest level."""
    group_of = {server: group.name for group in hierarchy.levels[0] for server in group.servers}
    return bool(hierarchy.domains) and all(len({group_of[s] for s in members}) == 1 for members in hierarchy.domains)


def _topograph(scheme: Scheme) -> Export:
    hierarchy = make_hierarchy(scheme)
    switches = {
        g.name: {"switches": list(g.children)} for level in reversed(hierarchy.levels) for g in level if g.children
    }
    key = _naming(scheme, hierarchy).domain_label
    domain_of = {s: _domain(n) for n, members in enumerate(hierarchy.domains, 1) for s in members}
    blocks: list[dict[str, Any]] = []
    for group in hierarchy.levels[0]:
        by_domain: dict[str | None, list[int]] = {}
        for server in group.servers:
            by_domain.setdefault(domain_of.get(server), []).append(server)
        for domain, members in by_domain.items():
            labels = {} if domain is None else {"labels": {key: domain}}
            blocks.append({"switch": group.name, "nodes": [host_list(hierarchy.names(members))], **labels})
    head = f"# {scheme.title}\n"
    return Export((ExportFile("topograph.yaml", (head, dump_yaml({"switches": switches, "blocks": blocks}))),))


K8S_LABELS = Target(
    "k8s-labels",
    "labels of the nodes: which servers are near each other",
    "kubectl apply --server-side",
    ("node-labels.yaml",),
    _labels,
)
KUEUE = Target(
    "kueue", "the levels of these labels, for topology-aware scheduling", "Kueue", ("kueue-topology.yaml",), _kueue
)
TOPOGRAPH = Target(
    "topograph", "the network as a model of Topograph's test provider", "Topograph", ("topograph.yaml",), _topograph
)
