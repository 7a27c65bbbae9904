"""verify: a planned fabric and a found one in, every difference with what mends it out. The front door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from ibplan.asbuilt.compare import Comparison, compare
from ibplan.asbuilt.differences import MOVES, Ambiguous, MatchedDevices, UnknownDevice, VerifyResult
from ibplan.asbuilt.exchanged import find_exchanges, find_strangers
from ibplan.asbuilt.expect import expected_links
from ibplan.asbuilt.found import FoundFabric
from ibplan.asbuilt.identity import UNKNOWN, Identities, identify
from ibplan.asbuilt.layers import host_flags
from ibplan.asbuilt.listing import Listing
from ibplan.asbuilt.name_map import EMPTY, NameMap
from ibplan.asbuilt.networks import Apart, set_apart
from ibplan.asbuilt.panels import is_panel
from ibplan.asbuilt.patterns import find_patterns
from ibplan.asbuilt.planned import PlannedFabric
from ibplan.asbuilt.resolve import ResolvedLink, resolve_links
from ibplan.asbuilt.structure import StructureMatcher

Flags = npt.NDArray[np.bool_]
MatchBy = Literal["auto", "name", "structure"]


def verify(
    plan: PlannedFabric,
    found: FoundFabric,
    name_map: NameMap = EMPTY,
    match: MatchBy = "auto",
    expect: str | None = None,
) -> VerifyResult:
    """Hold what is there against the plan.

    match: `name` = by map and name alone; `structure` = the others by how they are cabled; `auto` = so only where names
    tell fewer than half of the switches. expect: as `expected_links`. Raises InputError for a wrong name map,
    UsageError for a wrong `expect`.
    """
    expected = expected_links(plan, expect)
    apart = set_apart(plan, found, name_map)
    found = apart.found
    identities = identify_devices(plan, apart, name_map, match)
    resolved = resolve_links(plan, found, identities, apart.foreign)
    links, checked = _told_apart(plan, found, identities, resolved.links, expected)
    comparison = compare(plan, links, checked)
    planned_count = len(plan.wiring.links)
    expected_count = planned_count if expected is None else int(expected.sum())
    ahead = 0 if expected is None else sum(not expected[link] for link in comparison.right)
    exchanges = find_exchanges(plan, comparison)
    strangers = find_strangers(plan, found, identities.looks_like, comparison)
    patterns = find_patterns(plan, comparison)
    listing = Listing(plan, found, comparison, identities, checked)
    differences = [*listing.exchanges(exchanges), *listing.strangers(strangers), *listing.cables()]
    differences += [*listing.states(), *listing.ambiguous()]
    moves = sum(difference.action in MOVES for difference in differences)
    return VerifyResult(
        plan.spec,
        plan.design,
        plan.network,
        found.sources,
        found.formats,
        planned_count,
        expected_count,
        len(comparison.right) - ahead,
        ahead,
        len(comparison.anonymous),
        len(resolved.links) - len(links),
        moves,
        len(comparison.missing) - moves,
        len(comparison.extra) - moves,
        sum(len(ring.devices) for ring in exchanges),
        _devices(identities),
        tuple(listing.in_order(differences)),
        patterns,
        _unknown(plan, found, identities),
        tuple(
            Ambiguous(tuple(found.devices[n].name for n in group.found), tuple(plan.names[n] for n in group.planned))
            for group in identities.ambiguous
        ),
        (*found.notes, *_left_out(found), *identities.notes, *resolved.notes, *_notes(found, comparison)),
    )


def _told_apart(
    plan: PlannedFabric,
    found: FoundFabric,
    identities: Identities,
    links: Sequence[ResolvedLink],
    expected: Flags | None,
) -> tuple[Sequence[ResolvedLink], list[bool] | None]:
    """The links without those of ambiguous devices, on both sides: of them nothing can be said."""
    if not identities.ambiguous:
        return links, None if expected is None else expected.tolist()
    theirs = {device for group in identities.ambiguous for device in group.found}
    ours = np.zeros(len(plan.names), np.bool_)
    ours[[device for group in identities.ambiguous for device in group.planned]] = True
    told = ~(ours[plan.links.a_device] | ours[plan.links.b_device])
    if expected is not None:
        told &= expected
    kept = [
        link
        for link in links
        if theirs.isdisjoint((found.links[link.number].a.device, found.links[link.number].b.device))
    ]
    return kept, told.tolist()


def identify_devices(plan: PlannedFabric, apart: Apart, name_map: NameMap, match: MatchBy) -> Identities:
    """By map and name, then by structure where that is asked for or names tell too little."""
    found = apart.found
    identities = identify(plan, found, name_map, apart.names, apart.other_names)
    identities.elsewhere = apart.elsewhere
    left = identities.unknown()
    if match == "name" or not left:
        return identities
    flags = [
        (not plan.is_switch(p)) if p != UNKNOWN else flag
        for p, flag in zip(identities.planned, host_flags(found), strict=True)
    ]
    matcher = StructureMatcher(plan, found, flags)
    matched = matcher.match(identities.planned)
    if match == "structure" or _names_say_little(identities, flags):
        identities.ambiguous = matcher.refine(matched)
        for n in left:
            if matched[n] != UNKNOWN:
                identities.planned[n], identities.how[n] = matched[n], "structure"
    else:
        identities.looks_like = {n: matched[n] for n in left if matched[n] != UNKNOWN}
    return identities


def _names_say_little(identities: Identities, hosts: Sequence[bool | None]) -> bool:
    """Whether fewer than half of the switches are known. Where most are, a stranger is a stranger."""
    switches = [n for n, host in enumerate(hosts) if host is False]
    known = sum(identities.planned[n] != UNKNOWN for n in switches)
    return 2 * known < len(switches) or (not switches and not identities.taken())


def _devices(identities: Identities) -> MatchedDevices:
    by = {how: identities.count(how) for how in ("name", "map", "structure")}
    return MatchedDevices(len(identities.planned), by["name"], by["map"], by["structure"], len(identities.anonymous))


def _unknown(plan: PlannedFabric, found: FoundFabric, identities: Identities) -> tuple[UnknownDevice, ...]:
    cables = Counter(end.device for link in found.links for end in (link.a, link.b))
    open_ones = {n for group in identities.ambiguous for n in group.found}
    result = []
    for n in identities.unknown():
        like = identities.looks_like.get(n)
        idle_panel = not cables[n] and is_panel(found.devices[n])
        if n not in open_ones and not idle_panel:
            name = None if like is None else plan.names[like]
            result.append(UnknownDevice(found.devices[n].name, cables[n], name))
    return tuple(result)


def _left_out(found: FoundFabric) -> Iterator[str]:
    """How many cables of other networks there are, and what checks them."""
    for note in found.left_out_notes:
        commands = ", ".join(f"{name} (--network {name})" for name in sorted(found.left_out))
        yield f"{note} Not checked here: {commands}."


def _notes(found: FoundFabric, comparison: Comparison) -> list[str]:
    notes = []
    unrated = sum(found.links[number].rate is None for number in comparison.right.values())
    if comparison.right and unrated:
        of_all = "" if unrated == len(comparison.right) else f" of {unrated:,} links"
        notes.append(f"The rate{of_all} is not stated, and not checked.")
    if comparison.anonymous:
        notes.append(
            f"{len(comparison.anonymous):,} links lead to hosts that do not say who they are: that a host is there is "
            "all that is known. Name the hosts (node descriptions), or map their GUIDs with --name-map."
        )
    return notes
