"""What many wrong cables have in common: rails that are shifted, uplinks that do not spread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from ibplan.asbuilt.compare import Comparison, Edge
from ibplan.asbuilt.differences import Pattern
from ibplan.asbuilt.planned import PlannedFabric
from ibplan.fabric.wiring_model import LEAF, SERVER
from ibplan.findings import plural

_FEW = 2
_SEVERAL = 3
_MOST_NAMED = 4


def leaf_rails(plan: PlannedFabric) -> dict[int, frozenset[int]]:
    """The rails that each leaf serves; empty where every leaf serves all of them."""
    wiring = plan.wiring
    rails: dict[int, set[int]] = defaultdict(set)
    everything: set[int] = set()
    known: dict[int, int | None] = {}
    to_server = wiring.devices.kind[wiring.links.b_device] == SERVER
    columns = (wiring.links.a_device, wiring.links.b_device, wiring.links.b_port)
    for leaf, server, port in zip(*(column[to_server].tolist() for column in columns), strict=True):
        if port not in known:
            known[port] = plan.rail(server, port)
        rail = known[port]
        if rail is not None:
            rails[leaf].add(rail)
            everything.add(rail)
    if all(served == everything for served in rails.values()):
        return {}
    return {leaf: frozenset(served) for leaf, served in rails.items()}


def wrong_rail(plan: PlannedFabric, edge: Edge, rails: dict[int, frozenset[int]]) -> tuple[int, int, int] | None:
    """(server, its rail, the leaf) of a found cable that puts a rail on a leaf of others; None for any other one."""
    for here, there in ((edge.a, edge.b), (edge.b, edge.a)):
        if here < 0 or there < 0:
            continue
        (server, port), (leaf, _) = plan.at(here), plan.at(there)
        rail = plan.rail(server, port)
        if rail is not None and leaf in rails and rail not in rails[leaf]:
            return server, rail, leaf
    return None


def find_patterns(plan: PlannedFabric, comparison: Comparison) -> tuple[Pattern, ...]:
    """Sentences on rails and uplinks, those with the most cables first."""
    found = [*_rails(plan, comparison), *_uplinks(plan, comparison)]
    return tuple(sorted(found, key=lambda pattern: -pattern.links))


def _rails(plan: PlannedFabric, comparison: Comparison) -> Iterator[Pattern]:
    rails = leaf_rails(plan)
    shifted: dict[tuple[int, tuple[int, ...]], set[int]] = defaultdict(set)
    cables: Counter[tuple[int, tuple[int, ...]]] = Counter()
    of_server: dict[int, set[int]] = defaultdict(set)
    for edge in comparison.extra:
        wrong = wrong_rail(plan, edge, rails)
        if wrong is not None:
            key = (wrong[1], tuple(sorted(rails[wrong[2]])))
            shifted[key].add(wrong[0])
            cables[key] += 1
            of_server[wrong[0]].add(wrong[1])
    for server, its in sorted(of_server.items()):
        if len(its) >= _SEVERAL:
            text = f"{plan.names[server]}: {len(its)} rails are on leaves of other rails."
            yield Pattern("rails", (plan.names[server],), len(its), text)
    for key, servers in sorted(shifted.items()):
        if len(servers) < _SEVERAL:
            continue
        rail, served = key
        there = f"rail {served[0]}" if len(served) == 1 else f"rails {', '.join(map(str, served))}"
        names = tuple(plan.names[server] for server in sorted(servers))
        text = f"Rail {rail} of {plural(len(names), 'server')} ({_some(names)}) is on the leaf of {there}."
        yield Pattern("rails", names, cables[key], text)


def _uplinks(plan: PlannedFabric, comparison: Comparison) -> Iterator[Pattern]:
    """Switches whose uplinks do not spread as planned, if two cables at least are wrong."""
    kind = plan.wiring.devices.kind
    wrong: Counter[int] = Counter()
    there: dict[int, Counter[int]] = defaultdict(Counter)
    for edge in comparison.extra:
        lower = _uplink(plan, edge.a, edge.b)
        if lower is not None:
            wrong[lower[0]] += 1
            there[lower[0]][lower[1]] += 1
    uneven = [device for device, count in sorted(wrong.items()) if count >= _FEW]
    if not uneven:
        return
    links = plan.wiring.links
    for device in uneven:
        at = np.flatnonzero((links.a_device == device) & (kind[links.b_device] > LEAF))
        planned = Counter(links.b_device[at].tolist())
        found = there[device] + Counter(int(links.b_device[n]) for n in at.tolist() if n in comparison.right)
        if max(found.values()) <= max(planned.values()):
            continue
        most = found.most_common(_MOST_NAMED)
        spread = ", ".join(f"{count} to {plan.names[upper]}" for upper, count in most)
        more = sum(found.values()) - sum(count for _, count in most)
        spread += f", {more} to others" if more else ""
        each = sorted(set(planned.values()))
        wanted = f"{each[0]}" if len(each) == 1 else f"{each[0]} to {each[-1]}"
        text = (
            f"{plan.names[device]} has {plural(sum(found.values()), 'uplink')}: {spread}; planned are {wanted} to each "
            f"of {plural(len(planned), 'switch', 'switches')} above."
        )
        yield Pattern("uplinks", (plan.names[device],), wrong[device], text)


def _uplink(plan: PlannedFabric, a: int, b: int) -> tuple[int, int] | None:
    """(lower, upper) switch of a found cable between tiers."""
    if a < 0 or b < 0:
        return None
    ends = sorted((plan.at(a)[0], plan.at(b)[0]), key=lambda device: int(plan.wiring.devices.kind[device]))
    kinds = [int(plan.wiring.devices.kind[device]) for device in ends]
    return (ends[0], ends[1]) if LEAF <= kinds[0] < kinds[1] else None


def _some(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" if len(names) > _FEW else " and ".join(names)
