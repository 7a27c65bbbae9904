"""`ibplan show`: the topology of one design, or the ports of one device."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

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
    WidthOption,
    ascii_only,
    page,
)
from ibplan.cli.output import emit
from ibplan.system import readable


class ShowFormat(StrEnum):
    """How a topology is written."""

    TABLE = "table"
    JSON = "json"


def show(
    spec: SpecArgument,
    form: Annotated[ShowFormat, typer.Option("--format", metavar="FORMAT", help="table or json.")] = ShowFormat.TABLE,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    network: NetworkOption = Network.COMPUTE,
    device: Annotated[
        str | None,
        typer.Option(
            "--device", metavar="NAME", parser=readable, help="The ports of one device: leaf-001, server-012."
        ),
    ] = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
    width: WidthOption = None,
) -> None:
    """Show the topology of a design from the top: the recommended one, or the one named by --design."""
    from ibplan.cli.planning import load_inputs
    from ibplan.plan.wired import wire_design
    from ibplan.report.data import to_json
    from ibplan.report.topology_data import device_data, topology_data

    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, lock, no_lock)
    wired = wire_design(loaded, catalog, design_id, network.value)
    shown, color = page(output, width)
    if device is None:
        from ibplan.fabric.topology import topology
        from ibplan.report.topology import topology_text

        found = topology(wired.wiring)
        if form is ShowFormat.JSON:
            text = to_json(topology_data(wired, found))
        else:
            text = topology_text(wired, found, width=shown, color=color, ascii_only=ascii_only(output))
    else:
        from ibplan.fabric.device_ports import device_view, find_device
        from ibplan.report.topology_device import device_text

        view = device_view(wired.wiring, find_device(wired.wiring, device))
        if form is ShowFormat.JSON:
            text = to_json(device_data(wired, view))
        else:
            text = device_text(wired, view, width=shown, color=color, ascii_only=ascii_only(output))
    emit(text, output)
