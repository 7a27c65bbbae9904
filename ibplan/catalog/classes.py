"""What each class of cages takes, as the devices of the catalogue state it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ibplan.catalog.entries import Form, HeatSink, LinkLayer, Nic, PortGroup, Server, Switch

# Plugs of an older form that a cage also takes, with slower lanes.
# NVIDIA, LinkX 100G-PAM4 product line overview (QSFP112); SN4000 and SN5000 manuals (QSFP-DD).
_ALSO: Final[Mapping[Form, frozenset[Form]]] = {
    "QSFP56": frozenset({"QSFP28"}),
    "QSFP112": frozenset({"QSFP56", "QSFP28"}),
    "QSFP-DD": frozenset({"QSFP56", "QSFP28"}),
    "QSFP112-DD": frozenset({"QSFP112", "QSFP56", "QSFP28"}),
    "QSFP-DD800": frozenset({"QSFP-DD", "QSFP112", "QSFP56", "QSFP28"}),
}
BMC_CLASS: Final = "bmc-rj45"
OPTICS_BUILT_IN: Final[frozenset[Form]] = frozenset({"MPO-12", "MMC-12"})


@dataclass(frozen=True, slots=True)
class CageClass:
    """A class of cages. `lanes`: (link layer, Gb/s of a lane) -> lanes of the cage; empty where no device states it."""

    name: str
    form: Form
    heat_sink: HeatSink
    lanes: Mapping[tuple[LinkLayer, int], int]

    @property
    def takes(self) -> frozenset[Form]:
        """The forms of plug that fit."""
        return frozenset({self.form}) | _ALSO.get(self.form, frozenset())

    def rates(self, layer: LinkLayer) -> tuple[int, ...]:
        """The lane rates in Gb/s that the cage has on a link layer, slowest first."""
        return tuple(sorted(rate for known, rate in self.lanes if known == layer))

    def lanes_at(self, layer: LinkLayer, rate: int) -> int:
        """The most lanes that run at a rate in Gb/s or faster on a link layer; 0 if none do."""
        return max((n for (known, r), n in self.lanes.items() if known == layer and r >= rate), default=0)


@dataclass(frozen=True, slots=True)
class ClassUse:
    """One device's word on a class. `at`: where in the device it says so."""

    device: str
    at: tuple[str | int, ...]
    name: str
    form: Form
    heat_sink: HeatSink
    lanes: Mapping[tuple[LinkLayer, int], int]


def class_uses(switches: Iterable[Switch], nics: Iterable[Nic], servers: Iterable[Server]) -> Iterator[ClassUse]:
    """Every statement of the devices about a cage class."""
    for switch in switches:
        for i, group in enumerate(switch.cages):
            if group.cage_class is not None and group.form is not None and group.heat_sink is not None:
                lanes: dict[tuple[LinkLayer, int], int] = {
                    (x, group.lane_gbps): group.lanes for x in switch.link_layers
                }
                yield ClassUse(switch.id, ("cages", i), group.cage_class, group.form, group.heat_sink, lanes)
    for nic in nics:
        if nic.cage_class is not None and nic.form is not None:
            yield ClassUse(nic.id, (), nic.cage_class, nic.form, nic.heat_sink, _mode_lanes(nic))
    for server in servers:
        for name in ("compute", "ethernet", "storage", "inband"):
            ports: PortGroup | None = getattr(server, name)
            if ports is not None:
                yield ClassUse(server.id, (name,), ports.cage_class, ports.form, ports.heat_sink, _mode_lanes(ports))
        if server.bmc_ports:
            yield ClassUse(server.id, ("bmc_ports",), BMC_CLASS, "RJ45", "none", {("ethernet", 1): 1})


def _mode_lanes(holder: Nic | PortGroup) -> dict[tuple[LinkLayer, int], int]:
    lanes: dict[tuple[LinkLayer, int], int] = {}
    for mode in holder.modes:
        if mode.lanes is not None and mode.lane_gbps is not None:
            key = (mode.link_layer, mode.lane_gbps)
            lanes[key] = max(lanes.get(key, 0), mode.ports * mode.lanes)
    return lanes


def cage_classes(uses: Iterable[ClassUse]) -> tuple[dict[str, CageClass], list[tuple[ClassUse, str]]]:
    """The classes, and the statements that contradict an earlier one with the reason."""
    classes: dict[str, CageClass] = {}
    conflicts: list[tuple[ClassUse, str]] = []
    for use in uses:
        known = classes.get(use.name)
        if known is None:
            classes[use.name] = CageClass(use.name, use.form, use.heat_sink, use.lanes)
            continue
        if (known.form, known.heat_sink) != (use.form, use.heat_sink):
            reason = (
                f"cage class {use.name} is {known.form} with heat sink {known.heat_sink} elsewhere, "
                f"but {use.form} with heat sink {use.heat_sink} here"
            )
            conflicts.append((use, reason))
            continue
        keys = {**known.lanes, **use.lanes}
        merged = {key: max(known.lanes.get(key, 0), use.lanes.get(key, 0)) for key in keys}
        classes[use.name] = CageClass(use.name, use.form, use.heat_sink, merged)
    return classes, conflicts
