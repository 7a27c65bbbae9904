"""One device for a terminal: every port with its far end, and the free ports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from ibplan.document import printable
from ibplan.fabric.device_ports import DevicePort, DeviceView
from ibplan.fabric.free_ports import FreePorts
from ibplan.fabric.ports import PortName
from ibplan.plan.wired import WiredDesign
from ibplan.report import topology_words as words
from ibplan.report.text import ABSENT
from ibplan.report.topology import drawn, grid, title

_ASSUMED: Final = "*"


def device_text(
    wired: WiredDesign, view: DeviceView, *, width: int, color: bool = False, ascii_only: bool = False
) -> str:
    """A device with all its ports. Every line fits `width`."""
    return drawn(_parts(wired, view, ascii_only), width=width, color=color, ascii_only=ascii_only)


def _parts(wired: WiredDesign, view: DeviceView, ascii_only: bool) -> Iterator[RenderableType]:
    yield Text(f"{printable(view.name)}: {_place(view)}", "bold")
    yield title(wired, ascii_only)
    yield Text(
        words.ports(view.use) if view.use is not None else f"{words.many(len(view.ports), 'port')}{_links(view)}"
    )
    columns = _columns(view, wired.fabric == "infiniband")
    rows = list(zip(*([cells for _, _, cells in columns]), strict=True))
    if rows:
        yield Text()
        yield grid([(heading, numeric) for heading, numeric, _ in columns], rows)
    if view.free:
        yield Text()
        yield Text("Free ports", "bold")
        kept = view.use.kept if view.use is not None else 0
        yield Text(", ".join(map(_range, view.free)) + (f"; {kept} of them are to stay free" if kept else ""))
    if any(_ASSUMED in cell for row in rows for cell in row) or any(_assumed(r.first) for r in view.free):
        yield Text()
        yield Text(f"{_ASSUMED} assumed: no source states it; compare with the device", "dim")


def _place(view: DeviceView) -> str:
    """What the device is and where it belongs."""
    kind = "attached host" if view.kind == "attached" else view.kind
    if view.kind == "core":
        parts = [f"core of group {view.position}"]
    elif view.position is None:
        parts = [kind]
    else:
        home = f"unit {view.unit}" if view.unit is not None else f"pod {view.pod}"
        parts = [f"{kind} {view.position} of {home}"]
    if view.pod is not None and view.unit is not None:
        parts.append(f"pod {view.pod}")
    return ", ".join([*parts, *([f"fabric {view.label}"] if view.label else [])])


Column = tuple[str, bool, list[str]]


def _columns(view: DeviceView, infiniband: bool) -> list[Column]:
    """Headings and cells; columns that say nothing of this device are left out."""
    ports = view.ports
    found: list[Column] = [("Port", False, [_port(p.name) for p in ports])]
    if infiniband and any(p.name.ib_port is not None for p in ports):
        found.append(("IB port", True, [_ib_port(p.name) for p in ports]))
    found += [("Cage", True, [str(p.name.cage) for p in ports]), ("Leg", True, [str(p.name.leg) for p in ports])]
    nics = [p.nic for p in ports if p.nic is not None]
    if nics:
        found += [
            ("NIC", True, [str(n.nic) for n in nics]),
            ("NIC port", True, [str(n.port) for n in nics]),
            ("Rail", True, [str(n.rail) for n in nics]),
            ("Plane", True, [str(n.plane) for n in nics]),
        ]
    found.append(("Gb/s", True, [f"{p.gbps:,}" for p in ports]))
    if not _links(view):
        found.append(("Link", False, [_kind(p) for p in ports]))
    found += [
        ("Far device", False, [printable(p.far_device) for p in ports]),
        ("Far port", False, [_port(p.far_port) for p in ports]),
    ]
    return found


def _links(view: DeviceView) -> str:
    """The kind of all links of a host, where it is one: then it needs no column."""
    kinds = {p.kind for p in view.ports}
    return f", all {kinds.pop()} links" if view.use is None and len(kinds) == 1 else ""


def _kind(port: DevicePort) -> str:
    return f"{port.kind} {port.direction}" if port.direction is not None else port.kind


def _port(name: PortName) -> str:
    return name.name + (_ASSUMED if name.assumed else "")


def _ib_port(name: PortName) -> str:
    if name.ib_port is None:
        return ABSENT
    return f"{name.ib_port}{_ASSUMED if name.ib_assumed else ''}"


def _assumed(name: PortName) -> bool:
    return name.assumed


def _range(free: FreePorts) -> str:
    span = _port(free.first) if free.count == 1 else f"{_port(free.first)}..{_port(free.last)} ({free.count})"
    direction = f" {free.direction}" if free.direction is not None else ""
    return f"{span} at {free.gbps:,} Gb/s{direction}"
