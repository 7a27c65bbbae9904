"""Slurm's view of the network: a tree of switches, blocks of nodes, or both in YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ibplan.document import dump_yaml
from ibplan.export.hierarchy import Group, Hierarchy, host_list, make_hierarchy
from ibplan.export.scheme import Scheme
from ibplan.export.target import Export, ExportFile, Target

_CONF = "topology.conf"
_YAML = "topology.yaml"


def _tree(scheme: Scheme) -> Export:
    hierarchy = make_hierarchy(scheme)
    return Export((ExportFile(_CONF, _tree_lines(scheme, hierarchy)),))


def _tree_lines(scheme: Scheme, hierarchy: Hierarchy) -> Iterator[str]:
    yield from _head(scheme, "TopologyPlugin=topology/tree in slurm.conf")
    for group in (group for level in hierarchy.levels for group in level):
        yield f"SwitchName={group.name} {_members(hierarchy, group)}\n"


def _members(hierarchy: Hierarchy, group: Group) -> str:
    if group.children:
        return f"Switches={host_list(group.children)}"
    return f"Nodes={host_list(hierarchy.names(group.servers))}"


def _block(scheme: Scheme) -> Export:
    hierarchy = make_hierarchy(scheme)
    blocks = _blocks(hierarchy)
    sizes, notes = _block_sizes(blocks)
    lines = [*_head(scheme, "TopologyPlugin=topology/block in slurm.conf; Slurm 23.11 or later")]
    lines += [f"BlockName={name} Nodes={host_list(hierarchy.names(members))}\n" for name, members in blocks]
    lines.append(f"BlockSizes={','.join(map(str, sizes))}\n")
    return Export((ExportFile(_CONF, lines),), notes)


def _blocks(hierarchy: Hierarchy) -> list[tuple[str, tuple[int, ...]]]:
    """NVLink domains of several servers where there are, else units."""
    if hierarchy.domains:
        return [(f"nvlink-{number:03d}", members) for number, members in enumerate(hierarchy.domains, 1)]
    return [(group.name, group.servers) for group in hierarchy.levels[0]]


def _block_sizes(blocks: list[tuple[str, tuple[int, ...]]]) -> tuple[list[int], tuple[str, ...]]:
    """The size of the smallest block, and its multiples by powers of two up to the number of blocks."""
    counts = [len(members) for _, members in blocks]
    base = min(counts)
    sizes = [base << step for step in range(len(blocks).bit_length())]
    if 2 * base > max(counts):
        return sizes, ()
    note = (
        f"the smallest block has {base} of up to {max(counts)} servers: no block may be smaller than BlockSizes says, "
        "so they start there; leave its servers out of the partition, and raise the sizes, to place jobs by full blocks"
    )
    return sizes, (note,)


def _yaml(scheme: Scheme) -> Export:
    hierarchy = make_hierarchy(scheme)
    blocks = _blocks(hierarchy)
    sizes, notes = _block_sizes(blocks)
    data: list[dict[str, Any]] = [
        {"topology": "tree", "cluster_default": True, "tree": {"switches": list(_switches(hierarchy))}},
        {
            "topology": "blocks",
            "cluster_default": False,
            "block": {
                "block_sizes": sizes,
                "blocks": [{"block": n, "nodes": host_list(hierarchy.names(m))} for n, m in blocks],
            },
        },
    ]
    about = (
        "Slurm 25.05 or later; topology.conf is ignored beside it. A partition takes the blocks with Topology=blocks"
    )
    return Export((ExportFile(_YAML, (*_head(scheme, about), dump_yaml(data))),), notes)


def _switches(hierarchy: Hierarchy) -> Iterator[dict[str, str]]:
    for group in (group for level in reversed(hierarchy.levels) for group in level):
        if group.children:
            yield {"switch": group.name, "children": host_list(group.children)}
        else:
            yield {"switch": group.name, "nodes": host_list(hierarchy.names(group.servers))}


def _head(scheme: Scheme, about: str) -> Iterator[str]:
    yield f"# {scheme.title}\n# {about}\n"


SLURM = Target(
    "slurm", "the network as a tree of switches, for topology/tree", "slurmctld 22.05 and later", (_CONF,), _tree
)
SLURM_BLOCK = Target(
    "slurm-block",
    "the network as blocks of nodes: NVLink domains, or units; for topology/block",
    "slurmctld 23.11 and later",
    (_CONF,),
    _block,
)
SLURM_YAML = Target(
    "slurm-yaml", "the network as a tree, and as blocks beside it", "slurmctld 25.05 and later", (_YAML,), _yaml
)
