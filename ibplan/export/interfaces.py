"""The interfaces of every device that a link ends in, as operating systems and databases list them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ibplan.errors import UsageError
from ibplan.export.scheme import Scheme

LINUX_LIMIT = 15  # characters in the name of an interface of Linux


class LinkEnds(NamedTuple):
    """A link by the names of both devices and interfaces; `number` in the wiring."""

    number: int
    a_device: str
    a_port: str
    b_device: str
    b_port: str


def link_ends(scheme: Scheme, system: str | None = None) -> Iterator[LinkEnds]:
    """Every link, in the order of the wiring. `system`: whose names for switch ports, None = the usual one."""
    links, names = scheme.wiring.links, scheme.names
    ports = scheme.port_names("a", system), scheme.port_names("b", system)
    rows = zip(links.a_device.tolist(), ports[0], links.b_device.tolist(), ports[1], strict=True)
    for number, (a, a_port, b, b_port) in enumerate(rows):
        yield LinkEnds(number, names[a], a_port, names[b], b_port)


def linux_ends(scheme: Scheme) -> Iterator[LinkEnds]:
    """The same with names that Linux takes: `1/4` becomes `p1-4`.

    Raises UsageError for those that it cannot take, and for two ports of a device that would be called alike.
    """
    taken: dict[tuple[str, str], str] = {}
    for link in link_ends(scheme):
        found = link._replace(a_port=linux_name(link.a_port), b_port=linux_name(link.b_port))
        for end, port in (((found.a_device, found.a_port), link.a_port), ((found.b_device, found.b_port), link.b_port)):
            if end in taken:
                raise UsageError(f"{end[0]}: Linux would call both {taken[end]!r} and {port!r} {end[1]}: rename one")
            taken[end] = port
        yield found


def linux_name(port: str) -> str:
    """A port as an interface of Linux. Raises UsageError where it cannot be one."""
    name = port.replace("/", "-")
    name = f"p{name}" if name[:1].isdigit() else name
    if len(name) > LINUX_LIMIT or ":" in name:
        raise UsageError(f"Linux has no interface called {port!r}: at most {LINUX_LIMIT} characters, none of them ':'")
    return name
