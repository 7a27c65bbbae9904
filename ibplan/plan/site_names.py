"""The names of the devices of a design by the site's patterns (`naming:` in the spec)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import compress
from typing import Final

import numpy as np

from ibplan.cabling.cables import Indices
from ibplan.cabling.runs import device_groups
from ibplan.document import Document
from ibplan.economics.items import NetworkName
from ibplan.errors import InputError
from ibplan.fabric.wiring_model import ATTACHED, KINDS, LEAF, Wiring
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.runs import layout_of
from ibplan.plan.wires import wire_evaluated
from ibplan.site.model import Layout
from ibplan.spec.load import LoadedSpec
from ibplan.spec.naming import MAX_NAME, NAME, NamingSpec, Token, parse_pattern, render

_Column = Sequence[int | str | None]
_SWITCHED: Final = ("leaf", "spine", "core")
_IN_DEVICE: Final = {"unit": "unit", "position": "position", "pod": "pod", "core_group": "position"}
_USE_NUMBER: Final = "{number:3} tells all devices of a kind apart, {fabric} those of different planes and rails"


class DeviceNames:
    """Names on all networks of one design. What is wrong with a pattern is an InputError at its place in the spec."""

    def __init__(self, loaded: LoadedSpec, evaluated: Evaluated) -> None:
        self._document = loaded.document
        self._naming = loaded.spec.naming or NamingSpec()
        self._evaluated = evaluated
        self._patterns = {kind: parse_pattern(getattr(self._naming, kind)) for kind in KINDS}
        self._layout = cache(self._make_layout)
        self._wiring = cache(lambda network: wire_evaluated(evaluated, network))
        self._tier = cache(self._names_of_tier)

    @property
    def networks(self) -> tuple[NetworkName, ...]:
        """The networks of the design."""
        return ("compute", *(side.name for side in self._evaluated.side.planned))

    def named(self, wiring: Wiring, network: NetworkName) -> tuple[str, ...]:
        """The names of all devices of a wiring of a network, in its order. A server can be there twice (`aliases`)."""
        self._check_networks(wiring, network)
        names = [""] * len(wiring.devices)
        for kind, group, at in _kinds(wiring):
            found = self._elsewhere(wiring, network, group) if kind == ATTACHED else None
            if found is None:
                label = device_groups(wiring, network)[kind, group][0]
                found = self._group(_Columns(wiring, network, at, label, self._layout()), kind)
            names[int(at[0]) : int(at[-1]) + 1] = found
        own = [not alias for alias in aliases(wiring, network)]
        self._check_unique(wiring, list(compress(enumerate(names), own)))
        return tuple(names)

    def by_group(self, network: NetworkName) -> dict[str, tuple[str, ...]]:
        """The names of the devices of a network by their groups on the floor: `server`, `compute/leaf`."""
        wiring = self._wiring(network)
        names = self.named(wiring, network)
        found: dict[str, tuple[str, ...]] = {}
        for kind, group, at in _kinds(wiring):
            label = device_groups(wiring, network)[kind, group][0]
            found.setdefault(label, names[int(at[0]) : int(at[-1]) + 1])
        return found

    def _elsewhere(self, wiring: Wiring, network: NetworkName, group: int) -> Sequence[str] | None:
        """Hosts that are servers, or switches of another network, are called as they are there; None for others."""
        there = wiring.network.request.attached[group].device_group(network) or ""
        if there == "server":
            return self._tier("compute", "server")
        other, _, tier = there.partition("/")
        return self._tier(other, tier) if tier in _SWITCHED else None

    def _names_of_tier(self, network: NetworkName, tier: str) -> Sequence[str]:
        """The names of the servers, or of the switches of a tier of some network."""
        wiring: Wiring = self._wiring(network)
        kind = KINDS.index(tier)
        at = np.flatnonzero(wiring.devices.kind == kind)
        label = device_groups(wiring, network)[kind, -1][0]
        return self._group(_Columns(wiring, network, at, label, self._layout()), kind)

    def _make_layout(self) -> Layout | None:
        wanted = any(
            t.name in ("rack", "rack_unit") for p in self._patterns.values() for t in p if isinstance(t, Token)
        )
        floor = self._evaluated.placed.floor
        return None if floor is None or not wanted else layout_of(floor)

    def _group(self, columns: _Columns, kind: int) -> list[str]:
        """The names of devices of one kind."""
        parts = self._patterns[KINDS[kind]]
        tokens = tuple(dict.fromkeys(part.name for part in parts if isinstance(part, Token)))
        found = []
        for nth, values in enumerate(zip(*(columns.of(token) for token in tokens), strict=True)):
            if None in values:
                missing = tokens[values.index(None)].replace("_", " ")
                raise self._wrong(KINDS[kind], f"{columns.plain(nth)} has no {missing}", "every one has a {number}")
            name = render(parts, dict(zip(tokens, values, strict=True)))
            if len(name) > MAX_NAME or not NAME.fullmatch(name):
                message = (
                    f"{columns.plain(nth)} would be called {name[:80]!r}: names have at most {MAX_NAME} characters"
                )
                raise self._wrong(KINDS[kind], f"{message}, and start and end with a letter or a digit", "")
            found.append(name)
        return found

    def _check_networks(self, wiring: Wiring, network: NetworkName) -> None:
        """Switches of a side network must not have the names of those of the compute network."""
        if network == "compute":
            return
        for kind in [KINDS[k] for k in np.unique(wiring.devices.kind).tolist() if k >= LEAF]:
            if not any(isinstance(p, Token) and p.name in ("network", "rack") for p in self._patterns[kind]):
                message = f"{getattr(self._naming, kind)!r} names switches of the compute and {network} networks alike"
                raise self._wrong(kind, message, "put {network} into it: it is empty for compute")

    def _check_unique(self, wiring: Wiring, names: Sequence[tuple[int, str]]) -> None:
        seen: dict[str, int] = {}
        for device, name in names:
            first = seen.setdefault(name.lower(), device)
            if first != device:
                kind = KINDS[wiring.devices.kind[device]]
                both = f"{wiring.device_name(first)} and {wiring.device_name(device)}"
                raise self._wrong(kind, f"{both} would both be called {name!r}", _USE_NUMBER)

    def _wrong(self, kind: str, message: str, remedy: str) -> InputError:
        return naming_error(self._document, kind, message, remedy)


def naming_error(document: Document, key: str, message: str, remedy: str) -> InputError:
    """An error of a key of `naming:`, or of its default."""
    return InputError([document.problem(("naming", key), f"naming.{key}: {message}", remedy)])


def aliases(wiring: Wiring, network: NetworkName) -> list[bool]:
    """Of every device: whether it is one that stands elsewhere, too, and has its name from there.

    Those are ports of servers beside those of the GPUs, and ports of switches of another network.
    """
    found = [False] * len(wiring.devices)
    for kind, group, at in _kinds(wiring):
        if kind == ATTACHED:
            there = wiring.network.request.attached[group].device_group(network) or ""
            if there == "server" or there.partition("/")[2] in _SWITCHED:
                found[int(at[0]) : int(at[-1]) + 1] = [True] * len(at)
    return found


def _kinds(wiring: Wiring) -> Iterator[tuple[int, int, Indices]]:
    """(kind, group of attached hosts or -1, devices) of all that there are; such devices stand in a row."""
    d = wiring.devices
    for kind in range(len(KINDS)):
        for group in range(len(wiring.network.request.attached)) if kind == ATTACHED else (-1,):
            at = np.flatnonzero((d.kind == kind) & (d.group == group))
            if len(at):
                yield kind, group, at


def floor_naming(names: DeviceNames) -> Callable[[str, int], str]:
    """What devices of the groups of a floor are called: (group, number in it) -> name."""
    known: dict[str, tuple[str, ...]] = {}
    for network in names.networks:
        for label, found in names.by_group(network).items():
            known.setdefault(label, found)
    return lambda group, number: known[group][number]


class _Columns:
    """What the tokens of a pattern stand for, for devices of one kind (and group): one value a device."""

    def __init__(self, wiring: Wiring, network: NetworkName, at: Indices, label: str, layout: Layout | None) -> None:
        self._wiring, self._at, self._label, self._layout = wiring, at, label, layout
        self._network = "" if network == "compute" else network

    def plain(self, nth: int) -> str:
        """What the wiring calls a device."""
        return self._wiring.device_name(int(self._at[nth]))

    def of(self, token: str) -> _Column:
        """The values of a token; None = it does not apply, or is not known."""
        d, hosts, at = self._wiring.devices, self._wiring.hosts, self._at
        if token == "number":
            return list((d.index[at] + 1).tolist())
        if token in _IN_DEVICE:
            return [n + 1 if n >= 0 else None for n in getattr(d, _IN_DEVICE[token])[at].tolist()]
        if token in ("rack", "rack_unit"):
            return self._places(token)
        if token == "group":
            return [self._wiring.network.request.attached[int(d.group[at[0]])].name] * len(at)
        if token == "network":
            return [self._network] * len(at)
        fabrics = d.fabric[at].astype(np.int32)
        if token == "fabric":
            labels = [hosts.label(fabric) for fabric in range(self._wiring.network.fabrics)]
            return [labels[fabric] for fabric in fabrics.tolist()]
        return list(((fabrics // hosts.rails if token == "plane" else fabrics % hosts.rails) + 1).tolist())

    def _places(self, token: str) -> _Column:
        layout, label = self._layout, self._label
        if layout is None or label not in layout.rack_of:
            return [None] * len(self._at)
        if token == "rack":
            return [layout.racks[rack].name for rack in layout.rack_of[label].tolist()]
        return [int(unit) if unit == unit else None for unit in layout.unit_of[label].tolist()]
