"""`ibplan diagram`: a drawing of one design."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ibplan.cli.common import (
    DesignOption,
    LockOption,
    Network,
    NetworkOption,
    NoLockOption,
    OutputOption,
    OverlaysOption,
    PricesOption,
    SettingsOption,
    SpecArgument,
)
from ibplan.cli.output import emit

if TYPE_CHECKING:
    from ibplan.plan.wired import WiredDesign


class DiagramFormat(StrEnum):
    """The language of a drawing."""

    SVG = "svg"
    DOT = "dot"
    MERMAID = "mermaid"


def diagram(
    spec: SpecArgument,
    form: Annotated[
        DiagramFormat, typer.Option("--format", metavar="FORMAT", help="svg, dot (graphviz) or mermaid.")
    ] = DiagramFormat.SVG,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    network: NetworkOption = Network.COMPUTE,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
) -> None:
    """Draw a design: every switch where there are few, what is alike folded where there are many."""
    from ibplan.cli.planning import load_inputs
    from ibplan.plan.wired import wire_design

    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, lock, no_lock)
    emit(_drawn(wire_design(loaded, catalog, design_id, network.value), form), output)


def _drawn(wired: WiredDesign, form: DiagramFormat) -> str:
    from ibplan.fabric.drawing import draw
    from ibplan.report.diagram import mermaid_draws, to_dot, to_mermaid
    from ibplan.report.diagram_svg import to_svg

    drawing = draw(wired.wiring)
    if form is DiagramFormat.SVG:
        return to_svg(wired, drawing)
    if form is DiagramFormat.DOT:
        return to_dot(wired, drawing)
    return to_mermaid(wired, drawing if mermaid_draws(drawing) else draw(wired.wiring, folded=True))
