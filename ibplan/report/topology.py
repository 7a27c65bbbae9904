"""The topology of a design for a terminal: totals, the tiers as a tree from the top, and the links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ibplan.document import printable
from ibplan.fabric.topology_model import LeafGroup, Switches, Topology, UnitGroup
from ibplan.plan.wired import WiredDesign
from ibplan.report import topology_words as words
from ibplan.report.screen import ascii_only_data, printed

NARROWEST: Final = 60


def topology_text(
    wired: WiredDesign, topology: Topology, *, width: int, color: bool = False, ascii_only: bool = False
) -> str:
    """The whole topology. Every line fits `width`."""
    return drawn(_parts(wired, topology, ascii_only), width=width, color=color, ascii_only=ascii_only)


def drawn(parts: Iterable[RenderableType], *, width: int, color: bool, ascii_only: bool) -> str:
    """What rich draws; in ASCII where a terminal cannot show more."""
    return printed(parts, width=max(width, NARROWEST), color=color, ascii_only=ascii_only)


def title(wired: WiredDesign, ascii_only: bool) -> Text:
    """The spec and the design. The name of the spec is the only text that can be more than ASCII."""
    chosen = " (recommended)" if wired.recommended else ""
    network = "" if wired.network == "compute" else f", {wired.network} network"
    name = ascii_only_data(printable(wired.name)) if ascii_only else printable(wired.name)
    return Text(f"{name}: {printable(wired.id)}{network}{chosen}", "bold", overflow="fold")


def grid(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> Table:
    """A table with (heading, whether numbers) columns that folds what does not fit."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for heading, numeric in columns:
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _parts(wired: WiredDesign, topology: Topology, ascii_only: bool) -> Iterator[RenderableType]:
    yield title(wired, ascii_only)
    yield Text(words.head(topology))
    yield Text()
    yield _tiers(wired, topology)
    yield Text()
    yield Text("From the top", "bold")
    if topology.fabrics > 1:
        yield Text(words.one_of_many(topology))
    yield _tree(topology)
    if topology.hosts:
        yield Text()
        yield Text("Attached hosts and managers", "bold")
        yield from (_hosts(topology))
    yield Text()
    yield _links(topology)


def _tiers(wired: WiredDesign, topology: Topology) -> Table:
    columns = [("Tier", False), ("Switch", False), ("Count", True), ("Ports used", True), ("Ports free", True)]
    rows = [
        (
            row.tier,
            printable(wired.switch_ids[row.tier]),
            f"{row.count:,}",
            f"{row.ports_used:,}",
            f"{row.ports_free:,}",
        )
        for row in reversed(topology.totals)
    ]
    return grid(columns, rows)


def _links(topology: Topology) -> Table:
    columns = [("Links", False), ("Gb/s", True), ("Count", True), ("Pairs of devices", True), ("Links per pair", True)]
    rows = []
    for row in reversed(topology.links):
        kind = row.kind if row.host is None else f"{row.kind} ({printable(row.host)})"
        each = f"{row.least:,}" if row.least == row.most else f"{row.least:,} to {row.most:,}"
        rows.append((kind, f"{row.gbps:,}", f"{row.count:,}", f"{row.pairs:,}", each))
    return grid(columns, rows)


def _hosts(topology: Topology) -> Iterator[RenderableType]:
    yield grid(
        [("Group", False), ("Devices", False), ("Links", False)],
        [(printable(group.name), words.names(group.names), words.hosts(group)) for group in topology.hosts],
    )


def _tree(topology: Topology) -> Tree:
    root = Tree("", hide_root=True)
    core = topology.core
    if core is not None:
        heading = f"core: {words.many(core.groups, 'group')} of {words.many(core.per_group, 'core')}"
        branch = _switch(root, heading, core.switches)
        branch.add(Text(f"group 1 is {words.names(core.first)}; spine i of a pod reaches group i, counted round"))
    for number, pod in enumerate(topology.pods):
        inside = [] if topology.pods_follow_rails else [u for u in topology.units if u.pod_group == number]
        above = root
        if pod.switches is not None:
            above = root.add(Text(words.pod(pod, topology.pods_follow_rails), "bold"))
            _switch(above, "spines", pod.switches)
        for unit in inside:
            _unit(above, unit, topology)
    if topology.pods_follow_rails:
        for unit in topology.units:
            _unit(root, unit, topology)
    return root


def _unit(above: Tree, unit: UnitGroup, topology: Topology) -> None:
    branch = above.add(Text(words.unit(unit), "bold"))
    for leaf in unit.leaves:
        _switch(branch, _positions(leaf, unit), leaf.switches)
    rails = words.rails(unit, topology)
    if unit.servers:
        branch.add(Text(f"servers: {words.names(unit.server_names)}" + (f"; {rails}" if rails else "")))


def _positions(leaf: LeafGroup, unit: UnitGroup) -> str:
    """`leaves`, or at which positions of the unit they are where the others differ."""
    if len(unit.leaves) == 1:
        return "leaves" if leaf.switches.count > 1 else "leaf"
    return f"{'leaves' if len(leaf.positions) > 1 else 'leaf'} {words.spans(leaf.positions)} of the unit"


def _switch(above: Tree, heading: str, switches: Switches) -> Tree:
    """Switches alike: their names, then the ports and links of each."""
    branch = above.add(Text(f"{heading}: {words.names(switches.names)}", overflow="fold"))
    each = "each " if switches.count > 1 else ""
    branch.add(Text(f"{each}{words.ports(switches.use)}"))
    for row in switches.neighbors:
        branch.add(Text(words.neighbors(row)))
    return branch
