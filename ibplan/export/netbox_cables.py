"""Interfaces and cables in the words of NetBox. Its choices are those of release 4.7 (dcim/choices.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ibplan.cabling.cables import Cables, network_cables
from ibplan.cabling.runs import Places, link_runs_m
from ibplan.catalog.entries import Cable
from ibplan.export.interfaces import LinkEnds, link_ends
from ibplan.export.scheme import Scheme
from ibplan.export.subnet import Subnets
from ibplan.parts.chosen import LinkParts
from ibplan.parts.lengths import ordered_m
from ibplan.plan.cabled import billed_parts

_INTERFACE: Final = "dcim.interface"
# By speed and form of the cage; what NetBox has no word for is "other".
_TYPES: Final = {
    (800, "OSFP"): "800gbase-x-osfp",
    (800, "QSFP-DD800"): "800gbase-x-qsfpdd",
    (400, "OSFP"): "400gbase-x-osfp",
    (400, "QSFP-DD800"): "400gbase-x-qsfpdd",
    (400, "QSFP-DD"): "400gbase-x-qsfpdd",
    (400, "QSFP112"): "400gbase-x-qsfp112",
    (400, "QSFP112-DD"): "400gbase-x-qsfpdd",
    (200, "QSFP56"): "200gbase-x-qsfp56",
    (200, "QSFP-DD"): "200gbase-x-qsfpdd",
    (100, "QSFP28"): "100gbase-x-qsfp28",
    (100, "QSFP-DD"): "100gbase-x-qsfpdd",
    (25, "SFP28"): "25gbase-x-sfp28",
    (10, "SFP28"): "10gbase-x-sfpp",
    (1, "RJ45"): "1000base-t",
}
_MEDIA: Final = {
    "passive_copper": "dac-passive",
    "active_copper": "dac-active",
    "aoc": "aoc",
    "multimode": "mmf",
    "single_mode": "smf",
}
# Twisted pair is a medium by its category, which is part of what such a cable is called.
_CATEGORY: Final = re.compile(r"\bcat ?(5e?|6a?|7a?|8)\b", re.IGNORECASE)
# Links that share a cable stay apart: one connector a link and side, the n-th joined to the n-th.
_PROFILES: Final = {1: "single-1c1p", 2: "trunk-2c1p", 4: "trunk-4c1p", 8: "trunk-8c1p"}
_KBPS: Final = 1_000_000
_MOST_KBPS: Final = 2**31 - 1


def interface_rows(scheme: Scheme) -> Iterator[tuple[Any, ...]]:
    """Every interface that a link of the network ends in, device by device as links come."""
    w = scheme.wiring
    words = _interface_types(scheme)
    management = scheme.network == "oob"
    for link in link_ends(scheme):
        number = int(w.links.link_class[link.number])
        speed = w.classes[number].gbps * _KBPS
        common = (words[number], speed if speed <= _MOST_KBPS else None, "true")
        about = f"{scheme.network} network"
        yield (link.a_device, link.a_port, *common, "false", about)
        yield (link.b_device, link.b_port, *common, str(management).lower(), about)


def _interface_types(scheme: Scheme) -> list[str]:
    """NetBox's word for the interfaces of every class of links."""
    if scheme.wired.fabric == "infiniband":
        return [_infiniband(speed) for speed in Subnets(scheme).speeds]
    found = []
    for link_class in scheme.wiring.classes:
        cages = scheme.catalog.cage_classes.get(link_class.a.cage_class or "")
        found.append("other" if cages is None else _TYPES.get((link_class.gbps, cages.form), "other"))
    return found


def _infiniband(speed: str) -> str:
    """`4xNDR` is `infiniband-ndr-4x`; a single lane has no number."""
    lanes, _, generation = speed.partition("x")
    if not generation:
        return "other"
    word = f"infiniband-{generation.lower()}"
    return word if lanes == "1" else f"{word}-{lanes}x"


def cable_rows(scheme: Scheme, places: Places | None) -> Iterator[tuple[Any, ...]]:
    """Every cable of the network, and every link that is one. A link over two fibers is one cable here."""
    w, parts = scheme.wiring, billed_parts(scheme.wired.evaluated, scheme.network)
    ends = list(link_ends(scheme))
    for cables in network_cables(w, parts, link_runs_m(w, places, scheme.network)):
        yield from _rows(cables, parts[cables.parts], ends)


def _rows(cables: Cables, parts: LinkParts, ends: list[LinkEnds]) -> Iterator[tuple[Any, ...]]:
    medium = _cable_type(parts)
    shortest = 0.0 if parts.recipe is None else parts.recipe.min_length_m or 0.0
    entry = None if parts.cable is None else parts.cable.entry
    starts = [*cables.first.tolist(), len(cables.legs)]
    for number in np.flatnonzero(cables.strand == 0).tolist():
        legs = [ends[link] for link in cables.legs[starts[number] : starts[number + 1]].tolist()]
        run_m = float(cables.run_m[number])
        known = run_m == run_m and parts.too_long is None and isinstance(entry, Cable)
        length_m = ordered_m(entry, max(run_m, shortest)) if known and isinstance(entry, Cable) else None
        yield (
            ",".join(leg.a_device for leg in legs),
            _INTERFACE,
            ",".join(leg.a_port for leg in legs),
            ",".join(leg.b_device for leg in legs),
            _INTERFACE,
            ",".join(leg.b_port for leg in legs),
            medium,
            "planned",
            _PROFILES.get(len(legs)),
            f"{legs[0].a_device}:{legs[0].a_port}",
            length_m,
            None if length_m is None else "m",
        )


def _cable_type(parts: LinkParts) -> str | None:
    """NetBox's word for the cables; None where none is known, or a name of twisted pair does not say its category."""
    if parts.recipe is None or parts.cable is None:
        return None
    entry = parts.cable.entry
    if not isinstance(entry, Cable) or entry.kind != "rj45":
        return _MEDIA[parts.recipe.medium]
    found = _CATEGORY.search(entry.model)
    return None if found is None else f"cat{found[1].lower()}"
