"""One row a cable: both ends with place, port and module, labels, length. Made block by block, never all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Final, Literal, NamedTuple

from ibplan.cabling.cables import Cables, Cages, Indices, choices_of, link_cages, network_cables
from ibplan.cabling.ends import ClassEnd, HostPorts, Naming, class_end, device_places
from ibplan.cabling.runs import Places, link_runs_m
from ibplan.cabling.trunks import StructuredRules
from ibplan.catalog.entries import Cable, Medium
from ibplan.fabric.wiring_model import Side, Wiring
from ibplan.parts.chosen import LinkParts
from ibplan.parts.lengths import ordered_m
from ibplan.parts.links import LinkKind

BLOCK: Final = 8192
SIDES: Final[tuple[Side, Side]] = ("a", "b")


class End(NamedTuple):
    """One end of a cable; what is not known is None. Tuples, because there are half a million of them.

    `unit` = lowest rack unit of the device. `cage` from 1. `module_quantity` is 1 at the first cable of a cage and 0 at
    the others, which share its module: the sum is what is bought. `label` = of this end alone.
    """

    hall: str | None
    row: int | None
    rack: str | None
    unit: float | None
    device: str
    cage: int
    port: str
    module: str | None
    module_part_number: str | None
    module_quantity: int
    label: str


class CableRow(NamedTuple):
    """One cable: `a` = the near end (of a splitter: its one connector), `b` = the far ends, one a link.

    `label_a` is read at the near end, `label_b` at each far end; each names its own end first. `run_m` is the longest
    way between its ends, `length_m` the length to order, both in metres. A trunk has no speed (`gbps` None).
    """

    network: str
    cable_id: str
    kind: LinkKind | Literal["trunk"]
    label_a: str
    label_b: tuple[str, ...]
    a: End
    b: tuple[End, ...]
    cable: str | None
    manufacturer: str | None
    part_number: str | None
    description: str | None
    medium: Medium | None
    connector_a: str | None
    polish_a: str | None
    connector_b: str | None
    polish_b: str | None
    polarity: str | None
    gbps: int | None
    run_m: float | None
    length_m: float | None
    bundle: str | None


@dataclass(frozen=True, slots=True)
class CabledNetwork:
    """A network as it is cabled: its links, the parts that are bought for them, and where devices stand, if known.

    `naming`: how devices of all networks are called on the floor; `host_ports`: how the ports of its hosts are.
    `structured`: how links run over trunks between racks (the places then have panels); None = every cable is direct.
    `names`: of all devices, where the site has names of its own.
    """

    name: str
    wiring: Wiring
    parts: tuple[LinkParts, ...]
    places: Places | None
    naming: Naming | None = None
    host_ports: HostPorts | None = None
    structured: StructuredRules | None = None
    names: Sequence[str] | None = None


def cable_rows(network: CabledNetwork) -> Iterator[CableRow]:
    """Every cable of a network from device to device, by class of links, then in the order of the wiring."""
    return chain.from_iterable(sheets(network))


def sheets(network: CabledNetwork) -> Iterator[Iterator[CableRow]]:
    """The same, choice of parts by choice of parts."""
    wiring = network.wiring
    run_m = link_runs_m(wiring, network.places, network.name)
    ends = _Ends(network)
    for cables in network_cables(wiring, network.parts, run_m):
        yield _Sheet(network, cables, ends).rows()


class _Ends:
    """The ends of all links of a network, with what they have in common made once."""

    def __init__(self, network: CabledNetwork) -> None:
        self._wiring, self._parts, self._hosts = network.wiring, network.parts, network.host_ports
        self._choice = choices_of(network.wiring, network.parts)
        self._cages: dict[Side, Cages] = {side: link_cages(network.wiring, network.parts, side) for side in SIDES}
        self._devices = device_places(network.wiring, network.places, network.name, network.naming, network.names)
        self._known: dict[tuple[int, Side], ClassEnd] = {}

    def of(self, legs: Indices, side: Side) -> list[End]:
        """The ends of some links on one side."""
        devices, ports = self._wiring.links.end(side)
        cages = self._cages[side]
        columns = (legs, *(x[legs] for x in (self._choice, devices, ports, cages.cage, cages.opens)))
        found, previous = [], -1
        for link, choice, device, port, cage, opens in zip(*(x.tolist() for x in columns), strict=True):
            common, place = self._common(choice, side), self._devices[device]
            name = common.names[port]
            # A link of two fibres has two cables, but its module is counted once.
            modules = int(opens and common.module is not None and link != previous)
            hall, row, rack, unit, device_name = place.columns
            found.append(
                End(
                    hall,
                    row,
                    rack,
                    unit,
                    device_name,
                    cage + 1 if common.cages is None else common.cages[port],
                    name,
                    common.module,
                    common.module_part_number,
                    modules,
                    f"{place.label}:{name}",
                )
            )
            previous = link
        return found

    def _common(self, choice: int, side: Side) -> ClassEnd:
        key = (choice, side)
        if key not in self._known:
            self._known[key] = class_end(self._wiring, self._parts[choice], side, self._hosts)
        return self._known[key]


class _Sheet:
    """The rows of one choice of parts."""

    def __init__(self, network: CabledNetwork, cables: Cables, ends: _Ends) -> None:
        self._wiring, self._name, self._cables, self._ends = network.wiring, network.name, cables, ends
        self._parts = parts = network.parts[cables.parts]
        entry = None if parts.cable is None else parts.cable.entry
        self._cable = entry if isinstance(entry, Cable) else None
        self._medium = None if parts.recipe is None else parts.recipe.medium
        self._shortest_m = 0.0 if parts.recipe is None else parts.recipe.min_length_m or 0.0
        self._per_cable = Fraction(1) if parts.recipe is None else parts.recipe.links_per_cable
        self._before = f"{network.name}/"
        self._lengths: dict[float, tuple[float | None, str | None]] = {}

    def rows(self) -> Iterator[CableRow]:
        """All rows, block by block."""
        cables = self._cables
        far_side: Side = "b" if cables.trunk == "a" else "a"
        starts = [*cables.first.tolist(), len(cables.legs)]
        for start in range(0, len(cables), BLOCK):
            stop = min(start + BLOCK, len(cables))
            base, legs = starts[start], cables.legs[starts[start] : starts[stop]]
            near, far = self._ends.of(legs, cables.trunk), self._ends.of(legs, far_side)
            numbers = self._numbers(legs)
            runs, strands = cables.run_m[start:stop].tolist(), cables.strand[start:stop].tolist()
            for i, (run_m, strand) in enumerate(zip(runs, strands, strict=True), start):
                one, after = starts[i] - base, starts[i + 1] - base
                yield self._row(numbers[one], near[one:after], far[one:after], run_m, strand)

    def _numbers(self, legs: Indices) -> list[str]:
        """What tells the cables of one device apart: cage, and which of the plugs in it, both from 1."""
        cage, leg = (x[legs] for x in self._wiring.cages(self._cables.trunk))
        size = max(1, int(self._per_cable))
        return [f"{c}.{n}" for c, n in zip((cage + 1).tolist(), (leg // size + 1).tolist(), strict=True)]

    def _row(self, number: str, near: list[End], far: list[End], run_m: float, strand: int) -> CableRow:
        cable = self._cable
        a = near[0] if len(near) == 1 else _one_plug(near)
        b = tuple(far) if len(far) == 1 or cable is None or cable.ends_b > 1 else (_one_plug(far),)
        if self._per_cable < 1:
            a, b = _at_plug(a, strand + 1), tuple([_at_plug(end, strand + 1) for end in b])
        length_m, part_number = self._order(run_m)
        return CableRow(
            self._name,
            f"{self._name}/{a.device.removeprefix(self._before)}/{number}"
            + (f"/{strand + 1}" if self._per_cable < 1 else ""),
            self._parts.link.kind,
            f"{a.label} / {b[0].label}" if len(b) == 1 else f"{a.label} / {'; '.join(end.label for end in b)}",
            tuple([f"{end.label} / {a.label}" for end in b]),
            a,
            b,
            None if cable is None else cable.id,
            None if cable is None else cable.vendor,
            part_number,
            None if cable is None else cable.model,
            self._medium,
            *_plugs(cable),
            None if cable is None else cable.polarity,
            self._parts.link.gbps,
            run_m if run_m == run_m else None,
            length_m,
            _bundle(a, b),
        )

    def _order(self, run_m: float) -> tuple[float | None, str | None]:
        """(length in metres, part number) to order for a run."""
        if run_m not in self._lengths:
            cable, known = self._cable, run_m == run_m and self._parts.too_long is None
            length = ordered_m(cable, max(run_m, self._shortest_m)) if cable is not None and known else None
            self._lengths[run_m] = (length, None if cable is None else cable.part_number_at(length))
        return self._lengths[run_m]


def _at_plug(end: End, plug: int) -> End:
    """The end of one of the cables of a link: its plug of the module, from 1, stands behind the port."""
    return end._replace(label=f"{end.label}:{plug}")


def _one_plug(ends: list[End]) -> End:
    """Several links that end in one connector: their ports one after the other."""
    port = ",".join(end.port for end in ends)
    label = ",".join([ends[0].label, *(end.port for end in ends[1:])])
    return ends[0]._replace(port=port, module_quantity=max(end.module_quantity for end in ends), label=label)


def _plugs(cable: Cable | None) -> tuple[str | None, str | None, str | None, str | None]:
    """(connector, polish) of a cable's two kinds of ends: of glass the plug, else the form of the head."""
    if cable is None:
        return None, None, None, None
    if cable.fiber_a is not None and cable.fiber_b is not None:
        a, b = cable.fiber_a, cable.fiber_b
        return a.connector, a.polish, b.connector, b.polish
    return cable.form_a, None, cable.form_b, None


def _bundle(a: End, b: tuple[End, ...]) -> str | None:
    """The two racks that a cable joins; of a splitter, the first of its far ends. One rack: inside it."""
    other = b[0].rack
    if a.rack is None or other is None:
        return None
    return a.rack if a.rack == other else f"{a.rack}--{other}"
