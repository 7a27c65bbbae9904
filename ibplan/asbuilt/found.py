"""What is there: devices and links as a program discovered them or a list states them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

from ibplan.asbuilt.rates import Rate
from ibplan.document import capped
from ibplan.errors import InputError, Problem
from ibplan.findings import plural

FoundKind = Literal["switch", "host"]
FormatName = Literal["ibnetdiscover", "iblinkinfo", "lldp", "list"]


@dataclass(frozen=True, slots=True)
class FoundDevice:
    """A device. `named` = its name tells it from all others (a factory text or a GUID does not say which it is).

    `ports`: of a switch, None unknown. `model`: what the source says of its make. `guids`: of its nodes, as the
    programs print them in hexadecimal, without leading zeros.
    """

    name: str
    kind: FoundKind | None = None
    named: bool = True
    ports: int | None = None
    model: str | None = None
    guids: tuple[str, ...] = ()


class FoundEnd(NamedTuple):
    """One end of a link: index of the device, and its port as the source calls it (None: not stated)."""

    device: int
    port: str | None


class Place(NamedTuple):
    """Where something was read: index of the source, line or row from 1."""

    source: int
    line: int


class FoundLink(NamedTuple):
    """A link, read once or at both ends. `rate` None = not stated; `state`: None = up, else what the source says."""

    a: FoundEnd
    b: FoundEnd
    rate: Rate | None
    state: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class FoundFabric:
    """All that is there. `down`: state of ports without a link, where stated. `notes`: what was left out, and why.

    `formats`: of the sources, in their order. `has_rates`: whether any link states one. `left_out`: cables of other
    networks than the one that is looked at, by the network.
    """

    devices: tuple[FoundDevice, ...]
    links: tuple[FoundLink, ...]
    sources: tuple[str, ...]
    formats: tuple[FormatName, ...]
    down: Mapping[FoundEnd, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def left_out_notes(self) -> tuple[str, ...]:
        """How many cables of other networks were left out, if any."""
        count = sum(self.left_out.values())
        return (f"Left out: {plural(count, 'cable')} of other networks.",) if count else ()

    @property
    def has_rates(self) -> bool:
        """Whether any link states its rate."""
        return any(link.rate is not None for link in self.links)

    def where(self, place: Place) -> str:
        """`fabric.txt:17`; the file alone where lines say nothing, as in JSON."""
        name = Path(self.sources[place.source]).name
        return f"{name}:{place.line}" if place.line else name


@dataclass(frozen=True, slots=True)
class Read:
    """One source as read, before it is joined with others: its links stand once or twice."""

    source: str
    form: FormatName
    devices: tuple[FoundDevice, ...]
    links: tuple[FoundLink, ...]
    down: Mapping[FoundEnd, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


class Problems:
    """Problems of a text by line, up to a number: nobody reads more."""

    MOST: Final = 1_000

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, line: int, message: str, remedy: str = "") -> None:
        """Note a problem of a line; 0 = of the whole file."""
        self._found.append(Problem(self.source, line, 1 if line else 0, message, remedy))
        if len(self._found) >= self.MOST:
            raise self.error()

    def error(self) -> InputError:
        """All of them, as far as anybody reads."""
        return InputError(capped(self._found))

    def check(self) -> None:
        """Raise InputError if there are any."""
        if self._found:
            raise self.error()


def joined(reads: Sequence[Read]) -> FoundFabric:
    """All sources as one fabric: devices of one name are one, a link that is read at both ends is one."""
    devices: list[FoundDevice] = []
    index: dict[tuple[str, bool], int] = {}
    links: list[FoundLink] = []
    down: dict[FoundEnd, str] = {}
    for number, read in enumerate(reads):
        new = [_index_of(device, devices, index) for device in read.devices]
        for link in read.links:
            a, b = (FoundEnd(new[end.device], end.port) for end in (link.a, link.b))
            links.append(link._replace(a=a, b=b, place=link.place._replace(source=number)))
        down |= {FoundEnd(new[end.device], end.port): state for end, state in read.down.items()}
    merged = list(_merged(links))
    notes = dict.fromkeys(note for read in reads for note in read.notes)
    once = tuple(_without_mirrors(merged))
    if len(once) < len(merged):
        notes["Every cable without ports stands in both directions: each pair was taken for one."] = None
    sources, formats = tuple(read.source for read in reads), tuple(read.form for read in reads)
    left_out = sum((Counter(read.left_out) for read in reads), Counter[str]())
    return FoundFabric(tuple(devices), once, sources, formats, down, tuple(notes), left_out)


def _index_of(device: FoundDevice, devices: list[FoundDevice], index: dict[tuple[str, bool], int]) -> int:
    key = (device.name.lower(), device.named)
    if key not in index:
        index[key] = len(devices)
        devices.append(device)
    else:
        known = devices[index[key]]
        devices[index[key]] = replace(
            known,
            kind=known.kind or device.kind,
            ports=known.ports or device.ports,
            model=known.model or device.model,
            guids=known.guids + device.guids,
        )
    return index[key]


def _merged(links: Iterable[FoundLink]) -> Iterator[FoundLink]:
    """Links whose ends are known, once each; the slower rate and the worse state of what two ends say."""
    found: dict[tuple[FoundEnd, FoundEnd], FoundLink] = {}
    loose: list[FoundLink] = []
    for link in links:
        if link.a.port is None or link.b.port is None:
            loose.append(link)
            continue
        key = (link.a, link.b) if link.a <= link.b else (link.b, link.a)
        known = found.get(key)
        if known is None:
            found[key] = link
        elif (link.rate, link.state) != (known.rate, known.state):
            rates = [rate for rate in (known.rate, link.rate) if rate is not None]
            found[key] = known._replace(rate=min(rates, default=None), state=known.state or link.state)
    yield from found.values()
    yield from loose


def _without_mirrors(links: Sequence[FoundLink]) -> Iterator[FoundLink]:
    """Of a list without ports in which every pair of devices stands as often one way as the other: one way alone."""
    loose = Counter((x.a.device, x.b.device) for x in links if x.a.port is None and x.b.port is None)
    mirrored = len(loose) > 2 and all(loose[b, a] == count for (a, b), count in loose.items())
    for link in links:
        if not (mirrored and link.a.port is None and link.b.port is None and link.a.device > link.b.device):
            yield link
