"""A drawing as text: the words in its boxes, and the languages of graphviz and Mermaid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ibplan.document import printable
from ibplan.fabric.drawing import Drawing, DrawnCluster, DrawnEdge, DrawnNode
from ibplan.plan.wired import WiredDesign
from ibplan.report import topology_words as words

# Of more lines than this Mermaid draws nothing; a file cannot change that.
MERMAID_EDGES: Final = 500
_NAMES: Final = 2
_HOMES: Final = {"leaf": "unit", "server": "unit", "spine": "pod", "core": "group"}
_MERMAID: Final = str.maketrans({c: f"#{ord(c)};" for c in '"#&<>`\\|[]{}();'})


def node_lines(node: DrawnNode, wired: WiredDesign, drawing: Drawing) -> tuple[str, ...]:
    """What stands in a box: names; where it stands for several devices, how many and what they are."""
    name = words.names(node.names[:_NAMES]) + (" ..." if len(node.names) > _NAMES else "")
    switch = wired.switch_ids.get(node.kind)
    if node.count == 1:
        return (name,)
    noun = f"{printable(node.group)} host" if node.group is not None else node.kind
    lines = [name, words.many(node.count, noun)]
    homes = [words.many(node.homes, _HOMES[node.kind])] if node.homes > 1 and node.kind in _HOMES else []
    homes += [words.many(drawing.fabrics, "fabric")] if drawing.fabrics > 1 and switch is not None else []
    if homes and drawing.folded:
        lines.append(f"{node.each:,} in each of {' of '.join(homes)}")
    return (*lines, printable(switch)) if switch is not None else tuple(lines)


def edge_label(edge: DrawnEdge, folded: bool) -> str:
    """`2 x 400G`: links of a pair of devices; where boxes stand for many, of how many links in all."""
    each = f"{edge.least:,}" if edge.least == edge.most else f"{edge.least:,}-{edge.most:,}"
    if edge.pairs == 1 and not folded:
        return f"{each} x {edge.gbps}G"
    return f"{each} x {edge.gbps}G each, {words.many(edge.links, 'link')}"


def cluster_label(cluster: DrawnCluster) -> str:
    """Which pods or units a frame stands for."""
    return words.numbers(cluster.kind, cluster.numbers, cluster.count)


def title(wired: WiredDesign) -> str:
    """The spec and the design."""
    network = "" if wired.network == "compute" else f", {wired.network} network"
    return f"{printable(wired.name)}: {printable(wired.id)}{network}"


def legend(drawing: Drawing) -> tuple[str, ...]:
    """One line for each kind of links: how many, between how many pairs."""
    found: dict[tuple[str, int], list[DrawnEdge]] = {}
    for edge in drawing.edges:
        found.setdefault((edge.kind, edge.gbps), []).append(edge)
    lines = []
    for (kind, gbps), edges in found.items():
        least, most = min(e.least for e in edges), max(e.most for e in edges)
        each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        count, pairs = sum(e.links for e in edges), sum(e.pairs for e in edges)
        total, joined = words.many(count, "link"), words.many(pairs, "pair")
        lines.append(f"{kind}: {total} of {gbps:,} Gb/s, {each} for each of {joined}")
    return tuple(lines)


def to_dot(wired: WiredDesign, drawing: Drawing) -> str:
    """The drawing for graphviz."""
    lines = [
        f"graph {_quoted([title(wired)])} {{",
        f"  graph [rankdir=TB, ranksep=1.2, label={_quoted([title(wired), *legend(drawing)])}, labelloc=b];",
        '  node [shape=box, fontname="Helvetica", fontsize=10];',
        '  edge [fontname="Helvetica", fontsize=9, color="#555555"];',
    ]
    for depth, line in _blocks(drawing, lambda n: _dot_node(n, wired, drawing), _dot_open, "}"):
        lines.append("  " * (depth + 1) + line)
    for edge in drawing.edges:
        label = _quoted([edge_label(edge, drawing.folded)])
        lines.append(f"  n{edge.upper} -- n{edge.lower} [label={label}];")
    return "\n".join([*lines, "}"]) + "\n"


def _blocks(
    drawing: Drawing,
    node: Callable[[int], str],
    opened: Callable[[int, DrawnCluster], Sequence[str]],
    closed: str,
) -> Iterator[tuple[int, str]]:
    """(depth, line): the boxes, those of a frame inside it, and frames inside theirs."""

    def inside(cluster: int | None, depth: int) -> Iterator[tuple[int, str]]:
        for number, drawn in enumerate(drawing.nodes):
            if drawn.cluster == cluster:
                yield depth, node(number)
        for number, frame in enumerate(drawing.clusters):
            if frame.parent == cluster:
                yield from ((depth, line) for line in opened(number, frame))
                yield from inside(number, depth + 1)
                yield depth, closed

    yield from inside(None, 0)


def _dot_node(number: int, wired: WiredDesign, drawing: Drawing) -> str:
    return f"n{number} [label={_quoted(node_lines(drawing.nodes[number], wired, drawing))}];"


def _dot_open(number: int, cluster: DrawnCluster) -> tuple[str, ...]:
    return f"subgraph cluster_{number} {{", f"  label={_quoted([cluster_label(cluster)])};"


def _quoted(lines: Sequence[str]) -> str:
    # The doubled backslash keeps what looks like an escape of graphviz (a name with \N) as it is.
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'


def mermaid_draws(drawing: Drawing) -> bool:
    """Whether Mermaid draws so many lines."""
    return len(drawing.edges) <= MERMAID_EDGES


def to_mermaid(wired: WiredDesign, drawing: Drawing) -> str:
    """The drawing as a flowchart of Mermaid."""
    lines = ["---", f"title: {_yaml_text(title(wired))}", "---", "flowchart TB"]
    for depth, line in _blocks(drawing, lambda n: _mermaid_node(n, wired, drawing), _mermaid_open, "end"):
        lines.append("  " * (depth + 1) + line)
    for edge in drawing.edges:
        lines.append(f'  n{edge.upper} ---|"{_escaped(edge_label(edge, drawing.folded))}"| n{edge.lower}')
    return "\n".join(lines) + "\n"


def _mermaid_node(number: int, wired: WiredDesign, drawing: Drawing) -> str:
    text = "<br/>".join(map(_escaped, node_lines(drawing.nodes[number], wired, drawing)))
    return f'n{number}["{text}"]'


def _mermaid_open(number: int, cluster: DrawnCluster) -> tuple[str, ...]:
    return (f'subgraph c{number}["{_escaped(cluster_label(cluster))}"]',)


def _escaped(text: str) -> str:
    return text.translate(_MERMAID)


def _yaml_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
