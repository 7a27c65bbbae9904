"""Names of switch ports as panels and network systems show them. The schemes are data: data/port_names.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.errors import UsageError
from ibplan.fabric.geometry import CageSet, Geometry
from ibplan.fabric.wiring_cages import WiringError, port_stride
from ibplan.fabric.wiring_model import Side, Wiring

_FILE = Path(__file__).parent / "data" / "port_names.yaml"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class PortPattern(_Model):
    """The name of a port in a cage of a number of ports. `ib_ports`: InfiniBand port numbers a cage takes, if known."""

    pattern: str
    assumed: bool = False
    ib_ports: int | None = Field(default=None, ge=1)
    ib_assumed: bool = False


class PortScheme(_Model):
    """How one network system names ports. `by_ports` maps the ports of a cage to a pattern; `lanes` of a cage."""

    system: str
    cage_classes: tuple[str, ...] = Field(min_length=1)
    default: bool = False
    lanes: int = Field(default=1, ge=1)
    by_ports: dict[str, PortPattern]
    sources: tuple[str, ...] = Field(min_length=1)
    notes: str | None = None


class _File(_Model):
    systems: tuple[PortScheme, ...]


_PLAIN = PortScheme(
    system="plain",
    cage_classes=("any",),
    by_ports={"1": PortPattern(pattern="{cage}")},
    sources=("our own notation: the cage, then the leg, from 1",),
)
_PLAIN_LEGS = PortPattern(pattern="{cage}/{leg}")


@dataclass(frozen=True, slots=True)
class PortName:
    """One port: cage and leg from 1, its name, the system whose name it is (`plain`: our own notation).

    `ib_port`: its number in InfiniBand tools, None if unknown. `assumed`, `ib_assumed`: no source states it.
    """

    cage: int
    leg: int
    name: str
    system: str
    assumed: bool = False
    ib_port: int | None = None
    ib_assumed: bool = False


@lru_cache(maxsize=1)
def port_schemes() -> tuple[PortScheme, ...]:
    """All schemes of the packaged data."""
    return validate(_File, read_document(_FILE)).systems


def systems_for(cage_class: str | None) -> tuple[str, ...]:
    """The systems whose names for a class of cages are known."""
    return tuple(s.system for s in port_schemes() if cage_class in s.cage_classes)


def _scheme(cage_class: str | None, system: str | None) -> PortScheme:
    """The scheme of a class of cages: a system's, else the default one. Raises UsageError for an unknown system."""
    if system == "plain":
        return _PLAIN
    for scheme in port_schemes():
        if cage_class in scheme.cage_classes and (scheme.default if system is None else scheme.system == system):
            return scheme
    if system is None:
        return _PLAIN
    known = ", ".join((*systems_for(cage_class), "plain"))
    raise UsageError(f"how {system} names the ports of {cage_class or 'unknown'} cages is not known; known: {known}")


def port_names(geometry: Geometry, gbps: int, system: str | None = None) -> list[PortName | None]:
    """The names of all ports of a switch at a speed in Gb/s, by port number; None where there is no such port.

    `system` = mlnx-os, nvos, cumulus, sonic or plain; None = the one that the cages are known for, else plain. Raises
    UsageError where the system's names are not known.
    """
    stride = port_stride(geometry)
    names: list[PortName | None] = [None] * (stride * sum(s.count for s in geometry.sets))
    cage = lanes = 0
    for cages in geometry.sets:
        scheme = _scheme(cages.cage_class, system)
        mode = cages.mode(gbps)
        for _ in range(cages.count):
            for leg in range(mode.ports if mode is not None else 0):
                names[cage * stride + leg] = _name(scheme, cages, geometry, (cage, leg, lanes), gbps)
            cage += 1
            lanes += scheme.lanes
    return names


def _name(scheme: PortScheme, cages: CageSet, geometry: Geometry, at: tuple[int, int, int], gbps: int) -> PortName:
    """The name of one port; `at` = cage and leg from 0, and lanes of all cages before."""
    (cage, leg, lanes), mode = at, cages.mode(gbps)
    ports = mode.ports if mode is not None else 1
    form = scheme.by_ports.get(str(ports))
    system = scheme.system
    if form is None:
        form, system = (_PLAIN.by_ports["1"] if ports == 1 else _PLAIN_LEGS), _PLAIN.system
    name = form.pattern.format(
        cage=cage + 1,
        leg=leg + 1,
        leg0=leg,
        half=leg // 2 + 1,
        split=leg % 2 + 1,
        lane=lanes + leg * (scheme.lanes // ports if ports <= scheme.lanes else 1),
    )
    # Lanes are counted over cages of one kind in every source: over several kinds the sum is our guess.
    mixed = len(geometry.sets) > 1 and "{lane}" in form.pattern
    number = None if form.ib_ports is None else form.ib_ports * cage + leg + 1
    return PortName(
        cage + 1, leg + 1, name, system, form.assumed or mixed, number, form.ib_assumed and number is not None
    )


def class_port_names(wiring: Wiring, link_class: int, side: Side, system: str | None = None) -> list[PortName | None]:
    """The names of the ports at one end of a class of links, by port number. Raises UsageError as `port_names` does.

    Ports of hosts are numbered from 1, by cage and leg where a cage is known to have several.
    """
    link, request = wiring.classes[link_class], wiring.network.request
    tiers = {"leaf": request.leaf.geometry, "spine": request.spine.geometry, "core": request.core}
    end = link.a if side == "a" else link.b
    if end.tier in tiers:
        return port_names(tiers[end.tier], link.gbps, system)
    at = wiring.links.link_class == link_class
    device, port = wiring.links.end(side)
    stride = int(wiring.devices.stride[device[at]].max(initial=1))
    return [_host_port(number, stride) for number in range(int(port[at].max(initial=-1)) + 1)]


def _host_port(number: int, stride: int) -> PortName:
    cage, leg = number // stride, number % stride
    return PortName(cage + 1, leg + 1, f"{cage + 1}/{leg + 1}" if stride > 1 else str(cage + 1), "plain")


def port_label(wiring: Wiring, link: int, side: Side, system: str | None = None) -> PortName:
    """The name of the port at one end of one link."""
    link_class = int(wiring.links.link_class[link])
    name = class_port_names(wiring, link_class, side, system)[int(wiring.links.end(side)[1][link])]
    if name is None:
        raise WiringError(f"link {link} ends in a port that its device does not have")
    return name
